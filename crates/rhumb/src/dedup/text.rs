//! The text of a page, for all that compares texts: this is the one place that decides what counts.

use rhumb_archive::Record;
use rhumb_page::html;
use rhumb_page::media::{self, ContentType, MediaKind};
use rhumb_page::url::Url;

use rhumb_node::extract::{Recorded, is_requisite};

/// What pages without an address are read against: relative links do not matter here.
const NOWHERE: &str = "http://localhost/";

/// The visible text of HTML.
pub fn of_html(body: &[u8], charset: Option<&str>, url: Option<&str>) -> String {
    let url = url.and_then(|url| Url::parse(url).ok()).or_else(|| Url::parse(NOWHERE).ok());
    match url {
        Some(url) => {
            html::read_with_text(body, charset, &url, &html::PageLimits { links_max: 0 }).1
        }
        None => String::new(),
    }
}

/// The text of a record that holds a page; none if it holds anything else.
pub fn of_record(record: &Record) -> Option<String> {
    let Recorded { content_type, body, .. } =
        Recorded::of(record).filter(|_| !is_requisite(record))?;
    let charset = content_type.as_deref().and_then(|value| ContentType::parse(value).charset);
    match media::kind(content_type.as_deref(), &body) {
        MediaKind::Html => Some(of_html(&body, charset, record.target())),
        MediaKind::Text => {
            let text = rhumb_page::charset::decode(&body, charset, None).text;
            Some(text.into_owned())
        }
        _ => None,
    }
}
