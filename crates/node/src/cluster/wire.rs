//! What nodes say to each other over HTTP/1.1, one request a connection: messages with their
//! acknowledgements, and reports to the owner of partition 0. Whoever speaks shows the crawl's
//! token. What comes is checked before an engine sees it.

use rhumb_engine::allowance::{Allowance, InForce};
use rhumb_engine::counters::Counters;
use rhumb_engine::discovery::CHUNK_MAX;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::StopReason;
use rhumb_engine::mass::{ONE, Sums};
use rhumb_engine::outbound::{Message, SequenceNumbers};
use rhumb_engine::partition::Partition;
use rhumb_engine::snapshot::{PartSnapshot, Snapshot};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD_BYTES_MAX: usize = 8 << 10;
pub const BODY_BYTES_MAX: usize = 32 << 20;
const TIME_MAX: Duration = Duration::from_secs(10);

/// One thing that a partition says to another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Said {
    Message { from: u32, to: u32, number: u64, message: Message },
    Acknowledgement { by: u32, to: u32, number: u64 },
}

impl Said {
    pub fn to(&self) -> u32 {
        match self {
            Said::Message { to, .. } | Said::Acknowledgement { to, .. } => *to,
        }
    }

    /// Whether it could come from an honest partition of this crawl.
    pub fn is_sound(&self, partitions: u32) -> bool {
        match self {
            Said::Message { from, to, number, message } => {
                let owner = Partition { own: *to, count: partitions };
                let are_named = *from < partitions && *to < partitions && from != to;
                let is_sized = *number > 0 && (1..=CHUNK_MAX).contains(&message.len());
                are_named
                    && is_sized
                    && message.iter().all(|item| {
                        owner.owns(&item.url) && item.mass.unsigned_abs() <= ONE.unsigned_abs()
                    })
            }
            Said::Acknowledgement { by, to, number } => {
                *by < partitions && *to < partitions && by != to && *number > 0
            }
        }
    }
}

/// What a node tells the owner of partition 0 of one partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartReport {
    pub partition: u32,
    pub counters: Counters,
    pub numbers: SequenceNumbers,
    /// Whether it is idle, and whether hosts fail.
    pub idle: Option<bool>,
    pub in_force: Option<InForce>,
    pub sums: Option<Sums>,
    pub paused: bool,
}

impl PartReport {
    pub fn of(partition: u32, snapshot: &Snapshot) -> Option<PartReport> {
        let part = snapshot.part.as_deref()?;
        Some(PartReport {
            partition,
            counters: snapshot.counters.clone(),
            numbers: part.numbers.clone(),
            idle: part.idle.map(|reason| reason == StopReason::HostsFailing),
            in_force: part.in_force,
            sums: part.sums,
            paused: snapshot.paused,
        })
    }

    pub fn snapshot(self) -> Snapshot {
        let idle = self.idle.map(|fails| match fails {
            true => StopReason::HostsFailing,
            false => StopReason::Finished,
        });
        let part = PartSnapshot {
            in_force: self.in_force,
            idle,
            numbers: self.numbers,
            sums: self.sums,
            has_topic: false,
        };
        Snapshot {
            counters: self.counters,
            paused: self.paused,
            part: Some(Box::new(part)),
            ..Snapshot::default()
        }
    }
}

/// The answer to reports.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Granted {
    pub allowances: Vec<(u32, Allowance)>,
}

/// A request that came.
pub struct Request {
    pub method: String,
    pub path: String,
    pub token: Option<String>,
    pub body: Vec<u8>,
}

/// Reads one request.
pub async fn read_request(stream: &mut TcpStream) -> std::io::Result<Request> {
    let (head, body) = read_whole(stream).await?;
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let token = field(&head, "authorization").and_then(|value| value.strip_prefix("Bearer "));
    Ok(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        token: token.map(str::to_owned),
        body,
    })
}

pub async fn respond(stream: &mut TcpStream, status: u16, body: &[u8]) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        if status == 200 { "OK" } else { "Refused" },
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

/// Says something to a node, and takes its answer.
pub async fn post<A: DeserializeOwned>(
    address: &str,
    path: &str,
    token: &str,
    body: &impl Serialize,
) -> Result<A, Error> {
    let failed = |what: String| Error::new(ErrorKind::Retry, format!("node {address}: {what}"));
    let body = postcard::to_allocvec(body).map_err(|e| failed(e.to_string()))?;
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body).await?;
        read_whole(&mut stream).await
    };
    let exchanged = tokio::time::timeout(TIME_MAX, exchange).await;
    let (head, body) = exchanged
        .map_err(|_| failed("does not answer".to_owned()))?
        .map_err(|e| failed(e.to_string()))?;
    if !head.starts_with("HTTP/1.1 200 ") {
        let status = head.lines().next().unwrap_or_default();
        return Err(failed(format!("refuses: {status} {}", String::from_utf8_lossy(&body))));
    }
    postcard::from_bytes(&body).map_err(|e| failed(e.to_string()))
}

/// Head and body of a message with a Content-Length.
async fn read_whole(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<(String, Vec<u8>)> {
    let wrong = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > HEAD_BYTES_MAX || stream.read_buf(&mut bytes).await? == 0 {
            return Err(wrong("no whole head"));
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = field(&head, "content-length").map_or(Ok(0), str::parse::<usize>);
    let length = length.ok().filter(|length| *length <= BODY_BYTES_MAX);
    let length = length.ok_or_else(|| wrong("a body of a wrong length"))?;
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(wrong("no whole body"));
        }
    }
    body.truncate(length);
    Ok((head, body))
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
