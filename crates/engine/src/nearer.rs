//! Depth is the length of the shortest way, not of the first one that was found.
//!
//! A page that was fetched by a long way and is reached by a shorter one later has links that are
//! nearer than they were taken to be, and so have those. While nothing is left to do, the shortest
//! ways are computed over the links that the books of importance hold; if one leads to a URL that
//! was refused for its depth, the refused URLs are put to admission again (`review`), each by its
//! shortest way. What is fetched then may bring shorter ways again: it ends when none leads to a
//! refusal.
//!
//! Ways through other partitions, and through links that are not held, are not seen. A redirect is
//! no link: those of this run are remembered, and of earlier runs each counts as one.

use crate::engine::Engine;
use crate::mass::{self, Ledger, MassStanding};
use crate::record::{Refusal, UrlId};
use std::collections::HashSet;

/// Redirects that are remembered.
const MOVED_MAX: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Nearer {
    /// Looked up, never iterated.
    moved: HashSet<u32>,
    /// By number, while refused URLs are put to admission again.
    depths: Vec<u16>,
    /// The answers that had come when it was last looked for.
    looked_at: Option<u64>,
}

impl Nearer {
    /// Links from a seed to a URL by the shortest way that is known, if that was looked for.
    pub fn depth(&self, id: UrlId) -> Option<u16> {
        let node = mass::node(id)? as usize;
        self.depths.get(node).copied()
    }

    pub fn forget(&mut self) {
        self.depths = Vec::new();
    }
}

impl Engine {
    pub(crate) fn remember_moved(&mut self, id: UrlId) {
        let moved = &mut self.admission.nearer.moved;
        if self.config.depth_max.is_some() && moved.len() < MOVED_MAX {
            moved.extend(mass::node(id));
        }
    }

    /// Whether a way within the bound leads to what was refused for its depth.
    pub(crate) fn finds_nearer(&mut self) -> bool {
        let Some(max) = self.config.depth_max else { return false };
        let answers = Some(self.books.counters.answers);
        let is_worth_a_look = self.books.counters.refused[Refusal::Depth as usize] > 0
            && self.admission.nearer.looked_at != answers
            && !self.books.mass.is_stale();
        if !is_worth_a_look || !self.is_idle() {
            return false;
        }
        self.admission.nearer.looked_at = answers;
        let ledger = self.books.mass.ledger();
        let depths = shortest(ledger, &self.admission.nearer.moved, max);
        let is_refused = |node: usize| ledger.standing(node as u32) == MassStanding::Depth;
        let is_found = (0..depths.len()).any(|node| depths[node] <= max && is_refused(node));
        if is_found {
            self.admission.nearer.depths = depths;
        }
        is_found
    }
}

/// Links from a seed to each URL, as far as `max`; a redirect takes none.
fn shortest(ledger: &Ledger, moved: &HashSet<u32>, max: u16) -> Vec<u16> {
    let mut depths = vec![u16::MAX; ledger.nodes_len()];
    let mut layer: Vec<u32> = ledger.trusted().iter().map(|(node, _)| *node).collect();
    layer.iter().for_each(|&node| depths[node as usize] = 0);
    let mut ids = Vec::new();
    for depth in 0..=max {
        let mut next = Vec::new();
        let mut at = 0;
        while let Some(&page) = layer.get(at) {
            at += 1;
            if ledger.links_of(page, &mut ids).is_none() {
                continue;
            }
            let (to, list) = match moved.contains(&page) {
                true => (depth, &mut layer),
                false => (depth + 1, &mut next),
            };
            for &id in &ids {
                let known = &mut depths[id as usize];
                if to < *known {
                    *known = to;
                    list.push(id);
                }
            }
        }
        layer = next;
    }
    depths
}
