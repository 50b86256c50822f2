//! Pages out of WARC records: those of which a crawl keeps what they say.

use rhumb_archive::{Record, each_chunk, is_chunked};

use crate::fetch::Limits;
use crate::fetch::decode::decode;
use crate::fetch::head::Head;

/// What a record holds of a page.
pub struct Recorded {
    pub content_type: Option<String>,
    /// Without transfer and content codings.
    pub body: Vec<u8>,
}

impl Recorded {
    /// The page in a record; none if it holds anything else, or only a part that came by mischance.
    pub fn of(record: &Record) -> Option<Recorded> {
        let is_whole = record.field("WARC-Truncated").is_none_or(|why| why == "length");
        let is_page = (200..300).contains(&status(record.http_head())?);
        if record.kind() != "response" || !is_page || !is_whole {
            return None;
        }
        let head = Head::new(record.http_head());
        let mut unchunked = Vec::new();
        let payload = if is_chunked(record.http_head()) {
            // Of broken framing, what came before it is kept.
            each_chunk(record.payload(), |chunk| unchunked.extend_from_slice(chunk));
            &unchunked
        } else {
            record.payload()
        };
        let decoded = decode(payload, &head.content_encoding(), &Limits::default());
        let content_type = head.content_type().map(|value| value.into_owned());
        Some(Recorded { content_type, body: decoded.bytes.into_owned() })
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1)?;
    std::str::from_utf8(word.trim_ascii()).ok()?.parse().ok()
}
