//! Importance mass: how much of all importance each URL has for certain, and how much the crawled
//! pages have in all.
//!
//! The story: seeds are trusted, each with its share of the whole (`ledger::Ledger::trust`). When a
//! page's links are known by number (`parts`), it is pushed: what lies on it is settled, and most
//! of it moves on to those it links to. Crawled pages are pushed again, heaviest first by octave
//! (`buckets`), as more reaches them; that needs no network. What lies on a URL that waits is what
//! orders it; what is settled, and what lies on crawled pages, is the bound (`coverage`).
//!
//! Mass moves in memory alone. Durable are the links (rows, written as the sieve numbers them) and,
//! now and then, what is settled (`written`): residues follow from these two, whatever their ages,
//! so nothing can be paid twice.

mod audit;
mod buckets;
mod coverage;
mod exchange;
mod fixed;
mod gaps;
mod ledger;
mod nodes;
mod outlinks;
mod pages;
mod parts;
mod standing;
mod surfer;
#[cfg(test)]
mod tests;
mod topical;
mod written;

pub use coverage::Coverage;
pub use fixed::{LEVEL_NONE, ONE, level};
pub use ledger::{Ledger, Sums};
pub use parts::{Goal, LinkPart, NumberedPage};
pub use standing::{MassStanding, filed_class};
pub use surfer::{FIFTEENTHS, PushedLinks, SURFERS, Surfer};
pub use topical::TopicCoverage;
pub use written::SettledRow;

use crate::discovery::Lead;
use crate::event::Step;
use crate::known::KnownLinks;
use crate::record::{UrlId, UrlRecord};
use parts::Partial;
use rhumb_page::url::Url;
use std::collections::HashMap;
use written::Writing;

/// Edge updates that a page's links pay for: a microsecond or two of pushing.
const EDGES_PER_PAGE: u64 = 80;
/// While there are few pages they pay for more: the first are the most important ones.
const PAGES_FEW: usize = 2_000;
const EDGES_PER_PAGE_OF_FEW: u64 = 500;
/// Edge updates saved up for later.
const EDGES_SAVED_MAX: u64 = 1 << 20;
/// Edge updates before the last word is said on a crawl that ends. It settles nearly everything on
/// some ten thousand pages; a large crawl pays some hundredths of its CPU time, and says a little
/// less than `rhumb coverage` will.
const EDGES_AT_END: u64 = 1_000_000;
const EDGES_AT_END_PER_PAGE: u64 = 100;
/// Edge updates between two turns of the crawl while all crawled pages are pushed: a hundredth of a
/// second or two.
const EDGES_PER_TURN: u64 = 1 << 20;
/// Edge updates that books made anew may take to become as good as they were.
const EDGES_AT_OPENING: u64 = 10_000_000;
/// Residues on crawled pages that are not worth a push: 2^-40 of the whole.
const LEVEL_SETTLED: u8 = 40;
/// What may lie on crawled pages when a crawl ends, and when the tight certificate is made.
const REST_AT_END: i64 = ONE / 200_000;
const REST_MAX: i64 = ONE / 10_000_000;

/// What lies on trusted pages at first, as a share of [`ONE`]: all walks of the surfer.
pub const WALKS: f64 = fixed::JUMPED as f64 / fixed::PARTS as f64;

/// When crawled pages are pushed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushing {
    /// When so many octaves below the heaviest URL that waits, or heavier.
    Eager { octaves: u8 },
    /// All of them, whenever so many percent of what waits were fetched.
    Windowed { percent: u32 },
}

#[derive(Debug, Default)]
pub struct Mass {
    ledger: Ledger,
    partial: Partial,
    /// Weights of seeds whose number is not known yet. Looked up, never iterated.
    seeds: HashMap<Url, f64>,
    weights: Vec<(u32, f64)>,
    weight: f64,
    /// Other nodes or other trust than the residues were computed for.
    stale: bool,
    edges_saved: u64,
    /// Pages fetched since the last pass over all, and how many are to be.
    window: (u64, u64),
    /// The first page that the pass over all has not come to.
    passing: Option<usize>,
    writing: Writing,
    /// Some URLs were left out by new rules, and still count among links.
    has_left_out: bool,
}

impl Mass {
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The owner's trust: weights by seed. Those known by number already keep theirs.
    pub fn seeded(&mut self, seeds: impl Iterator<Item = (Url, f64)>) {
        // Those without weight only widen the scope.
        for (url, weight) in seeds.filter(|(_, weight)| *weight > 0.0) {
            let weight = if weight.is_finite() && weight > 0.0 { weight } else { 0.0 };
            self.weight += weight;
            *self.seeds.entry(url).or_insert(0.0) += weight;
        }
        self.stale |= !self.weights.is_empty();
    }

