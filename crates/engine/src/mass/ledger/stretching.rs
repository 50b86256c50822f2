//! Settling in proportion: more of what is settled already, on all pages at once.
//!
//! Where nearly every link leads to a crawled page, a sweep over all of them moves d of what lies
//! there and settles the rest, so that of a hundredth a thousandth is left after fifteen sweeps.
//! But what lies there has then the shape of what is settled: it is more of the same. The invariant
//! of the books is linear. If s is multiplied by 1 + α and b is what every URL began with, its part
//! of (1-d)·t and what other partitions sent, then r + α·(r − b) is what lies there, by one
//! multiplication for a URL and no edge update at all. Sums to zero are what α is chosen for: what
//! is below zero lies on the trusted pages then, and the next sweep carries it to the others, which
//! it cancels out. Whatever α is, from −1 on, the books hold; a bad one only costs sweeps.

use super::super::fixed::jumped;
use super::{Ledger, MassStanding, SettledSums};

/// α as a fraction, and what it makes of a mass.
#[derive(Clone, Copy)]
struct Alpha {
    of: i64,
    parts: i64,
}

impl Alpha {
    /// α·x, rounded down.
    fn less(self, x: i64) -> i64 {
        let product = i128::from(x) * i128::from(self.of);
        product.div_euclid(i128::from(self.parts)) as i64
    }

    /// α·x, rounded up.
    fn more(self, x: i64) -> i64 {
        -self.less(-x)
    }
}

impl Ledger {
    /// Settles in proportion what lies on crawled pages, if that is little beside what began there.
    /// Sums, levels and buckets are to be made anew.
    pub(super) fn stretch(&mut self) {
        let began = self.began();
        let is_pushable = |node: &u32| self.is_pushable(*node);
        let there = began.iter().filter(|(node, _)| is_pushable(node)).map(|(_, b)| b).sum::<i64>();
        let lies = self.pages.node.iter().zip(&self.pages.residue);
        let left = lies.filter(|(node, _)| is_pushable(node)).map(|(_, r)| r).sum::<i64>();
        if there <= 0 || left.abs() > there / 2 {
            return;
        }
        self.stretch_by(Alpha { of: left, parts: there - left }, &began);
    }

    fn stretch_by(&mut self, alpha: Alpha, began: &[(u32, i64)]) {
        debug_assert!(alpha.of >= -alpha.parts, "nothing changes its sign");
        self.stretch_nodes(alpha);
        self.stretch_pages(alpha);
        for &(node, b) in began {
            *self.residue_mut(node) -= alpha.more(b);
        }
        self.tell_foreign();
        self.unnamed += alpha.less(self.unnamed);
    }

    /// What URLs have from outside of all links.
    fn began(&self) -> Vec<(u32, i64)> {
        let trust = self.trust.iter().map(|&(node, t)| (node, jumped(t)));
        trust.chain(self.exchange.moved()).collect()
    }

    fn stretch_nodes(&mut self, alpha: Alpha) {
        for node in 0..self.nodes_len() as u32 {
            let (word, state) = self.nodes.both_mut(node);
            if !state.standing().is_crawled() {
                *word += alpha.less(*word);
            }
        }
    }

    /// What lies on URLs of other partitions is to be sent, whatever it was before.
    fn tell_foreign(&mut self) {
        for node in 0..self.nodes_len() as u32 {
            if self.standing(node) == MassStanding::Foreign {
                self.exchange.changed(node, 0, self.nodes.word(node));
            }
        }
    }

    fn stretch_pages(&mut self, alpha: Alpha) {
        self.settled = SettledSums::default();
        for page in 0..self.pages_len() {
            let s = &mut self.pages.settled[page];
            // Rounded up, so that no link hands out less than what lies at its end was told, and
            // the page itself pays for that.
            *s += alpha.more(*s);
            let (s, r) = (*s, &mut self.pages.residue[page]);
            *r += alpha.less(*r) - 1;
            let standing = self.standing(self.pages.node[page]);
            self.settled.add(self.pages.surfer[page], standing, s);
        }
    }

