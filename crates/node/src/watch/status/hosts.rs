//! The hosts worth showing, found in one pass that holds no more than them.

use super::pattern::{Candidate, MostFetched};
use rhumb_engine::error::Error;
use rhumb_engine::host::HostRecord;
use rhumb_page::url::HostKey;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Hosts in each list.
pub const SHOWN_MAX: usize = 10;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct StatusHosts {
    /// By pages fetched and URLs that wait.
    pub largest_hosts: Vec<HostLine>,
    /// By the time that the last answer took.
    pub slowest_hosts: Vec<HostLine>,
    /// Those that fail, by how their last request did; the report names some.
    pub failing: BTreeMap<String, u64>,
    /// The pattern of URLs that is most of what was fetched, if one is.
    pub most_fetched: Option<MostFetched>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLine {
    pub host: String,
    pub pages: u64,
    pub queued: u64,
    pub bytes: u64,
    pub last_took_ms: u64,
}

impl HostLine {
    fn of(key: &HostKey, record: &HostRecord) -> HostLine {
        HostLine {
            host: key.origin(),
            pages: record.pages,
            queued: record.queued,
            bytes: record.bytes,
            last_took_ms: record.last_took.0 / 1000,
        }
    }
}

pub fn shown(reader: &LocalReader) -> Result<StatusHosts, Error> {
    let (mut largest, mut slowest) = (Best::default(), Best::default());
    let (mut failing, mut pattern) = (BTreeMap::new(), Candidate::default());
    for row in reader.hosts() {
        let (key, record) = row?;
        largest.offer(record.pages + record.queued, &key, &record);
        slowest.offer(record.last_took.0, &key, &record);
        pattern.offer(&key, &record);
        if let Some(kind) = record.rests_for() {
            *failing.entry(kind.word().to_owned()).or_insert(0) += 1;
        }
    }
    Ok(StatusHosts {
        largest_hosts: largest.in_order(),
        slowest_hosts: slowest.in_order(),
        failing,
        most_fetched: pattern.most_fetched(reader)?,
    })
}

/// The greatest few of many, greatest first; of equals, the first in the order of keys.
#[derive(Default)]
struct Best(Vec<(u64, HostLine)>);

impl Best {
    /// Nearly all offers end at the first comparison, with the least of the few.
    fn offer(&mut self, measure: u64, key: &HostKey, record: &HostRecord) {
        let is_full = self.0.len() == SHOWN_MAX;
        let is_greater = self.0.last().is_none_or(|(least, _)| measure > *least);
        if measure == 0 || (is_full && !is_greater) {
            return;
        }
        let place = self.0.partition_point(|(other, _)| *other >= measure);
        self.0.insert(place, (measure, HostLine::of(key, record)));
        self.0.truncate(SHOWN_MAX);
    }

    fn in_order(self) -> Vec<HostLine> {
        self.0.into_iter().map(|(_, line)| line).collect()
    }
}
