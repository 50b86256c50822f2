//! Packing: from a capture to the gzip members of its WARC records, one member a record. Pure and
//! all of the CPU work, so that fetch workers do it in parallel and appending is only writing.
//!
//! A capture becomes a `response` (or `revisit`, or for schemes without HTTP a `resource`) record,
//! then its `request`, then `metadata` if there is something to note. Bytes are kept as received:
//! transfer- and content-codings stay on.
//!
//! *Payload digests of chunked bodies.* The standard takes the payload without its
//! transfer-coding; warcio, cdxj-indexer, pywb and most writers take the bytes as they stand after
//! the head, and `warcio check` refuses anything else. A digest is of use only where tools agree
//! on it (pywb finds a revisit's original by it), so `WARC-Payload-Digest` is over the bytes as
//! they stand, and for a chunked body the standard's value is noted in the metadata record as
//! `entityDigest`. Our own duplicate detection relies on neither.
//!
//! A record's identifier is a function of its kind, URL and time: packing twice gives the same
//! bytes, and a revisit can name its original's identifier without having read it.

use std::fmt::{self, Write as _};
use std::net::IpAddr;

use rhumb_page::url::{Scheme, Url};
use sha1::{Digest, Sha1};

use crate::cdxj;
use crate::date::{timestamp_of, warc_date};
use crate::digest::Sha1Digest;
use crate::gzip::{Gzip, LEVEL_DEFAULT};
use crate::http::{head_len, header, is_chunked, media_type, status};

/// Longest block kept of a record; what is beyond is cut, and said so. Far above what fetching
/// allows, it keeps lengths in 32 bits and readers within a known memory.
pub const BLOCK_BYTES_MAX: usize = 1 << 30;

/// Records up to this size are stored as they are in their member. A request is hardly anything but
/// its own digests and identifiers, and to find codes for it takes longer than all the rest.
const STORED_BYTES_MAX: usize = 1_024;

/// Room for a record that is kept from one to the next; what a larger one took is given back.
const KEPT_BYTES_MAX: usize = 1 << 20;
/// A longer block is compressed where it is: to put it behind its headers first would hold it
/// twice.
const PIECES_BYTES_MIN: usize = 4 << 20;

/// Longest value of a noted field.
const NOTE_BYTES_MAX: usize = 4096;

/// What was fetched, borrowed from the worker that holds it.
pub struct Capture<'a> {
    pub url: &'a Url,
    /// When the request was sent, in µs since the Unix epoch.
    pub fetched_us: u64,
    /// The address connected to.
    pub address: Option<IpAddr>,
    /// What was spoken, if it was not what the bytes are written in: `h2`.
    pub protocol: Option<&'static str>,
    /// What it is for, if it is no document by itself: `stylesheet`, `other`.
    pub resource_type: Option<&'static str>,
    pub content: RecordContent<'a>,
    /// Why the response is not whole, if so.
    pub truncated: Option<WarcTruncation>,
    /// Fields of the metadata record, in order: `fetchTimeMs`, `via`, `hopsFromSeed`, `charset`, …
    pub notes: &'a [(&'static str, &'a str)],
}

#[derive(Clone, Copy)]
pub enum RecordContent<'a> {
    /// Raw bytes as sent and as received: status line, headers, body with its codings.
    Http { request: &'a [u8], response: &'a [u8] },
    /// What a scheme without messages gave (`file:`), with its media type.
    Resource { mime: &'a str, bytes: &'a [u8] },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarcTruncation {
    Length,
    Time,
    Disconnect,
    Unspecified,
}

/// The capture whose payload a revisit does not repeat.
pub struct Original<'a> {
    pub url: &'a Url,
    pub fetched_us: u64,
    /// As packing the original gave it: [`Packed::payload_digest`].
    pub payload_digest: Sha1Digest,
}

/// How we know that a payload is the original's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// It was received and is the same.
    IdenticalPayload,
    /// The server answered 304.
    NotModified,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordKind {
    Warcinfo,
    Request,
    Response,
    Resource,
    Revisit,
    Metadata,
}

/// Where a record's member lies within [`Packed::bytes`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedRecord {
    pub kind: RecordKind,
    pub offset: u32,
    pub length: u32,
}

/// Whole gzip members, ready to be appended, and the index line to be.
pub struct Packed {
    pub bytes: Vec<u8>,
    /// In the order they lie; the first is the one indexed.
    pub records: Vec<PackedRecord>,
    pub fetched_us: u64,
    /// What an [`Original`] of this capture is to carry.
    pub payload_digest: Sha1Digest,
    /// The CDXJ line up to where length, offset and file name come; none if nothing is indexed.
    pub(crate) line_opening: Option<String>,
}

