//! Media types as they are told from the first bytes of a body.

use rhumb_page::media::{self, ContentType, MediaKind};

/// What a body is, whatever its server says; none where the bytes do not tell.
pub(crate) fn detected(content_type: Option<&str>, body: &[u8]) -> Option<String> {
    if body.is_empty() {
        return None;
    }
    let declared = ContentType::parse(content_type.unwrap_or_default()).essence;
    let detected = match media::kind(content_type, body) {
        MediaKind::Html if declared == "application/xhtml+xml" => "application/xhtml+xml",
        MediaKind::Html => "text/html",
        MediaKind::Sitemap | MediaKind::Xml => "application/xml",
        MediaKind::Feed if declared == "application/atom+xml" => "application/atom+xml",
        MediaKind::Feed => "application/rss+xml",
        MediaKind::Text => "text/plain",
        MediaKind::Gzip => "application/gzip",
        MediaKind::Pdf => "application/pdf",
        MediaKind::Image if declared.starts_with("image/") => return Some(declared.into_owned()),
        MediaKind::Image | MediaKind::Other => return None,
    };
    Some(detected.to_owned())
}
