//! Feeds: RSS 2.0, RSS 1.0 (RDF), Atom and JSON Feed, read for their links and dates.

use serde::Deserialize;

use crate::date::UnixSeconds;
use crate::url::Url;
use crate::xml::{self, Element, XmlListener};

/// Entries kept of one feed; most have ten to a hundred.
pub const ENTRIES_MAX: usize = 10_000;

/// What a feed says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feed {
    /// Entries that have a link, in order.
    pub entries: Vec<FeedEntry>,
    /// Entries beyond [`ENTRIES_MAX`], not kept.
    pub entries_beyond: u64,
    /// Why the rest could not be read.
    pub broken: Option<String>,
}

/// An entry of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    /// The page it announces.
    pub url: Url,
    /// When it was first published, by its own word.
    pub published: Option<UnixSeconds>,
    /// When it changed last, by its own word.
    pub updated: Option<UnixSeconds>,
}

/// Reads a feed that came from `url`.
pub fn read(body: &[u8], declared_charset: Option<&str>, url: &Url) -> Feed {
    let text = xml::decode(body, declared_charset);
    if text.trim_start().starts_with('{') {
        return read_json(&text, url);
    }
    let mut reading = Reading {
        feed: Feed::default(),
        base: url.clone(),
        entry_base: None,
        draft: Draft::default(),
        is_feed: false,
    };
    let outcome = xml::listen(&text, &mut reading);
    let mut feed = reading.feed;
    feed.broken = match outcome {
        Err(broken) => Some(broken),
        Ok(()) if !reading.is_feed => Some("neither RSS nor Atom".to_owned()),
        Ok(()) => None,
    };
    feed
}

/// An entry that is being read.
#[derive(Default)]
struct Draft {
    link: Option<String>,
    /// RSS: an identifier that is the entry's address unless it says otherwise.
    permalink: Option<String>,
    permalink_refused: bool,
    published: Option<UnixSeconds>,
    updated: Option<UnixSeconds>,
}

struct Reading {
    feed: Feed,
    base: Url,
    entry_base: Option<Url>,
    draft: Draft,
    is_feed: bool,
}

impl Reading {
    fn entry_ended(&mut self) {
        let draft = std::mem::take(&mut self.draft);
        let base = self.entry_base.take();
        let link = draft.link.or(draft.permalink.filter(|_| !draft.permalink_refused));
        let url = link.and_then(|link| base.as_ref().unwrap_or(&self.base).join(&link).ok());
        let Some(url) = url else { return };
        if self.feed.entries.len() < ENTRIES_MAX {
            let Draft { published, updated, .. } = draft;
            self.feed.entries.push(FeedEntry { url, published, updated });
        } else {
            self.feed.entries_beyond += 1;
        }
    }
}

impl XmlListener for Reading {
    fn opened(&mut self, path: &[String], element: &Element<'_>) {
        let base = |within: &Url| element.attribute("xml:base").and_then(|b| within.join(&b).ok());
        match path {
            [root] => {
                self.is_feed = ["rss", "feed", "RDF"].contains(&root.as_str());
                if let Some(declared) = base(&self.base) {
                    self.base = declared;
                }
            }
            [.., entry] if is_entry(entry) => {
                self.draft = Draft::default();
                self.entry_base = base(&self.base);
            }
            [.., entry, field] if is_entry(entry) && field == "link" => {
                let rel = element.attribute("rel").unwrap_or_else(|| "alternate".to_owned());
                if rel == "alternate"
                    && self.draft.link.is_none()
                    && let Some(href) = element.attribute("href")
                {
                    self.draft.link = Some(href);
                }
            }
            [.., entry, field] if is_entry(entry) && field == "guid" => {
                self.draft.permalink_refused =
                    element.attribute("isPermaLink").is_some_and(|is| is != "true");
            }
            _ => (),
        }
    }

    fn closed(&mut self, path: &[String], text: &str) {
        match path {
            [.., entry] if self.is_feed && is_entry(entry) => self.entry_ended(),
            [.., entry, field] if is_entry(entry) && !text.is_empty() => match field.as_str() {
                "link" => self.draft.link = Some(text.to_owned()),
                "guid" => self.draft.permalink = Some(text.to_owned()),
                "pubDate" | "published" | "issued" | "date" => {
                    self.draft.published = UnixSeconds::parse(text);
                }
                "updated" | "modified" => self.draft.updated = UnixSeconds::parse(text),
                _ => (),
            },
            _ => (),
        }
    }
}

/// RSS says item, Atom says entry.
fn is_entry(name: &str) -> bool {
    name == "item" || name == "entry"
}

#[derive(Deserialize)]
struct JsonFeed {
    #[serde(default)]
    items: Vec<JsonItem>,
}

#[derive(Deserialize)]
struct JsonItem {
    url: Option<String>,
    external_url: Option<String>,
    date_published: Option<String>,
    date_modified: Option<String>,
}

fn read_json(text: &str, base: &Url) -> Feed {
    let mut feed = Feed::default();
    let json: JsonFeed = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => {
            feed.broken = Some(format!("JSON: {error}"));
            return feed;
        }
    };
    feed.entries_beyond = json.items.len().saturating_sub(ENTRIES_MAX) as u64;
    for item in json.items.into_iter().take(ENTRIES_MAX) {
        let link = item.url.or(item.external_url);
        let Some(url) = link.and_then(|link| base.join(&link).ok()) else { continue };
        let date = |text: Option<String>| text.and_then(|text| UnixSeconds::parse(&text));
        let (published, updated) = (date(item.date_published), date(item.date_modified));
        feed.entries.push(FeedEntry { url, published, updated });
    }
    feed
}