/// A compressor and its buffers, kept from capture to capture; one a worker.
pub struct Packer {
    gzip: Gzip,
    plain: Vec<u8>,
    /// Of the capture that is being packed.
    members: Vec<u8>,
}

impl Default for Packer {
    fn default() -> Packer {
        Packer::new(LEVEL_DEFAULT)
    }
}

impl Packer {
    /// Levels are 0 to 12.
    pub fn new(level: i32) -> Packer {
        Packer { gzip: Gzip::new(level), plain: Vec::new(), members: Vec::new() }
    }

    /// Packs a capture with all its bytes.
    pub fn capture(&mut self, capture: &Capture<'_>) -> Packed {
        let (parts, about) = (Parts::of(capture), About::of(capture));
        let [payload_digest, digest] = Sha1Digest::of_both([parts.payload(), parts.block]);
        let id = about.record_id(parts.kind);
        let mut headers = about.headers(parts.kind, &id);
        headers.address(capture.address);
        headers.protocol(capture.protocol);
        headers.resource_type(capture.resource_type);
        headers.add("WARC-Payload-Digest", &payload_digest.to_string());
        if let Some(truncation) = parts.truncated {
            headers.add("WARC-Truncated", truncation.as_str());
        }
        let mut packed = Packed::new(capture, Some(parts.line_opening(&about, payload_digest)));
        packed.payload_digest = payload_digest;
        let block = Block { content_type: &parts.content_type, bytes: parts.block, digest };
        self.record(&mut packed, parts.kind, headers, &block);
        let entity = parts.chunked_payload().and_then(Sha1Digest::of_chunked);
        self.companions(&mut packed, (capture, &about), &id, entity);
        packed.bytes = self.take_members();
        packed
    }

    /// Packs a capture whose payload is kept already: its head alone, and where the payload is. The
    /// head of a 304 is left out, which the standard permits: pywb would replay it in place of the
    /// page that it speaks of.
    pub fn revisit(
        &mut self,
        capture: &Capture<'_>,
        original: &Original<'_>,
        profile: Profile,
    ) -> Packed {
        let (parts, about) = (Parts::of(capture), About::of(capture));
        let first = About::new(original.url, original.fetched_us);
        let id = about.record_id(RecordKind::Revisit);
        let mut headers = about.headers(RecordKind::Revisit, &id);
        headers.address(capture.address);
        headers.protocol(capture.protocol);
        headers.resource_type(capture.resource_type);
        headers.add("WARC-Profile", &profile.to_string());
        headers.add("WARC-Refers-To", &first.record_id(kind_of(original.url)));
        headers.add("WARC-Refers-To-Target-URI", original.url.as_str());
        headers.add("WARC-Refers-To-Date", &first.date);
        headers.add("WARC-Payload-Digest", &original.payload_digest.to_string());
        let line_opening = cdxj::opening(&cdxj::Facts {
            surt: capture.url.surt().as_str(),
            timestamp: &about.timestamp(),
            url: capture.url.as_str(),
            mime: Some(cdxj::REVISIT_MIME.as_bytes()),
            status: parts.status().filter(|_| profile != Profile::NotModified),
            digest: &original.payload_digest.to_string(),
        });
        let mut packed = Packed::new(capture, Some(line_opening));
        packed.payload_digest = original.payload_digest;
        let head = if profile == Profile::NotModified { &[] } else { parts.head() };
        let block = Block::new(&parts.content_type, head);
        self.record(&mut packed, RecordKind::Revisit, headers, &block);
        self.companions(&mut packed, (capture, &about), &id, None);
        packed.bytes = self.take_members();
        packed
    }

    /// Packs what is known of a capture whose body must not be kept: its notes alone, in a record
    /// that is not indexed.
    pub fn without_body(&mut self, capture: &Capture<'_>) -> Packed {
        let about = About::of(capture);
        let mut packed = Packed::new(capture, None);
        let fields = warc_fields(capture.notes, None);
        let kind = RecordKind::Metadata;
        let mut headers = about.headers(kind, &about.record_id(kind));
        headers.address(capture.address);
        headers.protocol(capture.protocol);
        let block = Block::new("application/warc-fields", fields.as_bytes());
        self.record(&mut packed, kind, headers, &block);
        packed.bytes = self.take_members();
        packed
    }

