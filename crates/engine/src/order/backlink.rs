//! Back-link count (Cho, Garcia-Molina, Page, WWW7, 1998): the URL that most crawled pages link to
//! comes first, ties in the order of discovery. 4 bytes per known URL.

use super::{CLASS_USUAL, OrderPolicy, Rank};
use crate::config::CLASSES;
use crate::mass::{Mass, NumberedPage, node};
use crate::record::UrlId;

#[derive(Default)]
pub struct Backlink {
    count: Vec<u32>,
}

impl OrderPolicy for Backlink {
    fn place(&self, _: u16, id: UrlId, _: &Mass) -> Rank {
        let count = node(id).and_then(|node| self.count.get(node as usize)).copied().unwrap_or(0);
        // A class for each octave of the count, the largest first.
        let octaves = CLASSES as u32 - 1 - u32::from(CLASS_USUAL);
        let class = CLASS_USUAL + octaves.saturating_sub(u32::BITS - count.leading_zeros()) as u8;
        Rank { class, rank: u64::from(u32::MAX - count) << 32 | id.0 & u64::from(u32::MAX) }
    }

    fn linked(&mut self, page: &NumberedPage, mass: &Mass) {
        self.count.resize(mass.ledger().nodes_len().max(self.count.len()), 0);
        for &id in &page.ids {
            if let Some(count) = self.count.get_mut(id as usize) {
                *count = count.saturating_add(1);
            }
        }
    }

    fn restored(&mut self, mass: &Mass) {
        self.count.clear();
        mass.ledger().each_page(|page| self.linked(page, mass));
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn heap_bytes(&self) -> usize {
        self.count.capacity() * 4
    }
}
