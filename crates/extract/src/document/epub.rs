//! Books: EPUB 3.3 (W3C), whose chapters are XHTML in the order of the package's spine.

use rhumb_page::html::{PageLimits, read_with_text};
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;
use rhumb_page::xml::{self, Element, XmlListener};

use super::office::read_properties;
use super::zip::Zip;
use super::{Document, DocumentFormat, LINKS_MAX, TEXT_BYTES_MAX};

pub(super) struct Epub;

/// Where every book says which member is its package.
const CONTAINER: &str = "META-INF/container.xml";
/// Chapters that are read; a book has some hundred at most.
const CHAPTERS_MAX: usize = 4_096;
/// Members are addressed within the book, as if it were a host of its own.
const INSIDE: &str = "http://book.invalid/";

/// What a package says of its parts.
#[derive(Default)]
struct Package {
    /// Identifier and address of each part that is XHTML.
    manifest: Vec<(String, String)>,
    /// Identifiers, in the order of reading.
    spine: Vec<String>,
}

impl XmlListener for Package {
    fn opened(&mut self, path: &[String], element: &Element<'_>) {
        let attribute = |name| element.attribute(name).unwrap_or_default();
        match path.last().map_or("", String::as_str) {
            "item"
                if self.manifest.len() < CHAPTERS_MAX
                    && attribute("media-type") == "application/xhtml+xml" =>
            {
                self.manifest.push((attribute("id"), attribute("href")));
            }
            "itemref" if self.spine.len() < CHAPTERS_MAX => self.spine.push(attribute("idref")),
            _ => (),
        }
    }

    fn closed(&mut self, _: &[String], _: &str) {}
}

impl DocumentFormat for Epub {
    fn name(&self) -> &'static str {
        "epub"
    }

    fn claims(&self, _: MediaKind, essence: &str) -> bool {
        essence == "application/epub+zip"
    }

    fn read(&self, body: &[u8], _: Option<&str>, _: &Url) -> Document {
        let mut document = Document::default();
        let zip = Zip::open(body);
        let package = zip.as_ref().and_then(|zip| Some((zip, package_of(zip)?)));
        let Some((zip, (name, text))) = package else {
            document.oddities.push("no EPUB package in it".to_owned());
            return document;
        };
        let mut package = Package::default();
        if let Err(what) = xml::listen(&text, &mut package) {
            document.oddities.push(format!("{name}: {what}"));
        }
        read_properties(zip, &name, &mut document);
        read_chapters(zip, &name, &package, &mut document);
        document
    }
}

/// The member that is the package, and what stands in it.
fn package_of(zip: &Zip<'_>) -> Option<(String, String)> {
    struct Rootfile(Option<String>);
    impl XmlListener for Rootfile {
        fn opened(&mut self, path: &[String], element: &Element<'_>) {
            if path.last().is_some_and(|name| name == "rootfile") && self.0.is_none() {
                self.0 = element.attribute("full-path");
            }
        }

        fn closed(&mut self, _: &[String], _: &str) {}
    }
    let mut found = Rootfile(None);
    // A container that is broken behind the name of the package has said what is needed.
    let _ = xml::listen(&zip.text(CONTAINER)?, &mut found);
    let name = found.0?;
    let text = zip.text(&name)?;
    Some((name, text))
}

fn read_chapters(zip: &Zip<'_>, package_name: &str, package: &Package, document: &mut Document) {
    for chapter in &package.spine {
        let href = package.manifest.iter().find(|(id, _)| id == chapter).map(|(_, href)| href);
        let at = href.and_then(|href| inside(package_name)?.join(href).ok());
        let Some((at, member)) = at.and_then(|at| Some((at.clone(), member_of(&at)?))) else {
            continue;
        };
        let Some(text) = zip.text(&member) else { continue };
        let (page, text) =
            read_with_text(text.as_bytes(), Some("utf-8"), &at, &PageLimits::default());
        if !document.text.is_empty() && !text.is_empty() {
            document.text.push('\n');
        }
        document.text.push_str(&text);
        let outside = page.links.into_iter().map(|link| link.url);
        let outside = outside.filter(|url| url.host() != at.host());
        let room = LINKS_MAX.saturating_sub(document.links.len());
        document.links.extend(outside.take(room));
        if document.text.len() >= TEXT_BYTES_MAX {
            return;
        }
    }
}

fn inside(member: &str) -> Option<Url> {
    Url::parse(&format!("{INSIDE}{member}")).ok()
}

/// The name of the member at an address. Names in ZIP files are not escaped.
fn member_of(at: &Url) -> Option<String> {
    let escaped = at.as_str().strip_prefix(INSIDE)?.split(['?', '#']).next()?.as_bytes();
    let mut name = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let [first, others @ ..] = rest {
        let hex = others.get(..2).and_then(|two| str::from_utf8(two).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        (rest, _) = match (first, byte) {
            (b'%', Some(byte)) => (&others[2..], name.push(byte)),
            _ => (others, name.push(*first)),
        };
    }
    String::from_utf8(name).ok()
}
