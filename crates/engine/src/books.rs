//! The books of URLs: the one owner of a URL's position.
//!
//! Where a URL stands is told in five places: its record has a status and a place, its host's queue
//! has a row at that place, the host counts what it admitted and what waits, the crawl counts by
//! status and place, and the books of importance have a mark. All five are written here, together,
//! and nowhere else (`crates/rhumb/tests/tidy.rs` looks). Who decides on a position says what the
//! URL was ([`UrlPosition`]), what its record is now, and where it waits; what is counted of it
//! follows from the two.

use crate::counters::Counters;
use crate::event::{Row, Step};
use crate::frontier::awake::Awake;
use crate::host::HostRecord;
use crate::mass::Mass;
use crate::queue::{Entry, Place};
use crate::record::{RecordStatus, Refusal, Role, UrlRecord};
use crate::requisites::{self, RequisiteCounters};
use crate::time::Time;
use rhumb_page::url::{HostKey, UrlKey};

#[derive(Debug)]
pub(crate) struct UrlBooks {
    pub counters: Counters,
    pub requisites: RequisiteCounters,
    pub mass: Mass,
    /// What was committed last, to write a row only when it changed.
    counters_written: Counters,
    requisites_written: RequisiteCounters,
}

/// What a URL was, and where it waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UrlPosition {
    /// None if it was not known.
    status: Option<RecordStatus>,
    place: Option<Place>,
}

impl UrlPosition {
    /// Not known before.
    pub const NEW: UrlPosition = UrlPosition { status: None, place: None };

    pub fn of(record: &UrlRecord) -> UrlPosition {
        UrlPosition { status: Some(record.status), place: record.place }
    }

    /// It came up at this place of its host's queue.
    pub fn at(place: Place, record: &UrlRecord) -> UrlPosition {
        UrlPosition { status: Some(record.status), place: Some(place) }
    }

    /// Foreign URLs are known to their own partition.
    fn is_known(self) -> bool {
        self.status.is_some_and(|status| status != RecordStatus::Foreign)
    }

    /// Robots forbid what was admitted before.
    pub fn is_admitted(self) -> bool {
        let is_refused =
            |status| matches!(status, RecordStatus::Refused(why) if why != Refusal::Robots);
        self.is_known() && !self.status.is_some_and(is_refused)
    }

    fn is_first_of_requisite(self) -> bool {
        self.place.as_ref().is_some_and(requisites::is_first)
    }
}

/// What a host counts of URLs. Requisites are in nobody's budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostShare {
    queued: u64,
    pages: u64,
    sitemaps: u32,
}

impl HostShare {
    fn of(position: UrlPosition, role: Role) -> HostShare {
        let is_admitted = position.is_admitted();
        HostShare {
            queued: u64::from(position.place.is_some()),
            pages: u64::from(is_admitted && role == Role::Page),
            sitemaps: u32::from(is_admitted && role.is_sitemap()),
        }
    }

    pub fn plus(self, other: HostShare) -> HostShare {
        HostShare {
            queued: self.queued + other.queued,
            pages: self.pages + other.pages,
            sitemaps: self.sitemaps.saturating_add(other.sitemaps),
        }
    }

    /// The host's record without it.
    pub fn taken_from(self, mut record: HostRecord) -> HostRecord {
        record.queued = record.queued.saturating_sub(self.queued);
        record.admitted = record.admitted.saturating_sub(self.pages);
        record.sitemaps = record.sitemaps.saturating_sub(self.sitemaps);
        record
    }
}

/// The host of a URL: with its queues if it is awake, or as a row.
pub(crate) enum UrlHost<'a> {
    Awake(&'a mut Awake),
    Asleep(&'a HostKey, &'a mut HostRecord),
}

impl UrlHost<'_> {
    fn key(&self) -> HostKey {
        match self {
            UrlHost::Awake(awake) => awake.key.clone(),
            UrlHost::Asleep(key, _) => (*key).clone(),
        }
    }

    fn count(&mut self, was: HostShare, now: HostShare) {
        let record = match self {
            UrlHost::Awake(awake) => &mut awake.record,
            UrlHost::Asleep(_, record) => record,
        };
        record.queued = record.queued + now.queued - was.queued;
        record.admitted = record.admitted + now.pages - was.pages;
        record.sitemaps = record.sitemaps.saturating_add(now.sitemaps).saturating_sub(was.sitemaps);
    }
}

impl UrlBooks {
    /// As the rows have them; a new run begins.
    pub fn open(counters: Counters, requisites: RequisiteCounters, mass: Mass) -> UrlBooks {
        UrlBooks {
            counters_written: counters.clone(),
            requisites_written: requisites.clone(),
            counters: Counters { run: counters.run + 1, ..counters },
            requisites,
            mass,
        }
    }

