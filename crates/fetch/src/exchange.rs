//! One request and its response over a connection, under one timer.
//!
//! The timer is set once per request and looked at only when it fires: a response that arrives in
//! time costs one entry in the timer wheel, however many limits there are on time.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body_util::Empty;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{HeaderMap, TRANSFER_ENCODING};
use tokio::time::Sleep;

use super::chunks::chunked_len;
use super::connect::Connection;
use super::failure::{FailureKind, FetchFailure, FetchStage, io_cause};
use super::head::{self, Found, HeadBytes};
use super::large::{LargeBodies, Room, SMALL_BYTES_MAX, Wish};
use super::pace::Shared;
use super::response::{Oddity, Response, Truncation};
use super::tee::{Copied, Tee};
use super::{FetchLimits, HeadScreen};

/// A Content-Length is a promise: addresses are set aside for no more than this of it, and memory
/// only as bytes come.
const RESERVE_BYTES_MAX: usize = 1 << 20;

/// Interim heads count like the final one: together they have room for so many of the largest.
pub(super) const HEADS_MAX: usize = 2;
/// What frames a body may take so many times as much as the body, up to this much of it: chunks of
/// three bytes, which nobody sends for a reason, are just within it.
const FRAMING_TIMES_MAX: usize = 2;
const FRAMING_TIMES_BYTES: usize = 1 << 20;
/// The same for what is beyond that, as a part of it: chunks of twelve bytes. It is held as long as
/// the body.
const FRAMING_PART: usize = 2;
/// The same beyond a body that is small enough to wait for room with others: chunks of 48 bytes.
const FRAMING_PART_OF_LARGE: usize = 8;
/// And this much besides.
const FRAMING_BYTES: usize = 64 << 10;
/// A large body waits so long for room that others hold.
pub(super) const ROOM_WAIT_MAX: Duration = Duration::from_secs(30);

/// Sends the request and reads the response to its end, or to the first limit.
pub(super) async fn exchange(
    connection: &mut Connection,
    request: hyper::Request<Empty<Bytes>>,
    (limits, screen): (&FetchLimits, Option<&HeadScreen>),
    shared: &Shared,
    started: Instant,
) -> Result<Response, FetchFailure> {
    connection.tee.begin(HEADS_MAX * limits.header_bytes_max);
    let was_used = std::mem::replace(&mut connection.is_used, true);
    connection.tee.lock().expects_silence = was_used;
    let mut watch = Watch::new(limits, started, Instant::now());
    let mut timer = pin!(tokio::time::sleep_until(watch.next.into()));

    let mut answer = pin!(connection.send(request));
    let answered = poll_fn(|cx| {
        connection.drive(cx);
        if let Poll::Ready(answered) = answer.as_mut().poll(cx) {
            return Poll::Ready(answered.map_err(|error| FetchFailure::of_exchange(&error)));
        }
        if connection.tee.is_full() {
            let detail = "the heads before the body are too long";
            return Poll::Ready(Err(FetchFailure::new(FailureKind::HeaderTooBig, detail)));
        }
        watch.poll(timer.as_mut(), || connection.tee.received(), cx).map(|late| Err(late.failure()))
    });
    let body = match answered.await {
        Ok(response) => reading(response, &connection.tee, (limits, screen)),
        Err(failure) => {
            let failure = with_copied(failure, connection, started);
            return Err(if was_used { failure } else { unasked(failure) });
        }
    };
    let (read, room) = read_with_room(connection, body, (limits, shared), &mut watch, timer).await;
    let copied = connection.tee.take();
    shared.came(copied.received.len(), read.body_len);
    finish(copied, read, limits, started)
        .map_err(|failure| FetchFailure { address: Some(connection.about.address), ..failure })
        .map(|response| Response {
            address: Some(connection.about.address),
            _room: room.map(Arc::new),
            ..response
        })
}

