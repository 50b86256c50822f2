//! The shapes in which format 9 stored its rows, and how each becomes what it is today.
//!
//! Each struct and enum is a copy of the type as format 9 had it. Rows are read by position, so a
//! copy never changes. To change a stored type: change it in the engine, and give a new field its
//! value for old rows in the `From` below, which does not compile until that is done. A new variant
//! needs nothing here; one that is gone needs an arm.
//!
//! Types of the engine that stand here without a copy (`LearntChange`, `HostStanding`,
//! `HostReliability`, `Spent`, `Time`, `Span`, `Url`) are stored as in format 9: copy one here
//! before you change it. The scheduler of format 9 is that of format 10.

use rhumb_engine::outcome::{ContentDigest, PayloadDigest};
use rhumb_engine::record::UrlId;
use rhumb_engine::refresh::budget::Spent;
use rhumb_engine::refresh::detect::LearntChange;
use rhumb_engine::refresh::past;
use rhumb_engine::refresh::scheduler::HostStanding;
use rhumb_engine::refresh::trust::HostReliability;
use rhumb_engine::time::{Span, Time};
use rhumb_engine::{counters, discovery, host, known, marks, mass, near, outcome, queue, record};
use rhumb_page::url::Url;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct UrlRecord {
    id: UrlId,
    status: Status,
    depth: u16,
    hops: u8,
    class: u8,
    tries: u8,
    visits: u32,
    http_status: u16,
    place: Option<Place>,
    found: Time,
    past: Option<Box<Visits>>,
}

impl From<UrlRecord> for record::UrlRecord {
    fn from(old: UrlRecord) -> record::UrlRecord {
        let mut past = past::Past::default();
        if let Some(visits) = old.past {
            *past = past::Visits { visits: old.visits, ..past::Visits::from(*visits) };
        }
        record::UrlRecord {
            id: old.id,
            status: old.status.into(),
            depth: old.depth,
            hops: old.hops,
            class: old.class,
            tries: old.tries,
            http_status: old.http_status,
            role: record::Role::Page,
            found_on: record::FoundOn::default(),
            place: old.place.map(queue::Place::from),
            found: old.found,
            past,
        }
    }
}

#[derive(Deserialize)]
pub enum Status {
    Queued,
    Fetched,
    Duplicate,
    Moved,
    Gone,
    Refused(Refusal),
    Failed(FailKind),
    Foreign,
}

