//! From a response to what the engine must know of it: pure, and all the CPU work of a page.

use super::alike::alike;
use super::sketching::{sketch, sketch_of_plain};
use crate::extract::{ExtractBody, MadeRow, WhileCrawling};
use crate::topic::scoring;
use rhumb_archive::warc_date;
use rhumb_engine::discovery::{FoundAs, FoundUrl};
use rhumb_engine::event::{FetchOrder, Purpose};
use rhumb_engine::known::KnownLinks;
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::{
    AnswerHead, ContentDigest, FailKind, FetchReport, Outcome, PageContent, PayloadDigest,
    of_failure, of_page, of_robots, read_robots,
};
use rhumb_engine::time::{Span, Time};
use rhumb_extract::{MainText, PageWanted};
use rhumb_fetch::date;
use rhumb_fetch::head::{HeadBytes as RawHead, RetryAfter};
use rhumb_fetch::{FailureKind, FetchFailure, FetchStage, Response, TlsFault, Truncation};
use rhumb_neardup::Sketch;
use rhumb_page::date::UnixSeconds;
use rhumb_page::html::Requisite;
use rhumb_page::media::MediaKind;
use rhumb_page::robots::{Directives, Robots};
use rhumb_page::url::{Scheme, StripParams, Url};
use rhumb_page::{charset, css, feed, sitemap};
use rhumb_topic::Topic;
use std::collections::HashSet;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Where the main text is less certain than this, or shorter, all visible text stands for it: a
/// list of links has none, and changes all the same.
const MAIN_SURE: f32 = 0.5;
const MAIN_BYTES_MIN: u64 = 200;

/// What reading depends on besides the bytes.
#[derive(Clone, Debug)]
pub struct PageReader {
    /// The product token that robots.txt and page directives are matched by.
    pub token: String,
    pub strip: StripParams,
    /// Pages are to be compared by their text.
    pub sketches: bool,
    /// Pages will be visited again: when they change is of interest.
    pub revisits: bool,
    /// What pages are shown with is of interest: so many of one page or stylesheet.
    pub requisites_max: Option<usize>,
    /// Links are followed: which they are is of interest.
    pub follows_links: bool,
    /// The crawl's own.
    pub seed: u64,
    /// What the crawl is about.
    pub topic: Option<Arc<Topic>>,
}

/// What a body says.
#[derive(Default)]
struct Said {
    directives: Directives,
    /// It says next to nothing without its scripts.
    scripted: bool,
    /// How much it has to do with the crawl's topic.
    relevance: u8,
    found: Vec<FoundUrl>,
    is_sitemap: bool,
    /// Links beyond the bound.
    links_beyond: u64,
    /// What it is shown with, and how many there are beyond the bound.
    requisites: (Vec<Requisite>, u64),
    /// A fingerprint of its own text but for numbers and what stands around them.
    alike: Option<u32>,
    canonical: Option<Url>,
    /// A fingerprint of the text that tells whether the page changed.
    text: Option<u32>,
    sketch: Option<Arc<Sketch>>,
}

impl PageReader {
    /// What the engine must know of a response, and its row if `rows` are made of pages.
    pub fn report(
        &self,
        fetch: &FetchOrder,
        response: &Response,
        at: Time,
        rows: Option<&WhileCrawling>,
    ) -> (FetchReport, Option<MadeRow>) {
        let mut row = None;
        let report = FetchReport {
            outcome: self.outcome(fetch, response, at, rows, &mut row),
            status: response.status,
            bytes: response.raw.len() as u64,
            at,
            took: Span(response.took.as_micros() as u64),
            // Of a file, only what was read is kept: there is no answer of a server. What there was
            // no room for is asked for again.
            held: (fetch.url.scheme() != Scheme::File || response.status == 200)
                && response.truncated != Some(Truncation::NoRoom),
        };
        (report, row)
    }