    /// The request and the metadata that belong to the first record.
    fn companions(
        &mut self,
        packed: &mut Packed,
        (capture, about): (&Capture<'_>, &About<'_>),
        first_id: &str,
        entity: Option<Sha1Digest>,
    ) {
        if let RecordContent::Http { request, .. } = capture.content
            && !request.is_empty()
        {
            let kind = RecordKind::Request;
            let mut headers = about.headers(kind, &about.record_id(kind));
            headers.address(capture.address);
            headers.protocol(capture.protocol);
            headers.add("WARC-Concurrent-To", first_id);
            let request = &request[..request.len().min(BLOCK_BYTES_MAX)];
            let block = Block::new("application/http; msgtype=request", request);
            self.record(packed, kind, headers, &block);
        }
        self.metadata(packed, (capture, about), first_id, entity);
    }

    /// Packs a capture's metadata again, with the notes that it has by now.
    pub fn note(&mut self, packed: &mut Packed, capture: &Capture<'_>) {
        let about = About::of(capture);
        let first_id = about.record_id(packed.records[0].kind);
        if let Some(last) = packed.records.pop_if(|last| last.kind == RecordKind::Metadata) {
            packed.bytes.truncate(last.offset as usize);
        }
        let entity = Parts::of(capture).chunked_payload().and_then(Sha1Digest::of_chunked);
        std::mem::swap(&mut self.members, &mut packed.bytes);
        self.metadata(packed, (capture, &about), &first_id, entity);
        std::mem::swap(&mut self.members, &mut packed.bytes);
    }

    fn metadata(
        &mut self,
        packed: &mut Packed,
        (capture, about): (&Capture<'_>, &About<'_>),
        first_id: &str,
        entity: Option<Sha1Digest>,
    ) {
        let fields = warc_fields(capture.notes, entity);
        if !fields.is_empty() {
            let kind = RecordKind::Metadata;
            let mut headers = about.headers(kind, &about.record_id(kind));
            headers.add("WARC-Concurrent-To", first_id);
            let block = Block::new("application/warc-fields", fields.as_bytes());
            self.record(packed, kind, headers, &block);
        }
    }

    /// Compresses one record and puts it behind the others.
    fn record(
        &mut self,
        packed: &mut Packed,
        kind: RecordKind,
        headers: Headers,
        block: &Block<'_>,
    ) {
        let offset = self.members.len();
        self.compress(headers, block);
        let length = self.members.len() - offset;
        packed.records.push(PackedRecord {
            kind,
            offset: u32::try_from(offset).expect("blocks are bounded"),
            length: u32::try_from(length).expect("blocks are bounded"),
        });
    }

    /// A record alone, compressed.
    pub(crate) fn single(&mut self, headers: Headers, block: &Block<'_>) -> Vec<u8> {
        self.compress(headers, block);
        self.take_members()
    }

    /// What was compressed since the last time, and room for what comes next.
    fn take_members(&mut self) -> Vec<u8> {
        if self.plain.capacity() > KEPT_BYTES_MAX {
            self.plain = Vec::new();
        }
        if self.members.capacity() > KEPT_BYTES_MAX {
            let mut members = std::mem::take(&mut self.members);
            members.shrink_to_fit();
            return members;
        }
        let members = self.members.clone();
        self.members.clear();
        members
    }

    fn compress(&mut self, mut headers: Headers, block: &Block<'_>) {
        let Block { content_type, bytes: block, digest } = *block;
        headers.add("WARC-Block-Digest", &digest.to_string());
        headers.add("Content-Type", content_type);
        headers.add("Content-Length", &block.len().to_string());
        if block.len() > PIECES_BYTES_MIN {
            let pieces = [headers.text.as_bytes(), b"\r\n", block, b"\r\n\r\n"];
            return self.gzip.pieces(&pieces, !is_coded(block), &mut self.members);
        }
        self.plain.clear();
        self.plain.extend_from_slice(headers.text.as_bytes());
        self.plain.extend_from_slice(b"\r\n");
        self.plain.extend_from_slice(block);
        self.plain.extend_from_slice(b"\r\n\r\n");
        let gain = self.plain.len() > STORED_BYTES_MAX && !is_coded(block);
        let Packer { gzip, plain, members } = self;
        if gain { gzip.compress(plain, members) } else { gzip.store(plain, members) }
    }
}

