//! HTTP/2, for servers that speak nothing else: one request at a time on a connection of our own.
//!
//! What is kept is the message as HTTP/1.1 would have had it (docs/decisions/0039-http2.md): frames
//! are no text that an archive could hold. All limits are those of `exchange`. A window of
//! flow control bounds what is here unread, and a meter under the frames bounds what may come
//! besides a message: a server that sends settings and pings for ever ends like one whose chunks
//! never carry anything.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use h2::client::{Builder, Connection, SendRequest};
use h2::{Reason, RecvStream};
use hyper::body::Bytes;
use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap};
use hyper::{Request, StatusCode, Uri, Version};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::connect::About;
use super::exchange::{HEADS_MAX, Late, ROOM_WAIT_MAX, Watch, framing_bytes_max};
use super::failure::{FailureKind, FetchFailure, TlsFault};
use super::head::HeadBytes;
use super::large::{LargeBodies, Room, Wish};
use super::pace::Shared;
use super::response::{Response, Truncation};
use super::tee::Wire;
use super::{FetchLimits, HeadScreen};

/// What a server may send ahead of our reading.
const WINDOW_BYTES: u32 = 256 << 10;
/// A head that is over our limit is seen to be, up to so many times as much; beyond that the
/// connection fails.
const HEAD_TIMES_MAX: usize = 4;
/// What settings, pings and the like may take besides a message.
const CONTROL_BYTES_MAX: usize = 64 << 10;

/// Bytes that came over the wire, and how many may.
#[derive(Default)]
struct Meter {
    received: AtomicUsize,
    received_max: AtomicUsize,
    is_full: AtomicBool,
}

struct Metered {
    wire: Wire,
    meter: Arc<Meter>,
}

pub(super) struct Http2 {
    pub about: About,
    meter: Arc<Meter>,
    sender: SendRequest<Bytes>,
    /// `None` once it has ended.
    driver: Option<Connection<Metered, Bytes>>,
}

/// Begins to speak; what the server says first is read with the first answer.
pub(super) async fn speak(
    wire: Wire,
    about: About,
    limits: &FetchLimits,
) -> Result<Http2, FetchFailure> {
    let meter = Arc::new(Meter::default());
    meter.begin(CONTROL_BYTES_MAX);
    let stream = Metered { wire, meter: Arc::clone(&meter) };
    let head_bytes_max = limits.header_bytes_max.saturating_mul(HEAD_TIMES_MAX);
    let (sender, driver) = Builder::new()
        .enable_push(false)
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_header_list_size(u32::try_from(head_bytes_max).unwrap_or(u32::MAX))
        .handshake(stream)
        .await
        .map_err(|error| failure_of(&error))?;
    Ok(Http2 { about, meter, sender, driver: Some(driver) })
}

impl Http2 {
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(cx).is_ready()
        {
            self.driver = None;
        }
    }

    /// A connection that rested has not been read from meanwhile.
    pub async fn is_still_open(&mut self) -> bool {
        self.meter.begin(CONTROL_BYTES_MAX);
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(())
        })
        .await;
        self.is_idle()
    }

    pub fn is_idle(&self) -> bool {
        self.driver.is_some() && !self.meter.is_full()
    }
}

/// Sends the request and reads the response to its end, or to the first limit.
pub(super) async fn exchange(
    connection: &mut Http2,
    (url, message): (&Uri, hyper::Request<()>),
    (limits, screen): (&FetchLimits, Option<&HeadScreen>),
    shared: &Shared,
    started: Instant,
) -> Result<Response, FetchFailure> {
    let heads = HEADS_MAX * limits.header_bytes_max;
    connection.meter.begin(heads + CONTROL_BYTES_MAX);
    let mut watch = Watch::new(limits, started, Instant::now());
    let mut timer = pin!(tokio::time::sleep_until(watch.next.into()));
    let request = head_of_request(&message);
    let outcome = async {
        let (status, headers, body) =
            answer(connection, (url, message), &mut watch, timer.as_mut()).await?;
        let head = head_of_response(status, &headers, limits)?;
        let promised = promised(&headers);
        let head_len = head.len();
        let reading = Reading { raw: head, head_len, promised, room: None, truncated: None };
        let first_byte = started.elapsed();
        if screen.is_some_and(|screen| !screen.wants(HeadBytes::new(&reading.raw))) {
            let truncated = Some(Truncation::Unwanted);
            return Ok((status, first_byte, Reading { truncated, ..reading }));
        }
        let read = reading.read(connection, body, (limits, shared), &mut watch, timer).await;
        shared.came(read.raw.len(), read.raw.len() - read.head_len);
        Ok::<_, FetchFailure>((status, first_byte, read))
    };
    let (status, first_byte, read) = outcome.await.map_err(|failure: FetchFailure| {
        let was_sent =
            !matches!(failure.kind, FailureKind::Closed) || connection.meter.received() > 0;
        let raw_request = if was_sent { request.clone() } else { Vec::new() };
        let address = Some(connection.about.address);
        FetchFailure { raw_request, address, took: started.elapsed(), ..failure }
    })?;
    Ok(Response {
        status: status.as_u16(),
        is_http2: true,
        raw_request: request,
        payload_len: read.raw.len() - read.head_len,
        raw: read.raw,
        head_len: read.head_len,
        truncated: read.truncated,
        media_type: None,
        address: Some(connection.about.address),
        first_byte,
        took: started.elapsed(),
        oddities: Vec::new(),
        is_chunked: false,
        _room: read.room.map(Arc::new),
        limits: limits.clone(),
    })
}

