//! Requisites: what pages are shown with, of whatever host (docs/decisions/0060-requisites.md).
//!
//! A requisite is a URL like others: in the sieve, in its host's queue, under the rules of its
//! host's robots.txt, retried, durable, of one partition. It is no page: it counts for no limit on
//! pages, and what it links to is not followed for its sake.
//!
//! - The scope does not hold for it, `--exclude` does. One that links may lead to stands in the
//!   books of importance as the page that it would be else; any other stands outside of them.
//! - It is one hop from its page, or two through a stylesheet; what a stylesheet imports is a part
//!   of it. Imports and redirects one behind the other end after [`HOPS_MAX`].
//! - It waits among what is due, since before all times, so that a host has its first requisite at
//!   hand beside its best page. Where both wait they take turns: pages have half of their host's
//!   requests at least. A host with nothing but requisites comes behind those with pages.
//! - A crawl that ends because it has its pages fetches their requisites first.

use crate::admission::Admission;
use crate::admit::{self, AdmissionCandidate};
use crate::config::Config;
use crate::discovery::{Discovery, FoundAs, Origin};
use crate::engine::Engine;
use crate::event::{Action, Question, Step};
use crate::frontier::awake::Awake;
use crate::frontier::ready::Chooser;
use crate::mass;
use crate::order::CLASS_LAST;
use crate::queue::{Entry, Place};
use crate::record::{Role, UrlId, UrlRecord};
use crate::time::{Span, Time};
use rhumb_page::html::{Requisite, RequisiteKind};
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Imports of stylesheets and redirects, one behind the other.
pub const HOPS_MAX: u8 = 5;
/// Of a host that has nothing but requisites.
pub const CLASS: u8 = CLASS_LAST - 1;
/// Requisites that are remembered, so that what all pages of a site name goes to the sieve once.
const RECENT: usize = 1 << 15;
/// At a crawl's end a host without requisites rests for so long, which keeps nobody waiting.
const REST: Span = Span::secs(600);

/// Requisites in numbers: a row of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequisiteCounters {
    /// Answers with a body.
    pub fetched: u64,
    pub unchanged: u64,
    pub moved: u64,
    pub gone: u64,
    /// Named by a page or a stylesheet beyond the bound, and so not fetched for its sake.
    pub beyond: u64,
    /// Admitted, and not asked for yet.
    pub waiting: u64,
}

impl RequisiteCounters {
    /// Of two partitions together.
    pub fn plus(&self, other: &RequisiteCounters) -> RequisiteCounters {
        RequisiteCounters {
            fetched: self.fetched + other.fetched,
            unchanged: self.unchanged + other.unchanged,
            moved: self.moved + other.moved,
            gone: self.gone + other.gone,
            beyond: self.beyond + other.beyond,
            waiting: self.waiting + other.waiting,
        }
    }
}

/// Requisites that went to the sieve last.
#[derive(Debug, Default)]
pub(crate) struct RecentRequisites {
    /// Their hashes; empty before the first.
    recent: Vec<u64>,
}

impl RecentRequisites {
    pub const HEAP_BYTES_MAX: usize = RECENT * size_of::<u64>();

    pub fn heap_bytes(&self) -> usize {
        self.recent.capacity() * size_of::<u64>()
    }

    /// Whether a URL was not sent to the sieve lately, as the same.
    fn is_news(&mut self, url: &Url, kind: FoundAs) -> bool {
        if self.recent.is_empty() {
            self.recent = vec![0; RECENT];
        }
        let as_sheet = u64::from(kind.role().is_stylesheet());
        let hash = xxh3_64_with_seed(url.as_str().as_bytes(), as_sheet);
        std::mem::replace(&mut self.recent[hash as usize % RECENT], hash) != hash
    }
}

/// Where a requisite waits that was never asked for: before all that is due, in the order of
/// discovery.
pub fn place(id: UrlId) -> Place {
    Place::Later { due: Time(id.0), id: id.0 }
}

/// Whether this is the place of a requisite that was never asked for.
pub fn is_first(place: &Place) -> bool {
    matches!(place, Place::Later { due, id } if due.0 == *id)
}

impl Awake {
    /// A requisite waits that was never asked for.
    pub fn has_requisite(&self) -> bool {
        self.later.front().is_some_and(|(place, _)| is_first(&place))
    }

    /// One may be had, or may turn up when the queue is read on.
    fn expects_requisite(&self) -> bool {
        self.record.failing.is_none() && (self.has_requisite() || self.later.is_refilling())
    }
}

