//! Documents of any format: what a body says, whatever it is written in.
//!
//! A format is one file with one value that implements [`DocumentFormat`], and one line in
//! [`FORMATS`]; nothing else knows how many there are. `docs/lab/extraction.md` shows how one is
//! added.

mod docx;
mod epub;
mod feed;
mod html;
mod json;
mod odf;
mod office;
mod packed;
mod pdf;
mod pdf_lines;
mod pdf_safety;
mod plain;
mod pptx;
mod rtf;
mod sitemap;
mod xlsx;
mod zip;

use serde::Serialize;

use crate::{Metadata, StatedDate};
use rhumb_page::media::{self, ContentType, MediaKind};
use rhumb_page::url::Url;

/// Bytes of text kept of one document.
pub const TEXT_BYTES_MAX: usize = 16 << 20;
/// Links kept of one document.
pub const LINKS_MAX: usize = 50_000;

/// What a document says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// The name of the format it was read as.
    pub format: &'static str,
    /// The title, where the document names one.
    pub title: Option<String>,
    /// Who wrote it, where the document says so.
    pub author: Option<String>,
    /// When it was made, where the document says so.
    pub published: Option<StatedDate>,
    /// When it was last changed, where the document says so.
    pub modified: Option<StatedDate>,
    /// Its main text.
    pub text: String,
    /// Where it leads.
    #[serde(serialize_with = "as_texts")]
    pub links: Vec<Url>,
    /// All that an HTML page says about itself.
    pub metadata: Option<Metadata>,
    /// What was odd about it; what could be read is there nevertheless.
    pub oddities: Vec<String>,
}

/// A format that can be read.
pub trait DocumentFormat: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// Whether a body is of this format, by its kind and the essence of its Content-Type.
    fn claims(&self, kind: MediaKind, essence: &str) -> bool;
    /// Reads a body that came from `url`. Never panics, whatever the body is.
    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document;
}

/// All formats; the first that claims a body reads it.
pub static FORMATS: [&dyn DocumentFormat; 13] = [
    &epub::Epub,
    &rtf::Rtf,
    &html::Html,
    &pdf::Pdf,
    &packed::Packed,
    &feed::Feeds,
    &sitemap::Sitemaps,
    &json::Json,
    &plain::Plain,
    &docx::Docx,
    &xlsx::Xlsx,
    &pptx::Pptx,
    &odf::Odf,
];

/// The format of a body, if it is one that can be read.
pub fn format_of(content_type: Option<&str>, body: &[u8]) -> Option<&'static dyn DocumentFormat> {
    let declared = ContentType::parse(content_type.unwrap_or_default()).essence;
    let kind = media::kind(content_type, body);
    let essence = own_type(body).unwrap_or(&declared);
    FORMATS.iter().copied().find(|format| format.claims(kind, essence))
}

/// What a document says that it is, where it says so at its beginning: servers often call it
/// `application/octet-stream`.
fn own_type(body: &[u8]) -> Option<&'static str> {
    // The name and the bytes of the first member of the ZIP file.
    const EPUB: (usize, &[u8]) = (30, b"mimetypeapplication/epub+zip");
    let (at, said) = EPUB;
    if body.get(at..).is_some_and(|rest| rest.starts_with(said)) {
        return Some("application/epub+zip");
    }
    body.starts_with(b"{\\rtf").then_some("application/rtf")
}

/// Reads a body, if it is of a format that can be read.
pub fn read(content_type: Option<&str>, body: &[u8], url: &Url) -> Option<Document> {
    let charset = content_type.and_then(|text| ContentType::parse(text).charset);
    let format = format_of(content_type, body)?;
    let mut document = format.read(body, charset, url);
    document.format = format.name();
    if document.text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|at| document.text.is_char_boundary(*at));
        document.text.truncate(end.unwrap_or(0));
        document.oddities.push(format!("more than {TEXT_BYTES_MAX} bytes of text"));
    }
    if document.links.len() > LINKS_MAX {
        document.links.truncate(LINKS_MAX);
        document.oddities.push(format!("more than {LINKS_MAX} links"));
    }
    Some(document)
}

fn as_texts<S: serde::Serializer>(links: &[Url], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(links.iter().map(Url::as_str))
}

#[cfg(test)]
mod tests;
