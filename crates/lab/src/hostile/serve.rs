//! Raw sockets: a listener for each kind, and its scripts acted out on every connection.
//!
//! All runs on one thread. A connection that a client has closed is noticed while its script
//! pauses, so that connections counted as open are open.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::certificates;
use super::kind::{HostileKind, HostileRequest, Transport};
use super::ledger::{Ledgers, is_sitemap};
use super::script::{WireScript, WireStep};

const HEAD_BYTES_MAX: usize = 64 << 10;
/// A server that floods writes pieces of this size, so that others get their turn.
const PIECE_BYTES: usize = 16 << 10;
/// A handshake record as long as they may be.
const SLOW_RECORD: &[u8] = &[0x16, 0x03, 0x03, 0x40, 0x00];

/// One kind being served.
pub(super) struct KindServer {
    pub kind: HostileKind,
    pub index: usize,
    pub port: u16,
    pub ledgers: Arc<Ledgers>,
    /// The first pages of all other kinds.
    pub others: Arc<[String]>,
}

trait Wire: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Wire for T {}

pub(super) async fn accept_all(listener: TcpListener, server: Arc<KindServer>) {
    let acceptor = match server.kind.transport {
        Transport::Tls(flaw) => {
            let name = format!("{}.{}", server.kind.name, super::ZONE);
            Some(certificates::acceptor(&name, flaw).expect("certificates of ours can be made"))
        }
        _ => None,
    };
    loop {
        // Accepting fails when descriptors run out; they come back when connections end.
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (server, acceptor) = (Arc::clone(&server), acceptor.clone());
        tokio::task::spawn_local(async move {
            server.ledgers.opened(server.index);
            // What becomes of a connection is the client's affair.
            let _ = match acceptor {
                Some(acceptor) => match acceptor.accept(stream).await {
                    Ok(stream) => converse(stream, &server).await.map(drop),
                    Err(error) => Err(error),
                },
                None => plainly(stream, &server).await,
            };
            server.ledgers.closed(server.index);
        });
    }
}

/// Counts the connections that should not be.
pub(super) async fn watch_decoy(listener: std::net::TcpListener, ledgers: Arc<Ledgers>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    while listener.accept().await.is_ok() {
        ledgers.decoyed();
    }
}

async fn plainly(mut stream: TcpStream, server: &KindServer) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match server.kind.transport {
        Transport::SlowTls => {
            stream.write_all(SLOW_RECORD).await?;
            let drip = WireScript::default().repeat(&b"\x02"[..], Duration::from_secs(1));
            act(&mut stream, &mut Vec::new(), &drip).await.0.map(drop)
        }
        Transport::NoTls => {
            stream.read_u8().await?;
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await
        }
        Transport::HangUpTls => stream.read_u8().await.map(drop),
        _ => match converse(&mut stream, server).await? {
            Ended::Reset => stream.set_zero_linger(),
            Ended::Closed => Ok(()),
        },
    }
}

enum Ended {
    Closed,
    Reset,
}

/// A connection from its first request to its last.
async fn converse(mut stream: impl Wire, server: &KindServer) -> io::Result<Ended> {
    let mut received = Vec::with_capacity(1024);
    loop {
        let Some(mut request) = next_request(&mut stream, &mut received, server).await? else {
            return Ok(Ended::Closed);
        };
        server.ledgers.asked(server.index, server.kind.name, &mut request);
        let script = server.script(&request);
        if let Some(rest) = script.not_within {
            server.ledgers.asked_for_rest(server.index, &request.host, rest);
        }
        let (end, bytes) = act(&mut stream, &mut received, &script).await;
        server.ledgers.sent(server.index, &request.host, bytes);
        if let Some(end) = end? {
            return Ok(end);
        }
    }
}

