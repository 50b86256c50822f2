//! Pages out of WARC records: those of which a crawl keeps what they say.

use rhumb_archive::{Record, each_chunk, is_chunked};

use rhumb_fetch::FetchLimits;
use rhumb_fetch::decode::decode;
use rhumb_fetch::head::HeadBytes;

/// What a record holds of a page.
pub struct Recorded {
    pub content_type: Option<String>,
    /// Without transfer and content codings.
    pub body: Vec<u8>,
    /// The server meant more than this.
    pub is_cut: bool,
}

impl Recorded {
    /// The page in a record, or the part of it that came; none if it holds anything else.
    pub fn of(record: &Record) -> Option<Recorded> {
        if record.kind() == "resource" {
            let content_type = record.field("Content-Type").map(str::to_owned);
            let is_cut = record.field("WARC-Truncated").is_some();
            return Some(Recorded { content_type, body: record.block.clone(), is_cut });
        }
        let is_page = (200..300).contains(&status(record.http_head())?);
        if record.kind() != "response" || !is_page {
            return None;
        }
        let head = HeadBytes::new(record.http_head());
        let mut unchunked = Vec::new();
        let payload = if is_chunked(record.http_head()) {
            // Of broken framing, what came before it is kept.
            each_chunk(record.payload(), |chunk| unchunked.extend_from_slice(chunk));
            &unchunked
        } else {
            record.payload()
        };
        let decoded = decode(payload, &head.content_encoding(), &FetchLimits::default());
        let content_type = head.content_type().map(|value| value.into_owned());
        let is_cut = record.field("WARC-Truncated").is_some() || decoded.is_cut();
        Some(Recorded { content_type, body: decoded.bytes.into_owned(), is_cut })
    }
}

/// Whether a record holds what a page was shown with, and no page.
pub fn is_requisite(record: &Record) -> bool {
    record.field("WARC-Resource-Type").is_some_and(|kind| kind != "document")
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1)?;
    std::str::from_utf8(word.trim_ascii()).ok()?.parse().ok()
}
