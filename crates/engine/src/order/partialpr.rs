//! Partial PageRank (Cho, Garcia-Molina, Page, WWW7, 1998): PageRank of what is known so far; the
//! URL with the most comes first.
//!
//! Personalised by the seeds' trust; pages that are not crawled link nowhere, as far as is known.
//! In such a graph the rank of a URL that waits is what the crawled pages hand on to it, but for a
//! factor common to all: its mass in the books, once little lies on crawled pages.
//!
//! Deviation: the paper makes all ranks anew from time to time. Here they are put right all along,
//! by pushing crawled pages further down than orders that only want a proof. What a page's links
//! pay for is the limit (`mass`), so that a large crawl is never made to wait for its ranks; they
//! lag behind instead.

use super::{OrderPolicy, Rank, SettledOrder};
use crate::mass::{Mass, Pushing};
use crate::record::UrlId;

/// Crawled pages are pushed from a thousandth of the frontier's best on.
const PUSHING: Pushing = Pushing::Eager { octaves: 10 };

pub struct PartialPr;

impl OrderPolicy for PartialPr {
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank {
        SettledOrder.place(depth, id, mass)
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn pushing(&self) -> Pushing {
        PUSHING
    }
}