/// Waits for the head of the answer.
async fn answer(
    connection: &mut Http2,
    (url, mut message): (&Uri, hyper::Request<()>),
    watch: &mut Watch<'_>,
    mut timer: Pin<&mut Sleep>,
) -> Result<(StatusCode, HeaderMap, RecvStream), FetchFailure> {
    // Host is said by the URL, and a header besides it would be another word on the same.
    message.headers_mut().remove(HOST);
    *message.uri_mut() = url.clone();
    *message.version_mut() = Version::HTTP_2;
    poll_fn(|cx| {
        connection.drive(cx);
        match connection.sender.poll_ready(cx) {
            Poll::Pending if connection.driver.is_none() => {
                Poll::Ready(Err(FetchFailure::new(FailureKind::Closed, "the connection has ended")))
            }
            ready => ready.map_err(|error| failure_of(&error)),
        }
    })
    .await?;
    let sent = connection.sender.send_request(message, true);
    let (answered, _) = sent.map_err(|error| failure_of(&error))?;
    let mut answered = pin!(answered);
    let response = poll_fn(|cx| {
        connection.drive(cx);
        if let Poll::Ready(answered) = answered.as_mut().poll(cx) {
            return Poll::Ready(answered.map_err(|error| failure_of(&error)));
        }
        if connection.meter.is_full() {
            let detail = "too much came before the head was whole";
            return Poll::Ready(Err(FetchFailure::new(FailureKind::HeaderTooBig, detail)));
        }
        // Settings that come at once are no beginning of an answer.
        watch.poll(timer.as_mut(), || 0, cx).map(|late| Err(late.failure()))
    })
    .await?;
    let (head, body) = response.into_parts();
    Ok((head.status, head.headers, body))
}

/// A body on its way in, behind its head.
struct Reading {
    raw: Vec<u8>,
    head_len: usize,
    /// Its Content-Length, if it has a good one.
    promised: Option<usize>,
    room: Option<Room>,
    truncated: Option<Truncation>,
}

enum Next {
    Data(Bytes),
    End,
    Cut(Truncation),
}

impl Reading {
    async fn read(
        mut self,
        connection: &mut Http2,
        mut body: RecvStream,
        (limits, shared): (&FetchLimits, &Shared),
        watch: &mut Watch<'_>,
        mut timer: Pin<&mut Sleep>,
    ) -> Reading {
        let mut allowed = limits.body_bytes_max.min(shared.first_piece());
        connection.meter.allow(wire_bytes_max(limits, allowed));
        loop {
            let received = self.raw.len();
            let from = (&mut body, self.room.as_ref());
            let next = next(connection, from, received, watch, timer.as_mut()).await;
            let data = match next {
                Next::Data(data) => data,
                Next::End => return self,
                Next::Cut(why) => return Reading { truncated: Some(why), ..self },
            };
            let wanted = self.raw.len() - self.head_len + data.len();
            while wanted > allowed && allowed < limits.body_bytes_max {
                let piece = shared.next_piece(allowed);
                let more = piece.min(limits.body_bytes_max - allowed);
                if allowed + more > LargeBodies::FREE_BYTES {
                    let large = || shared.large.room(connection.about.address);
                    let room = self.room.get_or_insert_with(large);
                    let until = watch.total_until.min(Instant::now() + ROOM_WAIT_MAX);
                    let whole = self.promised.unwrap_or(usize::MAX).min(limits.body_bytes_max);
                    let next = self.head_len + allowed + more.min(whole.saturating_sub(allowed));
                    let wish = Wish { next, whole: next.max(self.head_len + whole) };
                    if !room.grow(wish, until).await {
                        return Reading { truncated: Some(Truncation::NoRoom), room: None, ..self };
                    }
                }
                shared.wait_for(more, watch.total_until).await;
                watch.restart_window();
                if let Some(room) = &mut self.room {
                    room.restart();
                    watch.look_by(room.until, timer.as_mut());
                }
                allowed += more;
                connection.meter.allow(wire_bytes_max(limits, allowed));
            }
            let kept = data.len().min(allowed - (self.raw.len() - self.head_len));
            self.raw.extend_from_slice(&data[..kept]);
            if kept < data.len() {
                return Reading { truncated: Some(Truncation::Length), ..self };
            }
            // An error says that the stream is over, which the next look finds.
            let _ = body.flow_control().release_capacity(data.len());
        }
    }
}