/// Reads the body, and takes room for it as it grows: twice as much at each step.
async fn read_with_room(
    connection: &mut Connection,
    mut body: Reading,
    (limits, shared): (&FetchLimits, &Shared),
    watch: &mut Watch<'_>,
    mut timer: Pin<&mut Sleep>,
) -> (Reading, Option<Room>) {
    let mut room = None;
    let mut allowed = limits.body_bytes_max.min(shared.first_piece());
    if body.truncated.is_some() {
        return (body, None);
    }
    loop {
        read_body(connection, (&mut body, room.as_ref()), allowed, watch, timer.as_mut()).await;
        let is_over = body.truncated != Some(Truncation::Length);
        if is_over || allowed >= limits.body_bytes_max {
            return (body, room);
        }
        let more = shared.next_piece(allowed).min(limits.body_bytes_max - allowed);
        if allowed + more > LargeBodies::FREE_BYTES {
            let large = || shared.large.room(connection.about.address);
            let room = room.get_or_insert_with(large);
            let until = watch.total_until.min(Instant::now() + ROOM_WAIT_MAX);
            let wish = body.wish(connection.tee.received(), (allowed, more), limits);
            if !room.grow(wish, until).await {
                body.truncated = Some(Truncation::NoRoom);
                return (body, None);
            }
        }
        shared.wait_for(more, watch.total_until).await;
        watch.restart_window();
        if let Some(room) = &mut room {
            room.restart();
            watch.look_by(room.until, timer.as_mut());
        }
        allowed += more;
    }
}

/// Bytes that may frame a body of so many bytes.
pub(super) fn framing_bytes_max(body_bytes_max: usize) -> usize {
    let beginning = body_bytes_max.min(FRAMING_TIMES_BYTES);
    let small = body_bytes_max.min(SMALL_BYTES_MAX) - beginning;
    let rest = body_bytes_max - beginning - small;
    let framing = small / FRAMING_PART + rest / FRAMING_PART_OF_LARGE;
    FRAMING_TIMES_MAX * beginning + framing + FRAMING_BYTES
}

/// A body on its way in.
struct Reading {
    found: Option<Found>,
    status: u16,
    incoming: Incoming,
    body_len: usize,
    /// Its Content-Length.
    promised: Option<u64>,
    is_chunked: bool,
    truncated: Option<Truncation>,
    /// What came beyond the bytes that were allowed so far.
    beyond: Bytes,
}

impl Reading {
    /// Bytes on the wire that a body of so many bytes may take, its head included.
    fn wire_bytes_max(&self, body_bytes_max: usize) -> usize {
        let framing = match self.is_chunked {
            true => framing_bytes_max(body_bytes_max),
            // One more tells a body that just fits from one that does not.
            false => 1,
        };
        self.found.map_or(0, |found| found.end) + body_bytes_max + framing
    }

    /// The room that it needs for so much more of its body than was allowed so far. Framing is
    /// counted when it has come.
    fn wish(&self, received: usize, (allowed, more): (usize, usize), limits: &FetchLimits) -> Wish {
        let promised = self.promised.and_then(|bytes| usize::try_from(bytes).ok());
        let body = promised.unwrap_or(usize::MAX).min(limits.body_bytes_max);
        let next = received + more.min(body.saturating_sub(allowed));
        let whole = match self.is_chunked {
            true => self.wire_bytes_max(body),
            false => received + body.saturating_sub(allowed),
        };
        Wish { next, whole: whole.max(next) }
    }

    /// Takes in a piece of the body; false once the limit is passed.
    fn keep(&mut self, data: Bytes, bytes_max: usize) -> bool {
        let kept = data.len().min(bytes_max - self.body_len);
        self.body_len += kept;
        self.beyond = data.slice(kept..);
        self.beyond.is_empty()
    }
}

fn reading(
    response: hyper::Response<Incoming>,
    tee: &Tee,
    (limits, screen): (&FetchLimits, Option<&HeadScreen>),
) -> Reading {
    let status = response.status().as_u16();
    let names_chunks = names_chunks(response.headers());
    let incoming = response.into_body();
    let length = incoming.size_hint().exact();
    // An answer that has no body, as 204, has no chunks either.
    let is_chunked = names_chunks && length.is_none();
    let body_len =
        usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX).min(limits.body_bytes_max);
    let mut copied = tee.lock();
    let found = head::find(&copied.received);
    let is_wanted = |found: Found, screen: &HeadScreen| {
        screen.wants(HeadBytes::new(&copied.received[found.start..found.end]))
    };
    let unwanted = found.zip(screen).is_some_and(|(found, screen)| !is_wanted(found, screen));
    if let Some(found) = found.filter(|_| !unwanted) {
        let arrived = copied.received.len() - found.end;
        let missing = body_len.saturating_sub(arrived).min(RESERVE_BYTES_MAX);
        copied.received.reserve_exact(missing);
    }
    Reading {
        found,
        status,
        incoming,
        body_len: 0,
        promised: length,
        is_chunked,
        truncated: unwanted.then_some(Truncation::Unwanted),
        beyond: Bytes::new(),
    }
}

