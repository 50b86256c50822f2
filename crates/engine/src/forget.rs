//! Taking down: what becomes of the rows of URLs and hosts that are to be forgotten.
//!
//! It is done at rest, over all rows, and leaves them as if the URL had been refused when it was
//! found: no visit, no place in a queue, nothing that later pages are compared with. Other pages
//! that were told to repeat a forgotten one stand by themselves. The books of importance are made
//! from the rows at the next opening, and what lay on the page is lost as on any refused one.

use crate::admit::Forgotten;
use crate::books::{self, HostShare, UrlPosition};
use crate::counters::Counters;
use crate::event::Row;
use crate::host::HostRecord;
use crate::mass;
use crate::outcome::ContentDigest;
use crate::record::{RecordStatus, Refusal, UrlRecord};
use crate::requisites::RequisiteCounters;
use rhumb_page::url::{HostKey, UrlKey};
use std::collections::BTreeMap;

/// A takedown under way.
#[derive(Debug)]
pub struct Takedown<'a> {
    forgotten: &'a Forgotten,
    counters: Counters,
    requisites: RequisiteCounters,
    /// What hosts lose by it.
    hosts: BTreeMap<HostKey, HostShare>,
    /// URLs that were taken down.
    pub urls: u64,
    /// Numbers of those that had a date for another visit.
    pub left_calendar: Vec<u64>,
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
        if record.status == RecordStatus::Foreign {
            return None;
        }
        if !self.forgotten.has(&key.url()) {
            self.take_other(key, record, rows);
            return None;
        }
        if record.status == RecordStatus::Refused(Refusal::Forgotten) && record.place.is_none() {
            return None;
        }
        self.urls += 1;
        if let Some(id) = mass::node(record.id) {
            rows.push(Row::LeaderGone { id });
        }
        if record.past.learnt.is_some() {
            self.left_calendar.push(record.id.0);
        }
        let content = record.past.content;
        let (was, record) = (UrlPosition::of(record), record.clone().taken_down());
        let counters = (&mut self.counters, &mut self.requisites);
        let lost = books::take_out(counters, key, (was, record), rows);
        let of_host = self.hosts.entry(key.host_key()).or_default();
        *of_host = of_host.plus(lost);
        content
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
            record = record.no_duplicate();
        }
        if is_near {
            record.past.near = None;
        }
        books::rewrite(key.clone(), record, rows);
    }

    /// Takes a host, after all URLs.
    pub fn take_host(&self, key: &HostKey, record: &HostRecord, rows: &mut Vec<Row>) {
        let is_forgotten = self.forgotten.has_host(&key.host());
        let lost = self.hosts.get(key).copied().unwrap_or_default();
        if lost == HostShare::default() && !is_forgotten {
            return;
        }
        let mut record = lost.taken_from(record.clone());
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
