//! From a response to what the engine must know of it: pure, and all the CPU work of a page.

use super::sketching::{sketch, sketch_of_plain};
use crate::fetch::date;
use crate::fetch::head::{Head as RawHead, RetryAfter};
use crate::fetch::{Failure, FailureKind, Response, Truncation};
use rhumb_archive::PayloadDigest as ArchiveDigest;
use rhumb_engine::discovery::{Found, FoundAs};
use rhumb_engine::event::{Fetch, Purpose};
use rhumb_engine::outcome::{
    ContentDigest, FailKind, Head, Outcome, Page, PayloadDigest, Report, of_failure, of_page,
    of_robots,
};
use rhumb_engine::time::{Span, Time};
use rhumb_page::date::UnixSeconds;
use rhumb_page::media::{self, ContentType, Kind};
use rhumb_page::robots::{Directives, Reading, Robots};
use rhumb_page::url::{StripParams, Url};
use rhumb_page::{extract, feed, html, sitemap};

/// Where the main text is less certain than this, or shorter, all visible text stands for it: a
/// list of links has none, and changes all the same.
const MAIN_SURE: f32 = 0.5;
const MAIN_BYTES_MIN: u64 = 200;

/// What reading depends on besides the bytes.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The product token that robots.txt and page directives are matched by.
    pub token: String,
    pub strip: StripParams,
    /// Pages are to be compared by their text.
    pub sketches: bool,
    /// Pages will be visited again: when they change is of interest.
    pub revisits: bool,
}

impl Reader {
    pub fn report(&self, fetch: &Fetch, response: &Response, at: Time) -> Report {
        Report {
            outcome: self.outcome(fetch, response, at),
            status: response.status,
            bytes: response.raw.len() as u64,
            at,
            took: Span(response.took.as_micros() as u64),
            held: true,
        }
    }

    fn outcome(&self, fetch: &Fetch, response: &Response, at: Time) -> Outcome {
        let raw = response.head();
        let head = Head {
            status: response.status,
            location: raw.location().and_then(|text| fetch.url.join(&text).ok()),
            retry_after: raw.retry_after().map(|wish| wait(wish, at)),
        };
        match fetch.purpose {
            // Rules that were cut off are still rules: RFC 9309 has us read the beginning.
            Purpose::Robots => of_robots(head, || self.robots(response)),
            Purpose::Page => match broken_off(response) {
                Some(kind) => Outcome::Failed(kind),
                None => of_page(head, || self.page(fetch, response, &raw, at)),
            },
        }
    }

    fn robots(&self, response: &Response) -> Robots {
        Robots::parse_as(&response.decoded().bytes, &self.token, Reading::Google)
    }

    fn page(&self, fetch: &Fetch, response: &Response, head: &RawHead<'_>, at: Time) -> Page {
        let decoded = response.decoded();
        let body: &[u8] = &decoded.bytes;
        let content_type = head.content_type();
        let charset = content_type.as_deref().and_then(|t| ContentType::parse(t).charset);
        let mut directives = head.x_robots_tags().fold(Directives::default(), |all, tag| {
            all.merge(Directives::parse_header(&tag, &self.token))
        });
        let mut found = Vec::new();
        let mut text_seen = None;
        let kind = media::kind(content_type.as_deref(), body);
        let mut text_sketch = None;
        match kind {
            Kind::Html => {
                let limits = html::Limits::default();
                let page = if self.sketches {
                    let (page, own_text) =
                        html::read_with_own_text(body, charset.as_deref(), &fetch.url, &limits);
                    text_sketch = sketch(&own_text);
                    page
                } else {
                    html::read(body, charset.as_deref(), &fetch.url, &limits)
                };
                directives = directives.merge(page.robots_for(&self.token));
                let visible = (page.text.bytes > 0).then_some(page.text.hash as u32);
                let main = self.revisits.then(|| main_text(body, charset.as_deref(), &fetch.url));
                text_seen = main.flatten().or(visible);
                let links = page.links.into_iter().filter(|link| !link.nofollow);
                found.extend(links.map(|link| Found::new(link.url, FoundAs::Link)));
            }
            Kind::Feed => {
                let feed = feed::read(body, charset.as_deref(), &fetch.url);
                let of = |e: feed::Entry| Found::new(e.url, self.listed(e.updated.or(e.published)));
                found.extend(feed.entries.into_iter().map(of));
            }
            kind if may_be_sitemap(kind, &fetch.url) => {
                let sitemap = sitemap::read(body, charset.as_deref(), &fetch.url);
                let pages = sitemap.pages.into_iter();
                found.extend(pages.map(|e| Found::new(e.url, self.listed(e.modified))));
                let parts = sitemap.sitemaps.into_iter();
                found.extend(parts.map(|e| Found::new(e.url, FoundAs::Sitemap)));
            }
            _ => {}
        }
        if kind == Kind::Text && self.sketches {
            text_sketch = sketch_of_plain(body, charset.as_deref(), fetch.url.host());
        }
        if directives.nofollow {
            found.clear();
        }
        let found =
            found.into_iter().map(|f| Found { url: self.strip.apply(f.url), ..f }).collect();
        let text = |bytes: Option<&[u8]>| {
            bytes.and_then(|b| std::str::from_utf8(b).ok()).map(Box::<str>::from)
        };
        Page {
            content: digest(body),
            // Only an archive needs it, and finds it when it packs: see `Workers::took`.
            payload: PayloadDigest::default(),
            text: text_seen,
            found,
            etag: text(head.etag()),
            last_modified: text(head.last_modified()),
            modified: self.revisits.then(|| modified(head, at)).flatten(),
            sketch: text_sketch,
            noindex: directives.noindex,
            truncated: response.truncated.is_some(),
        }
    }

