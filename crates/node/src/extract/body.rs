//! From a body that was fetched to its row: what a crawl and a rebuild from its WARC files share.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rhumb_archive::Record;
use rhumb_extract::document;
use rhumb_extract::{HostTemplate, PageWanted, Told, read_wanted};
use rhumb_fetch::head::HeadBytes;
use rhumb_page::charset;
use rhumb_page::html::{self, PageLimits};
use rhumb_page::media::{self, ContentType, MediaKind};
use rhumb_page::robots::Directives;
use rhumb_page::url::Url;
use serde_json::Value;

use super::contained::{self, Contained};
use super::recorded::{Recorded, is_requisite};
use super::row::{ExtractedRow, Wish, thread_cpu_us};
use super::templates::Templates;

/// The oddity of a page that is not whole.
const CUT: &str = "the body was cut";

/// A page as it came.
pub struct ExtractBody<'a> {
    pub url: &'a Url,
    /// When, as WARC writes it.
    pub fetched: &'a str,
    pub content_type: Option<&'a str>,
    /// What its X-Robots-Tag headers ask for.
    pub asks: Directives,
    /// The product token that directives are matched by.
    pub token: &'a str,
    /// Without codings.
    pub bytes: &'a [u8],
    /// The server meant more than this.
    pub is_cut: bool,
}

impl ExtractBody<'_> {
    pub fn kind(&self) -> MediaKind {
        media::kind(self.content_type, self.bytes)
    }

    /// The charset that its Content-Type declares.
    pub fn charset(&self) -> Option<&str> {
        self.content_type.and_then(|value| ContentType::parse(value).charset)
    }

    /// What it says as HTML.
    pub fn told(&self, wanted: &PageWanted<'_>) -> Told {
        read_wanted(self.bytes, self.charset(), self.url, &PageLimits::default(), wanted)
    }

    /// Whether rows are made of what stands there.
    pub fn has_row(&self) -> bool {
        self.url.path() != "/robots.txt"
    }

    fn id(&self) -> Value {
        Value::String(self.url.as_str().to_owned())
    }

    /// What it says as HTML, and its row with what it teaches the template of its host, in one
    /// pass.
    pub fn told_with_row(
        &self,
        wanted: &PageWanted<'_>,
        template: &HostTemplate,
        wish: Wish,
    ) -> (Told, Option<TaughtRow>) {
        if !self.has_row() {
            return (self.told(wanted), None);
        }
        let start = thread_cpu_us();
        let options = wish.options(Some(template));
        let with_row = PageWanted { extracted: Some(options), ..*wanted };
        // As for a row alone: the extractor has no state that a panic could leave half changed.
        let Ok(mut told) = catch_unwind(AssertUnwindSafe(|| self.told(&with_row))) else {
            let links = PageWanted { main_text: false, ..*wanted };
            let row = self.described(ExtractedRow::failed_within(self.id()), self.asks);
            return (self.told(&links), Some(TaughtRow { row, blocks: None }));
        };
        let asks = told.page.robots_for(self.token).merge(self.asks);
        let row = told.extracted.take().map(|mut found| {
            let blocks = std::mem::take(&mut found.blocks);
            let us = thread_cpu_us().saturating_sub(start);
            let row = ExtractedRow::from_extracted(self.id(), found, self.url, wish.keeps_all, us);
            TaughtRow { row: self.described(row, asks), blocks: Some(blocks) }
        });
        (told, row)
    }

    /// The row with what is known of its page besides what it says.
    fn described(&self, mut row: ExtractedRow, asks: Directives) -> ExtractedRow {
        row.noindex = asks.noindex;
        row.fetched = Some(self.fetched.to_owned());
        row.oddities.extend(self.is_cut.then(|| CUT.to_owned()));
        row
    }

    /// What it says; none if it is of no format that can be read, or says nothing by its nature.
    /// The template is of its host, and learns from it.
    pub fn row(&self, template: Option<&mut HostTemplate>, wish: Wish) -> Option<ExtractedRow> {
        if !self.has_row() {
            return None;
        }
        let (row, asks) = if self.kind() == MediaKind::Html {
            let decoded = charset::decode(self.bytes, self.charset(), Some(self.url.host()));
            let row = ExtractedRow::of_page(self.id(), &decoded.text, self.url, template, wish);
            let page =
                html::read(self.bytes, self.charset(), self.url, &PageLimits { links_max: 0 });
            (row, page.robots_for(self.token).merge(self.asks))
        } else {
            (self.document(self.id())?, self.asks)
        };
        Some(self.described(row, asks))
    }

    fn document(&self, id: Value) -> Option<ExtractedRow> {
        let start = thread_cpu_us();
        let read = if self.kind() == MediaKind::Pdf {
            match contained::read(self.bytes, "application/pdf", self.url) {
                Ok(read) => read,
                Err(error) => return Some(ExtractedRow::failed(id, &error.to_string())),
            }
        } else {
            Contained::from(document::read(self.content_type, self.bytes, self.url)?)
        };
        let is_silent = read.text.is_empty() && read.oddities.is_empty();
        let us = thread_cpu_us().saturating_sub(start);
        (!is_silent).then(|| ExtractedRow::of_document(id, read, us))
    }
}

/// A row, and what its page can teach the template of its host.
pub struct TaughtRow {
    pub row: ExtractedRow,
    /// Hashes of its blocks; none if it could not be read.
    pub blocks: Option<Vec<u64>>,
}

/// The row of a record, if it holds a page. Its host's template is taken from `templates` and put
/// back.
pub fn row_of_record(
    record: &Record,
    templates: Option<&mut Templates>,
    wish: Wish,
    token: &str,
) -> Option<ExtractedRow> {
    let page = Recorded::of(record).filter(|_| !is_requisite(record))?;
    let url = Url::parse(record.target()?).ok()?;
    let body = ExtractBody {
        url: &url,
        fetched: record.field("WARC-Date").unwrap_or_default(),
        content_type: page.content_type.as_deref(),
        asks: Directives::of_headers(HeadBytes::new(record.http_head()).x_robots_tags(), token),
        token,
        bytes: &page.body,
        is_cut: page.is_cut,
    };
    let Some(templates) = templates else { return body.row(None, wish) };
    let mut template = templates.take(url.host());
    let row = body.row(Some(&mut template), wish);
    templates.put(url.host(), template);
    row
}
