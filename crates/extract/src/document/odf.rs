//! OpenDocument texts, sheets and slides: OASIS, "Open Document Format for Office Applications"
//! 1.3, part 3.

use super::office::{Writing, push_text, read_links, read_properties};
use super::zip::Zip;
use super::{Document, DocumentFormat};
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

pub(super) struct Odf;

const WRITING: Writing = Writing {
    text: &["p", "h"],
    lines: &["p", "h", "line-break", "table-row"],
    tabs: &["tab", "table-cell"],
    spaces: &["s"],
};

impl DocumentFormat for Odf {
    fn name(&self) -> &'static str {
        "odf"
    }

    fn claims(&self, kind: MediaKind, essence: &str) -> bool {
        kind == MediaKind::Other && essence.starts_with("application/vnd.oasis.opendocument.")
    }

    fn read(&self, body: &[u8], _: Option<&str>, url: &Url) -> Document {
        let mut document = Document::default();
        let zip = Zip::open(body);
        let content = zip.as_ref().and_then(|zip| zip.text("content.xml"));
        let (Some(zip), Some(content)) = (zip, content) else {
            document.oddities.push("no OpenDocument content in it".to_owned());
            return document;
        };
        push_text(&content, &WRITING, &mut document.text);
        read_links(&zip, "content.xml", ("a", "xlink:href"), url, &mut document);
        read_properties(&zip, "meta.xml", &mut document);
        document
    }
}
