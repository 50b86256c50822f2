//! Partial PageRank (Cho, Garcia-Molina, Page, WWW7, 1998): PageRank of what is known so far, made
//! anew from time to time; the URL with the most comes first.
//!
//! Personalised by the seeds' trust; pages that are not crawled link nowhere, as far as is known.
//! Made anew at 1, 2, 4, … pages and then whenever there are one percent more of them, by power
//! iteration from the last one. 4 bytes per known URL, and as much again while it is made.

use super::{OrderPolicy, Rank, score};
use crate::discovery::Discovery;
use crate::mass::{Mass, ONE, Standing, Whole, node};
use crate::record::UrlId;

#[derive(Default)]
pub struct PartialPr {
    rank: Vec<f32>,
    pages: usize,
    next: usize,
}

/// Iterations at the most, from the last ranks: 0.85^24 is two percent.
const ITERATIONS_MAX: usize = 24;
/// The change below which ranks are good enough to order by.
const CHANGE_MIN: f32 = 1e-4;
const FOLLOWED: f32 = 0.85;

impl PartialPr {
    fn make(&mut self, mass: &Mass) {
        let ledger = mass.ledger();
        self.rank.resize(ledger.nodes_len(), 0.0);
        let mut ids = Vec::new();
        for _ in 0..ITERATIONS_MAX {
            let mut new = vec![0.0; self.rank.len()];
            for page in 0..ledger.pages_len() {
                let Some((node, _)) = ledger.page_node(page) else { break };
                let Some(unnamed) = ledger.links_of(node, &mut ids) else { continue };
                ids.retain(|&id| ledger.standing(id) != Standing::Outside);
                let links = ids.len() + unnamed as usize;
                let share = FOLLOWED * self.rank[node as usize] / links.max(1) as f32;
                ids.iter().for_each(|&id| new[id as usize] += share);
            }
            // Whatever went nowhere goes back to the trusted ones.
            let missing = 1.0 - new.iter().sum::<f32>();
            for &(node, t) in ledger.trusted() {
                new[node as usize] += missing * (t as f32 / ONE as f32);
            }
            let change: f32 = new.iter().zip(&self.rank).map(|(a, b)| (a - b).abs()).sum();
            self.rank = new;
            if change < CHANGE_MIN {
                break;
            }
        }
    }
}

impl OrderPolicy for PartialPr {
    fn place(&self, _: &Discovery, id: UrlId, _: &Mass) -> Rank {
        let rank = node(id).and_then(|node| self.rank.get(node as usize)).copied();
        score::rank_of_share(rank.unwrap_or(0.0))
    }

    fn linked(&mut self, _: &Whole, mass: &Mass) {
        self.pages += 1;
        if self.pages >= self.next {
            self.make(mass);
            self.next = self.pages + (self.pages / 100).max(self.pages.min(100)).max(1);
        }
    }

    fn restored(&mut self, mass: &Mass) {
        self.pages = mass.ledger().pages_len();
        self.next = 0;
        self.rank.clear();
    }

    fn follows_importance(&self) -> bool {
        true
    }

    fn heap_bytes(&self) -> usize {
        self.rank.capacity() * 4
    }
}
