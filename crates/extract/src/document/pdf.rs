//! PDF: text, title, author, dates and links.
//!
//! The reader behind this panics on much of what the web calls PDF, so each page is read behind
//! `catch_unwind`: a broken page costs itself, not the document. What would exhaust the stack is
//! refused beforehand (`pdf_safety`). What cannot be bounded here is the time and memory of one
//! page, as a content stream may unpack to anything: whoever reads files of strangers does it in a
//! process of its own, with limits, as `rhumb` does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Dictionary, Document as Pdfs, ObjectId, PlainTextOutput, output_doc_page};

use super::pdf_lines::expand_lines;
use super::pdf_safety::{danger_of, resolved};
use super::{Document, DocumentFormat, LINKS_MAX, TEXT_BYTES_MAX};
use crate::StatedDate;
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

/// Bytes of a file that is read at all.
const FILE_BYTES_MAX: usize = 64 << 20;
/// Pages read of one file.
const PAGES_MAX: usize = 2_000;
/// Bytes of a title or an author.
const VALUE_BYTES_MAX: usize = 2_048;

pub(super) struct Pdf;

impl DocumentFormat for Pdf {
    fn name(&self) -> &'static str {
        "pdf"
    }

    fn claims(&self, kind: MediaKind, _: &str) -> bool {
        kind == MediaKind::Pdf
    }

    fn read(&self, body: &[u8], _: Option<&str>, url: &Url) -> Document {
        let mut document = Document::default();
        if body.len() > FILE_BYTES_MAX {
            document.oddities.push(format!("a PDF of more than {FILE_BYTES_MAX} bytes"));
            return document;
        }
        match guarded(|| open(body)) {
            Some(Ok(mut file)) => {
                describe(&file, &mut document);
                read_pages(&mut file, url, &mut document);
            }
            Some(Err(why)) => document.oddities.push(why),
            None => document.oddities.push("a PDF that cannot be read".to_owned()),
        }
        document
    }
}

/// Runs what may panic; the values are not used again if it does.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn open(body: &[u8]) -> Result<Pdfs, String> {
    let mut file = Pdfs::load_mem(body).map_err(|error| format!("a broken PDF: {error}"))?;
    if file.is_encrypted() && file.decrypt("").is_err() {
        return Err("an encrypted PDF".to_owned());
    }
    Ok(file)
}

fn describe(file: &Pdfs, document: &mut Document) {
    let Some(info) = resolved(file, &file.trailer, b"Info") else { return };
    let text = |key: &[u8]| {
        let bytes = info.get(key).ok()?;
        let bytes = file.dereference(bytes).ok()?.1.as_str().ok()?;
        let text = decoded(bytes);
        let text = text.trim();
        (!text.is_empty() && text.len() <= VALUE_BYTES_MAX).then(|| text.to_owned())
    };
    document.title = text(b"Title");
    document.author = text(b"Author");
    document.published = text(b"CreationDate").and_then(|text| date(&text));
    document.modified = text(b"ModDate").and_then(|text| date(&text));
}

/// A text of a PDF: UTF-16 or UTF-8 with a mark, else taken as Latin-1, which its own encoding
/// nearly is.
fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => encoding_rs::UTF_16BE.decode(rest).0.into_owned(),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|byte| char::from(*byte)).filter(|c| !c.is_control()).collect(),
    }
}

/// `D:20240501103000+02'00'`.
fn date(text: &str) -> Option<StatedDate> {
    let digits = text.strip_prefix("D:").unwrap_or(text);
    let part = |from: usize, to: usize| {
        digits.get(from..to).filter(|part| part.bytes().all(|b| b.is_ascii_digit()))
    };
    let day = format!("{}-{}-{}", part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let clock =
        part(8, 14).map(|clock| format!("T{}:{}:{}", &clock[..2], &clock[2..4], &clock[4..]));
    let zone = digits.get(14..).unwrap_or_default().replace('\'', ":");
    let zone = zone.trim_end_matches(':');
    StatedDate::parse(&format!("{day}{}{zone}", clock.as_deref().unwrap_or_default()))
        .or_else(|| StatedDate::parse(&day))
}

fn read_pages(file: &mut Pdfs, url: &Url, document: &mut Document) {
    let pages = guarded(|| file.page_iter().take(PAGES_MAX + 1).collect::<Vec<ObjectId>>());
    let pages = pages.unwrap_or_default();
    if pages.len() > PAGES_MAX {
        document.oddities.push(format!("more than {PAGES_MAX} pages"));
    }
    let mut broken = 0;
    for (number, page) in (1..).zip(pages.into_iter().take(PAGES_MAX)) {
        if let Some(danger) = danger_of(file, page) {
            document.oddities.push(danger.to_owned());
            return;
        }
        match guarded(|| page_text(file, page, number)) {
            Some(Some(text)) => document.text.push_str(&text),
            _ => broken += 1,
        }
        let links = guarded(|| links_of(file, page, url)).unwrap_or_default();
        let left = LINKS_MAX.saturating_sub(document.links.len());
        document.links.extend(links.into_iter().take(left));
        if document.text.len() > TEXT_BYTES_MAX {
            return;
        }
    }
    if broken > 0 {
        document.oddities.push(format!("{broken} pages that cannot be read"));
    }
}

fn page_text(file: &mut Pdfs, page: ObjectId, number: u32) -> Option<String> {
    expand_lines(file, page);
    let mut text = String::new();
    output_doc_page(file, &mut PlainTextOutput::new(&mut text), number).ok()?;
    let mut folded = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        folded.push_str(line);
        folded.push('\n');
    }
    Some(folded)
}

/// The addresses that a page's annotations lead to.
fn links_of(file: &Pdfs, page: ObjectId, url: &Url) -> Vec<Url> {
    let address = |annotation: &Dictionary| {
        let action = resolved(file, annotation, b"A")?;
        let address = file.dereference(action.get(b"URI").ok()?).ok()?.1.as_str().ok()?;
        url.join(&String::from_utf8_lossy(address)).ok()
    };
    let annotations = file.get_page_annotations(page).unwrap_or_default();
    annotations.into_iter().filter_map(address).collect()
}