impl Packed {
    fn new(capture: &Capture<'_>, line_opening: Option<String>) -> Packed {
        Packed {
            bytes: Vec::new(),
            records: Vec::with_capacity(3),
            fetched_us: capture.fetched_us,
            payload_digest: Sha1Digest([0; 20]),
            line_opening,
        }
    }
}

/// What a record holds.
pub(crate) struct Block<'a> {
    content_type: &'a str,
    bytes: &'a [u8],
    digest: Sha1Digest,
}

impl<'a> Block<'a> {
    pub(crate) fn new(content_type: &'a str, bytes: &'a [u8]) -> Block<'a> {
        Block { content_type, bytes, digest: Sha1Digest::of(bytes) }
    }
}

/// A message whose body came compressed: most of the web's do, and it gains nothing by more.
fn is_coded(block: &[u8]) -> bool {
    block.starts_with(b"HTTP/")
        && header(&block[..head_len(block)], "Content-Encoding")
            .is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity"))
}

/// A capture's first record, cut where its parts meet.
struct Parts<'a> {
    kind: RecordKind,
    content_type: String,
    block: &'a [u8],
    head_len: usize,
    truncated: Option<WarcTruncation>,
}

impl<'a> Parts<'a> {
    fn of(capture: &Capture<'a>) -> Parts<'a> {
        let (kind, content_type, block, head_len) = match capture.content {
            RecordContent::Http { response, .. } => {
                let content_type = "application/http; msgtype=response".to_string();
                (RecordKind::Response, content_type, response, head_len(response))
            }
            RecordContent::Resource { mime, bytes } => {
                (RecordKind::Resource, one_line(mime), bytes, 0)
            }
        };
        let cut = block.len() > BLOCK_BYTES_MAX;
        Parts {
            kind,
            content_type,
            block: &block[..block.len().min(BLOCK_BYTES_MAX)],
            head_len: head_len.min(BLOCK_BYTES_MAX),
            truncated: if cut { Some(WarcTruncation::Length) } else { capture.truncated },
        }
    }

    fn head(&self) -> &'a [u8] {
        &self.block[..self.head_len]
    }

    fn payload(&self) -> &'a [u8] {
        &self.block[self.head_len..]
    }

    fn chunked_payload(&self) -> Option<&'a [u8]> {
        is_chunked(self.head()).then(|| self.payload())
    }

    fn status(&self) -> Option<&'a [u8]> {
        (self.kind == RecordKind::Response && self.head_len > 0).then(|| status(self.head()))
    }

    fn line_opening(&self, about: &About<'_>, digest: Sha1Digest) -> String {
        let content_type = match self.kind {
            RecordKind::Resource => Some(self.content_type.as_bytes()),
            _ => header(self.head(), "Content-Type"),
        };
        cdxj::opening(&cdxj::Facts {
            surt: about.url.surt().as_str(),
            timestamp: &about.timestamp(),
            url: about.url.as_str(),
            mime: content_type.map(media_type),
            status: self.status(),
            digest: &digest.to_string(),
        })
    }
}

/// The kind of the record that captures of a URL have.
fn kind_of(url: &Url) -> RecordKind {
    match url.scheme() {
        Scheme::File => RecordKind::Resource,
        _ => RecordKind::Response,
    }
}

/// What the records of a capture have in common.
struct About<'a> {
    url: &'a Url,
    time_us: u64,
    date: String,
}

