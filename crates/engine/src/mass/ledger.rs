//! The books of importance: what is settled on crawled pages, and what residue lies on every URL.
//!
//! Cho and Schonfeld, *RankMass crawler* (VLDB 2007), read as forward push for personalised
//! PageRank (Andersen, Chung, Lang, FOCS 2006): a page that is pushed settles its residue and hands
//! d times of it, in equal shares, to those it links to. Names: s is settled, r residue.
//!
//! Invariant, whatever was pushed in whatever order, for the links P as last fetched:
//! r = (1-d)·t + d·Pᵀs − s, less what rounding lost (and with what other partitions sent and got:
//! `exchange`). So r can be computed again from s, t and P
//! alone, and any s will do: that is how the books are opened, how trust is added, and how links
//! that change are put right (there r may become negative).
//!
//! Deviations from the paper: the residue is zeroed before shares are handed out, so a self-link
//! keeps its share; dangling pages are counted and divided out ([`super::coverage`]); crawled pages
//! are pushed before the frontier's best is fetched, not only when it is their turn.
//!
//! Memory: 9 bytes per known URL, 32 per crawled page, and the links.

mod linking;
mod settling;
mod stretching;
mod sums;
mod unfolded;

use super::buckets::{Buckets, NONE};
use super::exchange::Exchange;
use super::fixed::{LEVEL_NONE, ONE, jumped, level};
use super::nodes::{NodeState, Nodes};
use super::outlinks::{At, Outlinks};
use super::pages::CrawledPages;
use super::parts::NumberedPage;
use super::standing::MassStanding;
use super::surfer::{PushedLinks, SURFERS, Surfer};

use sums::Waiting;
pub use sums::{DeadEnds, SettledSums, Sums};

/// Numbers given to URLs are below this; later ones have no part in the books.
pub const NODES_MAX: u64 = NONE as u64;

#[derive(Debug, Default)]
pub struct Ledger {
    nodes: Nodes,
    pages: CrawledPages,
    buckets: Buckets,
    outlinks: Outlinks,
    /// Residue by standing, and how much of it is below zero (as a positive sum).
    sums: [i64; MassStanding::ALL.len()],
    below: [i64; MassStanding::ALL.len()],
    /// Shares of links that have no number.
    unnamed: i64,
    trusted: i64,
    settled: SettledSums,
    /// Crawled pages by their surfer.
    left_by: [u64; SURFERS],
    /// How many URLs scope and filters leave out.
    outside: usize,
    /// URLs that wait, by level.
    waiting: Waiting,
    /// By node.
    trust: Vec<(u32, i64)>,
    dead_ends: DeadEnds,
    pub(super) exchange: Exchange,
    ids: Vec<u32>,
    weights: Vec<u8>,
    bytes: Vec<u8>,
    pub edges: u64,
    pub pushes: u64,
}

impl Ledger {
    pub fn sums(&self) -> Sums {
        Sums {
            settled: self.settled,
            pages: self.left_by,
            residue: self.sums,
            below: self.below,
            unnamed: self.unnamed,
            trusted: self.trusted,
            moved: self.exchange.sum(),
            owed: self.exchange.owed(),
            dead_ends: self.dead_ends,
        }
    }

    #[inline]
    pub fn standing(&self, node: u32) -> MassStanding {
        self.nodes.state(node).standing()
    }

    /// What has reached a URL and was not settled.
    pub fn residue(&self, node: u32) -> i64 {
        self.page_of(node).map_or_else(|| self.nodes.word(node), |page| self.pages.residue[page])
    }

    pub fn settled(&self, node: u32) -> i64 {
        self.page_of(node).map_or(0, |page| self.pages.settled[page])
    }

    pub fn pages_len(&self) -> usize {
        self.pages.node.len()
    }

    pub fn links_len(&self) -> u64 {
        self.outlinks.links()
    }

    pub fn nodes_len(&self) -> usize {
        self.nodes.len()
    }

