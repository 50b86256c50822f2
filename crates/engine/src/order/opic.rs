//! OPIC (Abiteboul, Preda, Cobena, WWW 2003): every page has cash, hands all of it to those it
//! links to when it is fetched, and the URL with the most cash comes first.
//!
//! Here the seeds share the cash at the start as they share trust. A page pays once, when its links
//! are first known; what reaches it later stays. 4 bytes per known URL, as a guide and no proof.

use super::{OrderPolicy, Rank, score};
use crate::mass::{Mass, MassStanding, NumberedPage, ONE, node};
use crate::record::UrlId;

#[derive(Default)]
pub struct Opic {
    /// Less than nothing once paid out.
    cash: Vec<f32>,
}

/// A page that has paid.
const PAID: f32 = -1.0;

impl Opic {
    fn cash(&self, node: u32) -> f32 {
        self.cash.get(node as usize).copied().unwrap_or(0.0)
    }
}

impl OrderPolicy for Opic {
    fn place(&self, _: u16, id: UrlId, _: &Mass) -> Rank {
        score::rank_of_share(node(id).map_or(0.0, |node| self.cash(node)))
    }

    fn linked(&mut self, page: &NumberedPage, mass: &Mass) {
        let len = mass.ledger().nodes_len();
        self.cash.resize(len.max(self.cash.len()), 0.0);
        let cash = self.cash(page.page);
        let is_counted = |id: &&u32| mass.ledger().standing(**id) != MassStanding::Outside;
        let links = page.ids.iter().filter(is_counted).count() + page.unnamed as usize;
        if links == 0 || cash < 0.0 {
            return;
        }
        self.cash[page.page as usize] = PAID;
        let share = cash / links as f32;
        for id in page.ids.iter().filter(is_counted) {
            if let Some(cash) = self.cash.get_mut(*id as usize).filter(|c| **c >= 0.0) {
                *cash += share;
            }
        }
    }

    fn trusted(&mut self, node: u32, share: f32) {
        let len = self.cash.len().max(node as usize + 1);
        self.cash.resize(len, 0.0);
        self.cash[node as usize] += share;
    }

    /// Pages pay in the order of their numbers then: near that of their downloads.
    fn restored(&mut self, mass: &Mass) {
        self.cash.clear();
        for &(node, t) in mass.ledger().trusted() {
            self.trusted(node, t as f32 / ONE as f32);
        }
        mass.ledger().each_page(|page| self.linked(page, mass));
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn heap_bytes(&self) -> usize {
        self.cash.capacity() * 4
    }
}
