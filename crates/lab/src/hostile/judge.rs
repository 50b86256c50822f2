//! What the servers saw and what the crawl kept, against what was expected.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::kept::KeptPages;
use super::kind::{HOST_SHARE, HostileKind};
use super::ledger::{HostileHit, KindLedger};
use super::{HEALTHY, ZONE, kinds};

/// Connections open to one address, as the server counts them.
pub const CONNECTIONS_PER_ADDRESS_MAX: u64 = 8;
/// Bytes that a host may send beside its largest answer, and in that. What is under way in the
/// sockets when a connection is closed was sent, too.
const HOST_BYTES_MAX: u64 = 64 << 20;
const BODY_BYTES_MAX: u64 = 128 << 20;
const ON_THE_WAY_BYTES: u64 = 8 << 20;

/// What came of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindVerdict {
    pub kind: &'static str,
    pub group: &'static str,
    /// Page requests: neither robots.txt nor sitemaps.
    pub requests: u64,
    pub robots_requests: u64,
    pub names: usize,
    pub connections: u64,
    pub open_max: u64,
    pub lookups: u64,
    pub sent_bytes: u64,
    /// Failures that the crawl reported, by kind.
    pub failures: BTreeMap<String, u64>,
    /// What is wrong; empty if it came out as expected.
    pub faults: Vec<String>,
}

/// Failures as the crawl wrote them to its events, by the name of the kind.
pub(super) type ReportedFailures = BTreeMap<String, BTreeMap<String, u64>>;

/// The kind whose host this is.
pub(super) fn label_of(host: &str) -> Option<&str> {
    host.strip_suffix(ZONE)?.strip_suffix('.')?.rsplit('.').next()
}

pub(super) fn judge(
    kind: &HostileKind,
    ledger: &KindLedger,
    kept: &KeptPages,
    failures: &ReportedFailures,
) -> KindVerdict {
    let pages: Vec<&HostileHit> = ledger.hits.iter().filter(|hit| hit.is_page()).collect();
    let names: BTreeSet<&str> = ledger.hits.iter().map(|hit| hit.host.as_str()).collect();
    let failures = failures.get(kind.name).cloned().unwrap_or_default();
    let mut faults = Vec::new();
    judge_requests(kind, ledger, &pages, &mut faults);
    judge_bounds(kind, ledger, names.len(), &mut faults);
    judge_failures(kind, &failures, &mut faults);
    judge_kept(kind, kept, &mut faults);
    KindVerdict {
        kind: kind.name,
        group: kinds::group_of(kind.name),
        requests: pages.len() as u64,
        robots_requests: ledger.hits.iter().filter(|hit| hit.is_robots()).count() as u64,
        names: names.len(),
        connections: ledger.connections,
        open_max: ledger.open_max,
        lookups: ledger.lookups,
        sent_bytes: ledger.sent.values().map(|sent| sent.all).sum(),
        failures,
        faults,
    }
}

fn judge_requests(
    kind: &HostileKind,
    ledger: &KindLedger,
    pages: &[&HostileHit],
    faults: &mut Vec<String>,
) {
    let max = kind.expected.requests_max;
    if pages.len() as u64 > max {
        faults.push(format!("{} page requests, more than {max}", pages.len()));
    }
    let mut by_host: HashMap<&str, u64> = HashMap::new();
    for hit in pages {
        *by_host.entry(hit.host.as_str()).or_default() += 1;
    }
    for (host, count) in by_host.into_iter().filter(|(_, count)| *count > HOST_SHARE) {
        faults.push(format!("{count} pages of {host}"));
    }
    let mut asked = BTreeSet::new();
    for hit in &ledger.hits {
        if hit.is_robots() {
            asked.insert(hit.host.as_str());
        } else if asked.insert(hit.host.as_str()) {
            faults.push(format!("{} of {} came before robots.txt", hit.target, hit.host));
        }
    }
    let usual: &[&str] = if kind.robots.is_none() { &["/private/"] } else { &[] };
    let forbidden: Vec<&&str> = kind.expected.forbidden.iter().chain(usual).collect();
    for hit in pages.iter().filter(|hit| forbidden.iter().any(|at| hit.target.starts_with(**at))) {
        faults.push(format!("{} of {} is forbidden", hit.target, hit.host));
    }
    for hit in &ledger.too_early {
        faults.push(format!("{} of {} came before Retry-After", hit.target, hit.host));
    }
    for hit in &ledger.foreign_secrets {
        faults.push(format!("{} of {} had a secret of another host", hit.target, hit.host));
    }
}

fn judge_bounds(kind: &HostileKind, ledger: &KindLedger, names: usize, faults: &mut Vec<String>) {
    let expected = &kind.expected;
    if ledger.open_max > CONNECTIONS_PER_ADDRESS_MAX {
        faults.push(format!("{} connections open at once", ledger.open_max));
    }
    if ledger.lookups > expected.lookups_max {
        let max = expected.lookups_max;
        faults.push(format!("{} lookups, more than {max}", ledger.lookups));
    }
    if names > expected.names_max {
        faults.push(format!("{names} of its names asked, more than {}", expected.names_max));
    }
    for (host, sent) in &ledger.sent {
        let beside = sent.all - sent.largest;
        if beside > HOST_BYTES_MAX + ON_THE_WAY_BYTES {
            faults.push(format!("{} MB of {host} beside its largest body", beside >> 20));
        }
        if sent.largest > BODY_BYTES_MAX + ON_THE_WAY_BYTES {
            faults.push(format!("a body of {} MB of {host}", sent.largest >> 20));
        }
    }
}

fn judge_failures(kind: &HostileKind, failures: &BTreeMap<String, u64>, faults: &mut Vec<String>) {
    let expected = kind.expected.failures;
    for (failure, count) in failures {
        if !expected.contains(&failure.as_str()) {
            faults.push(format!("failed as {failure} {count} times, which is wrong"));
        }
    }
    if kind.expected.must_fail && failures.is_empty() {
        faults.push(format!("no failure was reported: expected {}", expected.join(" or ")));
    }
}

fn judge_kept(kind: &HostileKind, kept: &KeptPages, faults: &mut Vec<String>) {
    let none = BTreeSet::new();
    let paths = kept.paths.get(kind.name).unwrap_or(&none);
    for path in kind.expected.fetched {
        if !paths.contains(*path) {
            faults.push(format!("{path} is not in the archive"));
        }
    }
    for text in kind.expected.holds {
        if !kept.holds.get(kind.name).is_some_and(|held| held.contains(text)) {
            faults.push(format!("{text:?} is not in the archive"));
        }
    }
    faults.extend(kept.wrongly.get(kind.name).into_iter().flatten().cloned());
}

/// Pages of the healthy site that are in the archive.
pub(super) fn healthy_pages(kept: &KeptPages) -> u64 {
    let paths = kept.paths.get(HEALTHY);
    (0..kinds::HEALTHY_PAGES)
        .filter(|page| paths.is_some_and(|paths| paths.contains(&kinds::path_of(*page))))
        .count() as u64
}
