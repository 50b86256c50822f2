//! The machine of the order: where the policy puts a URL, and how many may be filed anew.

use super::{LinkModel, OrderPolicy, place, policy};
use crate::config::{Config, Selection};
use crate::mass::Mass;
use crate::queue::Place;
use crate::record::UrlId;

/// Moves saved up for later.
const MOVES_SAVED_MAX: u32 = 4_096;

pub(crate) struct Ranking {
    pub policy: Box<dyn OrderPolicy>,
    /// URLs that may be filed anew: each page that comes pays for one.
    moves: u32,
    /// As of the last fit of the link model.
    pub topic_expected: Option<f64>,
}

impl Ranking {
    pub fn open(config: &Config, link_model: Option<LinkModel>) -> Ranking {
        let mut policy = policy(config);
        link_model.into_iter().for_each(|model| policy.opened(model));
        Ranking { policy, moves: 0, topic_expected: None }
    }

    pub fn place(&self, config: &Config, url: (&str, u16, UrlId), mass: &Mass) -> Place {
        place(self.policy.as_ref(), &config.priorities, url, mass)
    }

    /// Whether the best class always comes first.
    pub fn takes_best(&self, selection: Selection) -> bool {
        match selection {
            Selection::ByOrder => self.policy.follows_importance(),
            Selection::Best | Selection::Patient { .. } => true,
            Selection::Biased => false,
        }
    }

    pub fn pay_moves(&mut self, moves: u32) {
        self.moves = (self.moves + moves).min(MOVES_SAVED_MAX);
    }

    /// Spends a move, if there is one.
    pub fn takes_move(&mut self) -> bool {
        let has_one = self.moves > 0;
        self.moves -= u32::from(has_one);
        has_one
    }
}
