//! What is this body? The declared type and the first bytes, weighed.
//!
//! Servers mislabel: pages come as `text/plain` or with no type, sitemaps as `text/html`, anything
//! as `application/octet-stream`. The first bytes decide where they are unmistakable; the declared
//! type decides among kinds of text.

use std::borrow::Cow;

/// Bytes looked at.
pub const SNIFF_BYTES_MAX: usize = 1024;

/// What a body is, as far as reading it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaKind {
    /// HTML, and XHTML whatever it is called: one tokenizer reads both.
    Html,
    /// A `urlset` or `sitemapindex`.
    Sitemap,
    /// RSS, Atom or JSON Feed.
    Feed,
    /// Other XML.
    Xml,
    /// Text without markup: robots.txt, lists of URLs, source code, JSON.
    Text,
    /// Gzip data that was sent as such, as sitemaps are.
    Gzip,
    /// PDF.
    Pdf,
    /// An image of any format.
    Image,
    /// Something else: nothing we read.
    Other,
}

/// The essence of a Content-Type in lower case (`text/html`), and its charset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentType<'a> {
    /// `type/subtype`; empty if there is none.
    pub essence: Cow<'a, str>,
    /// The charset parameter, without quotes.
    pub charset: Option<&'a str>,
}

impl<'a> ContentType<'a> {
    /// Reads a header's value as leniently as browsers do.
    pub fn parse(header: &'a str) -> ContentType<'a> {
        let mut parts = header.split(';');
        let essence = lowercase(parts.next().unwrap_or_default().trim());
        let charset = parts
            .filter_map(|part| part.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
            .map(|(_, value)| value.trim().trim_matches(['"', '\'']))
            .filter(|label| !label.is_empty());
        ContentType { essence, charset }
    }
}

/// Nearly all are in lower case already.
fn lowercase(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|b| b.is_ascii_uppercase()) {
        true => Cow::Owned(text.to_ascii_lowercase()),
        false => Cow::Borrowed(text),
    }
}

/// What a body is, from the value of its Content-Type and its first bytes.
pub fn kind(content_type: Option<&str>, body: &[u8]) -> MediaKind {
    let declared = ContentType::parse(content_type.unwrap_or_default()).essence;
    let head = &body[..body.len().min(SNIFF_BYTES_MAX)];
    if let Some(kind) = binary_kind(head) {
        return kind;
    }
    if declared.starts_with("image/") && declared != "image/svg+xml" {
        return MediaKind::Image;
    }
    if ["audio/", "video/", "font/"].iter().any(|other| declared.starts_with(other)) {
        return MediaKind::Other;
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    if text.starts_with(b"<")
        && let Some(kind) = markup_kind(text, &declared)
    {
        return kind;
    }
    match &*declared {
        "text/html" | "application/xhtml+xml" => MediaKind::Html,
        "application/rss+xml"
        | "application/atom+xml"
        | "application/rdf+xml"
        | "application/feed+json" => MediaKind::Feed,
        "application/json" if is_json_feed(text) => MediaKind::Feed,
        _ if declared.ends_with("/xml") || declared.ends_with("+xml") => MediaKind::Xml,
        _ if looks_binary(head) => MediaKind::Other,
        "" | "application/octet-stream" | "application/json" | "application/x-ndjson" => {
            MediaKind::Text
        }
        _ if declared.starts_with("text/") => MediaKind::Text,
        _ => MediaKind::Other,
    }
}

/// Kinds that their first bytes give away, whatever was declared.
fn binary_kind(head: &[u8]) -> Option<MediaKind> {
    let images: [&[u8]; 7] =
        [b"\x89PNG\r\n", b"\xFF\xD8\xFF", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*"];
    if head.starts_with(b"%PDF-") {
        return Some(MediaKind::Pdf);
    }
    if head.starts_with(&[0x1F, 0x8B]) {
        return Some(MediaKind::Gzip);
    }
    let is_webp = head.len() > 12 && head.starts_with(b"RIFF") && &head[8..12] == b"WEBP";
    // Text may well begin with "BM"; a bitmap has zeros soon after.
    let is_image = images.iter().any(|magic| {
        head.starts_with(magic) && (magic.len() > 2 || looks_binary(&head[..head.len().min(32)]))
    });
    if is_webp || is_image {
        return Some(MediaKind::Image);
    }
    let others: [&[u8]; 4] = [b"PK\x03\x04", b"\x7FELF", b"Rar!", b"7z\xBC\xAF"];
    others.iter().any(|magic| head.starts_with(magic)).then_some(MediaKind::Other)
}

/// The kind of what begins with `<`, from the first element's name.
fn markup_kind(text: &[u8], declared: &str) -> Option<MediaKind> {
    let root = first_element(text)?;
    let local = root.rsplit(|b| *b == b':').next().unwrap_or(root);
    let is = |name: &[u8]| local.eq_ignore_ascii_case(name);
    if is(b"urlset") || is(b"sitemapindex") {
        return Some(MediaKind::Sitemap);
    }
    if is(b"rss") || is(b"RDF") || (is(b"feed") && declared != "text/html") {
        return Some(MediaKind::Feed);
    }
    if is(b"svg") && declared != "text/html" {
        return Some(MediaKind::Image);
    }
    let is_untold = matches!(declared, "" | "application/octet-stream" | "text/plain");
    let html: [&[u8]; 12] = [
        b"html", b"head", b"body", b"title", b"script", b"div", b"p", b"table", b"a", b"meta",
        b"h1", b"br",
    ];
    let is_html = html.iter().any(|name| is(name));
    if is(b"html") || (is_untold && is_html) {
        return Some(MediaKind::Html);
    }
    (is_untold && text.starts_with(b"<?xml")).then_some(MediaKind::Xml)
}

/// The name of the first element, past declarations and comments.
fn first_element(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        let open = memchr::memchr(b'<', text)?;
        text = &text[open..];
        let end: &[u8] = match text {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'!', name @ ..] if starts_with_ignoring_case(name, b"doctype html") => {
                return Some(b"html");
            }
            [b'<', b'!' | b'?', ..] => b">",
            _ => {
                let name = &text[1..];
                let end = name.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b':')?;
                return Some(&name[..end]);
            }
        };
        text = &text[memchr::memmem::find(text, end)? + end.len()..];
    }
}

