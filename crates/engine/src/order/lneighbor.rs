//! L-Neighbor (Cho and Schonfeld, VLDB 2007, section 4.1): all pages within L links of the trusted
//! ones, then those within L + 1.
//!
//! The paper's bound, 1 − d^(L+1), is what these levels have at the least; the one that is told
//! comes from the links themselves and is never lower once a level is whole.

use super::{Bfs, OrderPolicy, Rank};
use crate::mass::Mass;
use crate::record::UrlId;

pub struct LNeighbor;

impl OrderPolicy for LNeighbor {
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank {
        Bfs.place(depth, id, mass)
    }
}