    /// A seed got its number: how much it is trusted, as a share of the whole.
    pub fn seed_is(&mut self, url: &Url, id: UrlId) -> Option<(u32, f32)> {
        let (node, weight) = (node(id)?, self.seeds.remove(url)?);
        self.weights.push((node, weight));
        if self.stale {
            return None;
        }
        let t = self.trust_of(weight);
        self.ledger.trust(node, t);
        Some((node, t as f32 / ONE as f32))
    }

    fn trust_of(&self, weight: f64) -> i64 {
        if self.weight <= 0.0 {
            return 0;
        }
        // Rounded down by more than the quotient can err, so that all together stay below one.
        let share = (weight / self.weight).clamp(0.0, 1.0);
        ((share * (1.0 - 1e-12) * ONE as f64) as i64).clamp(0, ONE)
    }

    /// What a URL's record says of it now.
    pub fn stand(&mut self, record: &UrlRecord) {
        let Some(node) = node(record.id) else { return };
        let (before, now) = (self.ledger.standing(node), MassStanding::of_url(record));
        let now = match (before, now) {
            (MassStanding::Waiting | MassStanding::LeftOut, MassStanding::Outside) => {
                self.has_left_out = true;
                MassStanding::LeftOut
            }
            // What was crawled once stays so.
            (before, MassStanding::Outside) if before.is_crawled() => before,
            (_, now) => now,
        };
        let was_counted = before != MassStanding::Outside && before != MassStanding::Nobody;
        let is_counted = now != MassStanding::Outside;
        self.stale |= before != MassStanding::Nobody && was_counted != is_counted;
        self.ledger.stand(node, now);
        self.ledger.file(node, standing::filed_class(record));
    }

    /// Puts one sifted chunk's links together; pages whose links are all known are pushed once, so
    /// that what they link to has its first mass.
    pub fn chunk(
        &mut self,
        chunk: (u64, &[Lead]),
        goals: impl Iterator<Item = Goal>,
        step: &mut Step,
    ) -> Vec<NumberedPage> {
        let mut whole = Vec::new();
        parts::assemble(&mut self.partial, chunk, goals, step, &mut whole);
        whole.iter().for_each(|page| self.link(page));
        whole
    }

    /// A page was fetched and has no links.
    pub fn linked_to_none(&mut self, page: u32, surfer: Surfer, step: &mut Step) -> NumberedPage {
        let (row, whole) = parts::none(page, surfer);
        step.rows.push(row);
        self.link(&whole);
        whole
    }

    /// A page was fetched whose links, of a first visit, are all known by number.
    pub fn linked_to_known(
        &mut self,
        page: u32,
        first: u64,
        (links, surfer): (&KnownLinks, Surfer),
        step: &mut Step,
    ) -> NumberedPage {
        let (row, whole) = parts::whole(page, first, links.weighted().collect(), surfer);
        step.rows.push(row);
        self.link(&whole);
        whole
    }

    fn link(&mut self, whole: &NumberedPage) {
        // A page that the rows no longer call fetched has lost its links to a later visit.
        if !self.ledger.standing(whole.page).is_crawled() {
            return;
        }
        self.ledger.link(whole.page, &whole.links());
        if !self.stale {
            self.ledger.push_page(whole.page);
        }
        self.window.0 += 1;
        let are_few = self.ledger.pages_len() <= PAGES_FEW;
        let edges = if are_few { EDGES_PER_PAGE_OF_FEW } else { EDGES_PER_PAGE };
        self.edges_saved = (self.edges_saved + edges).min(EDGES_SAVED_MAX);
    }

    /// Pushes crawled pages, as far as the pages that came pay for it.
    pub fn push_due(&mut self, pushing: Pushing) {
        if self.stale {
            return;
        }
        match pushing {
            Pushing::Eager { octaves } => {
                let top = self.ledger.frontier_level().unwrap_or(LEVEL_SETTLED);
                self.push_above((top + octaves).min(LEVEL_SETTLED));
            }
            Pushing::Windowed { percent } => {
                if self.passing.is_none() && self.window.0 >= self.window.1 {
                    self.passing = Some(0);
                }
                let Some(from) = self.passing else { return };
                self.passing = self.ledger.pass(from, EDGES_PER_TURN);
                if self.passing.is_none() {
                    let waiting = self.ledger.waiting_len();
                    self.window = (0, (waiting * u64::from(percent)).div_ceil(100).max(1));
                }
            }
        }
    }

