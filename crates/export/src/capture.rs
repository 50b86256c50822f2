//! What one capture holds: its record's facts, and what its page says.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use memchr::memmem;
use rhumb_archive::{CdxjEntry, Record};
use rhumb_extract::{
    ExtractOptions, Extracted, HostTemplate, Metadata, PageKind, PageWanted, language,
};
use rhumb_fetch::head::HeadBytes;
use rhumb_node::extract::{ExtractBody, ExtractedRow, Recorded, Wish, is_requisite};
use rhumb_page::html::Link;
use rhumb_page::media::MediaKind;
use rhumb_page::robots::Directives;
use rhumb_page::url::Url;

use crate::ExportFailure;
use crate::known::KnownUrl;
use crate::mime;
use crate::source::{CrawlSource, WarcFile};

/// Hosts whose templates a thread remembers. In the order of SURTs a host's pages follow each
/// other, but for those with and without `www.`.
const HOSTS_MAX: usize = 8;

/// A line of the index, to be read.
pub struct CaptureJob {
    pub entry: CdxjEntry,
    pub known: KnownUrl,
    /// Of several captures of a URL the last that has a page.
    pub is_last: bool,
}

/// What is wanted of captures.
#[derive(Clone, Copy, Debug, Default)]
pub struct Depth {
    /// The text, and what the page says about itself.
    pub text: bool,
    pub links: bool,
}

pub struct ExportedCapture {
    pub entry: CdxjEntry,
    pub known: KnownUrl,
    pub is_last: bool,
    /// None of what is no URL of ours.
    pub url: Option<Url>,
    /// `urn:uuid:…`
    pub record_id: String,
    /// As WARC writes it.
    pub date: String,
    pub status: u16,
    pub redirect: Option<String>,
    pub mime_detected: Option<String>,
    pub charset: Option<String>,
    pub truncated: Option<String>,
    pub page: Option<PageText>,
    pub links: Vec<LinkRow>,
    /// The bytes of the page without codings.
    pub page_bytes: u64,
}

/// What a page says.
#[derive(Clone, Debug, Default)]
pub struct PageText {
    pub text: String,
    pub title: Option<String>,
    pub author: Option<String>,
    pub published: Option<String>,
    pub modified: Option<String>,
    /// The primary language tag: detected, else declared.
    pub language: Option<String>,
    /// How sure detection is; none of a language that is only declared.
    pub language_score: Option<f32>,
    pub site_name: Option<String>,
    pub description: Option<String>,
    pub kind: PageKind,
    pub confidence: f32,
    pub words: u32,
    pub license: Option<String>,
    pub tdm_reserved: bool,
}

#[derive(Clone, Debug)]
pub struct LinkRow {
    pub to: String,
    pub anchor: Option<String>,
    pub rel: Option<&'static str>,
}

/// Reads captures; one a thread.
pub struct CaptureReader<'s> {
    warcs: HashMap<&'s str, (&'s WarcFile, RefCell<Option<File>>)>,
    templates: Vec<(String, HostTemplate)>,
    depth: Depth,
}

