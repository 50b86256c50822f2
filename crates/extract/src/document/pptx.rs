//! PowerPoint slides: ECMA-376, "Office Open XML File Formats", 19 and 21.

use super::office::{Writing, push_text, read_links, read_properties};
use super::zip::Zip;
use super::{Document, DocumentFormat};
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

pub(super) struct Pptx;

const WRITING: Writing =
    Writing { text: &["t"], lines: &["p", "br"], tabs: &["tab", "tc"], spaces: &[] };
/// Slides that are read.
const SLIDES_MAX: u32 = 2000;

impl DocumentFormat for Pptx {
    fn name(&self) -> &'static str {
        "pptx"
    }

    fn claims(&self, kind: MediaKind, essence: &str) -> bool {
        kind == MediaKind::Other
            && essence.starts_with("application/vnd.openxmlformats-officedocument.presentationml")
    }

    fn read(&self, body: &[u8], _: Option<&str>, url: &Url) -> Document {
        let mut document = Document::default();
        let Some(zip) = Zip::open(body) else {
            document.oddities.push("no slides in it".to_owned());
            return document;
        };
        for number in 1..=SLIDES_MAX {
            let Some(slide) = zip.text(&format!("ppt/slides/slide{number}.xml")) else { break };
            push_text(&slide, &WRITING, &mut document.text);
            let relations = format!("ppt/slides/_rels/slide{number}.xml.rels");
            read_links(&zip, &relations, ("Relationship", "Target"), url, &mut document);
        }
        read_properties(&zip, "docProps/core.xml", &mut document);
        document
    }
}