    fn push_above(&mut self, level: u8) {
        let began = self.ledger.edges;
        while self.ledger.push_level().is_some_and(|l| l <= level) {
            self.ledger.push_heaviest();
            if self.ledger.edges - began >= self.edges_saved {
                break;
            }
        }
        self.edges_saved = self.edges_saved.saturating_sub(self.ledger.edges - began);
    }

    /// The crawl ends: proves nearly all that can be proven.
    pub fn push_at_end(&mut self) {
        if !self.stale && std::mem::take(&mut self.has_left_out) {
            self.ledger.forget_left_out();
            self.stale = true;
            self.refresh();
        }
        let pages = self.ledger.pages_len() as u64;
        if !self.stale {
            self.ledger.push_until(REST_AT_END, EDGES_AT_END + EDGES_AT_END_PER_PAGE * pages);
        }
    }

    /// Proves all that the links of the crawled pages can prove.
    pub fn push_all(&mut self) {
        if !self.stale {
            self.ledger.push_until(REST_MAX, u64::MAX);
        }
    }

    fn push_down_to(&mut self, rest: i64, edges_max: u64) {
        let end = self.ledger.edges.saturating_add(edges_max);
        while !self.stale && self.ledger.rest() > rest && self.ledger.edges < end {
            self.ledger.sweep(end - self.ledger.edges);
        }
    }

    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// There are seeds that the sieve has not seen yet.
    pub fn awaits_seeds(&self) -> bool {
        !self.seeds.is_empty()
    }

    /// Computes the residues again if nodes or trust have changed; whether it did.
    pub fn refresh(&mut self) -> bool {
        if !std::mem::take(&mut self.stale) {
            return false;
        }
        let weights = self.weights.iter();
        let trust = weights.map(|&(node, w)| (node, self.trust_of(w))).collect();
        self.ledger.rebase(trust);
        self.edges_saved = EDGES_AT_OPENING;
        true
    }

    /// None while it is being computed again.
    pub fn coverage(&self) -> Option<Coverage> {
        (!self.stale).then(|| coverage::coverage(&self.ledger.sums()))
    }

    /// Whether these are the books of a crawl with a topic.
    pub fn is_biased(&self) -> bool {
        let pages = Surfer::all().zip(self.ledger.sums().pages);
        pages.filter(|(surfer, _)| surfer.is_biased()).any(|(_, count)| count > 0)
    }

    /// How much of a crawl's topic is covered. None while it is being computed again.
    pub fn topic_coverage(&self) -> Option<TopicCoverage> {
        (!self.stale).then(|| topical::topic_coverage(&self.ledger.sums()))
    }

    /// The mass of one URL, as a share of the whole: settled, and lying on it.
    pub fn of(&self, id: UrlId) -> (f64, f64) {
        let Some(node) = node(id) else { return (0.0, 0.0) };
        let share = |x: i64| x as f64 / ONE as f64;
        (share(self.ledger.settled(node)), share(self.ledger.residue(node)))
    }

    pub fn file(&mut self, id: UrlId, class: Option<u8>) {
        if let Some(node) = node(id) {
            self.ledger.file(node, class);
        }
    }

    /// Rows with what is settled, a part of it each time, as pages pay for them.
    pub fn write(&mut self, step: &mut Step) {
        self.writing.write(&self.ledger, step);
    }

    pub fn write_all(&mut self, step: &mut Step) {
        self.writing.write_all(&self.ledger, step);
    }

    pub fn heap_bytes(&self) -> usize {
        self.ledger.heap_bytes()
    }
}

/// Opening: what the rows say. URLs first, then links in order, then what was settled.
impl Mass {
    pub fn restore_url(&mut self, record: &UrlRecord) {
        self.stand(record);
        self.stale = false;
    }

    pub fn restore_links(&mut self, page: UrlId, number: u16, part: &LinkPart) {
        let Some(page) = node(page) else { return };
        if let Some(whole) = self.partial.restore(page, number, part) {
            self.ledger.stand(page, MassStanding::Fetched);
            self.ledger.link(page, &whole.links());
        }
    }

    pub fn restore_settled(&mut self, row: &SettledRow) {
        for &(node, s) in &row.settled {
            self.ledger.restore_settled(node, s);
        }
    }

    pub fn restored(&mut self) {
        // Without pages there is nothing to compute, and seeds are to be placed by their trust.
        self.stale = self.ledger.pages_len() > 0;
    }
}

/// A URL's number in the books, if it has one there.
pub fn node(id: UrlId) -> Option<u32> {
    (id.0 < ledger::NODES_MAX).then_some(id.0 as u32)
}