impl<'a> About<'a> {
    fn new(url: &'a Url, time_us: u64) -> About<'a> {
        About { url, time_us, date: warc_date(time_us) }
    }

    fn of(capture: &Capture<'a>) -> About<'a> {
        About::new(capture.url, capture.fetched_us)
    }

    fn timestamp(&self) -> String {
        timestamp_of(&self.date).expect("our own dates are whole")
    }

    /// A UUID (version 8, ours to define) out of what the record is.
    fn record_id(&self, kind: RecordKind) -> String {
        let time = self.time_us.to_le_bytes();
        hashed_id(&[kind.as_str().as_bytes(), &time, self.url.as_str().as_bytes()])
    }

    fn headers(&self, kind: RecordKind, id: &str) -> Headers {
        let mut headers = Headers::new(kind, id, &self.date);
        headers.add("WARC-Target-URI", self.url.as_str());
        headers
    }
}

/// The header of a record while it is being written.
pub(crate) struct Headers {
    text: String,
}

impl Headers {
    pub(crate) fn new(kind: RecordKind, id: &str, date: &str) -> Headers {
        let mut headers = Headers { text: String::with_capacity(1024) };
        headers.text.push_str("WARC/1.1\r\n");
        headers.add("WARC-Type", kind.as_str());
        headers.add("WARC-Record-ID", id);
        headers.add("WARC-Date", date);
        headers
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        for part in [name, ": ", value, "\r\n"] {
            self.text.push_str(part);
        }
    }

    /// As the proposal for WARC 1.2 has it; crawlers that fetch over HTTP/2 agree on it.
    fn protocol(&mut self, protocol: Option<&str>) {
        if let Some(protocol) = protocol {
            self.add("WARC-Protocol", protocol);
        }
    }

    /// As browsers that archive have it.
    fn resource_type(&mut self, resource_type: Option<&str>) {
        if let Some(resource_type) = resource_type {
            self.add("WARC-Resource-Type", resource_type);
        }
    }

    fn address(&mut self, address: Option<IpAddr>) {
        if let Some(address) = address {
            self.add("WARC-IP-Address", &address.to_string());
        }
    }
}

pub(crate) fn hashed_id(parts: &[&[u8]]) -> String {
    let mut hasher = Sha1::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let hash = hasher.finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    let hex = data_encoding::HEXLOWER.encode(&id);
    let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    ["<urn:uuid:", a, "-", b, "-", c, "-", d, "-", e, ">"].concat()
}

fn warc_fields(notes: &[(&'static str, &str)], entity: Option<Sha1Digest>) -> String {
    let mut text = String::new();
    for (name, value) in notes {
        let value = one_line(value);
        [*name, ": ", &value, "\r\n"].into_iter().for_each(|part| text.push_str(part));
    }
    if let Some(digest) = entity {
        write!(text, "entityDigest: {digest}\r\n").expect("writing to a string");
    }
    text
}

/// Text that may come from the web, made fit for a header's value: one line, bounded.
pub(crate) fn one_line(text: &str) -> String {
    let mut end = text.len().min(NOTE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl RecordKind {
    pub fn as_str(self) -> &'static str {
        match self {
            RecordKind::Warcinfo => "warcinfo",
            RecordKind::Request => "request",
            RecordKind::Response => "response",
            RecordKind::Resource => "resource",
            RecordKind::Revisit => "revisit",
            RecordKind::Metadata => "metadata",
        }
    }
}

impl WarcTruncation {
    fn as_str(self) -> &'static str {
        match self {
            WarcTruncation::Length => "length",
            WarcTruncation::Time => "time",
            WarcTruncation::Disconnect => "disconnect",
            WarcTruncation::Unspecified => "unspecified",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("http://netpreserve.org/warc/1.1/revisit/")?;
        f.write_str(match self {
            Profile::IdenticalPayload => "identical-payload-digest",
            Profile::NotModified => "server-not-modified",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spoken_is_said_where_a_message_was_translated() {
        let url = Url::parse("https://a.test/").unwrap();
        let (request, response) = (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nhello");
        let capture = |protocol| Capture {
            url: &url,
            fetched_us: 0,
            address: None,
            protocol,
            resource_type: None,
            content: RecordContent::Http { request, response },
            truncated: None,
            notes: &[("via", "x")],
        };
        for (protocol, records) in [(None, 0), (Some("h2"), 2)] {
            let packed = Packer::new(0).capture(&capture(protocol));
            let mut text = String::new();
            let mut members = flate2::read::MultiGzDecoder::new(&packed.bytes[..]);
            std::io::Read::read_to_string(&mut members, &mut text).unwrap();
            assert_eq!(text.matches("WARC-Protocol: h2\r\n").count(), records, "{text}");
        }
    }

    #[test]
    fn what_a_large_capture_took_is_given_back() {
        let url = Url::parse("http://a.test/").unwrap();
        // Nothing that could be compressed.
        let noise = (0..3 << 20).scan(1_u32, |x, _| {
            *x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some((*x >> 24) as u8)
        });
        let response: Vec<u8> = b"HTTP/1.1 200 OK\r\n\r\n".iter().copied().chain(noise).collect();
        let capture = Capture {
            protocol: None,
            resource_type: None,
            url: &url,
            fetched_us: 0,
            address: None,
            content: RecordContent::Http {
                request: b"GET / HTTP/1.1\r\n\r\n",
                response: &response,
            },
            truncated: None,
            notes: &[("via", "x")],
        };
        for level in [1, 6] {
            let mut packer = Packer::new(level);
            assert!(packer.capture(&capture).bytes.len() > 3 << 20);
            assert!(packer.plain.capacity().max(packer.members.capacity()) <= KEPT_BYTES_MAX);
        }
    }
}
