//! Media types as they are told from the first bytes of a body.

use rhumb_page::media::{self, ContentType, Kind};

/// What a body is, whatever its server says; none where the bytes do not tell.
pub(crate) fn detected(content_type: Option<&str>, body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    let declared = ContentType::parse(content_type.unwrap_or_default()).essence;
    let detected = match media::kind(content_type, body) {
        Kind::Html if declared == "application/xhtml+xml" => "application/xhtml+xml",
        Kind::Html => "text/html",
        Kind::Sitemap | Kind::Xml => "application/xml",
        Kind::Feed if declared == "application/atom+xml" => "application/atom+xml",
        Kind::Feed => "application/rss+xml",
        Kind::Text => "text/plain",
        Kind::Gzip => "application/gzip",
        Kind::Pdf => "application/pdf",
        Kind::Image if declared.starts_with("image/") => return Some(declared.into_owned()),
        Kind::Image | Kind::Other => return None,
    };
    Some(detected.to_owned())
}