    /// A page that a sitemap or a feed names, with its date.
    fn listed(&self, changed: Option<UnixSeconds>) -> FoundAs {
        match changed.and_then(|UnixSeconds(s)| u32::try_from(s).ok()) {
            Some(s) if self.revisits => FoundAs::Announced(s),
            _ => FoundAs::Listed,
        }
    }

    /// As the archive computes it.
    pub fn payload(&self, response: &Response) -> PayloadDigest {
        ArchiveDigest::of(&response.raw[response.head_len..]).0
    }
}

fn digest(body: &[u8]) -> ContentDigest {
    let mut digest = ContentDigest::default();
    digest.copy_from_slice(&blake3::hash(body).as_bytes()[..16]);
    digest
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
fn main_text(body: &[u8], charset: Option<&str>, url: &Url) -> Option<u32> {
    let (_, main) = extract::read_main(body, charset, url, &html::Limits::default(), None);
    let print = main.fingerprint();
    let is_sure = main.confidence >= MAIN_SURE && print.bytes >= MAIN_BYTES_MIN;
    is_sure.then_some(print.hash as u32)
}

/// A sitemap declares itself, or is gzip'd or plain text under a name that says so.
fn may_be_sitemap(kind: Kind, url: &Url) -> bool {
    match kind {
        Kind::Sitemap => true,
        Kind::Gzip | Kind::Text => url.path().to_ascii_lowercase().contains("sitemap"),
        _ => false,
    }
}

/// A body that ended too early for a reason that may pass. One that hit our own limit on its
/// length is a page like any other.
fn broken_off(response: &Response) -> Option<FailKind> {
    match response.truncated? {
        Truncation::Length => None,
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
pub fn report_failure(purpose: Purpose, failure: &Failure, at: Time) -> Report {
    let kind = match failure.kind {
        FailureKind::UnsupportedScheme => FailKind::Scheme,
        FailureKind::Refused(_) => FailKind::AddressRefused,
        FailureKind::Connect => FailKind::Connect,
        FailureKind::Tls => FailKind::Tls,
        FailureKind::Timeout(_) => FailKind::Timeout,
        FailureKind::Slow => FailKind::Slow,
        FailureKind::Closed => FailKind::Closed,
        FailureKind::BadHttp => FailKind::BadHttp,
        FailureKind::HeaderTooBig => FailKind::HeaderTooBig,
        FailureKind::Unresolved | FailureKind::Local => FailKind::Internal,
    };
    Report {
        outcome: of_failure(purpose, kind),
        status: 0,
        bytes: failure.raw.len() as u64,
        at,
        took: Span(failure.took.as_micros() as u64),
        held: !failure.raw.is_empty(),
    }
}