    /// The class under which a URL waits.
    pub fn filed(&self, node: u32) -> Option<u8> {
        let state = self.nodes.state(node);
        let waits = state.standing() == MassStanding::Waiting;
        waits.then(|| state.mark()).filter(|&class| class != LEVEL_NONE)
    }

    /// A URL waits under this class now; under none if it waits for a date.
    pub fn file(&mut self, node: u32, class: Option<u8>) {
        if self.standing(node) == MassStanding::Waiting {
            self.mark(node, class.unwrap_or(LEVEL_NONE));
        }
    }

    fn mark(&mut self, node: u32, mark: u8) {
        self.nodes.set_state(node, NodeState::new(self.standing(node), mark));
    }

    pub fn waiting_len(&self) -> u64 {
        self.waiting.count.iter().map(|&n| u64::from(n)).sum()
    }

    /// The level of the heaviest URL that waits.
    pub fn frontier_level(&self) -> Option<u8> {
        (self.waiting.levels != 0).then(|| self.waiting.levels.trailing_zeros() as u8)
    }

    /// A URL is known to be this now. What was crawled once stays so: its last links hold.
    pub fn stand(&mut self, node: u32, now: MassStanding) {
        self.reserve(node);
        let before = self.standing(node);
        if before == now
            || (before.is_crawled() && (!now.is_crawled() || now == MassStanding::Fetched))
        {
            return;
        }
        self.move_sums(node, before, now);
        if now.is_crawled() && !before.is_crawled() {
            let word = self.nodes.word_mut(node);
            *word = self.pages.add(node, *word) as i64;
            self.left_by[Surfer::USUAL.index()] += 1;
            self.buckets.grow(self.pages.node.len());
        }
    }

    /// What new rules leave out no longer counts among links; residues are to be computed again.
    pub fn forget_left_out(&mut self) {
        for node in 0..self.nodes.len() as u32 {
            if self.standing(node) == MassStanding::LeftOut {
                self.move_sums(node, MassStanding::LeftOut, MassStanding::Outside);
            }
        }
    }

    fn move_sums(&mut self, node: u32, before: MassStanding, now: MassStanding) {
        let r = self.residue(node);
        let bucket = if before.is_crawled() { self.nodes.state(node).mark() } else { LEVEL_NONE };
        self.nodes.set_state(node, NodeState::new(now, bucket));
        self.outside += usize::from(now == MassStanding::Outside);
        self.outside -= usize::from(before == MassStanding::Outside);
        self.sums[before as usize] -= r;
        self.sums[now as usize] += r;
        self.below[before as usize] -= (-r).max(0);
        self.below[now as usize] += (-r).max(0);
        if before == MassStanding::Waiting {
            self.waiting.remove(level(r));
        }
        if now == MassStanding::Waiting {
            self.waiting.add(level(r));
        }
    }

    #[inline]
    pub(super) fn add(&mut self, node: u32, share: i64) {
        let (word, state) = self.nodes.both_mut(node);
        let standing = state.standing();
        let residue = if standing.is_crawled() {
            &mut self.pages.residue[*word as usize]
        } else {
            &mut *word
        };
        let before = *residue;
        let after = before + share;
        *residue = after;
        self.sums[standing as usize] += share;
        if before < 0 || after < 0 {
            self.below[standing as usize] += (-after).max(0) - (-before).max(0);
        }
        match standing {
            MassStanding::Waiting => {
                let (old, new) = (level(before), level(after));
                if old != new {
                    self.waiting.remove(old);
                    self.waiting.add(new);
                }
            }
            MassStanding::Linked | MassStanding::Dangling => {
                let (new, old) = (level(after.abs()), state.mark());
                if new < old {
                    self.buckets.put(*word as u32, old, new);
                    *state = NodeState::new(standing, new);
                }
            }
            MassStanding::Foreign => self.exchange.changed(node, before, after),
            _ => {}
        }
    }

    /// Into the bucket of what lies on it, if it can be pushed and is not in one as good.
    fn enqueue(&mut self, node: u32) {
        self.add(node, 0);
    }

    /// The level of the heaviest crawled page that can be pushed.
    pub fn push_level(&self) -> Option<u8> {
        self.buckets.first()
    }

