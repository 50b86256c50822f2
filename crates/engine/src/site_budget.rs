//! What a site may take of a run: a budget of pages and one of bytes, which grow with what the
//! site proves worth.
//!
//! A site is a registrable domain. Sites that the owner named as seeds have no budget; so a crawl
//! of one site has none. Of any other site the worth is
//!
//! - *yield*: pages that are no copies of others, and
//! - *importance from outside*: the mass that lay on the site's pages that other sites name, when
//!   they were fetched. A link farm has what leads into it, however its pages link to each other.
//!
//! With a bound on the pages of a host (`host_pages_max`) all names of a site have that bound
//! together: once, or so many times as other sites name of them, a few at most. What importance is
//! worth is not added to what yield is worth: the larger counts.
//!
//! A site that has had its budget is not refused anything: its hosts rest, as those that have no
//! leave do (`shares`). They are looked at again after a while, every later run begins to count
//! anew, and the owner lifts the rule by its name.

use crate::config::Config;
use crate::engine::Engine;
use crate::hosts::HELD_REST;
use crate::queue::Entry;
use crate::record::{Refusal, Role};
use crate::time::Time;
use std::collections::HashMap;

/// Requests for pages that a site may have whatever they bring, and for each page that is new.
const PAGES_FREE: u64 = 1_024;
const PAGES_PER_FRESH: u64 = 4;
/// The same of bytes: what pages weigh on the mean, and more.
const BYTES_FREE: u64 = 48 << 20;
const BYTES_PER_FRESH: u64 = 1 << 20;
/// Names of a site that may have a bound on pages each because other sites name them.
const NAMES_VOUCHED_MAX: usize = 4;
/// A site may take so many times of what all others took as its importance is of the whole.
const IMPORTANCE_TIMES: f64 = 4.0;
/// Beyond so many sites, those that took least are forgotten.
const SITES_MAX: usize = 1 << 16;
/// Requests of a site that is the first to be forgotten.
const TURNS_FEW: u32 = 4;

/// All sites together, and each that has a budget.
#[derive(Debug, Default)]
pub struct SiteBudgets {
    /// By the hash of the site. Looked up, and gone through only to forget.
    by_site: HashMap<u64, SiteAccount>,
    turns: u64,
    bytes: u64,
}

/// What a site took in this run, and what it is worth.
#[derive(Clone, Copy, Debug, Default)]
struct SiteAccount {
    /// Requests for pages.
    turns: u32,
    /// Pages that are no copies.
    fresh: u32,
    bytes: u64,
    /// A share of all importance.
    outside: f32,
    /// Tags of names that other sites name; nought for none.
    vouched: [u32; NAMES_VOUCHED_MAX],
}

impl SiteAccount {
    fn vouch(&mut self, name: u64) {
        let tag = (name as u32).max(1);
        if let Some(place) = self.vouched.iter_mut().find(|v| **v == tag || **v == 0) {
            *place = tag;
        }
    }

    fn names_vouched(&self) -> u64 {
        self.vouched.iter().filter(|tag| **tag != 0).count() as u64
    }

    /// What importance alone is worth: by what all other sites took.
    fn by_importance(&self, all: u64, own: u64) -> u64 {
        (IMPORTANCE_TIMES * f64::from(self.outside) * all.saturating_sub(own) as f64) as u64
    }

    fn pages_max(&self, host_pages_max: Option<u64>, all: u64) -> u64 {
        let by_yield = PAGES_FREE + PAGES_PER_FRESH * u64::from(self.fresh);
        let by_names = host_pages_max.map(|max| max.saturating_mul(self.names_vouched().max(1)));
        let by_names = by_names.unwrap_or(u64::MAX);
        by_yield.min(by_names).max(self.by_importance(all, u64::from(self.turns)))
    }

    fn bytes_max(&self, all: u64) -> u64 {
        let by_yield = BYTES_FREE + BYTES_PER_FRESH * u64::from(self.fresh);
        by_yield.max(self.by_importance(all, self.bytes))
    }
}

impl SiteBudgets {
    /// Whether a site has had its budget.
    pub fn is_spent(&self, site: u64, host_pages_max: Option<u64>) -> bool {
        self.by_site.get(&site).is_some_and(|account| {
            u64::from(account.turns) >= account.pages_max(host_pages_max, self.turns)
                || account.bytes >= account.bytes_max(self.bytes)
        })
    }

    /// A page is asked for.
    pub fn took_turn(&mut self, site: Option<u64>) {
        self.turns += 1;
        if let Some(account) = self.account(site) {
            account.turns = account.turns.saturating_add(1);
        }
    }

    /// It is one that another site names: of a name, and with so much of all importance on it.
    pub fn is_named_outside(&mut self, site: Option<u64>, name: u64, importance: f64) {
        if let Some(account) = self.account(site) {
            account.outside += importance.max(0.0) as f32;
            account.vouch(name);
        }
    }

    pub fn received(&mut self, site: Option<u64>, bytes: u64) {
        self.bytes += bytes;
        if let Some(account) = self.account(site) {
            account.bytes += bytes;
        }
    }

    /// A page came that is no copy of another.
    pub fn brought_fresh(&mut self, site: u64) {
        if let Some(account) = self.by_site.get_mut(&site) {
            account.fresh = account.fresh.saturating_add(1);
        }
    }