fn starts_with_ignoring_case(text: &[u8], prefix: &[u8]) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_json_feed(text: &[u8]) -> bool {
    text.starts_with(b"{") && memchr::memmem::find(text, b"jsonfeed.org/version").is_some()
}

/// Text has no control characters but white space, form feeds and escapes; UTF-16 declares itself
/// by its mark.
fn looks_binary(head: &[u8]) -> bool {
    let has_mark = head.starts_with(&[0xFE, 0xFF]) || head.starts_with(&[0xFF, 0xFE]);
    !has_mark && head.iter().any(|&b| matches!(b, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_correct_what_servers_mislabel() {
        for (declared, body, expected) in [
            (Some("text/html; charset=utf-8"), &b"<p>x"[..], MediaKind::Html),
            (Some("text/html"), b"no markup at all", MediaKind::Html),
            (Some("text/html"), b"<?xml version='1.0'?>\n<urlset xmlns='x'>", MediaKind::Sitemap),
            (Some("text/html"), b"\xEF\xBB\xBF<urlset>", MediaKind::Sitemap),
            (Some("text/html"), b"<?xml?><!-- <html> --><sm:sitemapindex>", MediaKind::Sitemap),
            (Some("application/xml"), b"<?xml?><rss version='2.0'>", MediaKind::Feed),
            (Some("text/xml"), b"<feed xmlns='http://www.w3.org/2005/Atom'>", MediaKind::Feed),
            (Some("application/xml"), b"<!DOCTYPE html><html>", MediaKind::Html),
            (Some("application/xml"), b"<data>", MediaKind::Xml),
            (Some("text/plain"), b"User-agent: *\nDisallow: /<a>", MediaKind::Text),
            (Some("text/plain"), b"<!doctype HTML><title>", MediaKind::Html),
            (None, b"<!-- hi --><html>", MediaKind::Html),
            (None, b"BMW drives", MediaKind::Text),
            (None, b"\x00\x01\x02", MediaKind::Other),
            (Some("text/html"), b"%PDF-1.7", MediaKind::Pdf),
            (Some("text/html"), b"\x89PNG\r\n\x1a\n", MediaKind::Image),
            (Some("application/x-gzip"), b"\x1F\x8B\x08", MediaKind::Gzip),
            (Some("image/svg+xml"), b"<svg xmlns='x'>", MediaKind::Image),
            (
                Some("application/json"),
                b"{\"version\": \"https://jsonfeed.org/version/1.1\"}",
                MediaKind::Feed,
            ),
            (Some("video/mp4"), b"....", MediaKind::Other),
            (None, b"", MediaKind::Text),
        ] {
            let shown = String::from_utf8_lossy(body);
            assert_eq!(kind(declared, body), expected, "{declared:?} {shown}");
        }
    }

    #[test]
    fn a_charset_is_found_among_the_parameters() {
        let parsed = ContentType::parse("Text/HTML; q=1 ; Charset = \"UTF-8\" ");
        assert_eq!((&*parsed.essence, parsed.charset), ("text/html", Some("UTF-8")));
        assert_eq!(ContentType::parse(""), ContentType::default());
    }
}
