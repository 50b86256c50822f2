//! What came back: the bytes as they were, and ways to read them.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::chunks::chunk_data;
use super::decode::{self, DecodedBody};
use super::head::HeadBytes;
use super::large::Room;
use super::{FetchLimits, Validators};

/// A response whose head is whole. Its body may be cut (`truncated`), for a stated reason.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    /// It came over HTTP/2: request and response are what they would have been in HTTP/1.1.
    pub is_http2: bool,
    /// The bytes sent, but for the values of what was meant for the site alone.
    pub raw_request: Vec<u8>,
    /// The bytes received, exactly: final head, then the body with its transfer coding. Interim
    /// heads before it are left out, and so is what a server sends after the end.
    pub raw: Vec<u8>,
    pub head_len: usize,
    pub truncated: Option<Truncation>,
    /// What a scheme without heads says of the body; the head that stands for it is ours.
    pub media_type: Option<&'static str>,
    /// `None` when no network was involved.
    pub address: Option<IpAddr>,
    /// From the start of the fetch to the first byte, and to the last.
    pub first_byte: Duration,
    pub took: Duration,
    pub oddities: Vec<Oddity>,
    /// Bytes of the body without transfer coding.
    pub(super) payload_len: usize,
    /// Whether the bytes after the head are chunks.
    pub(super) is_chunked: bool,
    /// Held as long as the bytes are.
    pub(super) _room: Option<Arc<Room>>,
    pub(super) limits: FetchLimits,
}

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncation {
    /// Beyond `body_bytes_max`.
    Length,
    /// Beyond `total_time_max`.
    Time,
    /// Below `slow_bytes_per_s_min`.
    Slow,
    /// The server went away.
    Disconnect,
    /// The chunks made no sense from some point on.
    Malformed,
    /// Its head says that it is not wanted: none of it was read.
    Unwanted,
    /// Other large bodies held all room that there is: not the server's fault.
    NoRoom,
}

impl Truncation {
    /// The reason as WARC-Truncated knows it.
    pub fn warc_reason(self) -> &'static str {
        match self {
            Truncation::Length => "length",
            Truncation::Time | Truncation::Slow => "time",
            Truncation::Disconnect => "disconnect",
            Truncation::Malformed | Truncation::NoRoom | Truncation::Unwanted => "unspecified",
        }
    }
}

/// What a server did against the rules and we took all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oddity {
    /// Interim responses (1xx) came before the final one: allowed, but rare.
    Interim,
    /// TLS was cut instead of closed.
    UncleanClose,
    /// Bytes came after the end of the message.
    BytesAfterEnd,
    /// Nobody verified the certificate: the owner said so.
    Unverified,
}

impl Response {
    pub fn head(&self) -> HeadBytes<'_> {
        HeadBytes::new(&self.raw[..self.head_len])
    }

    /// The body without transfer coding, still content-coded: what payload digests are made of.
    /// Made anew each time if the body came in chunks.
    pub fn payload(&self) -> Cow<'_, [u8]> {
        let behind_head = &self.raw[self.head_len..];
        match self.is_chunked {
            true => Cow::Owned(chunk_data(behind_head, self.payload_len)),
            false => Cow::Borrowed(behind_head),
        }
    }

    /// The length of that.
    pub fn payload_len(&self) -> usize {
        self.payload_len
    }

    /// The body as meant, content codings undone under the limits of the request. This is the CPU
    /// work of a fetch and borrows when there is nothing to undo: call it once, off the network.
    pub fn decoded(&self) -> DecodedBody<'_> {
        self.decoded_within(&self.limits)
    }

    /// The first bytes of that, without undoing all of it.
    pub fn decoded_start(&self, bytes_max: usize) -> DecodedBody<'_> {
        let limits = FetchLimits { decoded_bytes_max: bytes_max, ..self.limits.clone() };
        self.decoded_within(&limits)
    }

    fn decoded_within(&self, limits: &FetchLimits) -> DecodedBody<'_> {
        let codings = self.head().content_encoding();
        match self.payload() {
            Cow::Borrowed(payload) => decode::decode(payload, &codings, limits),
            Cow::Owned(payload) => {
                let DecodedBody { bytes, note } = decode::decode(&payload, &codings, limits);
                let decoded = match bytes {
                    Cow::Owned(bytes) => Some(bytes),
                    Cow::Borrowed(_) => None,
                };
                // Nothing to undo: the payload is what was meant.
                DecodedBody { bytes: Cow::Owned(decoded.unwrap_or(payload)), note }
            }
        }
    }

    /// What to send along next time.
    pub fn validators(&self) -> Validators {
        let head = self.head();
        Validators {
            etag: head.etag().map(<[u8]>::to_vec),
            last_modified: head.last_modified().map(<[u8]>::to_vec),
        }
    }
}
