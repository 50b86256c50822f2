//! Seeds, and where they lead: the scope follows a seed's redirects.
//!
//! Who names http://example.org/ means the site that is found there, also if it is at
//! https://www.example.org/ or has moved to another domain. So what a seed redirects to joins the
//! scope as if it had been named: within the seed's site whatever the status, to another site only
//! if the redirect is permanent (301, 308). A temporary one to another site is a login, a consent
//! page, a parked domain; that stays outside. What it leads to may redirect further, by the same
//! rule, up to the limit on redirects.
//!
//! Such a URL is written as a seed without weight: it widens the scope of every later run, and has
//! no part in the trust that importance comes from.

use crate::discovery::Discovery;
use crate::engine::Engine;
use crate::event::{Row, Step};
use crate::queue::Entry;
use rhumb_page::url::{Scheme, Url};
use xxhash_rust::xxh3::xxh3_64;

/// The weight of a URL that a seed redirects to.
pub const FOLLOWED_WEIGHT: f64 = 0.0;

/// The status of redirects that say that a URL has another place for good.
const PERMANENT: [u16; 2] = [301, 308];

impl Engine {
    pub(crate) fn seeded(&mut self, seeds: Vec<(Discovery, f64)>, step: &mut Step) {
        for (seed, weight) in seeds {
            match self.config.partition.owns(&seed.url) {
                true => self.books.mass.seeded([(seed.url.clone(), weight)].into_iter()),
                false => self.books.mass.trusted_elsewhere(weight),
            }
            self.take_into_scope(&seed.url, weight, step);
            self.admission.outbox.push(seed);
        }
    }

    /// A page redirects: if a seed led to it, the scope follows.
    pub(crate) fn follow_seed(&mut self, from: &Entry, status: u16, to: &Url, step: &mut Step) {
        let is_web = matches!(to.scheme(), Scheme::Http | Scheme::Https);
        let stays = from.url.site() == to.site() || PERMANENT.contains(&status);
        let has_hops = from.record.hops < self.config.redirects_max;
        let is_new = !self.config.scope.is_seed(to);
        if is_web && stays && has_hops && is_new && self.config.scope.is_seed(&from.url) {
            self.take_into_scope(to, FOLLOWED_WEIGHT, step);
        }
    }

    fn take_into_scope(&mut self, url: &Url, weight: f64, step: &mut Step) {
        self.config.scope.add(url);
        let host = url.host_key();
        self.traffic.seed_hosts.insert(xxh3_64(host.as_str().as_bytes()));
        self.traffic.seed_sites.insert(xxh3_64(host.site().as_str().as_bytes()));
        step.rows.push(Row::Seed { url: url.clone(), weight });
    }
}
