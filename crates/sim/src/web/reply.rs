//! An answer of the synthetic web, before it is bytes.

use rhumb_page::url::Url;

use super::faults::Fault;
use super::place::WebPlace;
use super::site::Validators;

/// The web's own time 0 (before its age) in seconds since 1970: 2024-01-01.
pub const EPOCH_S: u64 = 1_704_067_200;

#[derive(Clone, Debug, PartialEq)]
pub struct WebReply {
    pub status: u16,
    pub content_type: &'static str,
    pub location: Option<Url>,
    pub retry_after_s: Option<u32>,
    /// The value of an X-Robots-Tag header.
    pub robots_tag: Option<&'static str>,
    /// Page-level directives, by that header or by a meta element.
    pub noindex: bool,
    pub nofollow: bool,
    pub etag: Option<String>,
    /// Seconds since 1970.
    pub last_modified_s: Option<u64>,
    pub body: WebBody,
    /// More bytes of filler that follow the body as rendered.
    pub flood_bytes: u64,
    pub latency_us: u64,
    pub fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebBody {
    Nothing,
    /// A short message: the body of an error or a redirect.
    Note(&'static str),
    Html(PageRef),
    Robots(PageRef),
    Sitemap(PageRef),
    Feed(PageRef),
    /// Plain text, a PDF or a picture.
    Other(PageRef),
}

/// A document at one time: all that is needed to render it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRef {
    /// Where it was asked for; a copy's bytes are its original's.
    pub place: WebPlace,
    pub version: u64,
}

impl WebBody {
    pub fn page(&self) -> Option<PageRef> {
        match *self {
            WebBody::Nothing | WebBody::Note(_) => None,
            WebBody::Html(page)
            | WebBody::Robots(page)
            | WebBody::Sitemap(page)
            | WebBody::Feed(page)
            | WebBody::Other(page) => Some(page),
        }
    }
}

impl WebReply {
    /// A short message with a status.
    pub fn note(status: u16, text: &'static str) -> WebReply {
        WebReply {
            status,
            body: WebBody::Note(text),
            ..WebReply::document(WebBody::Nothing, "text/html")
        }
    }

    pub(crate) fn document(body: WebBody, content_type: &'static str) -> WebReply {
        WebReply {
            status: 200,
            content_type,
            location: None,
            retry_after_s: None,
            robots_tag: None,
            noindex: false,
            nofollow: false,
            etag: None,
            last_modified_s: None,
            body,
            flood_bytes: 0,
            latency_us: 0,
            fault: Fault::None,
        }
    }

    pub(crate) fn failing(fault: Fault) -> WebReply {
        WebReply { fault, ..WebReply::note(0, "") }
    }

    pub(crate) fn with_validators(mut self, validators: Validators) -> WebReply {
        if let Some(page) = self.body.page() {
            if matches!(validators, Validators::Both | Validators::Tag) {
                self.etag = Some(format!("\"{:x}\"", page.version));
            }
            if matches!(validators, Validators::Both | Validators::Date) {
                self.last_modified_s = Some(EPOCH_S + page.version / 1_000_000);
            }
        }
        self
    }

    /// The answer to a conditional request: 304 if the tag (or without one, the date) still holds.
    pub fn unless(self, etag: Option<&str>, modified_since_s: Option<u64>) -> WebReply {
        let holds = match (etag, modified_since_s) {
            (Some(tag), _) => self.etag.as_deref() == Some(tag),
            (None, Some(since_s)) => self.last_modified_s.is_some_and(|at_s| at_s <= since_s),
            (None, None) => false,
        };
        if self.status == 200 && self.fault == Fault::None && holds {
            WebReply { status: 304, body: WebBody::Nothing, flood_bytes: 0, ..self }
        } else {
            self
        }
    }
}
