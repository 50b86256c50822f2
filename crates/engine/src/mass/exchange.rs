//! Mass that comes from other partitions and goes to them.
//!
//! A URL of another partition has a number here like any other, so that pushing knows no
//! difference; what lies on it waits to be sent to its owner. Sending debits it here and receiving
//! credits it there, both in one commit with the message's number, so whatever is settled on either
//! side, and however old: r = (1-d)·t + m + d·Pᵀs − s, where m is what came less what went. Over
//! all partitions the m and what is on its way make nought.
//!
//! What is on its way is missing on both sides, which only lowers the bound, unless it is below
//! zero: so that is owed by the sender until the owner has it.
//!
//! Memory: a node of a tree per URL that mass came to or went from; none in a crawl of one part.

use super::fixed::level;
use super::ledger::Ledger;
use super::{Coverage, EDGES_PER_TURN, EDGES_SAVED_MAX, Mass, MassStanding, REST_AT_END, Sums};
use std::collections::BTreeMap;

/// URLs in one round of messages.
const ROUND_MAX: usize = 20_000;
/// Edge updates that mass for one URL pays for: a push of an ordinary page, and some.
const EDGES_PER_CREDIT: u64 = 100;

#[derive(Debug, Default)]
pub struct Exchange {
    /// What came to a URL of ours, or, below zero, what went to one of another partition.
    moved: BTreeMap<u32, i64>,
    sum: i64,
    /// What messages that are on their way take back.
    owed: i64,
    /// All that was ever owed in this run and is not any more; it wraps around.
    released: i64,
    /// URLs of others on which there is more by an octave than when they were last looked at.
    grown: Vec<u32>,
}

impl Exchange {
    pub fn sum(&self) -> i64 {
        self.sum
    }

    pub fn owed(&self) -> i64 {
        self.owed
    }

    /// What lies on a URL of another partition has changed.
    #[inline]
    pub fn changed(&mut self, node: u32, before: i64, after: i64) {
        if level(after.abs()) < level(before.abs()) {
            self.grown.push(node);
        }
    }

    fn put(&mut self, node: u32, moved: i64) -> i64 {
        let total = self.moved.entry(node).or_default();
        *total += moved;
        self.sum += moved;
        *total
    }

    pub fn released(&self) -> i64 {
        self.released
    }

    pub fn forget_grown(&mut self) {
        self.grown.clear();
    }

    pub fn moved(&self) -> Vec<(u32, i64)> {
        self.moved.iter().map(|(&node, &mass)| (node, mass)).collect()
    }
}

impl Ledger {
    /// Mass came to a URL: all that ever came, now.
    pub fn receive(&mut self, node: u32, mass: i64) -> i64 {
        self.reserve(node);
        self.add(node, mass);
        self.exchange.put(node, mass)
    }

    /// Takes what lies on a URL of another partition: what is to be sent, and all that ever was,
    /// below zero.
    pub fn dispatch(&mut self, node: u32) -> Option<(i64, i64)> {
        let mass = self.residue(node);
        if self.standing(node) != MassStanding::Foreign || mass == 0 {
            return None;
        }
        self.add(node, -mass);
        Some((mass, self.exchange.put(node, -mass)))
    }

    /// A message went, or, below zero, it arrived, which takes so much back.
    pub fn owe(&mut self, mass: i64) {
        self.exchange.owed += mass;
        let released = &mut self.exchange.released;
        *released = released.wrapping_add((-mass).max(0));
    }

    pub fn released(&self) -> i64 {
        self.exchange.released()
    }

    /// What lies on URLs of other partitions, above zero or below.
    pub fn unsent(&self) -> i64 {
        let sums = self.sums();
        sums.residue[MassStanding::Foreign as usize]
            + 2 * sums.below[MassStanding::Foreign as usize]
    }

    /// URLs of others on which at least the mean of all lies: the next round.
    pub fn heavy_foreign(&mut self) -> Vec<u32> {
        let mut grown = std::mem::take(&mut self.exchange.grown);
        grown.sort_unstable();
        grown.dedup();
        grown.retain(|&node| self.residue(node) != 0);
        let mean = (self.unsent() / grown.len().max(1) as i64).max(1);
        let is_heavy = |node: &u32| self.residue(*node).abs() >= mean;
        let (mut heavy, mut light): (Vec<u32>, Vec<u32>) = grown.into_iter().partition(is_heavy);
        light.extend(heavy.split_off(heavy.len().min(ROUND_MAX)));
        self.exchange.grown = light;
        // They come again, should nobody take what lies on them now.
        self.exchange.grown.extend_from_slice(&heavy);
        heavy
    }
}

impl Mass {
    /// The owner trusts seeds of other partitions, by this weight.
    pub fn trusted_elsewhere(&mut self, weight: f64) {
        self.weight += if weight.is_finite() && weight > 0.0 { weight } else { 0.0 };
        self.stale |= !self.weights.is_empty();
    }

    /// Mass came to one of our URLs: all that ever came.
    pub fn receive(&mut self, node: u32, mass: i64) -> i64 {
        self.edges_saved = (self.edges_saved + EDGES_PER_CREDIT).min(EDGES_SAVED_MAX);
        self.ledger.receive(node, mass)
    }

    /// See [`Ledger::dispatch`]; nothing while the books are computed again.
    pub fn dispatch(&mut self, node: u32) -> Option<(i64, i64)> {
        if self.stale { None } else { self.ledger.dispatch(node) }
    }

    pub fn owe(&mut self, mass: i64) {
        self.ledger.owe(mass);
    }

    /// What messages took back and no longer owe, of all this run. Sums of other partitions that
    /// are older than their acknowledgements may lack it.
    pub fn released(&self) -> i64 {
        self.ledger.released()
    }

    /// There is enough for other partitions to be worth a round of messages. Together they leave as
    /// much unsent in the end as one leaves unpushed.
    pub fn is_worth_a_round(&self, partitions: u32) -> bool {
        !self.stale && self.ledger.unsent() > REST_AT_END / i64::from(partitions)
    }

    pub fn heavy_foreign(&mut self) -> Vec<u32> {
        self.ledger.heavy_foreign()
    }

    /// Nothing is to be fetched here, but messages may come: pushes what they brought nearly to the
    /// end.
    pub fn push_at_rest(&mut self, partitions: u32) {
        self.push_down_to(REST_AT_END / i64::from(partitions), EDGES_PER_TURN);
    }

    /// It is pushed as far as that.
    pub fn is_at_rest(&self, partitions: u32) -> bool {
        self.stale || self.ledger.rest() <= REST_AT_END / i64::from(partitions)
    }

    /// No URL waits for its first visit.
    pub fn has_none_waiting(&self) -> bool {
        self.ledger.waiting_len() == 0
    }

    /// At opening: what the rows say of one URL. After all links.
    pub fn restore_moved(&mut self, node: u32, mass: i64) {
        self.ledger.receive(node, mass);
    }

    /// The bound of several partitions, divided once; none while one of them computes its books
    /// again.
    pub fn coverage_of_all<'a>(all: impl Iterator<Item = &'a Mass>) -> Option<Coverage> {
        Mass::sums_of_all(all).map(|sums| sums.of_importance())
    }

    /// What the bounds of several partitions are made of.
    pub fn sums_of_all<'a>(all: impl Iterator<Item = &'a Mass>) -> Option<Sums> {
        let sums = all.map(|mass| (!mass.stale).then(|| mass.ledger.sums()));
        sums.collect::<Option<Vec<_>>>()?.into_iter().reduce(|a, b| a.plus(&b))
    }
}
