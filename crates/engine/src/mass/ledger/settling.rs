//! Settling at a stretch, when no order has to be kept meanwhile.
//!
//! The heaviest page first, as `buckets` has it, is right while URLs are chosen by what lies on
//! them, and every edge update pays for it. Here pages are pushed in sweeps, in the order of their
//! downloads, which is nearly that of memory; an edge update is an addition, and sums, levels and
//! buckets are made anew in the end. Pushes in any order keep the bound. Where sweeps settle
//! little, what is left is settled in proportion first (`stretching`), and where there are not too
//! many links they are read once and not in every sweep (`unfolded`).

use super::super::fixed::unit;
use super::unfolded::Unfolded;
use super::{Buckets, LEVEL_NONE, Ledger, MassStanding, NodeState, PushedLinks, Surfer, level};

/// What is settled in proportion leaves something below zero, which costs the bound more than it
/// gains unless so many edge updates a link carry it on.
const PER_LINK_WHEN_STRETCHED: u64 = 1;

impl Ledger {
    /// Pushes crawled pages until no more than `rest` lies on them, or until these edge updates are
    /// spent.
    pub fn push_until(&mut self, rest: i64, edges_max: u64) {
        let end = self.edges.saturating_add(edges_max);
        let mut left = self.rest();
        if left <= rest {
            return;
        }
        let unfolded = Unfolded::of(self);
        let mut stretched_at = i64::MAX;
        while left > rest && self.edges < end {
            // Below the mean of all it is not worth a push yet: more will come before the next.
            let least = (left / self.pages_len().max(1) as i64).max(1);
            for page in 0..self.pages_len() {
                if self.pages.residue[page].abs() >= least && self.edges < end {
                    self.push_quietly(page, unfolded.as_ref());
                }
            }
            let before = std::mem::replace(&mut left, self.pushable());
            let carrying = self.links_len() * PER_LINK_WHEN_STRETCHED;
            // A stretch may leave more than it found. With as many as halvings it still comes to
            // an end, whatever the links are.
            let is_paid = left <= stretched_at / 2;
            if is_paid && is_slow(before, left) && self.edges.saturating_add(carrying) <= end {
                stretched_at = left;
                self.stretch();
                left = self.pushable();
            }
        }
        self.recount();
    }

    /// Settles what lies on a page, if its links are known.
    fn push_quietly(&mut self, page: usize, unfolded: Option<&Unfolded>) {
        let standing = self.standing(self.pages.node[page]);
        if !matches!(standing, MassStanding::Linked | MassStanding::Dangling) {
            return;
        }
        self.pushes += 1;
        // Zeroed first: the page may link to itself.
        let x = std::mem::take(&mut self.pages.residue[page]);
        self.pages.settled[page] += x;
        self.settled.add(self.pages.surfer[page], standing, x);
        if standing == MassStanding::Dangling {
            return;
        }
        let links = match unfolded {
            Some(all) => self.give_unfolded(all, page, x),
            None => self.give(page, x),
        };
        self.edges += links as u64;
    }

    /// Hands out what a page has settled: to how many.
    fn give(&mut self, page: usize, x: i64) -> usize {
        let (mut ids, mut weights) = self.take_scratch();
        let unnamed = self.outlinks.get(self.pages.links[page], &mut ids, &mut weights);
        let surfer = self.pages.surfer[page];
        let links = PushedLinks { ids: &ids, weights: &weights, unnamed, surfer };
        let total = self.total(&links);
        let given = if total > 0 { unit(x, total, surfer) } else { 0 };
        let mut count = usize::from(unnamed > 0 && total > 0);
        for (at, &id) in ids.iter().enumerate() {
            let given = given * links.weight(at);
            let (word, state) = self.nodes.both_mut(id);
            count += usize::from(state.standing() != MassStanding::Outside);
            match state.standing() {
                MassStanding::Outside => {}
                MassStanding::Fetched | MassStanding::Linked | MassStanding::Dangling => {
                    self.pages.residue[*word as usize] += given;
                }
                _ => self.give_to_pageless(id, given),
            }
        }
        self.unnamed += given * i64::from(unnamed);
        self.give_back(ids, weights);
        count
    }

