//! Connections: requests in, answers out, faults acted out for real.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rhumb_page::url::Url;
use rhumb_sim::web::{Fault, Oddities, Web, WebReply};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::ServeOptions;
use super::answer::Answer;
use super::log::RequestLog;
use super::request::{self, HEAD_BYTES_MAX, Request};

/// A client that waits for a silent or dripping host longer than this is let go.
const PATIENCE: Duration = Duration::from_secs(120);
/// A dripping body: a few bytes, a pause, a few bytes.
const DRIP_BYTES: usize = 8;
const DRIP_PAUSE: Duration = Duration::from_millis(500);
/// Filler of huge bodies is written in pieces of this size.
const FLOOD_PIECE: usize = 64 << 10;
/// Failing URLs whose attempts are counted; beyond it they work at once.
const FAILING_MAX: usize = 1_000_000;
/// Accepting fails when descriptors run out; they come back when connections end.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What all connections share.
pub(super) struct Service {
    pub(super) web: Arc<Web>,
    log: Option<Arc<RequestLog>>,
    started: Instant,
    time_scale: u64,
    latency: bool,
    /// Requests answered so far.
    pub(super) answers: AtomicU64,
    /// Those of them that were pages: status 200, and not robots.txt.
    pub(super) pages: AtomicU64,
    /// How often each failing URL was asked for; none if nothing in this web fails.
    attempts: Option<Mutex<HashMap<Url, u32>>>,
}

impl Service {
    pub(super) fn new(
        web: Arc<Web>,
        log: Option<Arc<RequestLog>>,
        options: &ServeOptions,
    ) -> Service {
        let odd = web.config().oddities != Oddities::default();
        Service {
            web,
            log,
            started: Instant::now(),
            time_scale: u64::from(options.time_scale),
            latency: options.latency,
            answers: AtomicU64::new(0),
            pages: AtomicU64::new(0),
            attempts: odd.then(Mutex::default),
        }
    }

    fn reply(&self, request: &Request) -> WebReply {
        let Some(url) = request.url.as_ref().filter(|_| request.is_get) else {
            return WebReply::note(400, "That is no request.");
        };
        let now_us = self.started.elapsed().as_micros() as u64 * self.time_scale;
        let reply = self.web.respond(url, now_us, 0);
        let fails = reply.fault != Fault::None || reply.status == 429 || reply.status >= 500;
        let reply = match &self.attempts {
            Some(attempts) if fails => {
                let attempt = next_attempt(attempts, url);
                self.web.respond(url, now_us, attempt)
            }
            _ => reply,
        };
        reply.unless(request.etag.as_deref(), request.modified_since_s)
    }
}

fn next_attempt(attempts: &Mutex<HashMap<Url, u32>>, url: &Url) -> u32 {
    let mut attempts = attempts.lock().expect("no thread panics while it counts");
    if attempts.len() >= FAILING_MAX && !attempts.contains_key(url) {
        return u32::MAX;
    }
    let count = attempts.entry(url.clone()).or_default();
    let attempt = *count;
    *count = count.saturating_add(1);
    attempt
}

pub(super) async fn accept_all(listener: TcpListener, service: Arc<Service>) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // The listener hears all interfaces; only this machine is answered.
        if peer.ip().is_loopback() {
            tokio::task::spawn_local(converse(stream, service.clone()));
        }
    }
}

/// A connection from its first request to its last.
async fn converse(mut stream: TcpStream, service: Arc<Service>) {
    let Ok(local) = stream.local_addr() else { return };
    // Without it only latency suffers.
    let _ = stream.set_nodelay(true);
    let mut received = Vec::with_capacity(1024);
    let mut answer = Answer::default();
    while let Ok(Some(request)) = next_request(&mut stream, &mut received, local.port()).await {
        match exchange(&mut stream, &service, &request, &mut answer, local.ip()).await {
            Ok(true) => {}
            // What a client makes of its connection is its own affair.
            Ok(false) | Err(_) => return,
        }
    }
}

/// Reads up to the end of a head; none when the client is done or talks nonsense.
async fn next_request(
    stream: &mut TcpStream,
    received: &mut Vec<u8>,
    port: u16,
) -> io::Result<Option<Request>> {
    loop {
        if let Some(end) = request::head_end(received) {
            let request = request::read(&received[..end], port);
            received.drain(..end);
            return Ok(Some(request));
        }
        if received.len() > HEAD_BYTES_MAX || stream.read_buf(received).await? == 0 {
            return Ok(None);
        }
    }
}