    fn outcome(
        &self,
        fetch: &FetchOrder,
        response: &Response,
        at: Time,
        rows: Option<&WhileCrawling>,
        row: &mut Option<MadeRow>,
    ) -> Outcome {
        let raw = response.head();
        let head = AnswerHead {
            status: response.status,
            location: raw.location().and_then(|text| fetch.url.join(&text).ok()),
            retry_after: raw.retry_after().map(|wish| wait(wish, at)),
        };
        match fetch.purpose {
            // One that does not come in time: its beginning may not be what it forbids.
            Purpose::Robots if is_late(response) => of_failure(Purpose::Robots, FailKind::Slow),
            // Rules that were cut off are still rules: RFC 9309 has us read the beginning.
            Purpose::Robots => of_robots(head, || self.robots(response)),
            _ if response.truncated == Some(Truncation::NoRoom) => Outcome::Crowded,
            _ => match broken_off(response) {
                // Nothing came of it that could be kept.
                Some(kind) if response.payload_len() == 0 => Outcome::Failed(kind),
                cut => of_page(head, || {
                    let decoded = response.decoded();
                    let fetched = rows.map(|_| warc_date(at.0)).unwrap_or_default();
                    let content_type = raw.content_type();
                    let body = ExtractBody {
                        url: &fetch.url,
                        fetched: &fetched,
                        content_type: content_type.as_deref(),
                        asks: Directives::of_headers(raw.x_robots_tags(), &self.token),
                        token: &self.token,
                        bytes: &decoded.bytes,
                        is_cut: response.truncated.is_some() || decoded.is_cut(),
                    };
                    let (said, made) = match fetch.purpose {
                        Purpose::Sitemap => (self.sitemap(&body), None),
                        Purpose::Stylesheet => (self.stylesheet(&body), None),
                        Purpose::Requisite => (self.requisite(&body), None),
                        _ => self.read(&body, rows),
                    };
                    *row = made;
                    PageContent { cut, ..self.page(&body, said, &raw, at) }
                }),
            },
        }
    }

    fn robots(&self, response: &Response) -> Robots {
        read_robots(&response.decoded().bytes, &self.token)
    }

    /// What a body says, and its row.
    fn read(
        &self,
        body: &ExtractBody<'_>,
        rows: Option<&WhileCrawling>,
    ) -> (Said, Option<MadeRow>) {
        let charset = body.charset();
        let mut said = Said::default();
        match body.kind() {
            MediaKind::Html => return self.html(body, rows),
            MediaKind::Feed => {
                let feed = feed::read(body.bytes, charset, body.url);
                let of = |e: feed::FeedEntry| {
                    FoundUrl::new(e.url, self.listed(e.updated.or(e.published)))
                };
                said.found.extend(feed.entries.into_iter().map(of));
            }
            kind if may_be_sitemap(kind, body.url) => said = self.sitemap(body),
            _ => {}
        }
        if let (MediaKind::Text, Some(topic)) = (body.kind(), &self.topic) {
            let text = charset::decode(body.bytes, charset, Some(body.url.host())).text;
            said.relevance = scoring::page(topic, &text).byte();
        }
        if body.kind() == MediaKind::Text && self.sketches {
            said.sketch = sketch_of_plain(body.bytes, charset, body.url.host());
        }
        (said, rows.and_then(|rows| rows.row(body)))
    }

    /// What a sitemap lists, whatever it is called and declared; a page of HTML is none.
    fn sitemap(&self, body: &ExtractBody<'_>) -> Said {
        if body.kind() == MediaKind::Html {
            return Said::default();
        }
        let sitemap = sitemap::read(body.bytes, body.charset(), body.url);
        let pages = sitemap.pages.into_iter();
        let pages = pages.map(|e| FoundUrl::new(e.url, self.listed(e.modified)));
        let parts = sitemap.sitemaps.into_iter().map(|e| FoundUrl::new(e.url, FoundAs::Sitemap));
        let is_sitemap = sitemap.form.is_some();
        Said { found: pages.chain(parts).collect(), is_sitemap, ..Said::default() }
    }

    /// What a stylesheet names; a note that there is none names nothing.
    fn stylesheet(&self, body: &ExtractBody<'_>) -> Said {
        let Some(max) = self.requisites_max.filter(|_| body.kind() != MediaKind::Html) else {
            return self.requisite(body);
        };
        Said { requisites: css::read(body.bytes, body.charset(), body.url, max), ..Said::default() }
    }

    /// Where a document in a frame leads: it may be a page as well.
    fn requisite(&self, body: &ExtractBody<'_>) -> Said {
        if body.kind() != MediaKind::Html {
            return Said::default();
        }
        let page = body.told(&PageWanted::default()).page;
        let directives = page.robots_for(&self.token);
        let links = page.links.into_iter().filter(|link| !link.nofollow);
        let found = links.map(|link| FoundUrl::new(link.url, FoundAs::Link)).collect();
        Said { directives, found, links_beyond: page.links_beyond, ..Said::default() }
    }

