//! A random walk: what textbooks compare orders with, and what importance means.
//!
//! The surfer of PageRank walks the graph: with probability d along a link of the page where she
//! is, else, and from a page without links, to a trusted page by its weight. A page is downloaded
//! when she comes to it for the first time. She comes to important pages early and to the last ones
//! hardly ever, so a walk ends after a bounded number of steps, and may leave pages out.

use rhumb_engine::rng::Rng;
use rhumb_graph::PageNumber;

use super::record::Watch;
use super::{DAMPING, Experiment};

/// Steps of a walk, by the pages that can be reached.
const STEPS_PER_PAGE: u64 = 50;
const STEPS_MIN: u64 = 10_000;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut rng = Rng::new(experiment.seed);
    let mut downloaded = vec![false; experiment.pages()];
    let mut page = trusted(experiment, &mut rng);
    for _ in 0..STEPS_MIN + STEPS_PER_PAGE * u64::from(experiment.reachable) {
        if !std::mem::replace(&mut downloaded[page as usize], true) {
            watch.downloaded(page);
            if watch.is_over() {
                return;
            }
        }
        let links = u64::from(experiment.graph.degree(page));
        let follows = links > 0 && share(&mut rng) < DAMPING;
        page = match follows {
            true => {
                let at = (rng.draw() % links) as usize;
                experiment.graph.links_of(page).nth(at).expect("a page has as many links")
            }
            false => trusted(experiment, &mut rng),
        };
    }
}

/// A trusted page, each by its weight.
fn trusted(experiment: &Experiment<'_>, rng: &mut Rng) -> PageNumber {
    let weights = experiment.trust.weights();
    let mut left = share(rng);
    for (page, weight) in weights {
        left -= weight;
        if left < 0.0 {
            return *page;
        }
    }
    // Weights may sum to a hair less than 1.
    weights[weights.len() - 1].0
}

/// From 0 to 1.
fn share(rng: &mut Rng) -> f64 {
    (rng.draw() >> 11) as f64 / (1u64 << 53) as f64
}
