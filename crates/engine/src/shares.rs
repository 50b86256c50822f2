//! Names are free: a site that invents hosts gets one site's share of first contacts.
//!
//! Before a host that never answered is looked up for the first time, it needs leave. A site's
//! first contacts are a delay apart, and each run has so many of them for it: a few for nothing,
//! and more as its new pages prove to be worth it. Hosts beyond that rest, and are looked at again
//! after a while; every later run begins to count anew. Where any name at all has an address
//! (wildcard DNS), names say nothing of a site's size, and its pages must be worth more.
//!
//! Hosts that the owner named need no leave.

use crate::time::{Span, Time};
use std::collections::HashMap;

/// Hosts of a site that may be contacted in a run whatever its pages are worth.
pub const NAMES_FREE: u32 = 64;
/// New pages that are worth one more host, and where any name has an address.
const PAGES_PER_NAME: u32 = 2;
const PAGES_PER_WILD_NAME: u32 = 8;
/// At the contact of so many hosts it is found out whether any name has an address.
const NAMES_PROBED: u32 = 16;
/// A site whose last new page came no longer ago than so many delays may soon be worth more hosts.
const GROWING_DELAYS: f64 = 60.0;
/// Beyond so many sites, those with few contacts are forgotten.
const SITES_MAX: usize = 1 << 16;
const NAMES_FEW: u32 = 4;

/// May a host of a site be contacted for the first time?
#[derive(Debug, PartialEq, Eq)]
pub enum ShareLeave {
    At(Time),
    /// Not yet: ask again then.
    Later(Time),
    /// The site has had its share.
    Spent,
}

#[derive(Debug, Default)]
pub struct Shares {
    /// By the hash of the site. Looked up, never iterated.
    by_site: HashMap<u64, Share>,
    forget_at: usize,
}

#[derive(Debug, Default)]
struct Share {
    /// Hosts contacted, or about to be.
    names: u32,
    /// Pages fetched that are no copies.
    pages: u32,
    /// When the last of them came.
    came: Time,
    next: Time,
    is_probed: bool,
    is_wild: bool,
}

impl Share {
    fn names_max(&self) -> u32 {
        let each = if self.is_wild { PAGES_PER_WILD_NAME } else { PAGES_PER_NAME };
        NAMES_FREE + self.pages / each
    }
}

impl Shares {
    /// Asks leave for a first contact. Those that need not wait longer than `ahead` have it.
    pub fn ask(&mut self, site: u64, delay: Span, ahead: Span, now: Time) -> ShareLeave {
        self.forget(now);
        let share = self.by_site.entry(site).or_default();
        if share.names >= share.names_max() {
            let is_growing = now.since(share.came) < delay.times(GROWING_DELAYS);
            return if is_growing {
                ShareLeave::Later(now + ahead + Span(1))
            } else {
                ShareLeave::Spent
            };
        }
        let at = share.next.max(now);
        if at > now + ahead {
            return ShareLeave::Later(at);
        }
        share.names += 1;
        share.next = at + delay;
        ShareLeave::At(at)
    }

    /// Whether it is to be found out if any name of the site has an address; true once.
    pub fn wants_probe(&mut self, site: u64) -> bool {
        let share = self.by_site.get_mut(&site).filter(|share| share.names >= NAMES_PROBED);
        share.is_some_and(|share| !std::mem::replace(&mut share.is_probed, true))
    }

    pub fn is_wild(&mut self, site: u64) {
        self.by_site.entry(site).or_default().is_wild = true;
    }

    /// A page came that is no copy of another.
    pub fn fetched(&mut self, site: u64, now: Time) {
        if let Some(share) = self.by_site.get_mut(&site) {
            (share.pages, share.came) = (share.pages.saturating_add(1), now);
        }
    }

    fn forget(&mut self, now: Time) {
        if self.by_site.len() >= self.forget_at.max(SITES_MAX) {
            self.by_site.retain(|_, share| share.names > NAMES_FEW || share.next > now);
            self.forget_at = 2 * self.by_site.len();
        }
    }

    pub fn heap_bytes(&self) -> usize {
        self.by_site.len() * SHARE_BYTES
    }

    /// But for sites with many contacts, which the web has few of.
    pub const HEAP_BYTES_MAX: usize = 4 * SITES_MAX * SHARE_BYTES;
}

const SHARE_BYTES: usize = size_of::<(u64, Share)>() + 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_gets_names_a_delay_apart_and_more_of_them_for_new_pages_alone() {
        let (mut shares, delay, ahead) = (Shares::default(), Span::secs(1), Span::secs(30));
        let mut now = Time::ZERO;
        assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::At(now));
        assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::At(now + delay));
        assert_eq!(shares.ask(8, delay, ahead, now), ShareLeave::At(now), "of another site");
        (2..=30)
            .for_each(|_| assert!(matches!(shares.ask(7, delay, ahead, now), ShareLeave::At(_))));
        assert_eq!(
            shares.ask(7, delay, ahead, now),
            ShareLeave::Later(Time::ZERO + Span::secs(31))
        );
        for _ in 31..64 {
            now = now + Span::secs(100);
            assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::At(now));
        }
        now = now + Span::secs(100);
        assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::Spent);
        (0..2).for_each(|_| shares.fetched(7, now));
        assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::At(now));
        let later = now + ahead + Span(1);
        assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::Later(later), "it may grow");
        assert!(shares.wants_probe(7) && !shares.wants_probe(7));
        shares.is_wild(7);
        (0..4).for_each(|_| shares.fetched(7, now));
        now = now + Span::secs(100);
        assert_eq!(shares.ask(7, delay, ahead, now), ShareLeave::Spent);
    }
}