impl From<Status> for record::RecordStatus {
    fn from(old: Status) -> record::RecordStatus {
        match old {
            Status::Queued => record::RecordStatus::Queued,
            Status::Fetched => record::RecordStatus::Fetched,
            Status::Duplicate => record::RecordStatus::Duplicate,
            Status::Moved => record::RecordStatus::Moved,
            Status::Gone => record::RecordStatus::Gone,
            Status::Refused(why) => record::RecordStatus::Refused(why.into()),
            Status::Failed(kind) => record::RecordStatus::Failed(kind.into()),
            Status::Foreign => record::RecordStatus::Foreign,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
pub enum Refusal {
    Scope,
    Filter,
    Depth,
    HostBudget,
    Trap,
    Hops,
    Robots,
}

/// In the order of their counters.
const REFUSALS: [Refusal; 7] = [
    Refusal::Scope,
    Refusal::Filter,
    Refusal::Depth,
    Refusal::HostBudget,
    Refusal::Trap,
    Refusal::Hops,
    Refusal::Robots,
];

impl From<Refusal> for record::Refusal {
    fn from(old: Refusal) -> record::Refusal {
        match old {
            Refusal::Scope => record::Refusal::Scope,
            Refusal::Filter => record::Refusal::Filter,
            Refusal::Depth => record::Refusal::Depth,
            Refusal::HostBudget => record::Refusal::HostBudget,
            Refusal::Trap => record::Refusal::Trap,
            Refusal::Hops => record::Refusal::Hops,
            Refusal::Robots => record::Refusal::Robots,
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
pub enum FailKind {
    DnsNotFound,
    DnsTemporary,
    AddressRefused,
    Connect,
    Tls,
    Timeout,
    Slow,
    Closed,
    BadHttp,
    HeaderTooBig,
    ServerError,
    Throttled,
    Scheme,
    RobotsUnreachable,
    HostDead,
    Internal,
}

/// In the order of their counters.
const FAIL_KINDS: [FailKind; 16] = [
    FailKind::DnsNotFound,
    FailKind::DnsTemporary,
    FailKind::AddressRefused,
    FailKind::Connect,
    FailKind::Tls,
    FailKind::Timeout,
    FailKind::Slow,
    FailKind::Closed,
    FailKind::BadHttp,
    FailKind::HeaderTooBig,
    FailKind::ServerError,
    FailKind::Throttled,
    FailKind::Scheme,
    FailKind::RobotsUnreachable,
    FailKind::HostDead,
    FailKind::Internal,
];

impl From<FailKind> for outcome::FailKind {
    fn from(old: FailKind) -> outcome::FailKind {
        match old {
            FailKind::DnsNotFound => outcome::FailKind::DnsNotFound,
            FailKind::DnsTemporary => outcome::FailKind::DnsTemporary,
            FailKind::AddressRefused => outcome::FailKind::AddressRefused,
            FailKind::Connect => outcome::FailKind::Connect,
            FailKind::Tls => outcome::FailKind::Tls,
            FailKind::Timeout => outcome::FailKind::Timeout,
            FailKind::Slow => outcome::FailKind::Slow,
            FailKind::Closed => outcome::FailKind::Closed,
            FailKind::BadHttp => outcome::FailKind::BadHttp,
            FailKind::HeaderTooBig => outcome::FailKind::HeaderTooBig,
            FailKind::ServerError => outcome::FailKind::ServerError,
            FailKind::Throttled => outcome::FailKind::Throttled,
            FailKind::Scheme => outcome::FailKind::Scheme,
            FailKind::RobotsUnreachable => outcome::FailKind::RobotsUnreachable,
            FailKind::HostDead => outcome::FailKind::HostDead,
            FailKind::Internal => outcome::FailKind::Internal,
        }
    }
}

#[derive(Deserialize)]
pub struct Visits {
    visited: Option<Time>,
    changed: Option<Time>,
    content: Option<ContentDigest>,
    etag: Option<Box<str>>,
    last_modified: Option<Box<str>>,
    duplicate_of: Option<Url>,
    learnt: Option<LearntChange>,
    near: Option<Near>,
}

impl From<Visits> for past::Visits {
    fn from(old: Visits) -> past::Visits {
        past::Visits {
            // The record had them.
            visits: 0,
            visited: old.visited,
            changed: old.changed,
            content: old.content,
            etag: old.etag,
            last_modified: old.last_modified,
            duplicate_of: old.duplicate_of,
            learnt: old.learnt,
            near: old.near.map(near::Near::from),
            // Known again after the next visit.
            marks: marks::Marks::NONE,
        }
    }
}

#[derive(Deserialize)]
pub struct Near {
    url: Url,
    permille: u16,
}

impl From<Near> for near::Near {
    fn from(old: Near) -> near::Near {
        near::Near { url: old.url, permille: old.permille }
    }
}

#[derive(Deserialize)]
pub enum Place {
    Now { class: u8, rank: u64, id: u64 },
    Later { due: Time, id: u64 },
}

impl From<Place> for queue::Place {
    fn from(old: Place) -> queue::Place {
        match old {
            Place::Now { class, rank, id } => queue::Place::Now { class, rank, id },
            Place::Later { due, id } => queue::Place::Later { due, id },
        }
    }
}

#[derive(Deserialize)]
pub struct Entry {
    url: Url,
    record: UrlRecord,
}

impl From<Entry> for queue::Entry {
    fn from(old: Entry) -> queue::Entry {
        queue::Entry { url: old.url, record: old.record.into() }
    }
}

#[derive(Deserialize)]
pub enum SleepPlace {
    Ready { class: u8, rank: u64 },
    Later { due: Time, rank: u64 },
}

impl From<SleepPlace> for queue::SleepPlace {
    fn from(old: SleepPlace) -> queue::SleepPlace {
        match old {
            SleepPlace::Ready { class, rank } => queue::SleepPlace::Ready { class, rank },
            SleepPlace::Later { due, rank } => queue::SleepPlace::Later { due, rank },
        }
    }
}

#[derive(Deserialize)]
pub struct HostRecord {
    admitted: u64,
    queued: u64,
    answers: u64,
    pages: u64,
    bytes: u64,
    _failures: u16,
    _robots_tries: u8,
    _robots_until: Option<Time>,
    not_before: Time,
    last_took: Span,
    crawl_delay: Option<Span>,
    given_up: Option<FailKind>,
    sleep: Option<SleepPlace>,
    now_after: Option<Place>,
    later_after: Option<Place>,
    standing: HostStanding,
    trust: HostReliability,
}

impl From<HostRecord> for host::HostRecord {
    fn from(old: HostRecord) -> host::HostRecord {
        host::HostRecord {
            admitted: old.admitted,
            queued: old.queued,
            answers: old.answers,
            pages: old.pages,
            bytes: old.bytes,
            // Each run counts them anew, and no host is given up any more.
            failures: 0,
            run: 0,
            failing: old.given_up.map(outcome::FailKind::from),
            // Its rules are not carried over.
            robots_until: None,
            not_before: old.not_before,
            last_took: old.last_took,
            crawl_delay: old.crawl_delay,
            sleep: old.sleep.map(queue::SleepPlace::from),
            now_after: old.now_after.map(queue::Place::from),
            later_after: old.later_after.map(queue::Place::from),
            standing: old.standing,
            trust: old.trust,
            sitemaps: 0,
            patterns: Default::default(),
        }
    }
}

#[derive(Deserialize)]
pub struct Counters {
    pages: u64,
    bytes: u64,
    answers: u64,
    known: u64,
    admitted: u64,
    queued: u64,
    hosts: u64,
    duplicates: u64,
    near_duplicates: u64,
    unchanged: u64,
    moved: u64,
    gone: u64,
    retries: u64,
    robots_fetched: u64,
    robots_absent: u64,
    revisits: u64,
    discoveries: u64,
    promoted: u64,
    refused: [u64; REFUSALS.len()],
    failed: [u64; FAIL_KINDS.len()],
    asked: u64,
    spent: Spent,
    changes_seen: u64,
    announced: u64,
    clock: Time,
    next_url: u64,
    next_outbox: u64,
    next_sleep: u64,
    outbox_head: u64,
}

impl From<Counters> for counters::Counters {
    fn from(old: Counters) -> counters::Counters {
        let mut new = counters::Counters {
            pages: old.pages,
            bytes: old.bytes,
            answers: old.answers,
            known: old.known,
            admitted: old.admitted,
            queued: old.queued,
            hosts: old.hosts,
            duplicates: old.duplicates,
            near_duplicates: old.near_duplicates,
            unchanged: old.unchanged,
            moved: old.moved,
            gone: old.gone,
            unauthorized: 0,
            forbidden: 0,
            noindex: 0,
            nofollow: 0,
            scripted: 0,
            retries: old.retries,
            robots_fetched: old.robots_fetched,
            robots_absent: old.robots_absent,
            revisits: old.revisits,
            discoveries: old.discoveries,
            links_beyond: 0,
            promoted: old.promoted,
            sitemaps: 0,
            listed: 0,
            refused: Default::default(),
            failed: Default::default(),
            errors: Default::default(),
            asked: old.asked,
            spent: old.spent,
            changes_seen: old.changes_seen,
            announced: old.announced,
            clock: old.clock,
            next_url: old.next_url,
            next_outbox: old.next_outbox,
            next_sleep: old.next_sleep,
            outbox_head: old.outbox_head,
            run: 0,
        };
        let refused = REFUSALS.into_iter().zip(old.refused);
        refused.for_each(|(why, count)| *new.refused_as(why.into()) += count);
        let failed = FAIL_KINDS.into_iter().zip(old.failed);
        failed.for_each(|(kind, count)| *new.failed_as(kind.into()) += count);
        new
    }
}

#[derive(Deserialize)]
pub enum FoundAs {
    Seed,
    Link,
    Redirect,
    Sitemap,
    Listed,
    Announced(u32),
    Rejudge,
    Copied,
    Promoted,
}

impl From<FoundAs> for discovery::FoundAs {
    fn from(old: FoundAs) -> discovery::FoundAs {
        match old {
            FoundAs::Seed => discovery::FoundAs::Seed,
            FoundAs::Link => discovery::FoundAs::Link,
            FoundAs::Redirect => discovery::FoundAs::Redirect,
            FoundAs::Sitemap => discovery::FoundAs::Sitemap,
            FoundAs::Listed => discovery::FoundAs::Listed,
            FoundAs::Announced(at_s) => discovery::FoundAs::Announced(at_s),
            FoundAs::Rejudge => discovery::FoundAs::Readmit,
            FoundAs::Copied => discovery::FoundAs::Copied,
            FoundAs::Promoted => discovery::FoundAs::Promoted,
        }
    }
}

#[derive(Deserialize)]
pub struct Origin {
    page: u32,
    ends: bool,
}

impl From<Origin> for discovery::Origin {
    fn from(old: Origin) -> discovery::Origin {
        discovery::Origin::of(old.page, old.ends)
    }
}

#[derive(Deserialize)]
pub struct Discovery {
    url: Url,
    kind: FoundAs,
    depth: u16,
    hops: u8,
    from: Option<Origin>,
}

impl From<Discovery> for discovery::Discovery {
    fn from(old: Discovery) -> discovery::Discovery {
        discovery::Discovery {
            url: old.url,
            kind: old.kind.into(),
            depth: old.depth,
            hops: old.hops,
            from: old.from.map(discovery::Origin::from),
        }
    }
}

#[derive(Deserialize)]
pub enum Lead {
    New(Discovery),
    Known { links: Box<KnownLinks>, from: Origin },
}

impl From<Lead> for discovery::Lead {
    fn from(old: Lead) -> discovery::Lead {
        match old {
            Lead::New(discovery) => discovery::Lead::New(discovery.into()),
            Lead::Known { links, from } => {
                let links = Box::new(known::KnownLinks::from(*links));
                discovery::Lead::Known { links, from: from.into() }
            }
        }
    }
}

/// Numbers, and their addresses one after the other with the end of each, or none at all.
#[derive(Deserialize)]
pub struct KnownLinks {
    ids: Vec<u32>,
    depth: u16,
    text: String,
    ends: Vec<u32>,
}

impl From<KnownLinks> for known::KnownLinks {
    fn from(old: KnownLinks) -> known::KnownLinks {
        let mut new = known::KnownLinks::with_room(old.depth, old.ids.len());
        let mut begins = 0;
        for (n, id) in old.ids.into_iter().enumerate() {
            let end = old.ends.get(n).map(|end| *end as usize);
            let text = end.and_then(|end| old.text.get(begins..end));
            begins = end.unwrap_or(begins);
            new.push(id, text.and_then(|text| Url::from_canonical(text.into())).as_ref());
        }
        new
    }
}

#[derive(Deserialize)]
pub struct Twin {
    url: Url,
    kept: Time,
    payload: PayloadDigest,
}

impl From<Twin> for record::Twin {
    fn from(old: Twin) -> record::Twin {
        record::Twin { url: old.url, kept: old.kept, payload: old.payload }
    }
}

#[derive(Deserialize)]
pub struct LinkPart {
    first: u64,
    ends: bool,
    gaps: Vec<u8>,
}

impl From<LinkPart> for mass::LinkPart {
    fn from(old: LinkPart) -> mass::LinkPart {
        mass::LinkPart::without_topic(old.first, old.ends, old.gaps)
    }
}

#[derive(Deserialize)]
pub struct SettledRow {
    settled: Vec<(u32, i64)>,
}

impl From<SettledRow> for mass::SettledRow {
    fn from(old: SettledRow) -> mass::SettledRow {
        mass::SettledRow { settled: old.settled }
    }
}
