//! Word documents: ECMA-376, "Office Open XML File Formats", 17.

use super::office::{Writing, push_text, read_links, read_properties};
use super::zip::Zip;
use super::{Document, DocumentFormat};
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

pub(super) struct Docx;

const WRITING: Writing =
    Writing { text: &["t"], lines: &["p", "br", "cr", "tr"], tabs: &["tab", "tc"], spaces: &[] };

impl DocumentFormat for Docx {
    fn name(&self) -> &'static str {
        "docx"
    }

    fn claims(&self, kind: MediaKind, essence: &str) -> bool {
        kind == MediaKind::Other
            && essence.starts_with("application/vnd.openxmlformats-officedocument.wordprocessingml")
    }

    fn read(&self, body: &[u8], _: Option<&str>, url: &Url) -> Document {
        let mut document = Document::default();
        let zip = Zip::open(body);
        let main = zip.as_ref().and_then(|zip| zip.text("word/document.xml"));
        let (Some(zip), Some(main)) = (zip, main) else {
            document.oddities.push("no Word document in it".to_owned());
            return document;
        };
        push_text(&main, &WRITING, &mut document.text);
        for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
            push_text(&zip.text(notes).unwrap_or_default(), &WRITING, &mut document.text);
        }
        let relations = "word/_rels/document.xml.rels";
        read_links(&zip, relations, ("Relationship", "Target"), url, &mut document);
        read_properties(&zip, "docProps/core.xml", &mut document);
        document
    }
}
