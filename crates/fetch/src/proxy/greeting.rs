//! What is said to a proxy before what is meant for the server: CONNECT, and SOCKS 5 (RFC 1928,
//! 1929). Every answer is bounded, and whoever calls has a limit on time.

use std::io;
use std::net::IpAddr;

use hyper::header::HeaderValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::failure::{FailureKind, FetchFailure};

/// An answer to CONNECT is a line and some headers.
const ANSWER_BYTES_MAX: usize = 16 << 10;
/// Of a status line that is shown.
const SHOWN_BYTES_MAX: usize = 120;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const LOGIN: u8 = 2;
const LOGIN_VERSION: u8 = 1;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

/// Where a proxy is to connect to.
pub(crate) enum Goal<'a> {
    Address(IpAddr),
    Name(&'a str),
}

fn failed(detail: impl Into<String>) -> FetchFailure {
    FetchFailure::new(FailureKind::Proxy, detail)
}

fn lost(error: io::Error) -> FetchFailure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            failed("the proxy closed the connection before it answered")
        }
        _ => failed(format!("the proxy: {error}")),
    }
}

/// Has an HTTP proxy open a way to `authority`, a host and a port.
pub(crate) async fn tunnel(
    stream: &mut impl Stream,
    authority: &str,
    authorization: Option<&HeaderValue>,
) -> Result<(), FetchFailure> {
    let mut request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.map_err(lost)?;
    stream.flush().await.map_err(lost)?;
    let mut answer = Vec::new();
    loop {
        let mut limited = (&mut *stream).take((ANSWER_BYTES_MAX - answer.len()) as u64);
        if limited.read_buf(&mut answer).await.map_err(lost)? == 0 {
            let why = match answer.len() {
                ANSWER_BYTES_MAX => "its answer to CONNECT has no end",
                _ => "it closed the connection before it answered CONNECT",
            };
            return Err(failed(format!("the proxy: {why}")));
        }
        if let Some(end) = memchr::memmem::find(&answer, b"\r\n\r\n") {
            return judge(&answer, end + 4);
        }
    }
}

fn judge(answer: &[u8], end: usize) -> Result<(), FetchFailure> {
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let shown: String = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES_MAX)])
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    let status = line.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
    match status {
        Some([b'2', ..]) if answer.len() > end => {
            Err(failed("the proxy spoke for the server before the server was asked"))
        }
        Some([b'2', ..]) => Ok(()),
        Some(b"407") => {
            Err(failed("the proxy wants a user and a password (407): http://USER:PASSWORD@HOST"))
        }
        Some(_) => Err(failed(format!("the proxy refused to connect: {shown}"))),
        None => Err(failed("what answered CONNECT is no HTTP proxy")),
    }
}

/// Has a SOCKS proxy open a way.
pub(crate) async fn socks(
    stream: &mut impl Stream,
    goal: Goal<'_>,
    port: u16,
    login: Option<&(String, String)>,
) -> Result<(), FetchFailure> {
    let method = if login.is_some() { LOGIN } else { NO_LOGIN };
    stream.write_all(&[VERSION, 1, method]).await.map_err(lost)?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await.map_err(lost)?;
    match chosen {
        [VERSION, NO_LOGIN] => {}
        [VERSION, LOGIN] => log_in(stream, login).await?,
        [VERSION, _] => return Err(failed("the proxy wants another login than it was given")),
        _ => return Err(failed("what answered is no SOCKS 5 proxy")),
    }
    let mut request = vec![VERSION, CONNECT, 0];
    match goal {
        Goal::Address(IpAddr::V4(ip)) => {
            request.push(IPV4);
            request.extend_from_slice(&ip.octets());
        }
        Goal::Address(IpAddr::V6(ip)) => {
            request.push(IPV6);
            request.extend_from_slice(&ip.octets());
        }
        Goal::Name(name) => request.extend_from_slice(&[&[NAME], &*short(name)?].concat()),
    }
    request.extend_from_slice(&port.to_be_bytes());
    stream.write_all(&request).await.map_err(lost)?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.map_err(lost)?;
    if answer[0] != VERSION {
        return Err(failed("what answered is no SOCKS 5 proxy"));
    }
    if answer[1] != 0 {
        return Err(failed(format!("the proxy did not connect: {}", reason(answer[1]))));
    }
    let address_len = match answer[3] {
        IPV4 => 4,
        IPV6 => 16,
        NAME => usize::from(stream.read_u8().await.map_err(lost)?),
        _ => return Err(failed("what answered is no SOCKS 5 proxy")),
    };
    let mut bound = vec![0; address_len + 2];
    stream.read_exact(&mut bound).await.map_err(lost)?;
    Ok(())
}

async fn log_in(
    stream: &mut impl Stream,
    login: Option<&(String, String)>,
) -> Result<(), FetchFailure> {
    let Some((user, password)) = login else {
        return Err(failed("the proxy wants a user and a password: socks5://USER:PASSWORD@HOST"));
    };
    let message = [&[LOGIN_VERSION], &*short(user)?, &*short(password)?].concat();
    stream.write_all(&message).await.map_err(lost)?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.map_err(lost)?;
    match answer {
        [_, 0] => Ok(()),
        _ => Err(failed("the proxy does not take the user and password")),
    }
}

/// With its length before it.
fn short(text: &str) -> Result<Vec<u8>, FetchFailure> {
    let len = u8::try_from(text.len())
        .map_err(|_| failed("a name, user or password of more than 255 bytes"))?;
    Ok([&[len], text.as_bytes()].concat())
}

fn reason(code: u8) -> &'static str {
    match code {
        2 => "its rules forbid it",
        3 => "no way to the network",
        4 => "no way to the host, or no such name",
        5 => "the server refused",
        6 => "no answer in time",
        7 => "it does not do that",
        8 => "it does not know this kind of address",
        _ => "it failed",
    }
}