    /// What lies on crawled pages that could be pushed, above zero or below.
    pub fn rest(&self) -> i64 {
        let of = |s: MassStanding| self.sums[s as usize] + 2 * self.below[s as usize];
        of(MassStanding::Linked) + of(MassStanding::Dangling)
    }

    /// Settles the heaviest residue that lies on a crawled page.
    pub fn push_heaviest(&mut self) {
        if let Some(page) = self.buckets.pop() {
            self.push(page);
        }
    }

    /// Settles what lies on one crawled page, if its links are known.
    pub fn push_page(&mut self, node: u32) {
        if self.is_pushable(node) {
            self.leave_bucket(node);
            self.push(self.nodes.word(node) as u32);
        }
    }

    /// Its links are known: what lies on it can be settled.
    fn is_pushable(&self, node: u32) -> bool {
        matches!(self.standing(node), MassStanding::Linked | MassStanding::Dangling)
    }

    /// A crawled page is in no bucket from now on.
    fn leave_bucket(&mut self, node: u32) {
        self.buckets.remove(self.nodes.word(node) as u32, self.nodes.state(node).mark());
        self.mark(node, LEVEL_NONE);
    }

    /// Settles what lies on a page that is in no bucket, or was just taken out of one.
    fn push(&mut self, page: u32) {
        let node = self.pages.node[page as usize];
        self.mark(node, LEVEL_NONE);
        let (x, standing) = (self.pages.residue[page as usize], self.standing(node));
        if x == 0 {
            return;
        }
        self.pushes += 1;
        // Zeroed first: the page may link to itself.
        self.add(node, -x);
        self.pages.settled[page as usize] += x;
        let surfer = self.pages.surfer[page as usize];
        self.settled.add(surfer, standing, x);
        if standing == MassStanding::Dangling {
            return;
        }
        let (mut ids, mut weights) = self.take_scratch();
        let at = self.pages.links[page as usize];
        let unnamed = self.outlinks.get(at, &mut ids, &mut weights);
        self.hand_out(&PushedLinks { ids: &ids, weights: &weights, unnamed, surfer }, x);
        self.give_back(ids, weights);
    }

    /// Pushes pages once each, in the order of their downloads, from this one on: the first that
    /// these edges did not reach, or none.
    pub fn pass(&mut self, from: usize, edges_max: u64) -> Option<usize> {
        let began = self.edges;
        for page in from..self.pages.node.len() {
            if self.edges - began >= edges_max {
                return Some(page);
            }
            self.push_page(self.pages.node[page]);
        }
        None
    }

    /// Pushes, in the order of their downloads, the pages on which at least the mean of all lies:
    /// nearly in the order of memory, and with fewer pushes than the heaviest first would take.
    pub fn sweep(&mut self, edges_max: u64) {
        let began = self.edges;
        let least = (self.rest() / self.pages.node.len().max(1) as i64).max(1);
        for page in 0..self.pages.node.len() {
            if self.edges - began >= edges_max {
                return;
            }
            if self.pages.residue[page].abs() >= least {
                self.push_page(self.pages.node[page]);
            }
        }
    }

    /// More trust in a URL: a share of the whole, of which (1-d) lies on it from now on.
    pub fn trust(&mut self, node: u32, t: i64) {
        assert!((0..=ONE).contains(&t), "a share of the whole");
        self.reserve(node);
        self.put_trust(node, t);
        self.add(node, jumped(t));
    }

    fn put_trust(&mut self, node: u32, t: i64) {
        let at = self.trust.partition_point(|(other, _)| *other < node);
        self.count_dead_end(node, self.standing(node), -1);
        match self.trust.get_mut(at).filter(|(other, _)| *other == node) {
            Some((_, trust)) => *trust += t,
            None => self.trust.insert(at, (node, t)),
        }
        self.count_dead_end(node, self.standing(node), 1);
        self.trusted += t;
    }

