//! Windowed RankMass (Cho and Schonfeld, VLDB 2007, section 4.3): the top of the frontier is
//! fetched, then every crawled page is pushed once, in the order of their downloads.
//!
//! Percent of the frontier is our reading. Deviation: a page is also pushed when its links are
//! first known, since URLs that nothing has reached could not be told apart.

use super::{OrderPolicy, Rank, SettledOrder};
use crate::mass::{Mass, Pushing};
use crate::record::UrlId;

/// Of the frontier, fetched between two passes.
const WINDOW_PERCENT: u32 = 10;

pub struct Windowed;

impl OrderPolicy for Windowed {
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank {
        SettledOrder.place(depth, id, mass)
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn pushing(&self) -> Pushing {
        Pushing::Windowed { percent: WINDOW_PERCENT }
    }
}
