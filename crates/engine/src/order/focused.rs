//! Focused: what is likely of the topic and reached by much first; and by what lies on URLs alone,
//! for the best proof.
//!
//! The books are those of the biased surfer then (`mass::surfer`). Ordering by what lies on URLs
//! makes the bound rise fastest; the learnt probability finds the topic's pages sooner. Their
//! product, with the root of what lies there, has most of both (docs/topic.md).

use super::link_model::{Hints, Learner, LinkModel};
use super::{OrderPolicy, Rank, Settled, score};
use crate::mass::{Mass, ONE, Whole, node};
use crate::record::UrlId;

/// The learnt link model times the root of what lies on a URL.
#[derive(Default)]
pub struct Focused {
    hints: Vec<Hints>,
    learner: Learner,
    refitted: bool,
}

impl Focused {
    fn hints(&self, node: u32) -> Hints {
        self.hints.get(node as usize).copied().unwrap_or_default()
    }

    fn score(&self, node: u32, mass: &Mass) -> f64 {
        let residue = mass.ledger().residue(node);
        let lies = (residue.max(0) as f64 / ONE as f64).sqrt();
        self.learner.model.probability(&self.hints(node), residue) * lies
    }
}

impl OrderPolicy for Focused {
    fn place(&self, _: u16, id: UrlId, mass: &Mass) -> Rank {
        let score = node(id).map_or(0.0, |node| self.score(node, mass));
        score::rank((score * ONE as f64) as i64)
    }

    fn linked(&mut self, page: &Whole, mass: &Mass) {
        let lay_there = mass.ledger().settled(page.page) + mass.ledger().residue(page.page);
        self.refitted |= self.learner.take(self.hints(page.page), lay_there, page.surfer);
        self.hints.resize(mass.ledger().nodes_len().max(self.hints.len()), Hints::default());
        for (&id, &weight) in page.ids.iter().zip(&page.weights) {
            if let Some(hints) = self.hints.get_mut(id as usize) {
                hints.add(page.surfer, weight);
            }
        }
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

    fn promise(&self, node: u32, mass: &Mass) -> Option<f64> {
        let residue = mass.ledger().residue(node);
        Some(self.learner.model.probability(&self.hints(node), residue))
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn heap_bytes(&self) -> usize {
        self.hints.capacity() * size_of::<Hints>() + self.learner.heap_bytes()
    }
}

/// By what lies on URLs: the bound on the topic rises fastest.
pub struct FocusedProven;

impl OrderPolicy for FocusedProven {
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank {
        Settled.place(depth, id, mass)
    }

    fn follows_importance(&self) -> bool {
        true
    }
}