    /// Computes all residues again from what is settled, for other trust or other nodes.
    pub fn rebase(&mut self, trust: Vec<(u32, i64)>) {
        (self.trust, self.trusted, self.dead_ends) = Default::default();
        (self.sums, self.below, self.unnamed) = Default::default();
        self.buckets = Buckets::default();
        self.buckets.grow(self.pages.node.len());
        self.waiting = Waiting::default();
        self.pages.residue.fill(0);
        for node in 0..self.nodes.len() as u32 {
            match self.standing(node) {
                standing if standing.is_crawled() => self.mark(node, LEVEL_NONE),
                standing => {
                    *self.nodes.word_mut(node) = 0;
                    if standing == MassStanding::Waiting {
                        self.waiting.add(LEVEL_NONE);
                    }
                }
            }
        }
        for (node, t) in trust {
            self.trust(node, t);
        }
        self.exchange.forget_grown();
        for (node, mass) in self.exchange.moved() {
            self.add(node, mass);
        }
        let (mut ids, mut weights) = self.take_scratch();
        for page in 0..self.pages.node.len() {
            let (node, s) = (self.pages.node[page], self.pages.settled[page]);
            let at = self.pages.links[page];
            if at != At::NOWHERE {
                let unnamed = self.outlinks.get(at, &mut ids, &mut weights);
                let surfer = self.pages.surfer[page];
                let links = PushedLinks { ids: &ids, weights: &weights, unnamed, surfer };
                self.stand_linked(node, at, &links, s);
                self.hand_out(&links, s);
            }
            self.add(node, -s);
        }
        self.give_back(ids, weights);
        (0..self.pages.node.len()).for_each(|page| self.enqueue(self.pages.node[page]));
    }

    /// What was settled on a page when the books were last written, true or not: any will do.
    pub fn restore_settled(&mut self, node: u32, s: i64) {
        if let Some(page) = self.page_of(node) {
            let before = std::mem::replace(&mut self.pages.settled[page], s);
            self.settled.add(self.pages.surfer[page], self.standing(node), s - before);
        }
    }

    pub fn page_node(&self, page: usize) -> Option<(u32, i64)> {
        Some((*self.pages.node.get(page)?, self.pages.settled[page]))
    }

    #[inline]
    fn page_of(&self, node: u32) -> Option<usize> {
        self.standing(node).is_crawled().then(|| self.nodes.word(node) as usize)
    }

    pub fn trusted(&self) -> &[(u32, i64)] {
        &self.trust
    }

    /// The links of a crawled page, where they are held, and how many more have no number.
    pub fn links_of(&self, node: u32, ids: &mut Vec<u32>) -> Option<u32> {
        let at = self.pages.links[self.page_of(node)?];
        (at != At::NOWHERE).then(|| self.outlinks.get(at, ids, &mut Vec::new()))
    }

    /// How a crawled page is left.
    pub fn surfer(&self, node: u32) -> Option<Surfer> {
        self.page_of(node).map(|page| self.pages.surfer[page])
    }

    /// All crawled pages whose links are held.
    pub fn each_page(&self, mut see: impl FnMut(&NumberedPage)) {
        let mut whole = NumberedPage::default();
        for (page, &at) in self.pages.links.iter().enumerate() {
            if at != At::NOWHERE {
                let NumberedPage { ids, weights, .. } = &mut whole;
                whole.unnamed = self.outlinks.get(at, ids, weights);
                (whole.page, whole.surfer) = (self.pages.node[page], self.pages.surfer[page]);
                see(&whole);
            }
        }
    }

    pub(super) fn reserve(&mut self, node: u32) {
        assert!(u64::from(node) < NODES_MAX, "numbers below the limit");
        self.nodes.grow(node as usize + 1);
    }

    pub fn heap_bytes(&self) -> usize {
        self.nodes.heap_bytes()
            + self.pages.heap_bytes()
            + self.buckets.heap_bytes()
            + self.outlinks.heap_bytes()
    }

    /// Counts everything again: no mass was made, and the sums are those of the parts.
    pub fn audit(&self) -> Result<(), String> {
        super::audit::audit(self)
    }

    pub(super) fn pages(&self) -> &CrawledPages {
        &self.pages
    }
}
