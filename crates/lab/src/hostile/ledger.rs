//! What the servers saw: requests, connections, lookups. The evidence of every verdict.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::kind::HostileRequest;

/// A crawl that makes more requests of a kind has failed long before; they are counted.
const REQUESTS_KEPT_MAX: usize = 100_000;

/// One request to a hostile server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostileHit {
    pub at: Duration,
    pub host: String,
    pub target: String,
}

impl HostileHit {
    pub fn is_robots(&self) -> bool {
        self.target == "/robots.txt"
    }

    /// Neither robots.txt nor a sitemap.
    pub fn is_page(&self) -> bool {
        !self.is_robots() && !is_sitemap(&self.target)
    }
}

/// By the name alone, as the kinds have it.
pub fn is_sitemap(target: &str) -> bool {
    target.contains("sitemap")
}

/// What was seen of one kind.
#[derive(Clone, Debug, Default)]
pub struct KindLedger {
    pub hits: Vec<HostileHit>,
    /// Requests in all.
    pub requests: u64,
    pub connections: u64,
    pub open: u64,
    pub open_max: u64,
    pub lookups: u64,
    /// Bytes that the sockets of each host took, and the most for one answer.
    pub sent: HashMap<String, SentBytes>,
    /// Requests that came sooner than the answer before had asked for.
    pub too_early: Vec<HostileHit>,
    /// Requests with a cookie or credential that another kind had given.
    pub foreign_secrets: Vec<HostileHit>,
    not_before: HashMap<String, Duration>,
    repeated: HashMap<(String, String), u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentBytes {
    pub all: u64,
    pub largest: u64,
}

/// One ledger for each kind, in their order.
pub struct Ledgers {
    began: Instant,
    decoyed: AtomicU64,
    kinds: Vec<Mutex<KindLedger>>,
}

impl Ledgers {
    pub fn new(kinds: usize) -> Ledgers {
        let kinds = (0..kinds).map(|_| Mutex::default()).collect();
        Ledgers { began: Instant::now(), decoyed: AtomicU64::new(0), kinds }
    }

    /// Connections to the decoy.
    pub fn decoy_connections(&self) -> u64 {
        self.decoyed.load(Ordering::Relaxed)
    }

    pub(super) fn decoyed(&self) {
        self.decoyed.fetch_add(1, Ordering::Relaxed);
    }

    pub fn of(&self, kind: usize) -> KindLedger {
        self.lock(kind).clone()
    }

    pub(super) fn lock(&self, kind: usize) -> MutexGuard<'_, KindLedger> {
        self.kinds[kind].lock().expect("no thread panics while it writes a line")
    }

    pub(super) fn opened(&self, kind: usize) {
        let mut ledger = self.lock(kind);
        ledger.connections += 1;
        ledger.open += 1;
        ledger.open_max = ledger.open_max.max(ledger.open);
    }

    pub(super) fn closed(&self, kind: usize) {
        self.lock(kind).open -= 1;
    }

    /// Writes a request down, and fills in what the kind is told of those before it.
    pub(super) fn asked(&self, kind: usize, name: &str, request: &mut HostileRequest) {
        let at = self.began.elapsed();
        let mut ledger = self.lock(kind);
        let hit = HostileHit { at, host: request.host.clone(), target: request.target.clone() };
        request.before = ledger.requests;
        ledger.requests += 1;
        let key = (request.host.clone(), request.target.clone());
        let repeated = ledger.repeated.entry(key).or_default();
        request.repeated = *repeated;
        *repeated += 1;
        if ledger.not_before.get(&request.host).is_some_and(|until| at < *until) {
            ledger.too_early.push(hit.clone());
        }
        if has_foreign_secret(&request.head, name) {
            ledger.foreign_secrets.push(hit.clone());
        }
        if ledger.hits.len() < REQUESTS_KEPT_MAX {
            ledger.hits.push(hit);
        }
    }

    /// From now on nothing is to be asked of the host for a while.
    pub(super) fn asked_for_rest(&self, kind: usize, host: &str, rest: Duration) {
        let until = self.began.elapsed() + rest;
        self.lock(kind).not_before.insert(host.to_owned(), until);
    }

    pub(super) fn sent(&self, kind: usize, host: &str, bytes: u64) {
        let mut ledger = self.lock(kind);
        let sent = ledger.sent.entry(host.to_owned()).or_default();
        sent.all += bytes;
        sent.largest = sent.largest.max(bytes);
    }
}

/// Every kind that gives a secret names itself in it: `from=NAME`.
fn has_foreign_secret(head: &str, name: &str) -> bool {
    head.lines().any(|line| {
        let lower = line.to_ascii_lowercase();
        let own = format!("from={name}");
        lower.starts_with("authorization:")
            || (lower.starts_with("cookie:")
                && lower
                    .split("from=")
                    .skip(1)
                    .any(|after| !format!("from={after}").starts_with(&own)))
    })
}
