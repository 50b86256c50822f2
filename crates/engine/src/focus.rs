//! What a topic changes in the engine: how pages are left, which are a dead end, and what is told.

use crate::discovery::Origin;
use crate::engine::Engine;
use crate::event::{Row, Step};
use crate::mass::{MassStanding, ONE, Surfer, TopicCoverage};
use crate::outcome::Outcome;
use crate::queue::Entry;

impl Engine {
    /// How a page of this relevance is left.
    pub(crate) fn surfer_on(&self, relevance: u8) -> Surfer {
        self.config.topic.map_or(Surfer::USUAL, |_| Surfer::on(relevance))
    }

    /// The only link of a redirect.
    pub(crate) fn redirects(&self, page: u32) -> Origin {
        let surfer = self.config.topic.map_or(Surfer::USUAL, |_| Surfer::PASSAGE);
        Origin::of(page, true).left_by(surfer)
    }

    /// Whether links of a page are not followed because it has too little to do with the topic.
    /// Seeds are the owner's own choice.
    pub(crate) fn is_off_topic(&self, entry: &Entry, outcome: &Outcome) -> bool {
        let Outcome::Page(page) = outcome else { return false };
        let is_below = self.config.topic.is_some_and(|focus| page.relevance < focus.relevance_min);
        is_below && entry.record.depth > 0
    }

    /// The bound that the crawl is about and its ceiling: of the topic, or of all importance.
    pub(crate) fn bound_and_ceiling(&self) -> Option<(f64, f64)> {
        match self.config.topic {
            Some(_) => self.books.mass.topic_coverage().map(|c| (c.bound, c.ceiling_for_good)),
            None => self.books.mass.coverage().map(|c| (c.bound, c.ceiling_for_good)),
        }
    }

    /// How much of the topic is covered; none without a topic, or while it is computed again.
    pub fn topic_coverage(&self) -> Option<TopicCoverage> {
        self.config.topic.and_then(|_| self.books.mass.topic_coverage())
    }

    /// What URLs that wait would bring of the topic if they are what the order expects of them, as
    /// a share of all walks. It looks at every known URL.
    pub(crate) fn expected_of_topic(&self) -> Option<f64> {
        self.topic_coverage()?;
        let ledger = self.books.mass.ledger();
        let mut expected = 0.0;
        for node in 0..ledger.nodes_len() as u32 {
            if ledger.standing(node) == MassStanding::Waiting {
                let lies = ledger.residue(node).max(0) as f64 / ONE as f64;
                expected += lies * self.ranking.policy.promise(node, &self.books.mass)?;
            }
        }
        // Walks that wait are shares of the whole.
        Some(expected / crate::mass::WALKS)
    }

    /// The learnt link model is a row.
    pub(crate) fn write_link_model(&mut self, step: &mut Step) {
        if let Some(model) = self.ranking.policy.refitted() {
            step.rows.push(Row::LinkModel(Box::new(model)));
            self.ranking.topic_expected = self.expected_of_topic();
        }
    }
}
