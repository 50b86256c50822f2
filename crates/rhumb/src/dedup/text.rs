//! The text of a page, for all that compares texts: this is the one place that decides what counts.

use rhumb_archive::{Record, each_chunk, is_chunked};
use rhumb_page::html;
use rhumb_page::media::{self, ContentType, Kind};
use rhumb_page::url::Url;

use crate::fetch::Limits;
use crate::fetch::decode::decode;
use crate::fetch::head::Head;

/// What pages without an address are read against: relative links do not matter here.
const NOWHERE: &str = "http://localhost/";

/// The visible text of HTML.
pub fn of_html(body: &[u8], charset: Option<&str>, url: Option<&str>) -> String {
    let url = url.and_then(|url| Url::parse(url).ok()).or_else(|| Url::parse(NOWHERE).ok());
    match url {
        Some(url) => html::read_with_text(body, charset, &url, &html::Limits { links_max: 0 }).1,
        None => String::new(),
    }
}

/// The text of a record that holds a page; none if it holds anything else.
pub fn of_record(record: &Record) -> Option<String> {
    if record.kind() != "response" {
        return None;
    }
    let head = Head::new(record.http_head());
    if !(200..300).contains(&status(record.http_head())?) {
        return None;
    }
    let mut unchunked = Vec::new();
    let payload = if is_chunked(record.http_head()) {
        // Of broken framing, what came before it is kept.
        each_chunk(record.payload(), |chunk| unchunked.extend_from_slice(chunk));
        &unchunked
    } else {
        record.payload()
    };
    let decoded = decode(payload, &head.content_encoding(), &Limits::default());
    let content_type = head.content_type();
    let charset = content_type.as_deref().and_then(|value| ContentType::parse(value).charset);
    match media::kind(content_type.as_deref(), &decoded.bytes) {
        Kind::Html => Some(of_html(&decoded.bytes, charset.as_deref(), record.target())),
        Kind::Text => {
            let text = rhumb_page::charset::decode(&decoded.bytes, charset.as_deref(), None).text;
            Some(text.into_owned())
        }
        _ => None,
    }
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).nth(1)?;
    std::str::from_utf8(word.trim_ascii()).ok()?.parse().ok()
}