    fn residue_mut(&mut self, node: u32) -> &mut i64 {
        match self.page_of(node) {
            Some(page) => &mut self.pages.residue[page],
            None => self.nodes.word_mut(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixed::{JUMPED, ONE, PARTS};
    use super::super::PushedLinks;
    use super::*;
    use crate::rng::Rng;

    /// Pages link to one to four others, so this and the parts of d divide all shares.
    const SHARES: i128 = 12;

    fn some_books(rng: &mut Rng) -> Ledger {
        let mut ledger = Ledger::default();
        (0..60).for_each(|node| ledger.stand(node, MassStanding::Waiting));
        ledger.stand(58, MassStanding::Foreign);
        ledger.stand(59, MassStanding::Robots);
        ledger.trust(0, ONE / 3);
        ledger.trust(50, ONE / 5);
        for page in 0..40 {
            ledger.stand(page, MassStanding::Fetched);
            link(&mut ledger, page, rng);
            (0..rng.draw() % 4).for_each(|_| ledger.push_heaviest());
            if rng.draw().is_multiple_of(8) {
                ledger.receive(page, (rng.draw() >> 8) as i64);
                ledger.dispatch(58);
                // What it settled by other links is taken back.
                link(&mut ledger, page, rng);
            }
        }
        ledger
    }

    fn link(ledger: &mut Ledger, page: u32, rng: &mut Rng) {
        let mut ids: Vec<u32> = (0..rng.draw() % 4).map(|_| (rng.draw() % 60) as u32).collect();
        ids.sort_unstable();
        ids.dedup();
        ledger.link(page, &PushedLinks::alike(&ids, u32::from(rng.draw().is_multiple_of(5))));
    }

    /// What lies on each node may be at most this, in parts of parts.
    fn most(ledger: &Ledger) -> Vec<i128> {
        let whole = SHARES * i128::from(PARTS);
        let mut most = vec![0; ledger.nodes_len()];
        for (node, b) in ledger.began() {
            most[node as usize] += i128::from(b) * whole;
        }
        let mut ids = Vec::new();
        for node in 0..ledger.nodes_len() as u32 {
            let s = i128::from(ledger.settled(node));
            most[node as usize] -= s * whole;
            let unnamed = ledger.links_of(node, &mut ids).unwrap_or(0);
            let links = (ids.len() + unnamed as usize) as i128;
            for &id in ids.iter().filter(|_| ledger.page_of(node).is_some()) {
                most[id as usize] += s * i128::from(PARTS - JUMPED) * SHARES / links;
            }
        }
        most
    }

    #[test]
    fn what_is_settled_in_proportion_makes_no_mass_and_loses_hardly_any() {
        let whole = SHARES * i128::from(PARTS);
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let mut ledger = some_books(&mut rng);
            for _ in 0..3 {
                let of = (rng.draw() >> 6) as i64 - ONE / 8;
                let alpha = Alpha { of, parts: (rng.draw() >> 5) as i64 + ONE / 4 };
                ledger.stretch_by(alpha, &ledger.began());
                ledger.recount();
                ledger.audit().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                for (node, most) in most(&ledger).into_iter().enumerate() {
                    let lies = i128::from(ledger.residue(node as u32)) * whole;
                    assert!(lies <= most, "seed {seed}: more on {node} than there is");
                    assert!(most - lies < 1_000 * whole, "seed {seed}: lost on {node}");
                }
                ledger.push_heaviest();
            }
        }
    }

    /// Most pages on a site that is nearly closed and hardly trusted, the trust on sites that leak.
    #[test]
    fn where_a_stretch_does_not_help_settling_takes_little_longer_than_by_sweeps() {
        let books = || {
            let mut rng = Rng::new(2);
            let mut ledger = Ledger::default();
            (0..3_000).for_each(|node| ledger.stand(node, MassStanding::Waiting));
            (0..2_000).for_each(|node| ledger.stand(node, MassStanding::Fetched));
            (0..500).for_each(|node| ledger.trust(node, ONE / 600));
            for page in 0..2_000u32 {
                let (own, from) = if page < 500 { (500, 0) } else { (1_500, 500) };
                let mut some = |len: u64, from: u32| from + (rng.draw() % len) as u32;
                let mut ids: Vec<u32> = (0..6).map(|_| some(own, from)).collect();
                if page < 500 {
                    ids.extend((0..3).map(|_| some(1_000, 2_000)));
                }
                ids.extend((page % 50 == 0).then(|| some(1_500, 500)));
                ids.sort_unstable();
                ids.dedup();
                ledger.link(page, &PushedLinks::alike(&ids, 0));
            }
            ledger
        };
        let rest = ONE / 1_000_000;
        let (mut settled, mut swept) = (books(), books());
        while swept.rest() > rest {
            swept.sweep(u64::MAX);
        }
        settled.push_until(rest, swept.edges * 3 / 2);
        assert!(settled.rest() <= rest, "{} of {}", settled.edges, swept.edges);
    }

    #[test]
    fn a_closed_web_is_settled_with_less_than_half_of_the_edge_updates() {
        let books = |rng: &mut Rng| {
            let mut ledger = Ledger::default();
            (0..2_000).for_each(|node| ledger.stand(node, MassStanding::Fetched));
            ledger.trust(0, ONE);
            for page in 0..2_000u32 {
                let mut ids: Vec<u32> = (0..8).map(|_| (rng.draw() % 2_000) as u32).collect();
                ids.sort_unstable();
                ids.dedup();
                ledger.link(page, &PushedLinks::alike(&ids, 0));
            }
            ledger
        };
        let rest = ONE / 100_000;
        let mut settled = books(&mut Rng::new(1));
        settled.push_until(rest, u64::MAX);
        settled.audit().unwrap();
        assert!(settled.rest() <= rest);
        let mut swept = books(&mut Rng::new(1));
        while swept.rest() > rest {
            swept.sweep(u64::MAX);
        }
        assert!(settled.edges * 2 < swept.edges, "{} of {}", settled.edges, swept.edges);
    }
}