async fn next(
    connection: &mut Http2,
    (body, room): (&mut RecvStream, Option<&Room>),
    received: usize,
    watch: &mut Watch<'_>,
    mut timer: Pin<&mut Sleep>,
) -> Next {
    poll_fn(|cx| {
        connection.drive(cx);
        match body.poll_data(cx) {
            Poll::Ready(Some(Ok(data))) => return Poll::Ready(Next::Data(data)),
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Next::Cut(why_cut(&error))),
            Poll::Ready(None) => {
                // Once more, so that what we owe the server is sent before the connection rests.
                connection.drive(cx);
                return Poll::Ready(Next::End);
            }
            Poll::Pending if connection.meter.is_full() => {
                return Poll::Ready(Next::Cut(Truncation::Malformed));
            }
            Poll::Pending if room.is_some_and(Room::is_called_back) => {
                return Poll::Ready(Next::Cut(Truncation::NoRoom));
            }
            Poll::Pending => {}
        }
        let late: Poll<Late> = watch.poll(timer.as_mut(), || received, cx);
        late.map(|late| Next::Cut(late.truncation()))
    })
    .await
}

fn promised(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Bytes on the wire that a message with so long a body may take.
fn wire_bytes_max(limits: &FetchLimits, body_bytes_max: usize) -> usize {
    let head = HEADS_MAX * limits.header_bytes_max;
    head + CONTROL_BYTES_MAX + body_bytes_max + framing_bytes_max(body_bytes_max)
}

fn why_cut(error: &h2::Error) -> Truncation {
    match error.reason() {
        _ if error.is_io() => Truncation::Disconnect,
        Some(Reason::PROTOCOL_ERROR | Reason::FLOW_CONTROL_ERROR | Reason::FRAME_SIZE_ERROR) => {
            Truncation::Malformed
        }
        _ => Truncation::Disconnect,
    }
}

fn failure_of(error: &h2::Error) -> FetchFailure {
    let kind = match error.get_io() {
        Some(io) if io.kind() == io::ErrorKind::InvalidData => FailureKind::Tls(TlsFault::of(io)),
        Some(_) => FailureKind::Closed,
        None if error.is_remote() => FailureKind::Closed,
        None => FailureKind::BadHttp,
    };
    FetchFailure::new(kind, format!("HTTP/2: {error}"))
}

/// The request as HTTP/1.1 has it.
fn head_of_request(message: &Request<()>) -> Vec<u8> {
    let target = message.uri().path_and_query().map_or("/", |target| target.as_str());
    let mut head = format!("{} {target} HTTP/1.1\r\n", message.method()).into_bytes();
    write_headers(&mut head, message.headers());
    head
}

fn head_of_response(
    status: StatusCode,
    headers: &HeaderMap,
    limits: &FetchLimits,
) -> Result<Vec<u8>, FetchFailure> {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    write_headers(&mut head, headers);
    if head.len() > limits.header_bytes_max || headers.len() > limits.headers_max {
        return Err(FetchFailure::new(FailureKind::HeaderTooBig, "the head is too long"));
    }
    Ok(head)
}

fn write_headers(head: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
}

impl Meter {
    fn begin(&self, received_max: usize) {
        self.received.store(0, Ordering::Relaxed);
        self.allow(received_max);
    }

    fn allow(&self, received_max: usize) {
        self.received_max.store(received_max, Ordering::Relaxed);
        self.is_full.store(false, Ordering::Relaxed);
    }

    fn received(&self) -> usize {
        self.received.load(Ordering::Relaxed)
    }

    fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.meter.received() >= self.meter.received_max.load(Ordering::Relaxed) {
            // Nothing will call again: the exchange sees the mark, and makes room or gives up.
            self.meter.is_full.store(true, Ordering::Relaxed);
            return Poll::Pending;
        }
        let before = buf.filled().len();
        ready!(self.wire.poll_read(cx, buf))?;
        self.meter.received.fetch_add(buf.filled().len() - before, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wire.poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.poll_shutdown(cx)
    }
}
