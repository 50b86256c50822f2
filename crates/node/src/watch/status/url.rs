//! All that is known of one URL: its state, its history, its next visit, its host.

use super::belief::{self, HostTrust, UrlBelief};
use crate::watch::moment::rfc3339;
use crate::watch::reason::Reasons;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::host::HostRecord;
use rhumb_engine::mass::ONE;
use rhumb_engine::near::Near;
use rhumb_engine::queue::{Place, Section};
use rhumb_engine::record::{RecordStatus, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_page::url::{HostKey, StripParams, Url};
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// How far ahead of a URL its host's queue is counted.
pub const QUEUE_LOOK_MAX: usize = 10_000;
/// Known URLs up to which the books are made anew to tell the mass of one that waits: some seconds
/// of reading and 9 bytes each.
const BOOKS_URLS_MAX: u64 = 10_000_000;
/// The same for viewers, and to look for the page that named it: 50 ms or so.
const BRIEF_URLS_MAX: u64 = 5_000;

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
    /// The page that names it; none for seeds, and for sitemaps that robots.txt names.
    #[serde(default)]
    pub found_on: Option<String>,
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
    /// How the last request failed, if it did for the host's sake.
    pub failing: Option<String>,
    /// How far it is believed about its pages.
    pub trust: HostTrust,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// As long as there are URLs: the page that named it is looked for, the books are made anew.
    Whole,
    /// What takes a walk through all URLs is left out where there are many.
    Brief,
}

impl Patience {
    /// Known URLs up to which all of them are read.
    fn urls_max(self) -> u64 {
        match self {
            Patience::Whole => BOOKS_URLS_MAX,
            Patience::Brief => BRIEF_URLS_MAX,
        }
    }
}

/// What the store says of a URL as a person types it.
pub fn of_url(
    text: &str,
    (now, patience): (Time, Patience),
    dir: &Path,
    reader: &LocalReader,
) -> Result<UrlStatus, Error> {
    let typed = Url::parse(text)
        .map_err(|e| Error::new(ErrorKind::Invalid, format!("{text:?} is not a URL: {e}")))?;
    let reader = &reader.holding(&typed);
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
    let mass = mass_of(&record, patience, reader)?;
    let belief = match (reader.scheduler()?, &host_record) {
        (Some(scheduler), Some(host)) => belief::of_page(&record, host, &scheduler, now),
        _ => None,
    };
    let found_on = found_on(&record, patience, reader)?;
    Ok(UrlStatus {
        url: url.as_str().to_owned(),
        known: true,
        state: state(record.status, host_record.as_ref()).to_owned(),
        meaning: Reasons::read(dir, reader).meaning(&url, &record)?,
        record: Some(UrlHistory { mass, belief, found_on, ..history(&record, next_visit) }),
        host,
    })
}

/// What is settled on a page, or what has reached a URL that was never fetched: for the latter all
/// links are read and the books made anew, as far as there are not too many.
fn mass_of(
    record: &UrlRecord,
    patience: Patience,
    reader: &LocalReader,
) -> Result<Option<f64>, Error> {
    if let Some(settled) = reader.settled(record.id)? {
        return Ok(Some(settled as f64 / ONE as f64));
    }
    if reader.counters()?.known > patience.urls_max() {
        return Ok(None);
    }
    let (settled, lies_on_it) = reader.mass()?.of(record.id);
    Ok(Some(settled + lies_on_it))
}

/// As typed, or else without the parameters that a crawl removes unless told otherwise.
fn find(snapshot: &impl StateSnapshot, typed: Url) -> Result<(Url, Option<UrlRecord>), Error> {
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
fn ahead(snapshot: &impl StateSnapshot, host: &HostKey, own: &Place) -> Result<Option<u64>, Error> {
    let first = snapshot.queue(host, Section::Now, None, QUEUE_LOOK_MAX)?;
    let before = first.rows.iter().take_while(|(place, _)| place < own).count();
    let is_counted = before < first.rows.len() || first.all;
    Ok(is_counted.then_some(before as u64))
}

/// As `rhumb urls` has it.
fn state(status: RecordStatus, host: Option<&HostRecord>) -> &'static str {
    match status {
        RecordStatus::Queued if host.is_some_and(|host| host.rests_for().is_some()) => "failed",
        RecordStatus::Queued => "queued",
        RecordStatus::Fetched => "fetched",
        RecordStatus::Duplicate => "duplicate",
        RecordStatus::Moved => "moved",
        RecordStatus::Gone => "gone",
        RecordStatus::Refused(_) => "refused",
        RecordStatus::Foreign => "foreign",
        RecordStatus::Failed(_) => "failed",
    }
}

/// The page that names a URL: a walk over all URLs.
fn found_on(
    record: &UrlRecord,
    patience: Patience,
    reader: &LocalReader,
) -> Result<Option<String>, Error> {
    let Some(page) = record.found_on.page() else { return Ok(None) };
    if patience == Patience::Brief && reader.counters()?.known > BRIEF_URLS_MAX {
        return Ok(None);
    }
    let mut found = reader.urls_numbered(&HashSet::from([page]))?;
    Ok(found.remove(&page).map(|url| url.as_str().to_owned()))
}

fn history(record: &UrlRecord, next_visit: NextVisit) -> UrlHistory {
    let hex = |bytes: [u8; 16]| format!("{:032x}", u128::from_be_bytes(bytes));
    UrlHistory {
        found_on: None,
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

pub fn host_status(key: &HostKey, record: &HostRecord, now: Time) -> HostStatus {
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
        failing: record.failing.map(|kind| kind.word().to_owned()),
        trust: belief::of_host(&record.trust),
    }
}
