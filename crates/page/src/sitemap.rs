//! Sitemaps: lists of a site's pages (`urlset`), lists of such lists (`sitemapindex`), plain lines,
//! and feeds that serve as one; any of them gzipped.
//!
//! A broken sitemap gives what was read up to the break, and says what was wrong.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::date::UnixSeconds;
use crate::feed;
use crate::url::Url;
use crate::xml::{self, Element, Listener};

/// Entries of one sitemap; the protocol's limit.
pub const ENTRIES_MAX: usize = 50_000;
/// Bytes of one sitemap when unpacked; the protocol's limit.
pub const UNPACKED_BYTES_MAX: usize = 50 << 20;
/// How many times larger than packed a sitemap may be: real ones reach 50, a bomb 1,000.
pub const UNPACKED_RATIO_MAX: usize = 200;
/// Bytes that may be unpacked whatever the ratio, so that small repetitive sitemaps pass.
const UNPACKED_BYTES_FREE: usize = 1 << 20;

/// What a sitemap says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sitemap {
    /// Pages, in order.
    pub pages: Vec<Entry>,
    /// Further sitemaps, in order.
    pub sitemaps: Vec<Entry>,
    /// Entries beyond [`ENTRIES_MAX`], not kept.
    pub entries_beyond: u64,
    /// Entries that name no URL.
    pub entries_refused: u64,
    /// Why the rest could not be read.
    pub broken: Option<String>,
}

/// A page or a sitemap that a sitemap names.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where it is.
    pub url: Url,
    /// When it changed last, by its own word.
    pub modified: Option<UnixSeconds>,
    /// How often it changes, by its own word.
    pub changes: Option<ChangeFrequency>,
}

/// `changefreq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the protocol's own words")]
pub enum ChangeFrequency {
    Always,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
    Never,
}

impl ChangeFrequency {
    fn parse(word: &str) -> Option<ChangeFrequency> {
        use ChangeFrequency::*;
        let known = [Always, Hourly, Daily, Weekly, Monthly, Yearly, Never];
        let names = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];
        let at = names.iter().position(|name| word.eq_ignore_ascii_case(name))?;
        Some(known[at])
    }
}

/// Reads a sitemap that came from `url`, gzipped or not.
pub fn read(body: &[u8], declared_charset: Option<&str>, url: &Url) -> Sitemap {
    if !body.starts_with(&[0x1F, 0x8B]) {
        return read_unpacked(body, declared_charset, url);
    }
    let (unpacked, broken) = unpack(body);
    let mut sitemap = read_unpacked(&unpacked, declared_charset, url);
    // The packing's fault explains the XML's.
    sitemap.broken = broken.or(sitemap.broken);
    sitemap
}

/// Unpacks as much as the limits allow and the data holds; and why not all of it.
fn unpack(body: &[u8]) -> (Vec<u8>, Option<String>) {
    let by_ratio = body.len().saturating_mul(UNPACKED_RATIO_MAX).max(UNPACKED_BYTES_FREE);
    let bytes_max = by_ratio.min(UNPACKED_BYTES_MAX);
    let mut unpacked = Vec::new();
    let outcome = MultiGzDecoder::new(body).take(bytes_max as u64 + 1).read_to_end(&mut unpacked);
    if unpacked.len() > bytes_max {
        unpacked.truncate(bytes_max);
        return (unpacked, Some(format!("unpacks to more than {bytes_max} bytes")));
    }
    (unpacked, outcome.err().map(|error| format!("gzip: {error}")))
}

fn read_unpacked(body: &[u8], declared_charset: Option<&str>, url: &Url) -> Sitemap {
    let text = xml::decode(body, declared_charset);
    let mut reading = Reading::new(url);
    if !text.trim_start().starts_with('<') {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            reading.location = Some(line.to_owned());
            reading.entry_ended(false);
        }
        return reading.sitemap;
    }
    let outcome = xml::listen(&text, &mut reading);
    reading.sitemap.broken = outcome.err();
    match reading.root {
        Root::Sitemap => reading.sitemap,
        Root::Feed => of_feed(feed::read(body, declared_charset, url)),
        Root::Unknown => {
            let unknown = || "neither a urlset, a sitemapindex nor a feed".to_owned();
            reading.sitemap.broken.get_or_insert_with(unknown);
            reading.sitemap
        }
    }
}

fn of_feed(feed: feed::Feed) -> Sitemap {
    let entry = |item: feed::Entry| Entry {
        url: item.url,
        modified: item.updated.or(item.published),
        changes: None,
    };
    Sitemap {
        pages: feed.entries.into_iter().map(entry).collect(),
        entries_beyond: feed.entries_beyond,
        broken: feed.broken,
        ..Sitemap::default()
    }
}

enum Root {
    Unknown,
    Sitemap,
    Feed,
}

struct Reading<'a> {
    base: &'a Url,
    root: Root,
    sitemap: Sitemap,
    location: Option<String>,
    modified: Option<UnixSeconds>,
    changes: Option<ChangeFrequency>,
}

impl<'a> Reading<'a> {
    fn new(base: &'a Url) -> Reading<'a> {
        Reading {
            base,
            root: Root::Unknown,
            sitemap: Sitemap::default(),
            location: None,
            modified: None,
            changes: None,
        }
    }

    fn entry_ended(&mut self, is_sitemap: bool) {
        let (modified, changes) = (self.modified.take(), self.changes.take());
        let Some(location) = self.location.take() else {
            self.sitemap.entries_refused += 1;
            return;
        };
        if self.sitemap.pages.len() + self.sitemap.sitemaps.len() >= ENTRIES_MAX {
            self.sitemap.entries_beyond += 1;
            return;
        }
        let Ok(url) = self.base.join(&location) else {
            self.sitemap.entries_refused += 1;
            return;
        };
        let list = if is_sitemap { &mut self.sitemap.sitemaps } else { &mut self.sitemap.pages };
        list.push(Entry { url, modified, changes });
    }
}

impl Listener for Reading<'_> {
    fn opened(&mut self, path: &[String], _: &Element<'_>) {
        if let [root] = path {
            self.root = match root.as_str() {
                "urlset" | "sitemapindex" => Root::Sitemap,
                "rss" | "feed" | "RDF" => Root::Feed,
                _ => Root::Unknown,
            };
        }
    }

    /// Only what stands right in an entry counts: an `image:loc` deeper within is no page.
    fn closed(&mut self, path: &[String], text: &str) {
        match path {
            [_, entry] if entry == "url" => self.entry_ended(false),
            [_, entry] if entry == "sitemap" => self.entry_ended(true),
            [_, entry, field] if entry == "url" || entry == "sitemap" => match field.as_str() {
                "loc" if !text.is_empty() => self.location = Some(text.to_owned()),
                "lastmod" => self.modified = UnixSeconds::parse(text),
                "changefreq" => self.changes = ChangeFrequency::parse(text),
                _ => (),
            },
            _ => (),
        }
    }
}
