//! All that is known of one URL: its state, its history, its next visit, its host.

use super::belief::{self, HostTrust, UrlBelief};
use crate::watch::moment::rfc3339;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::host::HostRecord;
use rhumb_engine::mass::ONE;
use rhumb_engine::near::Near;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::queue::{Place, Section};
use rhumb_engine::record::{Refusal, Status, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_page::url::{HostKey, StripParams, Url};
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// How far ahead of a URL its host's queue is counted.
pub const QUEUE_LOOK_MAX: usize = 10_000;
/// Known URLs up to which the books are made anew to tell the mass of one that waits: some seconds
/// of reading and 9 bytes each.
const BOOKS_URLS_MAX: u64 = 10_000_000;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UrlStatus {
    /// In canonical form, as the crawl has it.
    pub url: String,
    pub known: bool,
    /// `queued`, `fetched`, `duplicate`, `moved`, `gone`, `refused`, `failed` or `unknown`.
    pub state: String,
    /// The state in words.
    pub meaning: String,
    #[serde(flatten)]
    pub record: Option<UrlHistory>,
    pub host: Option<HostStatus>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct UrlHistory {
    /// Links from a seed.
    pub depth: u16,
    /// Redirects on the way.
    pub hops: u8,
    pub class: u8,
    /// Its importance for certain, as a share of the whole: what was settled on it when last
    /// written, or, before it is fetched, what has reached it.
    pub mass: Option<f64>,
    /// Failures since the last success.
    pub tries: u8,
    pub visits: u32,
    /// Of the last answer, if there was one.
    pub http_status: Option<u16>,
    pub found: String,
    pub visited: Option<String>,
    pub changed: Option<String>,
    pub next_visit: NextVisit,
    pub duplicate_of: Option<String>,
    pub near_duplicate_of: Option<String>,
    /// `noindex`, `nofollow`, `noarchive`, `truncated`: of the last page that came.
    #[serde(default)]
    pub marks: Vec<String>,
    /// With that page, estimated, from 0 to 1.
    pub resemblance: Option<f64>,
    pub content: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// What its visits taught, in a crawl that goes on.
    pub belief: Option<UrlBelief>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextVisit {
    #[default]
    Never,
    /// A retry or a revisit.
    At(String),
    /// When its turn comes: so many URLs of its host are before it; none if too many to count.
    InTurn { ahead: Option<u64> },
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HostStatus {
    pub host: String,
    pub pages: u64,
    pub queued: u64,
    pub answers: u64,
    pub bytes: u64,
    pub failures_in_a_row: u16,
    /// The rules that we hold are good until then.
    pub robots_until: Option<String>,
    pub crawl_delay_s: Option<f64>,
    /// No request before this moment.
    pub not_before: Option<String>,
    pub last_took_ms: u64,
    pub given_up: Option<String>,
    /// How far it is believed about its pages.
    pub trust: HostTrust,
}

/// What the store says of a URL as a person types it.
pub fn of_url(text: &str, now: Time, reader: &LocalReader) -> Result<UrlStatus, Error> {
    let typed = Url::parse(text)
        .map_err(|e| Error::new(ErrorKind::Invalid, format!("{text:?} is not a URL: {e}")))?;
    let snapshot = reader.snapshot();
    let (url, record) = find(&snapshot, typed)?;
    let key = url.host_key();
    let host_record = snapshot.host(&key)?;
    let host = host_record.as_ref().map(|record| host_status(&key, record, now));
    let Some(record) = record else {
        return Ok(UrlStatus {
            url: url.as_str().to_owned(),
            state: "unknown".to_owned(),
            meaning: "never found: no seed, link, redirect or sitemap named it".to_owned(),
            host,
            ..UrlStatus::default()
        });
    };
    let next_visit = match record.place {
        None => NextVisit::Never,
        Some(Place::Later { due, .. }) => NextVisit::At(rfc3339(due)),
        Some(place) => NextVisit::InTurn { ahead: ahead(&snapshot, &key, &place)? },
    };
    let mass = mass_of(&record, reader)?;
    let belief = match (reader.scheduler()?, &host_record) {
        (Some(scheduler), Some(host)) => belief::of_page(&record, host, &scheduler, now),
        _ => None,
    };
    let (state, meaning) = words(&record);
    Ok(UrlStatus {
        url: url.as_str().to_owned(),
        known: true,
        state: state.to_owned(),
        meaning,
        record: Some(UrlHistory { mass, belief, ..history(&record, next_visit) }),
        host,
    })
}

/// What is settled on a page, or what has reached a URL that was never fetched: for the latter all
/// links are read and the books made anew, as far as there are not too many.
fn mass_of(record: &UrlRecord, reader: &LocalReader) -> Result<Option<f64>, Error> {
    if let Some(settled) = reader.settled(record.id)? {
        return Ok(Some(settled as f64 / ONE as f64));
    }
    if reader.counters()?.known > BOOKS_URLS_MAX {
        return Ok(None);
    }
    let (settled, lies_on_it) = reader.mass()?.of(record.id);
    Ok(Some(settled + lies_on_it))
}

/// As typed, or else without the parameters that a crawl removes unless told otherwise.
fn find(snapshot: &impl Snapshot, typed: Url) -> Result<(Url, Option<UrlRecord>), Error> {
    if let Some(record) = snapshot.url(&typed.key())? {
        return Ok((typed, Some(record)));
    }
    let stripped = StripParams::default_list().apply(typed.clone());
    match snapshot.url(&stripped.key())? {
        Some(record) => Ok((stripped, Some(record))),
        None => Ok((typed, None)),
    }
}

/// How many URLs of the host come before this one.
fn ahead(snapshot: &impl Snapshot, host: &HostKey, own: &Place) -> Result<Option<u64>, Error> {
    let first = snapshot.queue(host, Section::Now, None, QUEUE_LOOK_MAX)?;
    let before = first.rows.iter().take_while(|(place, _)| place < own).count();
    let is_counted = before < first.rows.len() || first.all;
    Ok(is_counted.then_some(before as u64))
}

fn words(record: &UrlRecord) -> (&'static str, String) {
    match record.status {
        Status::Queued if record.tries > 0 => {
            ("queued", format!("failed {} times, to be tried again", record.tries))
        }
        Status::Queued => ("queued", "waits to be fetched".to_owned()),
        Status::Fetched => ("fetched", "fetched".to_owned()),
        Status::Duplicate => ("duplicate", "fetched; its bytes are those of another".to_owned()),
        Status::Moved => ("moved", "redirects to another URL".to_owned()),
        Status::Gone => ("gone", "the server says that it is not there".to_owned()),
        Status::Refused(why) => ("refused", format!("not fetched: {}", refusal(why))),
        Status::Foreign => ("foreign", "belongs to another partition of the crawl".to_owned()),
        Status::Failed(kind) => ("failed", format!("given up: {}", failure(kind))),
    }
}

fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::Scope => "outside the crawl's scope",
        Refusal::Filter => "an include or exclude filter",
        Refusal::Depth => "deeper than --max-depth",
        Refusal::HostBudget => "its host has reached --max-pages-per-host",
        Refusal::Trap => "looks like a trap",
        Refusal::Hops => "too many redirects",
        Refusal::Robots => "robots.txt forbids it",
    }
}

fn failure(kind: FailKind) -> &'static str {
    match kind {
        FailKind::DnsNotFound => "the name does not exist",
        FailKind::DnsTemporary => "the name server failed",
        FailKind::AddressRefused => "its address is private, and --allow-private is off",
        FailKind::Connect => "no connection",
        FailKind::Tls => "the TLS handshake failed",
        FailKind::TlsExpired => "its certificate has expired, or is not yet valid",
        FailKind::TlsName => "its certificate is for another name",
        FailKind::TlsIssuer => {
            "its certificate's issuer is unknown: it is self-signed, or of a CA that is not trusted"
        }
        FailKind::Timeout => "no answer in time",
        FailKind::Slow => "the answer came too slowly",
        FailKind::Closed => "the connection closed before the answer was whole",
        FailKind::BadHttp => "the answer was not HTTP that we trust",
        FailKind::HeaderTooBig => "the head of the answer was too big",
        FailKind::ServerError => "the server failed (5xx)",
        FailKind::Throttled => "the server asked us to wait (429 or 503) each time",
        FailKind::Scheme => "a scheme that is off",
        FailKind::RobotsUnreachable => "robots.txt could not be had",
        FailKind::HostDead => "its host was given up after too many failures in a row",
        FailKind::Internal => "a fault of our own",
    }
}

fn history(record: &UrlRecord, next_visit: NextVisit) -> UrlHistory {
    let hex = |bytes: [u8; 16]| format!("{:032x}", u128::from_be_bytes(bytes));
    UrlHistory {
        depth: record.depth,
        hops: record.hops,
        class: record.class,
        mass: None,
        tries: record.tries,
        visits: record.past.visits,
        http_status: (record.http_status != 0).then_some(record.http_status),
        found: rfc3339(record.found),
        visited: record.past.visited.map(rfc3339),
        changed: record.past.changed.map(rfc3339),
        next_visit,
        duplicate_of: record.past.duplicate_of.as_ref().map(|url| url.as_str().to_owned()),
        near_duplicate_of: record.past.near.as_ref().map(|near| near.url.as_str().to_owned()),
        resemblance: record.past.near.as_ref().map(Near::resemblance),
        marks: record.past.marks.words().map(str::to_owned).collect(),
        content: record.past.content.map(hex),
        etag: record.past.etag.as_deref().map(str::to_owned),
        last_modified: record.past.last_modified.as_deref().map(str::to_owned),
        belief: None,
    }
}

fn host_status(key: &HostKey, record: &HostRecord, now: Time) -> HostStatus {
    HostStatus {
        host: key.origin(),
        pages: record.pages,
        queued: record.queued,
        answers: record.answers,
        bytes: record.bytes,
        failures_in_a_row: record.failures,
        robots_until: record.robots_until.map(rfc3339),
        crawl_delay_s: record.crawl_delay.map(|span| span.as_secs_f64()),
        not_before: (record.not_before > now).then(|| rfc3339(record.not_before)),
        last_took_ms: record.last_took.0 / 1000,
        given_up: record.given_up.map(|kind| kind.word().to_owned()),
        trust: belief::of_host(&record.trust),
    }
}