    /// A known URL leaves its place in its host's queue, takes another, or both; or a new one takes
    /// its first. Its record is what it is now, but for the place.
    pub fn put(
        &mut self,
        mut host: UrlHost<'_>,
        was: UrlPosition,
        mut entry: Entry,
        to: Option<Place>,
        rows: &mut Vec<Row>,
    ) {
        let record = &mut entry.record;
        record.place = to;
        match &to {
            Some(Place::Now { class, .. }) => record.class = *class,
            Some(place) if requisites::is_first(place) => record.class = requisites::CLASS,
            _ => {}
        }
        let now = UrlPosition::of(record);
        host.count(HostShare::of(was, record.role), HostShare::of(now, record.role));
        count(&mut self.counters, &mut self.requisites, was, now);
        self.mass.stand(record);
        let key = entry.url.key();
        if let Some(place) = was.place {
            if let UrlHost::Awake(awake) = &mut host {
                awake.queue(place.section()).row_left(place);
            }
            rows.push(Row::Queue { host: host.key(), place, entry: None });
        }
        let Some(place) = to else {
            return rows.push(Row::Url { key, record: entry.record });
        };
        rows.push(Row::Url { key, record: entry.record.clone() });
        rows.push(Row::Queue { host: host.key(), place, entry: Some(entry.clone()) });
        if let UrlHost::Awake(awake) = host {
            awake.queue(place.section()).insert(place, entry);
        }
    }

    /// A URL that waits nowhere, and will not, is this now: refused, or another partition's.
    pub fn put_nowhere(
        &mut self,
        was: UrlPosition,
        key: UrlKey,
        record: UrlRecord,
        rows: &mut Vec<Row>,
    ) {
        count(&mut self.counters, &mut self.requisites, was, UrlPosition::of(&record));
        self.mass.stand(&record);
        rows.push(Row::Url { key, record });
    }

    /// What a URL is from now on, to links that are counted before it has its place.
    pub fn stand(&mut self, record: &UrlRecord) {
        self.mass.stand(record);
    }

    /// Ends a turn: the rows of counters that changed.
    pub fn write(&mut self, now: Time, step: &mut Step) {
        if self.requisites != self.requisites_written {
            self.requisites_written.clone_from(&self.requisites);
            step.rows.push(Row::Requisites(self.requisites.clone()));
        }
        if self.counters != self.counters_written {
            self.counters.clock = now;
            self.counters_written = self.counters.clone();
            step.rows.push(Row::Counters(Box::new(self.counters.clone())));
        }
    }
}

/// What is known of a URL changed, and not its position.
pub(crate) fn rewrite(key: UrlKey, record: UrlRecord, rows: &mut Vec<Row>) {
    rows.push(Row::Url { key, record });
}

/// At rest, without the books of importance: a URL that may wait is refused and waits no more. What
/// its host counted of it.
pub(crate) fn take_out(
    (counters, requisites): (&mut Counters, &mut RequisiteCounters),
    key: &UrlKey,
    (was, record): (UrlPosition, UrlRecord),
    rows: &mut Vec<Row>,
) -> HostShare {
    let record = UrlRecord { place: None, ..record };
    count(counters, requisites, was, UrlPosition::of(&record));
    if let Some(place) = was.place {
        rows.push(Row::Queue { host: key.host_key(), place, entry: None });
    }
    let share = HostShare::of(was, record.role);
    rows.push(Row::Url { key: key.clone(), record });
    share
}

fn count(
    counters: &mut Counters,
    requisites: &mut RequisiteCounters,
    was: UrlPosition,
    now: UrlPosition,
) {
    match was.status {
        Some(RecordStatus::Refused(why)) => *counters.refused_as(why) -= 1,
        Some(RecordStatus::Failed(kind)) => *counters.failed_as(kind) -= 1,
        _ => {}
    }
    match now.status {
        Some(RecordStatus::Refused(why)) => *counters.refused_as(why) += 1,
        Some(RecordStatus::Failed(kind)) => *counters.failed_as(kind) += 1,
        _ => {}
    }
    shift(&mut counters.known, was.is_known(), now.is_known());
    shift(&mut counters.admitted, was.is_admitted(), now.is_admitted());
    shift(&mut counters.queued, was.place.is_some(), now.place.is_some());
    shift(&mut requisites.waiting, was.is_first_of_requisite(), now.is_first_of_requisite());
}

/// A URL was, or was not, and now is, or is not, among those that are counted.
fn shift(count: &mut u64, was: bool, is: bool) {
    *count = *count + u64::from(is) - u64::from(was);
}
