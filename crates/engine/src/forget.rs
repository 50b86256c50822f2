//! Taking down: what becomes of the rows of URLs and hosts that are to be forgotten.
//!
//! It is done at rest, over all rows, and leaves them as if the URL had been refused when it was
//! found: no visit, no place in a queue, nothing that later pages are compared with. Other pages
//! that were told to repeat a forgotten one stand by themselves. The books of importance are made
//! from the rows at the next opening, and what lay on the page is lost as on any refused one.

use crate::admit::Forgotten;
use crate::counters::Counters;
use crate::event::Row;
use crate::host::HostRecord;
use crate::mass;
use crate::outcome::ContentDigest;
use crate::record::{Refusal, Role, Status, UrlRecord};
use crate::refresh::past::Past;
use crate::requisites::{self, RequisiteCounters};
use rhumb_page::url::{HostKey, UrlKey};
use std::collections::BTreeMap;

/// A takedown under way.
#[derive(Debug)]
pub struct Takedown<'a> {
    forgotten: &'a Forgotten,
    counters: Counters,
    requisites: RequisiteCounters,
    /// What hosts lose by it.
    hosts: BTreeMap<HostKey, Lost>,
    /// URLs that were taken down.
    pub urls: u64,
    /// Numbers of those that had a date for another visit.
    pub left_calendar: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    queued: u64,
    pages: u64,
    sitemaps: u32,
}

impl<'a> Takedown<'a> {
    /// Of a crawl with these counters.
    pub fn new(
        forgotten: &'a Forgotten,
        counters: Counters,
        requisites: RequisiteCounters,
    ) -> Takedown<'a> {
        let (hosts, left_calendar) = (BTreeMap::new(), Vec::new());
        Takedown { forgotten, counters, requisites, hosts, urls: 0, left_calendar }
    }

    /// Takes a URL; the bytes that later pages may have been compared with, if it is forgotten.
    pub fn take_url(
        &mut self,
        key: &UrlKey,
        record: &UrlRecord,
        rows: &mut Vec<Row>,
    ) -> Option<ContentDigest> {
        if record.status == Status::Foreign {
            return None;
        }
        if !self.forgotten.has(&key.url()) {
            self.take_other(key, record, rows);
            return None;
        }
        if record.status == Status::Refused(Refusal::Forgotten) && record.place.is_none() {
            return None;
        }
        self.urls += 1;
        self.leave(key, record, rows);
        if let Some(id) = mass::node(record.id) {
            rows.push(Row::LeaderGone { id });
        }
        if record.past.learnt.is_some() {
            self.left_calendar.push(record.id.0);
        }
        self.counters.refused[Refusal::Forgotten as usize] += 1;
        let content = record.past.content;
        let status = Status::Refused(Refusal::Forgotten);
        let past = Past::default();
        let record =
            UrlRecord { status, past, place: None, tries: 0, http_status: 0, ..record.clone() };
        rows.push(Row::Url { key: key.clone(), record });
        content
    }

    /// The counters and the queue as they are without it.
    fn leave(&mut self, key: &UrlKey, record: &UrlRecord, rows: &mut Vec<Row>) {
        let host = key.host_key();
        let lost = self.hosts.entry(host.clone()).or_default();
        let was_admitted = match record.status {
            Status::Refused(why) => {
                self.counters.refused[why as usize] -= 1;
                why == Refusal::Robots
            }
            Status::Failed(kind) => {
                self.counters.failed[kind as usize] -= 1;
                true
            }
            _ => true,
        };
        if was_admitted {
            self.counters.admitted -= 1;
            match record.role {
                Role::Page => lost.pages += 1,
                // No host's budget counts them.
                role if role.is_requisite() => {}
                _ => lost.sitemaps += 1,
            }
        }
        if let Some(place) = record.place {
            self.counters.queued -= 1;
            self.requisites.waiting -= u64::from(requisites::is_first(&place));
            lost.queued += 1;
            rows.push(Row::Queue { host, place, entry: None });
        }
    }

    /// Another page stands by itself, if it was told to repeat one that is forgotten.
    fn take_other(&self, key: &UrlKey, record: &UrlRecord, rows: &mut Vec<Row>) {
        let past = &record.past;
        let is_copy = past.duplicate_of.as_ref().is_some_and(|url| self.forgotten.has(url));
        let is_near = past.near.as_ref().is_some_and(|near| self.forgotten.has(&near.url));
        if !is_copy && !is_near {
            return;
        }
        let mut record = record.clone();
        if is_copy {
            record.past.duplicate_of = None;
            if record.status == Status::Duplicate {
                record.status = Status::Fetched;
            }
        }
        if is_near {
            record.past.near = None;
        }
        rows.push(Row::Url { key: key.clone(), record });
    }

    /// Takes a host, after all URLs.
    pub fn take_host(&self, key: &HostKey, record: &HostRecord, rows: &mut Vec<Row>) {
        let is_forgotten = self.forgotten.has_host(&key.host());
        let lost = self.hosts.get(key).copied().unwrap_or_default();
        if lost.queued == 0 && lost.pages == 0 && lost.sitemaps == 0 && !is_forgotten {
            return;
        }
        let mut record = record.clone();
        record.queued = record.queued.saturating_sub(lost.queued);
        record.admitted = record.admitted.saturating_sub(lost.pages);
        record.sitemaps = record.sitemaps.saturating_sub(lost.sitemaps);
        if is_forgotten && record.queued == 0 {
            if let Some(place) = record.sleep.take() {
                rows.push(Row::Sleep { host: key.clone(), place, asleep: false });
            }
            (record.now_after, record.later_after, record.robots_until) = (None, None, None);
        }
        rows.push(Row::Host { key: key.clone(), record });
    }

    /// Writes the counters, after all hosts, if there is anything else to write: they are what the
    /// rows say.
    pub fn finish(self, rows: &mut Vec<Row>) {
        if !rows.is_empty() {
            rows.push(Row::Requisites(self.requisites));
            rows.push(Row::Counters(Box::new(self.counters)));
        }
    }
}
