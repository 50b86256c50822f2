//! Focused: what is likely of the topic first; and by what lies on URLs alone, for the best proof.
//!
//! The books are those of the biased surfer then (`mass::surfer`). Ordering by what lies on URLs
//! makes the bound rise fastest; the learnt probability finds the topic's pages sooner. The order
//! `focused` takes the probability, and a little of what lies there for the bound (docs/topic.md).
//!
//! Beside what the links to a URL say, it counts how well the pages that link to it kept their
//! promises: a relevant page whose links led elsewhere is worth less than a dull list of the right
//! pages. Of each URL the latest [`PARENTS`] pages that link to it are remembered.

use super::link_model::{Hints, Learner, LinkModel, LinkYield, Promises};
use super::{OrderPolicy, Rank, SettledOrder, score};
use crate::mass::{Mass, NumberedPage, ONE, Surfer, node};
use crate::record::UrlId;

/// Pages that link to a URL, of which the yield is looked at.
const PARENTS: usize = 4;
const NOBODY: u32 = u32::MAX;

/// What is remembered of a URL beside its hints: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Kin {
    parents: [u32; PARENTS],
    /// Of those that it links to itself, as far as they came.
    yielded: LinkYield,
    /// How it came; not yet, if at all, as a passage.
    came: Surfer,
}

impl Default for Kin {
    fn default() -> Kin {
        let parents = [NOBODY; PARENTS];
        Kin { parents, yielded: LinkYield::default(), came: Surfer::PASSAGE }
    }
}

/// The learnt link model, and a little of what lies on a URL.
#[derive(Default)]
pub struct Focused {
    hints: Vec<Hints>,
    kin: Vec<Kin>,
    learner: Learner,
    refitted: bool,
}

impl Focused {
    fn hints(&self, node: u32) -> Hints {
        self.hints.get(node as usize).copied().unwrap_or_default()
    }

    /// How well the pages that link to a URL kept their promises.
    fn promises(&self, node: u32) -> Promises {
        let mut promises = Promises::default();
        let parents = self.kin.get(node as usize).map_or([NOBODY; PARENTS], |kin| kin.parents);
        for parent in parents.iter().filter_map(|parent| self.kin.get(*parent as usize)) {
            promises.add(parent.yielded.share(parent.came));
        }
        promises
    }

    fn probability(&self, node: u32) -> f64 {
        self.learner.model.probability(&self.hints(node), self.promises(node))
    }

    /// The fourth power spreads probabilities over the octaves that URLs are filed by; the root
    /// beside it is the eighth root of what lies on the URL, beside the probability itself.
    fn score(&self, node: u32, mass: &Mass) -> f64 {
        let residue = mass.ledger().residue(node);
        let lies = (residue.max(0) as f64 / ONE as f64).sqrt();
        self.probability(node).powi(4) * lies
    }

    /// A page came: it counts for the pages that link to it, and those that came before for it.
    fn yielded(&mut self, page: &NumberedPage) {
        let own = page.page as usize;
        let is_new = self.kin[own].came == Surfer::PASSAGE && page.surfer != Surfer::PASSAGE;
        if is_new {
            for parent in self.kin[own].parents {
                if let Some(parent) = self.kin.get_mut(parent as usize) {
                    parent.yielded.add(page.surfer);
                }
            }
            self.kin[own].came = page.surfer;
        }
        for (at, &id) in page.ids.iter().enumerate() {
            let Some(target) = self.kin.get(id as usize).copied() else { continue };
            if is_new && target.came != Surfer::PASSAGE && id != page.page {
                self.kin[own].yielded.add(target.came);
            }
            let slot = usize::from(self.hints[id as usize].links()) % PARENTS;
            self.kin[id as usize].parents[slot] = page.page;
            let weight = page.weights.get(at).copied().unwrap_or(0);
            self.hints[id as usize].add(page.surfer, weight);
        }
    }
}

impl OrderPolicy for Focused {
    fn place(&self, _: u16, id: UrlId, mass: &Mass) -> Rank {
        let score = node(id).map_or(0.0, |node| self.score(node, mass));
        score::rank((score * ONE as f64) as i64)
    }

    fn linked(&mut self, page: &NumberedPage, mass: &Mass) {
        let known = (self.hints(page.page), self.promises(page.page));
        self.refitted |= self.learner.take(known, page.surfer);
        let nodes = mass.ledger().nodes_len().max(page.page as usize + 1);
        self.hints.resize(nodes.max(self.hints.len()), Hints::default());
        self.kin.resize(self.hints.len(), Kin::default());
        self.yielded(page);
    }

    /// Pages teach in the order of their numbers then: near that of their downloads. The model is
    /// the row's, which knew more.
    fn restored(&mut self, mass: &Mass) {
        let model = self.learner.model;
        *self = Focused::default();
        mass.ledger().each_page(|page| self.linked(page, mass));
        if model.pages > 0 {
            self.learner.model.clone_from(&model);
        }
    }

    fn opened(&mut self, model: LinkModel) {
        self.learner.model = model;
    }

    fn refitted(&mut self) -> Option<LinkModel> {
        std::mem::take(&mut self.refitted).then_some(self.learner.model)
    }

    fn promise(&self, node: u32, _: &Mass) -> Option<f64> {
        Some(self.probability(node))
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn heap_bytes(&self) -> usize {
        self.hints.capacity() * size_of::<Hints>()
            + self.kin.capacity() * size_of::<Kin>()
            + self.learner.heap_bytes()
    }
}

/// By what lies on URLs: the bound on the topic rises fastest.
pub struct FocusedProven;

impl OrderPolicy for FocusedProven {
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank {
        SettledOrder.place(depth, id, mass)
    }

    fn follows_importance(&self) -> bool {
        true
    }
}
