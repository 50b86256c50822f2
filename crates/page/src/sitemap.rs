//! Sitemaps: lists of a site's pages (`urlset`), lists of such lists (`sitemapindex`), plain lines,
//! and feeds that serve as one; any of them gzipped.
//!
//! A broken sitemap gives what was read up to the break, and says what was wrong. A body that is no
//! sitemap at all (a note that there is none, sent with status 200) says so by [`Sitemap::form`].

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::date::UnixSeconds;
use crate::feed;
use crate::url::Url;
use crate::xml::{self, Element, XmlListener};

/// Entries of one sitemap; the protocol's limit.
pub const ENTRIES_MAX: usize = 50_000;
/// Bytes of one sitemap that are read, unpacked if it was packed; the protocol's limit.
pub const UNPACKED_BYTES_MAX: usize = 50 << 20;
/// How many times larger than packed a sitemap may be: real ones reach 50, a bomb 1,000.
pub const UNPACKED_RATIO_MAX: usize = 200;
/// Bytes that may be unpacked whatever the ratio, so that small repetitive sitemaps pass.
const UNPACKED_BYTES_FREE: usize = 1 << 20;

/// What a sitemap says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sitemap {
    /// How it is written; none if this is no sitemap.
    pub form: Option<SitemapForm>,
    /// Pages, in order.
    pub pages: Vec<SitemapEntry>,
    /// Further sitemaps, in order.
    pub sitemaps: Vec<SitemapEntry>,
    /// Entries beyond [`ENTRIES_MAX`], not kept.
    pub entries_beyond: u64,
    /// Entries that name no URL.
    pub entries_refused: u64,
    /// Why the rest could not be read.
    pub broken: Option<String>,
}

/// How a sitemap is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitemapForm {
    /// A `urlset` or a `sitemapindex`.
    Xml,
    /// One absolute URL a line.
    Lines,
    /// RSS, Atom or RDF.
    Feed,
}

/// A page or a sitemap that a sitemap names.
#[derive(Clone, Debug, PartialEq)]
pub struct SitemapEntry {
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
    let body = &body[..body.len().min(UNPACKED_BYTES_MAX)];
    let text = xml::decode(body, declared_charset);
    if !text.trim_start().starts_with('<') {
        return read_lines(&text, url);
    }
    let mut reading = Reading::new(url);
    let outcome = xml::listen(&text, &mut reading);
    reading.sitemap.broken = outcome.err();
    match reading.sitemap.form {
        Some(SitemapForm::Feed) => of_feed(feed::read(body, declared_charset, url)),
        Some(_) => reading.sitemap,
        None => {
            let unknown = || "neither a urlset, a sitemapindex nor a feed".to_owned();
            reading.sitemap.broken.get_or_insert_with(unknown);
            reading.sitemap
        }
    }
}

/// A list has absolute URLs, and more of them than other lines: prose that mentions one is none.
fn read_lines(text: &str, url: &Url) -> Sitemap {
    let mut reading = Reading::new(url);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_absolute = ["http://", "https://"].iter().any(|scheme| {
            line.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        reading.location = is_absolute.then(|| line.to_owned());
        reading.entry_ended(false);
    }
    let sitemap = reading.sitemap;
    let is_list = sitemap.pages.len() as u64 > sitemap.entries_refused;
    Sitemap { form: is_list.then_some(SitemapForm::Lines), ..sitemap }
}

fn of_feed(feed: feed::Feed) -> Sitemap {
    let entry = |item: feed::FeedEntry| SitemapEntry {
        url: item.url,
        modified: item.updated.or(item.published),
        changes: None,
    };
    Sitemap {
        form: Some(SitemapForm::Feed),
        pages: feed.entries.into_iter().map(entry).collect(),
        entries_beyond: feed.entries_beyond,
        broken: feed.broken,
        ..Sitemap::default()
    }
}

struct Reading<'a> {
    base: &'a Url,
    sitemap: Sitemap,
    location: Option<String>,
    modified: Option<UnixSeconds>,
    changes: Option<ChangeFrequency>,
}

impl<'a> Reading<'a> {
    fn new(base: &'a Url) -> Reading<'a> {
        Reading { base, sitemap: Sitemap::default(), location: None, modified: None, changes: None }
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
        list.push(SitemapEntry { url, modified, changes });
    }
}

impl XmlListener for Reading<'_> {
    fn opened(&mut self, path: &[String], _: &Element<'_>) {
        if let [root] = path {
            self.sitemap.form = match root.as_str() {
                "urlset" | "sitemapindex" => Some(SitemapForm::Xml),
                "rss" | "feed" | "RDF" => Some(SitemapForm::Feed),
                _ => None,
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
