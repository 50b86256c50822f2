//! Breadth first: by depth, then in the order of discovery (Najork and Wiener, WWW10, 2001).

use super::{CLASS_LAST, CLASS_USUAL, OrderPolicy, Rank};
use crate::mass::Mass;
use crate::record::UrlId;

pub struct Bfs;

impl OrderPolicy for Bfs {
    fn place(&self, depth: u16, id: UrlId, _: &Mass) -> Rank {
        let deepest = u16::from(CLASS_LAST - 1 - CLASS_USUAL);
        let class = CLASS_USUAL + depth.min(deepest) as u8;
        // Depth leads within a class too, for what is deeper than there are classes.
        Rank { class, rank: (u64::from(depth) << 48) | (id.0 & ((1 << 48) - 1)) }
    }
}
