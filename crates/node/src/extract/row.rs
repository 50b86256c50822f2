//! What is written of a page.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rhumb_extract::{
    ExtractOptions, Extracted, HostTemplate, Metadata, Method, PageKind, extract, language,
};
use rhumb_page::url::Url;
use serde::Serialize;
use serde_json::Value;

use super::contained::Contained;

/// What stands for the address of a page that came without one; no row shows it.
const NO_ADDRESS: &str = "http://page.invalid/";

/// What is written of each page besides its text.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    pub keeps_all: bool,
    pub markdown: bool,
}

impl Wish {
    /// As the extractor is asked.
    pub fn options(self, template: Option<&HostTemplate>) -> ExtractOptions<'_> {
        let (markdown, detects_language) = (self.markdown, self.keeps_all);
        ExtractOptions { markdown, template, detects_language, address_is_unknown: false }
    }
}

/// A page, extracted.
#[derive(Serialize)]
pub struct ExtractedRow {
    pub id: Value,
    /// When it was fetched, of a page out of an archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<String>,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    pub title: Option<String>,
    pub author: Option<String>,
    /// The day, `2024-05-01`; `metadata` has it as written.
    pub published: Option<String>,
    pub modified: Option<String>,
    /// As the page declares it, else as detected; a tag of BCP 47 either way, `en`, `de-AT`.
    pub language: Option<String>,
    pub canonical: Option<String>,
    pub description: Option<String>,
    pub site_name: Option<String>,
    /// The page asks not to be shown in search.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub noindex: bool,
    /// The page says next to nothing until its scripts have run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub scripted: bool,
    pub kind: PageKind,
    pub confidence: f32,
    pub method: Method,
    /// All that the page says about itself, with sources and confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub oddities: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// CPU time of this page in microseconds.
    pub us: u64,
}

impl ExtractedRow {
    /// Extracts a page that may have come without an address.
    pub fn of(id: Value, html: &str, url: Option<&str>, wish: Wish) -> ExtractedRow {
        match address(url) {
            Some(url) => ExtractedRow::of_page(id, html, &url, None, wish),
            None => ExtractedRow::failed(id, "no address"),
        }
    }

    /// Extracts a page. The template is of its host, and learns from it.
    pub fn of_page(
        id: Value,
        html: &str,
        url: &Url,
        template: Option<&mut HostTemplate>,
        wish: Wish,
    ) -> ExtractedRow {
        let start = thread_cpu_us();
        let address_is_unknown = is_unknown(url);
        let options = ExtractOptions { address_is_unknown, ..wish.options(template.as_deref()) };
        // The extractor has no state that a panic could leave half changed, and one page must not
        // end a corpus.
        let found = catch_unwind(AssertUnwindSafe(|| extract(html, url, &options)));
        match found {
            Ok(found) => {
                if let Some(template) = template {
                    template.learn(&found.blocks);
                }
                let us = thread_cpu_us().saturating_sub(start);
                ExtractedRow::from_extracted(id, found, url, wish.keeps_all, us)
            }
            Err(_) => ExtractedRow::failed_within(id),
        }
    }

    /// A document that is no HTML.
    pub fn of_document(id: Value, read: Contained, us: u64) -> ExtractedRow {
        ExtractedRow {
            text: read.text,
            title: read.title,
            author: read.author,
            published: read.published.map(|day| day.date().day()),
            modified: read.modified.map(|day| day.date().day()),
            oddities: read.oddities,
            error: None,
            us,
            ..ExtractedRow::failed(id, "")
        }
    }

    /// A page that the extractor panicked on.
    pub fn failed_within(id: Value) -> ExtractedRow {
        ExtractedRow::failed(id, "the extractor failed on this page")
    }

    /// A page that could not be read.
    pub fn failed(id: Value, error: &str) -> ExtractedRow {
        ExtractedRow {
            id,
            fetched: None,
            text: String::new(),
            all: None,
            markdown: None,
            title: None,
            author: None,
            published: None,
            modified: None,
            language: None,
            canonical: None,
            description: None,
            site_name: None,
            noindex: false,
            scripted: false,
            kind: PageKind::Other,
            confidence: 0.0,
            method: Method::Rest,
            metadata: None,
            oddities: Vec::new(),
            error: Some(error.to_owned()),
            us: 0,
        }
    }

    pub fn from_extracted(
        id: Value,
        found: Extracted,
        url: &Url,
        keeps_all: bool,
        us: u64,
    ) -> ExtractedRow {
        let scripted = found.is_scripted;
        let Extracted { main, all, confidence, method, markdown, metadata, oddities, .. } = found;
        let declared = metadata.language.as_ref().and_then(|said| language::tag(&said.value));
        let detected = metadata.language_detected.as_ref().map(|said| said.value.clone());
        let canonical = metadata.canonical.as_ref().map(|written| {
            let resolved = if is_unknown(url) { Url::parse(written) } else { url.join(written) };
            resolved.map_or_else(|_| written.clone(), |url| url.as_str().to_owned())
        });
        ExtractedRow {
            id,
            fetched: None,
            text: main,
            all: keeps_all.then_some(all),
            markdown,
            title: metadata.title.as_ref().map(|said| said.value.clone()),
            author: metadata.author.as_ref().map(|said| said.value.clone()),
            published: metadata.published.as_ref().map(|said| said.value.day()),
            modified: metadata.modified.as_ref().map(|said| said.value.day()),
            language: declared.or(detected),
            canonical,
            description: metadata.description.as_ref().map(|said| said.value.clone()),
            site_name: metadata.site_name.as_ref().map(|said| said.value.clone()),
            noindex: false,
            scripted,
            kind: metadata.kind,
            confidence,
            method,
            metadata: keeps_all.then_some(metadata),
            oddities: oddities.into_iter().map(str::to_owned).collect(),
            error: None,
            us,
        }
    }
}

/// The address of a page, or one that leads nowhere.
pub fn address(url: Option<&str>) -> Option<Url> {
    let url = url.and_then(|url| Url::parse(url).ok());
    url.or_else(|| Url::parse(NO_ADDRESS).ok())
}

fn is_unknown(url: &Url) -> bool {
    url.as_str() == NO_ADDRESS
}

/// CPU time of this thread so far, in microseconds.
pub fn thread_cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}
