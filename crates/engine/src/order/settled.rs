//! Settled: the URL with the most mass first, while crawled pages are pushed all along.
//!
//! RankMass (Cho and Schonfeld, VLDB 2007) with ordering and certification taken apart: pushing a
//! crawled page needs no network, so it is not made to wait for its turn in the queue. What has
//! reached a URL by then is a better guess of its importance, and the bound is closer to the truth.

use super::{OrderPolicy, Rank, score};
use crate::mass::{Mass, node};
use crate::record::UrlId;

pub struct SettledOrder;

impl OrderPolicy for SettledOrder {
    fn place(&self, _: u16, id: UrlId, mass: &Mass) -> Rank {
        score::rank(node(id).map_or(0, |node| mass.ledger().residue(node)))
    }

    fn follows_importance(&self) -> bool {
        true
    }
}