/// Answers one request; says whether the connection goes on.
async fn exchange(
    stream: &mut TcpStream,
    service: &Service,
    request: &Request,
    answer: &mut Answer,
    address: IpAddr,
) -> io::Result<bool> {
    let logged = service.log.as_ref().zip(request.url.as_ref()).map(|(log, url)| {
        let host = url.as_str()["http://".len()..].split('/').next().unwrap_or_default();
        (log, log.begin(host, url.path_and_query(), address))
    });
    let reply = service.reply(request);
    let outcome = act(stream, service, request, &reply, answer).await;
    service.answers.fetch_add(1, Ordering::Relaxed);
    let is_robots = request.url.as_ref().is_some_and(|url| url.path() == "/robots.txt");
    service.pages.fetch_add(u64::from(reply.status == 200 && !is_robots), Ordering::Relaxed);
    if let Some((log, logged)) = logged {
        log.end(logged, reply.status);
    }
    outcome
}

async fn act(
    stream: &mut TcpStream,
    service: &Service,
    request: &Request,
    reply: &WebReply,
    answer: &mut Answer,
) -> io::Result<bool> {
    if service.latency && reply.latency_us > 0 {
        tokio::time::sleep(Duration::from_micros(reply.latency_us)).await;
    }
    if matches!(reply.fault, Fault::Silent | Fault::Refused) {
        return wait_for_the_end(stream).await;
    }
    if reply.fault == Fault::Reset {
        stream.set_zero_linger()?;
        return Ok(false);
    }
    let host = request.url.as_ref().map_or("", |url| url.host());
    let pack = request.accepts_gzip && service.web.compresses(host);
    answer.fill(&service.web, reply, pack, request);
    let head = answer.head.as_bytes();
    match reply.fault {
        Fault::Cut(percent) => {
            let (first, _) = split_at_percent(&answer.body, percent);
            write_both(stream, head, first).await?;
            Ok(false)
        }
        Fault::Drip(percent) => {
            let (first, rest) = split_at_percent(&answer.body, percent);
            write_both(stream, head, first).await?;
            drip(stream, rest).await
        }
        _ => {
            write_both(stream, head, &answer.body).await?;
            flood(stream, reply.flood_bytes).await?;
            Ok(request.keep_alive)
        }
    }
}

/// Says nothing until the client gives up.
async fn wait_for_the_end(stream: &mut TcpStream) -> io::Result<bool> {
    let mut ignored = [0; 1024];
    let end = async { while stream.read(&mut ignored).await.is_ok_and(|read| read > 0) {} };
    // Either way it is over.
    let _ = tokio::time::timeout(PATIENCE, end).await;
    Ok(false)
}

fn split_at_percent(body: &[u8], percent: u8) -> (&[u8], &[u8]) {
    body.split_at(body.len() * usize::from(percent) / 100)
}

async fn drip(stream: &mut TcpStream, body: &[u8]) -> io::Result<bool> {
    let mut ignored = [0; 1024];
    let pieces = PATIENCE.as_millis().div_ceil(DRIP_PAUSE.as_millis()) as usize;
    for piece in body.chunks(DRIP_BYTES).take(pieces) {
        stream.write_all(piece).await?;
        // The log is to show the end of a request when the client has given up, not a pause later.
        let left = stream.read(&mut ignored);
        if let Ok(Ok(0) | Err(_)) = tokio::time::timeout(DRIP_PAUSE, left).await {
            break;
        }
    }
    Ok(false)
}

/// Comment lines without end, nearly.
async fn flood(stream: &mut TcpStream, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let mut piece = b"# nothing to see here, only a line among many others of its kind\n"
        .repeat(FLOOD_PIECE / 64);
    piece.truncate(FLOOD_PIECE);
    let mut left = bytes;
    while left > 0 {
        let now = left.min(piece.len() as u64);
        stream.write_all(&piece[..now as usize]).await?;
        left -= now;
    }
    Ok(())
}

/// Head and body in one system call, if the socket has room.
async fn write_both(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let mut parts = [IoSlice::new(head), IoSlice::new(body)];
    let mut left: &mut [IoSlice] = &mut parts;
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        let written = stream.write_vectored(left).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        IoSlice::advance_slices(&mut left, written);
    }
    Ok(())
}
