//! XML as sitemaps and feeds need it: elements with the text directly in them, told to a listener
//! as they close.
//!
//! No document type is read and no entity defined there is expanded; names that HTML knows
//! (`&nbsp;`) are decoded as HTML would, since feeds are full of them. What is broken ends the
//! reading, and what was told before stays told.

use std::borrow::Cow;

use encoding_rs::Encoding;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::charset;
use crate::html::decode_references;

/// Elements within elements; sitemaps and feeds need five.
const DEPTH_MAX: usize = 64;
/// Bytes kept of an element's text: a URL or a date is shorter, and we want nothing else.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Who wants to know.
pub trait XmlListener {
    /// An element opens; `path` names it and those around it, outermost first.
    fn opened(&mut self, path: &[String], element: &Element<'_>);
    /// An element closes; `text` is what stood directly in it.
    fn closed(&mut self, path: &[String], text: &str);
}

/// An element's start.
pub struct Element<'a>(&'a BytesStart<'a>);

impl Element<'_> {
    /// The attribute of that name, prefix and all.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        // Looking for repeated names would take quadratic time.
        attributes.with_checks(false);
        let found = attributes.flatten().find(|a| a.key.as_ref() == name)?;
        Some(decode_references(&found.value).into_owned())
    }
}

/// Tells the listener of every element; what was wrong, if the document could not be read to its
/// end.
pub fn listen(document: &str, listener: &mut impl XmlListener) -> Result<(), String> {
    let mut reader = Reader::from_str(document);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut path: Vec<String> = Vec::new();
    let mut text = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                if path.len() == DEPTH_MAX {
                    return Err(format!("elements are nested deeper than {DEPTH_MAX}"));
                }
                path.push(start.local_name().as_ref().to_owned());
                text.clear();
                listener.opened(&path, &Element(&start));
            }
            Ok(Event::End(_)) => {
                listener.closed(&path, text.trim());
                path.pop();
                text.clear();
            }
            Ok(Event::Text(piece)) => push(&mut text, &piece),
            Ok(Event::CData(piece)) => push(&mut text, &piece),
            Ok(Event::GeneralRef(name)) => {
                push(&mut text, &decode_references(&format!("&{};", &*name)));
            }
            Ok(Event::Eof) if path.is_empty() => return Ok(()),
            Ok(Event::Eof) => return Err("the document ends too early".to_owned()),
            Ok(_) => (),
            Err(error) => {
                return Err(format!("at byte {}: {error}", reader.error_position()));
            }
        }
    }
}

fn push(text: &mut String, piece: &str) {
    if text.len() + piece.len() <= TEXT_BYTES_MAX {
        text.push_str(piece);
    }
}

/// The body as text: a byte order mark, the server's word or the XML declaration tell the encoding;
/// else UTF-8.
pub fn decode<'a>(body: &'a [u8], declared_charset: Option<&str>) -> Cow<'a, str> {
    const DECLARATION_BYTES_MAX: usize = 200;
    let stated = declared_charset.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let label = stated.map(Encoding::name).or_else(|| {
        let head = &body[..body.len().min(DECLARATION_BYTES_MAX)];
        let head = std::str::from_utf8(head.split(|b| *b == b'>').next()?).ok()?;
        let after = head.strip_prefix("<?xml")?.split_once("encoding")?.1;
        let label = after.trim_start().strip_prefix('=')?.trim_start();
        let quote = label.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let label = label[1..].split(quote).next()?;
        Encoding::for_label(label.as_bytes()).map(Encoding::name)
    });
    charset::decode(body, label.or(Some("utf-8")), None).text
}