impl<'s> CaptureReader<'s> {
    pub fn new(source: &'s CrawlSource, depth: Depth) -> CaptureReader<'s> {
        let warcs = source.warcs.iter();
        let warcs = warcs.map(|warc| (warc.name.as_str(), (warc, RefCell::new(None)))).collect();
        CaptureReader { warcs, templates: Vec::new(), depth }
    }

    pub fn read(&mut self, job: CaptureJob) -> Result<ExportedCapture, ExportFailure> {
        let record = self.record(&job.entry)?;
        let url = Url::parse(&job.entry.url).ok();
        let head = HeadBytes::new(record.http_head());
        let status = job.entry.status.as_deref().and_then(|status| status.parse().ok());
        let status: u16 = status.unwrap_or(if record.kind() == "resource" { 200 } else { 0 });
        let location = (300..400).contains(&status).then(|| header(&record, "location")).flatten();
        let redirect = location.map(|location| match &url {
            Some(url) => url.join(&location).map_or(location, |url| url.as_str().to_owned()),
            None => location,
        });
        let mut capture = ExportedCapture {
            record_id: id_of(&record),
            date: record.field("WARC-Date").unwrap_or_default().to_owned(),
            status,
            redirect,
            mime_detected: None,
            charset: None,
            truncated: record.field("WARC-Truncated").map(str::to_owned),
            page: None,
            links: Vec::new(),
            page_bytes: 0,
            entry: job.entry,
            known: job.known,
            is_last: job.is_last,
            url,
        };
        let content_type = head.content_type().map(|value| value.into_owned());
        match Recorded::of(&record) {
            Some(page) if !is_requisite(&record) => self.read_page(&mut capture, &record, &page),
            _ if record.kind() == "response" => {
                capture.mime_detected = mime::detected(content_type.as_deref(), record.payload());
            }
            _ => (),
        }
        Ok(capture)
    }

    fn record(&self, entry: &CdxjEntry) -> Result<Record, ExportFailure> {
        let Some((warc, file)) = self.warcs.get(entry.filename.as_str()) else {
            let what = format!("{}: the index names it, and it is not there", entry.filename);
            return Err(ExportFailure::Failed(what));
        };
        let mut file = file.borrow_mut();
        let file = match &mut *file {
            Some(file) => file,
            none => {
                let failed = |error| ExportFailure::file(&warc.path, "read", &error);
                none.insert(File::open(&warc.path).map_err(failed)?)
            }
        };
        Ok(Record::read_at(&warc.path, file, entry.offset, entry.length)?)
    }

    fn read_page(&mut self, capture: &mut ExportedCapture, record: &Record, page: &Recorded) {
        let content_type = page.content_type.as_deref();
        capture.mime_detected = mime::detected(content_type, &page.body);
        let (Some(url), date) = (capture.url.clone(), capture.date.clone()) else { return };
        let body = ExtractBody {
            url: &url,
            fetched: &date,
            content_type,
            // What a page asks of crawlers was obeyed when it was kept.
            asks: Directives::default(),
            token: "rhumb",
            bytes: &page.body,
            is_cut: page.is_cut,
        };
        if url.path() == "/robots.txt" {
            return;
        }
        capture.page_bytes = page.body.len() as u64;
        if body.kind() != MediaKind::Html {
            if self.depth.text {
                let wish = Wish { keeps_all: false, markdown: false };
                capture.page = body.row(None, wish).and_then(PageText::of_document);
            }
            return;
        }
        self.read_html(capture, &body);
        if let Some(page) = &mut capture.page {
            page.tdm_reserved |= is_reserved(record, &body);
        }
    }

    fn read_html(&mut self, capture: &mut ExportedCapture, body: &ExtractBody<'_>) {
        self.bring_template(body.url.host());
        let options = ExtractOptions {
            template: self.templates.first().map(|(_, template)| template),
            detects_language: true,
            ..ExtractOptions::default()
        };
        let extracted = self.depth.text.then_some(options);
        let wanted = PageWanted { extracted, anchors: self.depth.links, ..PageWanted::default() };
        // The extractor has no state that a panic could leave half changed, and one page must not
        // end an export.
        let Ok(told) = catch_unwind(AssertUnwindSafe(|| body.told(&wanted))) else { return };
        capture.charset = Some(told.page.charset.to_owned());
        if self.depth.links && capture.is_last {
            // Of several texts of one link the first counts.
            let texts = told.anchors.iter().rev();
            let texts: HashMap<&str, &str> =
                texts.map(|anchor| (anchor.url.as_str(), anchor.text.as_str())).collect();
            let row = |link: &Link| LinkRow::of(link, texts.get(link.url.as_str()).copied());
            capture.links = told.page.links.iter().map(row).collect();
        }
        if let Some(mut found) = told.extracted {
            let blocks = std::mem::take(&mut found.blocks);
            if let Some((_, template)) = self.templates.first_mut() {
                template.learn(&blocks);
            }
            capture.page = PageText::of(found);
        }
    }

    /// Brings the template of a host to the front.
    fn bring_template(&mut self, host: &str) {
        match self.templates.iter().position(|(known, _)| known == host) {
            Some(at) => self.templates[..=at].rotate_right(1),
            None => {
                self.templates.truncate(HOSTS_MAX - 1);
                self.templates.insert(0, (host.to_owned(), HostTemplate::new()));
            }
        }
    }
}

impl PageText {
    /// None of a page that says nothing.
    fn of(found: Extracted) -> Option<PageText> {
        if found.main.is_empty() {
            return None;
        }
        let metadata = found.metadata;
        let detected = metadata.language_detected.as_ref();
        let declared = metadata.language.as_ref().and_then(|said| language::tag(&said.value));
        let named = detected.map(|said| said.value.clone()).or(declared);
        let text = |said: &Option<rhumb_extract::Stated<String>>| {
            said.as_ref().map(|said| said.value.clone())
        };
        Some(PageText {
            text: found.main,
            title: text(&metadata.title),
            author: text(&metadata.author),
            published: metadata.published.as_ref().map(|said| said.value.day()),
            modified: metadata.modified.as_ref().map(|said| said.value.day()),
            language: named.map(|tag| language::primary(&tag).to_owned()),
            language_score: detected.map(|said| said.confidence),
            site_name: text(&metadata.site_name),
            description: text(&metadata.description),
            kind: metadata.kind,
            confidence: found.confidence,
            words: metadata.words,
            tdm_reserved: refuses_mining(&metadata),
            license: metadata.license,
        })
    }

