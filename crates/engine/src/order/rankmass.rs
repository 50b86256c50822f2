//! RankMass (Cho and Schonfeld, VLDB 2007, section 4.2): the largest mass first, whether its page
//! is to be fetched or to be pushed again.
//!
//! Deviations: a page is pushed when its links are known, which here is a little later than when it
//! is fetched; largest is meant by octave.

use super::{OrderPolicy, Rank, SettledOrder};
use crate::mass::{Mass, Pushing};
use crate::record::UrlId;

pub struct RankMass;

impl OrderPolicy for RankMass {
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank {
        SettledOrder.place(depth, id, mass)
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn pushing(&self) -> Pushing {
        Pushing::Eager { octaves: 0 }
    }
}
