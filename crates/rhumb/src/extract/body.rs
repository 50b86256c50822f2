//! From a body that was fetched to its row: what a crawl and a rebuild from its WARC files share,
//! so that both write the same.

use rhumb_archive::Record;
use rhumb_page::extract::HostTemplate;
use rhumb_page::media::{self, ContentType, Kind};
use rhumb_page::url::Url;
use rhumb_page::{charset, document};
use serde_json::Value;

use super::contained::{self, Contained};
use super::recorded::Recorded;
use super::row::{Row, Wish, thread_cpu_us};
use super::templates::Templates;

/// A page as it came.
pub struct Body<'a> {
    pub url: &'a Url,
    /// When, as WARC writes it.
    pub fetched: &'a str,
    pub content_type: Option<&'a str>,
    /// Without codings.
    pub bytes: &'a [u8],
}

impl Body<'_> {
    /// What it says; none if it is of no format that can be read, or says nothing by its nature.
    /// The template is of its host, and learns from it.
    pub fn row(&self, template: Option<&mut HostTemplate>, wish: Wish) -> Option<Row> {
        if self.url.path() == "/robots.txt" {
            return None;
        }
        let id = Value::String(self.url.as_str().to_owned());
        let row = if media::kind(self.content_type, self.bytes) == Kind::Html {
            let label = self.content_type.and_then(|value| ContentType::parse(value).charset);
            let decoded = charset::decode(self.bytes, label.as_deref(), Some(self.url.host()));
            Row::of_page(id, &decoded.text, self.url, template, wish)
        } else {
            self.document(id)?
        };
        Some(Row { fetched: Some(self.fetched.to_owned()), ..row })
    }

    fn document(&self, id: Value) -> Option<Row> {
        let start = thread_cpu_us();
        let read = if media::kind(self.content_type, self.bytes) == Kind::Pdf {
            match contained::read(self.bytes, "application/pdf", self.url) {
                Ok(read) => read,
                Err(error) => return Some(Row::failed(id, &error.to_string())),
            }
        } else {
            Contained::from(document::read(self.content_type, self.bytes, self.url)?)
        };
        let is_silent = read.text.is_empty() && read.oddities.is_empty();
        let us = thread_cpu_us().saturating_sub(start);
        (!is_silent).then(|| Row::of_document(id, read, us))
    }
}

/// The row of a record, if it holds a page. Its host's template is taken from `templates` and put
/// back.
pub fn row_of_record(
    record: &Record,
    templates: Option<&mut Templates>,
    wish: Wish,
) -> Option<Row> {
    let page = Recorded::of(record)?;
    let url = Url::parse(record.target()?).ok()?;
    let body = Body {
        url: &url,
        fetched: record.field("WARC-Date").unwrap_or_default(),
        content_type: page.content_type.as_deref(),
        bytes: &page.body,
    };
    let Some(templates) = templates else { return body.row(None, wish) };
    let mut template = templates.take(url.host());
    let row = body.row(Some(&mut template), wish);
    templates.put(url.host(), template);
    row
}