    /// As [`PageReader::read`], of HTML, in one pass whatever is wanted of it.
    fn html(
        &self,
        body: &ExtractBody<'_>,
        rows: Option<&WhileCrawling>,
    ) -> (Said, Option<MadeRow>) {
        let wanted = PageWanted {
            own_text: self.sketches,
            main_text: self.revisits || self.topic.is_some(),
            fingerprint: self.revisits,
            extracted: None,
            anchors: self.topic.is_some(),
            surroundings: self.topic.is_some(),
            requisites_max: self.requisites_max,
            scripts: true,
        };
        let (told, row) = match rows {
            Some(rows) => rows.html(body, &wanted),
            None => (body.told(&wanted), None),
        };
        let visible = (told.page.text.bytes > 0).then_some(told.page.text.hash as u32);
        let directives = told.page.robots_for(&self.token);
        let links_beyond = told.page.links_beyond;
        let links = told.page.links.into_iter().filter(|link| !link.nofollow);
        let mut found: Vec<FoundUrl> =
            links.map(|link| FoundUrl::new(link.url, FoundAs::Link)).collect();
        add_new(&mut found, told.scripts.links);
        let mut relevance = 0;
        if let Some(topic) = &self.topic {
            let main = told.main_text.as_ref().map_or("", |main| &main.text);
            let scored = scoring::page(topic, main);
            relevance = scored.byte();
            scoring::links(topic, scored, &told.anchors, &mut found);
        }
        let said = Said {
            directives,
            scripted: told.scripts.is_scripted,
            relevance,
            links_beyond,
            found,
            is_sitemap: false,
            requisites: told.requisites,
            alike: told.own_text.as_deref().and_then(alike),
            canonical: told.page.canonical.filter(|url| url != body.url),
            text: told
                .main_text
                .filter(|_| self.revisits)
                .and_then(|main| print_of(&main))
                .or(visible),
            sketch: told.own_text.and_then(|own| sketch(&own)),
        };
        (said, row)
    }

    fn page(
        &self,
        body: &ExtractBody<'_>,
        said: Said,
        head: &RawHead<'_>,
        at: Time,
    ) -> PageContent {
        let directives = said.directives.merge(body.asks);
        let mut found = said.found;
        if directives.nofollow || !self.follows_links {
            found.clear();
        }
        let strips = |f: FoundUrl| FoundUrl { url: self.strip.apply(f.url), ..f };
        let found = found.into_iter().map(strips).collect();
        let text = |bytes: Option<&[u8]>| {
            bytes.and_then(|b| std::str::from_utf8(b).ok()).map(Box::<str>::from)
        };
        PageContent {
            content: digest(body.bytes, self.seed),
            // Only an archive needs it, and finds it when it packs: see `Workers::took`.
            payload: PayloadDigest::default(),
            text: said.text,
            found,
            // Who knows them is asked afterwards: see `Workers::fetch`.
            known: KnownLinks::default(),
            links_beyond: said.links_beyond,
            requisites: said.requisites.0,
            requisites_beyond: said.requisites.1,
            etag: text(head.etag()),
            last_modified: text(head.last_modified()),
            modified: self.revisits.then(|| modified(head, at)).flatten(),
            sketch: said.sketch,
            marks: marks(directives)
                | Marks::TRUNCATED.when(body.is_cut)
                | Marks::SCRIPTED.when(said.scripted)
                | Marks::LINKS_CUT.when(said.links_beyond > 0),
            cut: None,
            relevance: said.relevance,
            is_sitemap: said.is_sitemap,
            alike: said.alike,
            canonical: said.canonical.map(|url| Box::new(self.strip.apply(url))),
        }
    }

    /// A page that a sitemap or a feed names, with its date.
    fn listed(&self, changed: Option<UnixSeconds>) -> FoundAs {
        match changed.and_then(|UnixSeconds(s)| u32::try_from(s).ok()) {
            Some(s) if self.revisits => FoundAs::Announced(s),
            _ => FoundAs::Listed,
        }
    }
}

fn marks(directives: Directives) -> Marks {
    Marks::NOINDEX.when(directives.noindex)
        | Marks::NOFOLLOW.when(directives.nofollow)
        | Marks::NOARCHIVE.when(directives.noarchive)
}

/// Adds the links of embedded state that markup does not have.
fn add_new(found: &mut Vec<FoundUrl>, embedded: Vec<Url>) {
    if embedded.is_empty() {
        return;
    }
    let met: HashSet<Url> = found.iter().map(|link| link.url.clone()).collect();
    let new = embedded.into_iter().filter(|url| !met.contains(url));
    found.extend(new.map(|url| FoundUrl::new(url, FoundAs::Link)));
}