impl KindServer {
    fn script(&self, request: &HostileRequest) -> WireScript {
        if request.target == "/robots.txt" {
            return match self.kind.robots {
                Some(robots) => robots(request),
                None => WireScript::text("User-agent: *\nDisallow: /private/\n"),
            };
        }
        if is_sitemap(&request.target) {
            return self.kind.sitemap.map_or_else(WireScript::not_found, |answer| answer(request));
        }
        (self.kind.answer)(request)
    }
}

async fn next_request(
    stream: &mut impl Wire,
    received: &mut Vec<u8>,
    server: &KindServer,
) -> io::Result<Option<HostileRequest>> {
    loop {
        if let Some(at) = memchr::memmem::find(received, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..at]).into_owned();
            received.drain(..at + 4);
            return Ok(Some(read_head(head, server)));
        }
        if received.len() > HEAD_BYTES_MAX || stream.read_buf(received).await? == 0 {
            return Ok(None);
        }
    }
}

fn read_head(head: String, server: &KindServer) -> HostileRequest {
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let host = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_ascii_lowercase())
    });
    let host = host.unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).to_owned();
    let (port, others) = (server.port, Arc::clone(&server.others));
    HostileRequest { host, target, head, before: 0, repeated: 0, port, others }
}

/// Acts a script out. None if the connection goes on; and the bytes that the socket took.
async fn act(
    stream: &mut impl Wire,
    received: &mut Vec<u8>,
    script: &WireScript,
) -> (io::Result<Option<Ended>>, u64) {
    let mut sent = 0;
    let mut end = Ok(None);
    for step in &script.steps {
        end = act_step(stream, received, step, &mut sent).await;
        if !matches!(end, Ok(None)) {
            break;
        }
    }
    (end, sent)
}

async fn act_step(
    stream: &mut impl Wire,
    received: &mut Vec<u8>,
    step: &WireStep,
    sent: &mut u64,
) -> io::Result<Option<Ended>> {
    match step {
        WireStep::Send(bytes) => send(stream, bytes, sent).await?,
        WireStep::SendUnasked(bytes) => {
            // On a busy machine the pause before may have lasted until the next request.
            let read = timeout(Duration::ZERO, stream.read_buf(received)).await;
            if read.is_err() && received.is_empty() {
                send(stream, bytes, sent).await?;
            }
        }
        WireStep::Times(bytes, count) => {
            for _ in 0..*count {
                send(stream, bytes, sent).await?;
            }
        }
        WireStep::Repeat(bytes, each) => loop {
            send(stream, bytes, sent).await?;
            if is_gone_within(stream, received, *each).await? {
                return Ok(Some(Ended::Closed));
            }
        },
        WireStep::Pause(time) => {
            if is_gone_within(stream, received, *time).await? {
                return Ok(Some(Ended::Closed));
            }
        }
        WireStep::Hold => {
            while !is_gone_within(stream, received, Duration::from_secs(3_600)).await? {}
            return Ok(Some(Ended::Closed));
        }
        WireStep::Close => return Ok(Some(Ended::Closed)),
        WireStep::Reset => return Ok(Some(Ended::Reset)),
    }
    Ok(None)
}

async fn send(stream: &mut impl Wire, bytes: &[u8], sent: &mut u64) -> io::Result<()> {
    for piece in bytes.chunks(PIECE_BYTES) {
        stream.write_all(piece).await?;
        *sent += piece.len() as u64;
    }
    tokio::task::yield_now().await;
    Ok(())
}

/// Waits, unless the client goes first. What it sends meanwhile is kept for later.
async fn is_gone_within(
    stream: &mut impl Wire,
    received: &mut Vec<u8>,
    time: Duration,
) -> io::Result<bool> {
    if time.is_zero() {
        return Ok(false);
    }
    let waited = sleep(time);
    tokio::pin!(waited);
    loop {
        tokio::select! {
            () = &mut waited => return Ok(false),
            read = stream.read_buf(received) => {
                if read? == 0 || received.len() > HEAD_BYTES_MAX {
                    return Ok(true);
                }
            }
        }
    }
}