    fn of_document(row: ExtractedRow) -> Option<PageText> {
        if row.text.is_empty() {
            return None;
        }
        let words = row.text.split_whitespace().count();
        let language = row.language.as_deref().map(|tag| language::primary(tag).to_owned());
        Some(PageText {
            title: row.title,
            author: row.author,
            published: row.published,
            modified: row.modified,
            language,
            kind: row.kind,
            confidence: row.confidence,
            words: u32::try_from(words).unwrap_or(u32::MAX),
            text: row.text,
            ..PageText::default()
        })
    }
}

impl LinkRow {
    fn of(link: &Link, anchor: Option<&str>) -> LinkRow {
        LinkRow {
            to: link.url.as_str().to_owned(),
            anchor: anchor.filter(|text| !text.is_empty()).map(str::to_owned),
            rel: link.nofollow.then_some("nofollow"),
        }
    }
}

fn id_of(record: &Record) -> String {
    let id = record.field("WARC-Record-ID").unwrap_or_default();
    id.trim_matches(['<', '>']).to_owned()
}

fn header(record: &Record, name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(record.http_head());
    let values = head.lines().filter_map(|line| line.split_once(':'));
    let mut named = values.filter(|(known, _)| known.trim().eq_ignore_ascii_case(name));
    named.next().map(|(_, value)| value.trim().to_owned())
}

fn refuses_mining(metadata: &Metadata) -> bool {
    let robots = metadata.robots.as_deref().unwrap_or_default();
    robots.split(',').any(|word| matches!(word.trim(), "noai" | "noimageai"))
}

/// Whether a page reserves text and data mining: by the header or the meta element of TDMRep, or
/// `noai` for robots.
fn is_reserved(record: &Record, body: &ExtractBody<'_>) -> bool {
    const NAME: &[u8] = b"tdm-reservation";
    /// The element's content stands near its name.
    const ELEMENT_BYTES: usize = 64;
    let by_header = header(record, "tdm-reservation").is_some_and(|value| value == "1");
    let by_element = memmem::find_iter(body.bytes, NAME).any(|at| {
        let near = &body.bytes[at..body.bytes.len().min(at + ELEMENT_BYTES)];
        let near = near.split(|byte| *byte == b'>').next().unwrap_or_default();
        memmem::find(near, b"content=\"1\"").is_some() || memmem::find(near, b"content=1").is_some()
    });
    let by_robots = header(record, "x-robots-tag").is_some_and(|value| {
        value.split(',').any(|word| matches!(word.trim(), "noai" | "noimageai"))
    });
    by_header || by_element || by_robots
}
