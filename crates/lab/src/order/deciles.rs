//! Does breadth first find important pages early? Najork and Wiener, *Breadth-first crawling yields
//! high-quality pages* (WWW 2001): the average PageRank of the pages of each day of a crawl. Our
//! days are tenths of it.

use rhumb_graph::PageNumber;
use rhumb_graph::rank::{Jump, pagerank};

use super::{DAMPING, Experiment, TRUTH_ERROR, lneighbor};

pub const TENTHS: usize = 10;

/// A tenth of a breadth-first crawl.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decile {
    pub pages: u32,
    /// Average PageRank (of the whole graph, jumping anywhere) over that of all pages of the graph.
    pub pagerank_over_mean: f64,
    /// Personalised mass of its pages.
    pub mass: f64,
    /// Average distance from the trusted pages.
    pub level: f64,
}

pub fn deciles(experiment: &Experiment<'_>) -> [Decile; TENTHS] {
    let ranks = pagerank(experiment.graph, DAMPING, Jump::Anywhere, TRUTH_ERROR).values;
    let levels = lneighbor::levels(experiment.graph, &experiment.trust);
    let by_level = (0u32..).zip(&levels);
    let order: Vec<(PageNumber, u32)> =
        by_level.flat_map(|(level, pages)| pages.iter().map(move |page| (*page, level))).collect();
    let mean = 1.0 / f64::from(experiment.graph.pages());
    std::array::from_fn(|tenth| {
        let part = &order[order.len() * tenth / TENTHS..order.len() * (tenth + 1) / TENTHS];
        let average = |of: &dyn Fn(&(PageNumber, u32)) -> f64| {
            part.iter().map(of).sum::<f64>() / part.len() as f64
        };
        Decile {
            pages: part.len() as u32,
            pagerank_over_mean: average(&|(page, _)| ranks[*page as usize]) / mean,
            mass: part.iter().map(|(page, _)| experiment.truth[*page as usize]).sum(),
            level: average(&|(_, level)| f64::from(*level)),
        }
    })
}