    /// None of a site without a budget.
    fn account(&mut self, site: Option<u64>) -> Option<&mut SiteAccount> {
        let site = site?;
        let mut few = TURNS_FEW;
        while self.by_site.len() >= SITES_MAX && !self.by_site.contains_key(&site) {
            self.by_site.retain(|_, account| account.turns > few);
            few = few.saturating_mul(4);
        }
        Some(self.by_site.entry(site).or_default())
    }

    pub fn heap_bytes(&self) -> usize {
        self.by_site.len() * ACCOUNT_BYTES
    }

    pub const HEAP_BYTES_MAX: usize = 2 * SITES_MAX * ACCOUNT_BYTES;
}

const ACCOUNT_BYTES: usize = size_of::<(u64, SiteAccount)>() + 8;

impl Engine {
    /// The site of a host, if it has a budget.
    fn budgeted(&self, slot: u32) -> Option<u64> {
        let site = self.frontier.awake.get(slot)?.site;
        (!self.traffic.seed_sites.contains(&site)).then_some(site)
    }

    /// Whether the site of a host has had its budget. A crawl that visits its pages again and again
    /// has a budget of requests instead.
    fn is_site_spent(&self, slot: u32) -> bool {
        let Config { traps, host_pages_max, .. } = &self.config;
        let is_off = traps.lifted.has(Refusal::SiteBudget) || self.revisiting.is_some();
        let site = self.budgeted(slot).filter(|_| !is_off);
        site.is_some_and(|site| self.traffic.sites.is_spent(site, *host_pages_max))
    }

    /// Whether a host is to rest because its site has had its budget. What pages of others are
    /// shown with is fetched all the same.
    pub(crate) fn rests_as_spent(&self, slot: u32) -> bool {
        let host = self.frontier.awake.get(slot);
        host.is_some_and(|host| !host.has_requisite()) && self.is_site_spent(slot)
    }

    pub(crate) fn rest_if_spent(&mut self, now: Time, slot: u32) {
        if self.rests_as_spent(slot) {
            let run = self.books.counters.run;
            let host = self.frontier.awake.at(slot);
            host.rest_until = host.rest_until.max(now + HELD_REST);
            // It rests in this run: of an earlier one it would be woken at once.
            host.record.enter_run(run);
        }
    }

    /// A page is asked for: what its site is charged with, and what it is worth for it.
    pub(crate) fn charge_site(&mut self, slot: u32, entry: &Entry) {
        if entry.record.role != Role::Page {
            return;
        }
        let (site, name) = (self.budgeted(slot), self.frontier.awake.at(slot).name);
        self.traffic.sites.took_turn(site);
        if entry.record.found_on.is_strange() && entry.record.tries == 0 {
            let (settled, waiting) = self.books.mass.of(entry.record.id);
            self.traffic.sites.is_named_outside(site, name, settled + waiting);
        }
    }

    /// An answer came to a request for this page.
    pub(crate) fn charge_bytes(&mut self, slot: u32, entry: &Entry, bytes: u64) {
        if entry.record.role == Role::Page {
            let site = self.budgeted(slot);
            self.traffic.sites.received(site, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(budgets: &mut SiteBudgets, site: Option<u64>, turns: u64) {
        (0..turns).for_each(|_| budgets.took_turn(site));
    }

    #[test]
    fn a_site_has_one_bound_for_all_names_that_nobody_else_names_and_a_few_for_others() {
        let mut budgets = SiteBudgets::default();
        takes(&mut budgets, Some(7), 9);
        assert!(!budgets.is_spent(7, Some(10)));
        takes(&mut budgets, Some(7), 1);
        assert!(budgets.is_spent(7, Some(10)));
        assert!(!budgets.is_spent(7, None));
        (0..9).for_each(|name| budgets.is_named_outside(Some(7), name, 0.0));
        takes(&mut budgets, Some(7), 29);
        assert!(!budgets.is_spent(7, Some(10)));
        takes(&mut budgets, Some(7), 1);
        assert!(budgets.is_spent(7, Some(10)), "four names at most");
    }

    #[test]
    fn new_pages_and_importance_are_worth_pages_and_bytes_and_copies_are_not() {
        let mut budgets = SiteBudgets::default();
        takes(&mut budgets, Some(7), PAGES_FREE);
        assert!(budgets.is_spent(7, None));
        budgets.brought_fresh(7);
        takes(&mut budgets, Some(7), 3);
        assert!(!budgets.is_spent(7, None));
        takes(&mut budgets, Some(7), 1);
        assert!(budgets.is_spent(7, None));
        // A hundredth of all importance, where others took a hundred thousand pages.
        budgets.is_named_outside(Some(7), 1, 0.01);
        assert!(budgets.is_spent(7, None), "what it took itself is worth nothing");
        takes(&mut budgets, None, 100_000);
        assert!(!budgets.is_spent(7, None));
        budgets.received(Some(7), BYTES_FREE + BYTES_PER_FRESH);
        assert!(budgets.is_spent(7, None));
        budgets.received(None, 100 * BYTES_FREE);
        assert!(!budgets.is_spent(7, None));
    }

    #[test]
    fn sites_without_end_take_bounded_memory_and_those_that_took_most_are_remembered() {
        let mut budgets = SiteBudgets::default();
        takes(&mut budgets, Some(7), 10_000);
        (0..3 * SITES_MAX as u64).for_each(|site| takes(&mut budgets, Some(site + 10), 2));
        assert!(budgets.heap_bytes() <= SiteBudgets::HEAP_BYTES_MAX);
        assert!(budgets.is_spent(7, None));
        assert!(!budgets.is_spent(8, None));
    }
}
