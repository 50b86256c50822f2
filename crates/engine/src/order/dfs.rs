//! Depth first: the last found is the first fetched, within each host.

use super::{CLASS_USUAL, OrderPolicy, Rank};
use crate::mass::Mass;
use crate::record::UrlId;

pub struct Dfs;

impl OrderPolicy for Dfs {
    fn place(&self, _: u16, id: UrlId, _: &Mass) -> Rank {
        Rank { class: CLASS_USUAL, rank: u64::MAX - id.0 }
    }
}