/// As hyper has it: chunks are the last coding, or there are none.
fn names_chunks(headers: &HeaderMap) -> bool {
    let last = headers.get_all(TRANSFER_ENCODING).into_iter().next_back();
    let coding = last.and_then(|line| line.to_str().ok()?.rsplit(',').next());
    coding.is_some_and(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
}

async fn read_body(
    connection: &mut Connection,
    (reading, room): (&mut Reading, Option<&Room>),
    bytes_max: usize,
    watch: &mut Watch<'_>,
    mut timer: Pin<&mut Sleep>,
) {
    let held_back = std::mem::take(&mut reading.beyond);
    if !reading.keep(held_back, bytes_max) {
        reading.truncated = Some(Truncation::Length);
        return;
    }
    connection.tee.allow(reading.wire_bytes_max(bytes_max));
    reading.truncated = poll_fn(|cx| {
        loop {
            connection.drive(cx);
            match Pin::new(&mut reading.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    if !reading.keep(data, bytes_max) {
                        return Poll::Ready(Some(Truncation::Length));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(why_cut(&error))),
                Poll::Ready(None) => {
                    // Once more, so that it learns the message is over and can be idle.
                    connection.drive(cx);
                    return Poll::Ready(None);
                }
                // Framing has taken more than the body: room for more body would not help.
                Poll::Pending if connection.tee.is_full() => {
                    return Poll::Ready(Some(Truncation::Malformed));
                }
                Poll::Pending if room.is_some_and(Room::is_called_back) => {
                    return Poll::Ready(Some(Truncation::NoRoom));
                }
                Poll::Pending => {
                    let late = watch.poll(timer.as_mut(), || connection.tee.received(), cx);
                    return late.map(|late| Some(late.truncation()));
                }
            }
        }
    })
    .await;
}

/// hyper says what is wrong with chunks in the kind of an IO error.
fn why_cut(error: &hyper::Error) -> Truncation {
    match io_cause(error).map(io::Error::kind) {
        Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => Truncation::Malformed,
        _ => Truncation::Disconnect,
    }
}

/// Cuts the copied bytes to the message they hold.
fn finish(
    copied: Copied,
    read: Reading,
    limits: &FetchLimits,
    started: Instant,
) -> Result<Response, FetchFailure> {
    let Copied { sent, received: mut raw, first_byte_at, unclean_close, .. } = copied;
    let took = started.elapsed();
    let Some(found) = read.found else {
        let detail = "head without an end";
        return Err(FetchFailure {
            raw,
            raw_request: sent,
            took,
            ..FetchFailure::new(FailureKind::BadHttp, detail)
        });
    };
    let mut oddities = Vec::new();
    if found.interim > 0 {
        oddities.push(Oddity::Interim);
    }
    if unclean_close {
        oddities.push(Oddity::UncleanClose);
    }
    let head_len = found.end - found.start;
    raw.drain(..found.start);
    let message_len = head_len + body_wire_len(&raw[head_len..], &read);
    if raw.len() > message_len {
        raw.truncate(message_len);
        if read.truncated.is_none() {
            oddities.push(Oddity::BytesAfterEnd);
        }
    }
    if raw.capacity() > 2 * raw.len() {
        // It may be held for a while, and many others with it.
        raw.shrink_to_fit();
    }
    Ok(Response {
        status: read.status,
        is_http2: false,
        raw_request: sent,
        raw,
        head_len,
        truncated: read.truncated,
        address: None,
        first_byte: first_byte_at.map_or(took, |at| at.saturating_duration_since(started)),
        took,
        oddities,
        media_type: None,
        payload_len: read.body_len,
        is_chunked: read.is_chunked,
        _room: None,
        limits: limits.clone(),
    })
}

/// Bytes behind the head that belong to the message.
fn body_wire_len(behind_head: &[u8], read: &Reading) -> usize {
    match read.is_chunked {
        _ if read.truncated == Some(Truncation::Unwanted) => 0,
        false => read.body_len.min(behind_head.len()),
        true if read.truncated.is_some() => behind_head.len(),
        true => chunked_len(behind_head).unwrap_or(behind_head.len()),
    }
}

fn with_copied(failure: FetchFailure, connection: &Connection, started: Instant) -> FetchFailure {
    let copied = connection.tee.take();
    FetchFailure {
        raw_request: copied.sent,
        raw: copied.received,
        address: Some(connection.about.address),
        took: started.elapsed(),
        ..failure
    }
}

/// A server of another protocol may speak first; hyper then never sends the request.
fn unasked(failure: FetchFailure) -> FetchFailure {
    let spoke_first = failure.raw_request.is_empty() && !failure.raw.is_empty();
    match failure.kind {
        FailureKind::Closed if spoke_first => FetchFailure {
            kind: FailureKind::BadHttp,
            detail: "spoke before it was asked".into(),
            ..failure
        },
        _ => failure,
    }
}

/// The limits on time of one exchange.
pub(super) struct Watch<'a> {
    limits: &'a FetchLimits,
    first_byte_until: Instant,
    pub(super) total_until: Instant,
    /// Bytes that had arrived when the current window began.
    window_received: usize,
    window_until: Instant,
    /// When to look again.
    pub(super) next: Instant,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Late {
    FirstByte,
    Total,
    Slow,
}

impl Late {
    pub(super) fn failure(self) -> FetchFailure {
        match self {
            Late::FirstByte => {
                FetchFailure::new(FailureKind::Timeout(FetchStage::FirstByte), "no answer in time")
            }
            Late::Total => {
                FetchFailure::new(FailureKind::Timeout(FetchStage::Head), "no whole head in time")
            }
            Late::Slow => FetchFailure::new(FailureKind::Slow, "the head came too slowly"),
        }
    }

    pub(super) fn truncation(self) -> Truncation {
        match self {
            Late::FirstByte | Late::Total => Truncation::Time,
            Late::Slow => Truncation::Slow,
        }
    }
}

impl Watch<'_> {
    pub(super) fn new(limits: &FetchLimits, started: Instant, now: Instant) -> Watch<'_> {
        let first_byte_until = now + limits.first_byte_time_max;
        let total_until = started + limits.total_time_max;
        let window_until = now + limits.slow_window;
        let next = first_byte_until.min(total_until).min(window_until);
        Watch { limits, first_byte_until, total_until, window_received: 0, window_until, next }
    }

    /// We did not listen for a while: what did not come then is not held against the server.
    pub(super) fn restart_window(&mut self) {
        self.window_received = 0;
        self.window_until = Instant::now() + self.limits.slow_window;
    }

    /// Wakes the exchange then, whatever comes.
    pub(super) fn look_by(&mut self, at: Instant, timer: Pin<&mut Sleep>) {
        self.next = self.next.min(at);
        timer.reset(self.next.into());
    }

    /// `received` tells how many bytes of the answer there are.
    pub(super) fn poll(
        &mut self,
        mut timer: Pin<&mut Sleep>,
        received: impl Fn() -> usize,
        cx: &mut Context<'_>,
    ) -> Poll<Late> {
        while timer.as_mut().poll(cx).is_ready() {
            if let Some(late) = self.look(received(), Instant::now()) {
                return Poll::Ready(late);
            }
            timer.as_mut().reset(self.next.into());
        }
        Poll::Pending
    }

    /// What is late now, if anything; if nothing is, `next` is when to look again.
    fn look(&mut self, received: usize, now: Instant) -> Option<Late> {
        if now >= self.total_until {
            return Some(Late::Total);
        }
        if received == 0 {
            if now >= self.first_byte_until {
                return Some(Late::FirstByte);
            }
            self.next = self.first_byte_until.min(self.total_until);
            return None;
        }
        if now >= self.window_until {
            // The first bytes may have come at the very end of a window: only a window that began
            // with bytes is judged.
            let fresh = (received - self.window_received) as u64;
            if self.window_received > 0 && fresh < self.bytes_per_window_min() {
                return Some(Late::Slow);
            }
            self.window_received = received;
            self.window_until = now + self.limits.slow_window;
        }
        self.next = self.window_until.min(self.total_until);
        None
    }

    fn bytes_per_window_min(&self) -> u64 {
        let window: Duration = self.limits.slow_window;
        (self.limits.slow_bytes_per_s_min as f64 * window.as_secs_f64()) as u64
    }
}