    fn give_unfolded(&mut self, all: &Unfolded, page: usize, x: i64) -> usize {
        let list = all.list(page);
        let links = list.pages.len() + list.others.len() + list.unnamed as usize;
        let given = if links > 0 { unit(x, links as i64, Surfer::USUAL) } else { 0 };
        for &to in list.pages {
            self.pages.residue[to as usize] += given;
        }
        for &id in list.others {
            self.give_to_pageless(id, given);
        }
        self.unnamed += given * i64::from(list.unnamed);
        match links {
            0 => 0,
            _ => list.pages.len() + list.others.len() + usize::from(list.unnamed > 0),
        }
    }

    fn give_to_pageless(&mut self, id: u32, given: i64) {
        let (word, state) = self.nodes.both_mut(id);
        if state.standing() == MassStanding::Foreign {
            self.exchange.changed(id, *word, *word + given);
        }
        *word += given;
    }

    /// What lies on crawled pages that can be pushed, above zero or below: as [`Ledger::rest`] will
    /// say it.
    fn pushable(&self) -> i64 {
        let lies = self.pages.residue.iter().zip(&self.pages.node);
        lies.filter(|(r, node)| **r != 0 && self.is_pushable(**node)).map(|(r, _)| r.abs()).sum()
    }

    /// Sums, levels and buckets as the residues have them.
    pub(super) fn recount(&mut self) {
        (self.sums, self.below, self.waiting) = Default::default();
        self.buckets = Buckets::default();
        self.buckets.grow(self.pages_len());
        for node in 0..self.nodes_len() as u32 {
            let (standing, r) = (self.standing(node), self.residue(node));
            self.sums[standing as usize] += r;
            self.below[standing as usize] += (-r).max(0);
            match standing {
                MassStanding::Waiting => self.waiting.add(level(r)),
                MassStanding::Linked | MassStanding::Dangling => {
                    self.nodes.set_state(node, NodeState::new(standing, LEVEL_NONE));
                    self.enqueue(node);
                }
                _ => {}
            }
        }
    }
}

/// A sweep has settled less than a quarter of what it found.
fn is_slow(before: i64, left: i64) -> bool {
    left / 3 > before / 4
}

#[cfg(test)]
mod tests {
    use super::super::super::fixed::ONE;
    use super::*;

    /// Pages that were crawled, wait and were refused, and some mass on each.
    fn some_books() -> Ledger {
        let mut ledger = Ledger::default();
        (0..9).for_each(|node| ledger.stand(node, MassStanding::Waiting));
        ledger.stand(8, MassStanding::Robots);
        ledger.trust(0, ONE);
        for page in 0..6 {
            ledger.stand(page, MassStanding::Fetched);
            ledger.link(page, &PushedLinks::alike(&[page, page + 1, page + 2, page + 3], 1));
            (0..3).for_each(|_| ledger.push_heaviest());
        }
        ledger
    }

    #[test]
    fn links_read_once_get_what_links_read_in_every_sweep_get() {
        let (mut folded, mut unfolded) = (some_books(), some_books());
        for ledger in [&mut folded, &mut unfolded] {
            ledger.stand(7, MassStanding::Outside);
            ledger.stand(6, MassStanding::Foreign);
        }
        let all = Unfolded::of(&unfolded);
        assert!(all.is_some());
        for page in (0..6).chain(0..6) {
            folded.push_quietly(page, None);
            unfolded.push_quietly(page, all.as_ref());
            let lies = |l: &Ledger| (0..9).map(|node| l.residue(node)).collect::<Vec<_>>();
            assert_eq!(lies(&folded), lies(&unfolded), "after {page}");
        }
        assert_eq!(folded.unnamed, unfolded.unnamed);
        assert_eq!(folded.edges, unfolded.edges);
    }

    #[test]
    fn what_is_counted_anew_is_what_every_push_has_booked() {
        let mut ledger = some_books();
        // A page that loses links takes back what it gave.
        ledger.link(2, &PushedLinks::alike(&[7], 0));
        let books = |l: &Ledger| (l.sums, l.below, l.waiting.count, l.waiting.levels, l.rest());
        let (booked, first) = (books(&ledger), ledger.push_level());
        assert!(booked.1.iter().any(|&below| below > 0), "something lies below zero");
        ledger.recount();
        assert_eq!(books(&ledger), booked);
        assert!(ledger.push_level() >= first, "no page waits in a better bucket than before");
        ledger.audit().unwrap();
    }
}
