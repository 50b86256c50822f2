//! Feeds as documents: their entries are links, their titles the text.

use super::{Document, DocumentFormat, TEXT_BYTES_MAX};
use rhumb_page::feed;
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;
use rhumb_page::xml::{self, Element, XmlListener};

pub(super) struct Feeds;

impl DocumentFormat for Feeds {
    fn name(&self) -> &'static str {
        "feed"
    }

    fn claims(&self, kind: MediaKind, _: &str) -> bool {
        kind == MediaKind::Feed
    }

    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document {
        let read = feed::read(body, charset, url);
        let mut titles = Titles::default();
        // What is broken was named by the reading above.
        let _ = xml::listen(&xml::decode(body, charset), &mut titles);
        Document {
            title: titles.lines.first().cloned(),
            text: titles.lines.join("\n"),
            links: read.entries.into_iter().map(|entry| entry.url).collect(),
            oddities: read.broken.into_iter().collect(),
            ..Document::default()
        }
    }
}

/// The titles of a feed and its entries, in order.
#[derive(Default)]
struct Titles {
    lines: Vec<String>,
    bytes: usize,
}

impl XmlListener for Titles {
    fn opened(&mut self, _: &[String], _: &Element<'_>) {}

    fn closed(&mut self, path: &[String], text: &str) {
        let is_title = path.last().is_some_and(|name| name == "title");
        if is_title && !text.is_empty() && self.bytes + text.len() < TEXT_BYTES_MAX {
            self.bytes += text.len();
            self.lines.push(text.to_owned());
        }
    }
}