impl Admission {
    /// Sends on what a page, or a stylesheet, is shown with; whether that is wanted of it.
    pub fn send_requisites(
        &mut self,
        config: &Config,
        of: &Entry,
        requisites: Vec<Requisite>,
    ) -> bool {
        let UrlRecord { id, depth, hops, role, .. } = of.record;
        if config.requisites_max.is_none() || !(role == Role::Page || role.is_stylesheet()) {
            return false;
        }
        let from = mass::node(id).map(|page| Origin::of(page, false));
        for Requisite { url, kind } in requisites {
            let Some(found) = found_as(config, of, (&url, kind)) else { continue };
            let is_import = role.is_stylesheet() && kind == RequisiteKind::Stylesheet;
            let hops = if is_import { hops.saturating_add(1) } else { 0 };
            if url != of.url && self.requisites.is_news(&url, found) {
                self.outbox.push(Discovery { url, kind: found, depth, hops, from });
            }
        }
        true
    }
}

/// As what a requisite is found; none if it is a frame that is followed as a link.
fn found_as(config: &Config, of: &Entry, (url, kind): (&Url, RequisiteKind)) -> Option<FoundAs> {
    let depth = of.record.depth.saturating_add(1);
    if kind == RequisiteKind::Frame && may_be_page(config, url, depth) {
        return None;
    }
    Some(FoundAs::requisite(kind == RequisiteKind::Stylesheet, is_inside(config, url)))
}

/// As what a redirect of a requisite is found.
pub(crate) fn redirected(config: &Config, role: Role, to: &Url) -> FoundAs {
    FoundAs::requisite(role.is_stylesheet(), is_inside(config, to))
}

fn is_inside(config: &Config, url: &Url) -> bool {
    let kind = FoundAs::Link;
    let link = Discovery { url: url.clone(), kind, depth: 0, hops: 0, from: None };
    admit::is_inside(config, &link)
}

/// Whether a link to a URL would be followed, so many links from a seed.
pub(crate) fn may_be_page(config: &Config, url: &Url, depth: u16) -> bool {
    let (role, is_seed) = (Role::Page, false);
    let found = AdmissionCandidate { url, is_seed, role, depth, hops: 0, host_spent: 0 };
    admit::admit(config, found).is_ok()
}

impl Engine {
    pub fn requisites(&self) -> &RequisiteCounters {
        &self.books.requisites
    }

    /// Stops once no requisite can be had any more, in this run.
    pub(crate) fn conclude_finishing(&mut self, now: Time) {
        let Some(reason) = self.limits.finishing().filter(|_| !self.limits.is_stopping()) else {
            return;
        };
        let is_busy = !self.traffic.is_empty()
            || !self.comparing.is_empty()
            || !self.admission.outbox.is_idle(&self.books.counters);
        if !is_busy && (self.books.requisites.waiting == 0 || !self.expects_requisites(now)) {
            self.limits.stop(reason);
        }
    }

    /// Hosts that fail are not waited for.
    fn expects_requisites(&self, now: Time) -> bool {
        let soon = now + self.config.polite.delay_max;
        let is_soon = |due: Time| due <= soon;
        self.frontier.sleepers.is_asked()
            || self.frontier.sleepers.ready_in(CLASS) > 0
            || self.frontier.sleepers.next_later().is_some_and(is_soon)
            || self.frontier.awake.iter().any(Awake::expects_requisite)
    }

    /// Wakes hosts that may have requisites, and those that somebody needs.
    pub(crate) fn wake_for_requisites(&mut self, now: Time, step: &mut Step) {
        let is_due = self.frontier.sleepers.next_later().is_some_and(|due| due <= now);
        let room = self.config.hosts_awake_max.saturating_sub(self.frontier.awake.len());
        let may_have = room > 0 && (is_due || self.frontier.sleepers.ready_in(CLASS) > 0);
        if may_have || self.frontier.sleepers.is_called() {
            let rows_max = self.frontier.awake.rows_of_next();
            let mut chooser = Chooser::Only(CLASS as usize);
            if let Some(wake) = self.frontier.sleepers.wake(room, rows_max, now, &mut chooser) {
                self.frontier.since_wake.clear();
                step.actions.push(Action::Ask(Question::Wake(wake)));
            }
        }
    }

    /// A host without requisites, or one that fails, lies down where nobody waits for it, at a
    /// crawl's end.
    pub(crate) fn rest_from_pages(&mut self, now: Time, slot: u32) {
        if self.limits.is_finishing() {
            let run = self.books.counters.run;
            let host = self.frontier.awake.at(slot);
            if !host.has_requisite() || host.record.failing.is_some() {
                host.record.enter_run(run);
                host.rest_until = host.rest_until.max(now + REST);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requisites_wait_before_all_that_is_due_in_the_order_of_discovery() {
        let places = [place(UrlId(0)), place(UrlId(7)), place(UrlId(8))];
        assert!(places.is_sorted() && places.iter().all(is_first));
        let due = Place::Later { due: Time(1_700_000_000_000_000), id: 1 };
        assert!(places[2] < due && !is_first(&due));
        assert!(!is_first(&Place::Now { class: 8, rank: 7, id: 7 }));
    }
}
