//! The shapes in which format 10 stored its rows, and how each becomes what it is today.
//!
//! Each struct is a copy of the type as format 10 had it. Rows are read by position, so a copy
//! never changes. To change a stored type: change it in the engine, and give a new field its value
//! for old rows in the `From` below, which does not compile until that is done.
//!
//! Types of the engine that stand here without a copy are stored as in format 10: enums may get
//! variants at their end, and of all else, copy one here before you change it.

use rhumb_engine::discovery::FoundAs;
use rhumb_engine::marks::Marks;
use rhumb_engine::near::Near;
use rhumb_engine::outcome::{ContentDigest, FailKind};
use rhumb_engine::queue::{Place, SleepPlace};
use rhumb_engine::record::{FoundOn, RecordStatus, UrlId};
use rhumb_engine::refresh::budget::Spent;
use rhumb_engine::refresh::detect::LearntChange;
use rhumb_engine::refresh::past;
use rhumb_engine::refresh::population::Population;
use rhumb_engine::refresh::sample::PageSample;
use rhumb_engine::refresh::scheduler::{self, HostStanding, SchedulerSettings};
use rhumb_engine::refresh::trust::HostReliability;
use rhumb_engine::time::{Span, Time};
use rhumb_engine::{counters, discovery, host, known, mass, queue, record};
use rhumb_page::url::Url;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct UrlRecord {
    id: UrlId,
    status: RecordStatus,
    depth: u16,
    hops: u8,
    class: u8,
    tries: u8,
    http_status: u16,
    found_on: FoundOn,
    place: Option<Place>,
    found: Time,
    past: Option<Box<Visits>>,
}

impl From<UrlRecord> for record::UrlRecord {
    fn from(old: UrlRecord) -> record::UrlRecord {
        let mut past = past::Past::default();
        if let Some(visits) = old.past {
            *past = past::Visits::from(*visits);
        }
        record::UrlRecord {
            id: old.id,
            status: old.status,
            depth: old.depth,
            hops: old.hops,
            class: old.class,
            tries: old.tries,
            http_status: old.http_status,
            role: record::Role::Page,
            found_on: old.found_on,
            place: old.place,
            found: old.found,
            past,
        }
    }
}

#[derive(Deserialize)]
pub struct Visits {
    visits: u32,
    visited: Option<Time>,
    changed: Option<Time>,
    content: Option<ContentDigest>,
    etag: Option<Box<str>>,
    last_modified: Option<Box<str>>,
    duplicate_of: Option<Url>,
    learnt: Option<LearntChange>,
    near: Option<Near>,
    marks: Marks,
}

impl From<Visits> for past::Visits {
    fn from(old: Visits) -> past::Visits {
        past::Visits {
            visits: old.visits,
            visited: old.visited,
            changed: old.changed,
            content: old.content,
            etag: old.etag,
            last_modified: old.last_modified,
            duplicate_of: old.duplicate_of,
            learnt: old.learnt,
            near: old.near,
            marks: old.marks,
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
pub struct HostRecord {
    admitted: u64,
    queued: u64,
    answers: u64,
    pages: u64,
    bytes: u64,
    failures: u16,
    run: u32,
    failing: Option<FailKind>,
    robots_until: Option<Time>,
    not_before: Time,
    last_took: Span,
    crawl_delay: Option<Span>,
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
            failures: old.failures,
            run: old.run,
            failing: old.failing,
            robots_until: old.robots_until,
            not_before: old.not_before,
            last_took: old.last_took,
            crawl_delay: old.crawl_delay,
            sleep: old.sleep,
            now_after: old.now_after,
            later_after: old.later_after,
            standing: old.standing,
            trust: old.trust,
            sitemaps: 0,
            patterns: Default::default(),
        }
    }
}

/// Causes of refusals and kinds of failures were these many; later ones come after them.
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
    unauthorized: u64,
    forbidden: u64,
    noindex: u64,
    nofollow: u64,
    retries: u64,
    robots_fetched: u64,
    robots_absent: u64,
    revisits: u64,
    discoveries: u64,
    promoted: u64,
    refused: [u64; 7],
    failed: [u64; 20],
    errors: [u64; 20],
    asked: u64,
    spent: Spent,
    changes_seen: u64,
    announced: u64,
    clock: Time,
    next_url: u64,
    next_outbox: u64,
    next_sleep: u64,
    outbox_head: u64,
    run: u32,
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
            unauthorized: old.unauthorized,
            forbidden: old.forbidden,
            noindex: old.noindex,
            nofollow: old.nofollow,
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
            run: old.run,
        };
        new.refused[..old.refused.len()].copy_from_slice(&old.refused);
        new.failed[..old.failed.len()].copy_from_slice(&old.failed);
        new.errors[..old.errors.len()].copy_from_slice(&old.errors);
        new
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
            kind: old.kind,
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

/// What all pages share of revisiting. Six shapes and four ways to forget were scored.
#[derive(Deserialize)]
pub struct Scheduler {
    settings: SchedulerSettings,
    population: Population,
    _tuning: [[f64; 4]; 6],
    _kept: f64,
    sample: PageSample,
    ln_price: f64,
    _correction: f64,
    _price: f64,
    pages: u64,
    _waiting: u64,
    _visits_since_look: u64,
    _lag_days: f64,
    _is_solved: bool,
}

impl From<Scheduler> for scheduler::Scheduler {
    fn from(old: Scheduler) -> scheduler::Scheduler {
        let Scheduler { settings, population, sample, pages, ln_price, .. } = old;
        scheduler::Scheduler::carried(settings, population, sample, pages, ln_price)
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