/// What tells one page's bytes from another's: 128 bits that nobody can aim at who does not know
/// the seed (docs/decisions/0016-keyed-digests.md).
fn digest(body: &[u8], seed: u64) -> ContentDigest {
    xxh3_128_with_seed(body, seed).to_le_bytes()
}

/// What Last-Modified says on our clock: the server's own may be wrong, which its Date tells.
fn modified(head: &RawHead<'_>, at: Time) -> Option<Time> {
    let seconds = |bytes: Option<&[u8]>| date::parse(std::str::from_utf8(bytes?).ok()?);
    let modified_s = seconds(head.last_modified())?;
    let Some(date_s) = seconds(head.get("date")) else {
        return Some(Time(modified_s.saturating_mul(1_000_000)));
    };
    let before = Span::secs(date_s.saturating_sub(modified_s));
    Some((at - before) + Span::secs(modified_s.saturating_sub(date_s)))
}

/// A fingerprint of the main text, where there is one for certain: what stands around it changes
/// from visit to visit though the page does not.
fn print_of(main: &MainText) -> Option<u32> {
    let print = main.fingerprint();
    let is_sure = main.confidence >= MAIN_SURE && print.bytes >= MAIN_BYTES_MIN;
    is_sure.then_some(print.hash as u32)
}

/// A sitemap declares itself, or is gzip'd or plain text under a name that says so.
fn may_be_sitemap(kind: MediaKind, url: &Url) -> bool {
    match kind {
        MediaKind::Sitemap => true,
        MediaKind::Gzip | MediaKind::Text => url.path().to_ascii_lowercase().contains("sitemap"),
        _ => false,
    }
}

fn is_late(response: &Response) -> bool {
    matches!(response.truncated, Some(Truncation::Time | Truncation::Slow))
}

/// Why a body ended early, if the reason may pass. One that hit our own limit on its length is a
/// page like any other.
fn broken_off(response: &Response) -> Option<FailKind> {
    match response.truncated? {
        // For `NoRoom` see `PageReader::outcome`: the beginning of a robots.txt is good all the
        // same.
        Truncation::Length | Truncation::Unwanted | Truncation::NoRoom => None,
        Truncation::Time => Some(FailKind::Timeout),
        Truncation::Slow => Some(FailKind::Slow),
        Truncation::Disconnect => Some(FailKind::Closed),
        Truncation::Malformed => Some(FailKind::BadHttp),
    }
}

fn wait(wish: RetryAfter, now: Time) -> Span {
    match wish {
        RetryAfter::After(time) => Span(time.as_micros().min(u128::from(u64::MAX)) as u64),
        RetryAfter::At(seconds) => Time(seconds.saturating_mul(1_000_000)).since(now),
    }
}

/// No response: what kind of failure, for the engine.
pub fn report_failure(purpose: Purpose, failure: &FetchFailure, at: Time) -> FetchReport {
    let kind = match failure.kind {
        FailureKind::UnsupportedScheme => FailKind::Scheme,
        FailureKind::Refused(_) => FailKind::AddressRefused,
        FailureKind::Connect | FailureKind::Timeout(FetchStage::Connect) => FailKind::Connect,
        FailureKind::Tls(TlsFault::Handshake) => FailKind::Tls,
        FailureKind::Tls(TlsFault::Expired) => FailKind::TlsExpired,
        FailureKind::Tls(TlsFault::Name) => FailKind::TlsName,
        FailureKind::Tls(TlsFault::Issuer) => FailKind::TlsIssuer,
        FailureKind::Timeout(_) => FailKind::Timeout,
        FailureKind::Slow => FailKind::Slow,
        FailureKind::Proxy => FailKind::Proxy,
        FailureKind::Closed => FailKind::Closed,
        FailureKind::BadHttp => FailKind::BadHttp,
        FailureKind::HeaderTooBig => FailKind::HeaderTooBig,
        FailureKind::Unresolved | FailureKind::Withheld | FailureKind::Local => FailKind::Internal,
    };
    FetchReport {
        outcome: of_failure(purpose, kind),
        status: 0,
        bytes: failure.raw.len() as u64,
        at,
        took: Span(failure.took.as_micros() as u64),
        held: !failure.raw.is_empty(),
    }
}
