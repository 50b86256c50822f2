//! Excel sheets: ECMA-376, "Office Open XML File Formats", 18. Cells of a row stand in one line;
//! texts are in a table of their own, to which cells point.

use super::office::read_properties;
use super::zip::Zip;
use super::{Document, DocumentFormat, TEXT_BYTES_MAX};
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;
use rhumb_page::xml::{self, Element, XmlListener};

pub(super) struct Xlsx;

/// Sheets that are read, and texts that cells may point to.
const SHEETS_MAX: u32 = 500;
const TEXTS_MAX: usize = 1_000_000;

impl DocumentFormat for Xlsx {
    fn name(&self) -> &'static str {
        "xlsx"
    }

    fn claims(&self, kind: MediaKind, essence: &str) -> bool {
        kind == MediaKind::Other
            && essence.starts_with("application/vnd.openxmlformats-officedocument.spreadsheetml")
    }

    fn read(&self, body: &[u8], _: Option<&str>, _: &Url) -> Document {
        let mut document = Document::default();
        let Some(zip) = Zip::open(body) else {
            document.oddities.push("no sheets in it".to_owned());
            return document;
        };
        let mut texts = Texts::default();
        if let Some(shared) = zip.text("xl/sharedStrings.xml")
            && let Err(what) = xml::listen(&shared, &mut texts)
        {
            document.oddities.push(format!("xl/sharedStrings.xml: {what}"));
        }
        for number in 1..=SHEETS_MAX {
            let Some(sheet) = zip.text(&format!("xl/worksheets/sheet{number}.xml")) else { break };
            let mut rows = Rows { texts: &texts.said, text: &mut document.text, shared: false };
            if let Err(what) = xml::listen(&sheet, &mut rows) {
                document.oddities.push(format!("sheet {number}: {what}"));
            }
        }
        read_properties(&zip, "docProps/core.xml", &mut document);
        document
    }
}

#[derive(Default)]
struct Texts {
    said: Vec<String>,
    current: String,
}

impl XmlListener for Texts {
    fn opened(&mut self, _: &[String], _: &Element<'_>) {}

    fn closed(&mut self, path: &[String], text: &str) {
        match path.last().map_or("", String::as_str) {
            // A text in several styles comes in pieces.
            "t" => self.current.push_str(text),
            "si" if self.said.len() < TEXTS_MAX => {
                self.said.push(std::mem::take(&mut self.current))
            }
            _ => (),
        }
    }
}

struct Rows<'a> {
    texts: &'a [String],
    text: &'a mut String,
    /// Whether the cell's value is the number of a text.
    shared: bool,
}

impl Rows<'_> {
    fn cell(&mut self, value: &str) {
        if !value.is_empty() && self.text.len() + value.len() < TEXT_BYTES_MAX {
            self.text.push_str(value);
            self.text.push('\t');
        }
    }
}

impl XmlListener for Rows<'_> {
    fn opened(&mut self, path: &[String], element: &Element<'_>) {
        if path.last().is_some_and(|name| name == "c") {
            self.shared = element.attribute("t").is_some_and(|kind| kind == "s");
        }
    }

    fn closed(&mut self, path: &[String], text: &str) {
        match path.last().map_or("", String::as_str) {
            "v" if self.shared => {
                let number = text.parse::<usize>().ok();
                let texts = self.texts;
                self.cell(number.and_then(|at| texts.get(at)).map_or("", String::as_str));
            }
            "v" | "t" => self.cell(text),
            "row" if self.text.ends_with('\t') => {
                self.text.pop();
                self.text.push('\n');
            }
            _ => (),
        }
    }
}
