//! What office formats share: text in paragraphs of XML, and a member with title, author and dates.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::zip::Zip;
use super::{Document, LINKS_MAX, TEXT_BYTES_MAX};
use crate::StatedDate;
use rhumb_page::html::decode_references;
use rhumb_page::url::Url;
use rhumb_page::xml::{self, Element, XmlListener};

/// How a format writes text.
pub(super) struct Writing {
    /// Elements whose text counts, by local name.
    pub text: &'static [&'static str],
    /// Elements that end a line.
    pub lines: &'static [&'static str],
    /// Elements that stand for a tab, or end a cell.
    pub tabs: &'static [&'static str],
    /// Elements that stand for a space.
    pub spaces: &'static [&'static str],
}

/// Appends the text of a member, a line for each paragraph. What is broken ends it.
pub(super) fn push_text(member: &str, writing: &Writing, text: &mut String) {
    let mut reader = Reader::from_str(member);
    let config = reader.config_mut();
    (config.allow_dangling_amp, config.check_end_names) = (true, false);
    let mut within = 0_u32;
    while text.len() < TEXT_BYTES_MAX {
        match reader.read_event() {
            Ok(Event::Start(start)) => {
                within += u32::from(writing.text.contains(&start.local_name().as_ref()));
            }
            Ok(Event::Empty(empty)) => push_mark(empty.local_name().as_ref(), writing, text),
            Ok(Event::End(end)) => {
                let name = end.local_name();
                within = within.saturating_sub(u32::from(writing.text.contains(&name.as_ref())));
                push_mark(name.as_ref(), writing, text);
            }
            Ok(Event::Text(piece)) if within > 0 => text.push_str(&piece),
            Ok(Event::CData(piece)) if within > 0 => text.push_str(&piece),
            Ok(Event::GeneralRef(name)) if within > 0 => {
                text.push_str(&decode_references(&format!("&{};", &*name)));
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => (),
        }
    }
}

fn push_mark(name: &str, writing: &Writing, text: &mut String) {
    if writing.lines.contains(&name) {
        text.truncate(text.trim_end_matches(['\t', ' ']).len());
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    } else if writing.tabs.contains(&name) {
        text.truncate(text.trim_end_matches('\n').len());
        text.push('\t');
    } else if writing.spaces.contains(&name) {
        text.push(' ');
    }
}

/// Reads the member that says what the document is called, by whom and when.
pub(super) fn read_properties(zip: &Zip<'_>, member: &str, document: &mut Document) {
    struct Properties<'d>(&'d mut Document);
    impl XmlListener for Properties<'_> {
        fn opened(&mut self, _: &[String], _: &Element<'_>) {}

        fn closed(&mut self, path: &[String], text: &str) {
            let value = || (!text.is_empty()).then(|| text.to_owned());
            let document = &mut *self.0;
            match path.last().map_or("", String::as_str) {
                "title" if document.title.is_none() => document.title = value(),
                "creator" | "initial-creator" if document.author.is_none() => {
                    document.author = value();
                }
                "created" | "creation-date" => document.published = StatedDate::parse(text),
                "modified" | "date" => document.modified = StatedDate::parse(text),
                _ => (),
            }
        }
    }
    if let Some(text) = zip.text(member)
        && let Err(what) = xml::listen(&text, &mut Properties(document))
    {
        document.oddities.push(format!("{member}: {what}"));
    }
}

/// Adds the addresses in an attribute of elements of one name: links to the outside.
pub(super) fn read_links(
    zip: &Zip<'_>,
    member: &str,
    (element, attribute): (&str, &str),
    url: &Url,
    document: &mut Document,
) {
    struct Links<'d>(&'d str, &'d str, &'d Url, &'d mut Vec<Url>);
    impl XmlListener for Links<'_> {
        fn opened(&mut self, path: &[String], element: &Element<'_>) {
            let is_inner = element.attribute("TargetMode").is_none_or(|mode| mode != "External");
            let is_relation = self.0 == "Relationship";
            if path.last().is_none_or(|name| name != self.0) || (is_relation && is_inner) {
                return;
            }
            let written = element.attribute(self.1);
            let link = written.and_then(|written| self.2.join(&written).ok());
            if let Some(link) = link.filter(|link| self.3.len() < LINKS_MAX && link != self.2) {
                self.3.push(link);
            }
        }

        fn closed(&mut self, _: &[String], _: &str) {}
    }
    if let Some(text) = zip.text(member) {
        // Links before what is broken count.
        let _ = xml::listen(&text, &mut Links(element, attribute, url, &mut document.links));
    }
}
