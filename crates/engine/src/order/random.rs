//! Uniformly random within each host: the baseline of every comparison of orders.

use super::{CLASS_USUAL, OrderPolicy, Rank};
use crate::mass::Mass;
use crate::record::UrlId;
use crate::rng::mix;

pub struct Random {
    pub seed: u64,
}

impl OrderPolicy for Random {
    fn place(&self, _: u16, id: UrlId, _: &Mass) -> Rank {
        Rank { class: CLASS_USUAL, rank: mix(self.seed ^ mix(id.0)) }
    }
}
