//! L-Neighbor: breadth first, level by level.
//!
//! Najork and Wiener, *Breadth-first crawling yields high-quality pages* (WWW 2001); the bound is
//! Cho and Schonfeld's (*RankMass crawler*, VLDB 2007): a surfer who starts at a trusted page is
//! within L links with probability 1 − d^(L+1). Once nothing is left to reach, everything is had.

use std::collections::VecDeque;

use rhumb_graph::{Graph, PageNumber};

use super::record::Watch;
use super::{DAMPING, Experiment, TrustWeights};

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let levels = levels(experiment.graph, &experiment.trust);
    let last = levels.len().saturating_sub(1);
    let mut edge_updates = 0;
    for (level, pages) in levels.into_iter().enumerate() {
        if watch.is_over() {
            return;
        }
        for page in pages {
            watch.downloaded(page);
            edge_updates += u64::from(experiment.graph.degree(page));
        }
        let bound = if level == last { 1.0 } else { 1.0 - DAMPING.powi(level as i32 + 1) };
        watch.proven(bound, 0, edge_updates);
    }
}

/// The pages at each distance, in the order of a queue that takes links as they stand.
pub(super) fn levels(graph: &Graph, trust: &TrustWeights) -> Vec<Vec<PageNumber>> {
    let mut found = vec![false; graph.pages() as usize];
    let mut queue: VecDeque<PageNumber> = trust.weights().iter().map(|(page, _)| *page).collect();
    queue.iter().for_each(|page| found[*page as usize] = true);
    let mut levels = Vec::new();
    while !queue.is_empty() {
        let level: Vec<PageNumber> = queue.drain(..).collect();
        for page in &level {
            for target in graph.links_of(*page) {
                if !std::mem::replace(&mut found[target as usize], true) {
                    queue.push_back(target);
                }
            }
        }
        levels.push(level);
    }
    levels
}
