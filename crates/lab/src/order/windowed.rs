//! Windowed RankMass: a share of the frontier at once, then one pass over everything downloaded.
//!
//! Cho and Schonfeld, *RankMass crawler* (VLDB 2007), algorithm "Windowed-RankMass". The paper's
//! window is read as a percentage of the frontier, rounded up: the pages with the most residual are
//! downloaded, then every downloaded page is pushed once, in the order of downloading. The bound is
//! what has settled.

use rhumb_graph::PageNumber;

use super::Experiment;
use super::mass::{Dangling, Mass};
use super::record::Watch;

pub(super) fn run(experiment: &Experiment<'_>, percent: u8, watch: &mut Watch<'_>) {
    let mut mass = Mass::new(experiment, Dangling::Reinjected);
    let mut frontier: Vec<PageNumber> = experiment.trusted().collect();
    let mut known = vec![false; experiment.pages()];
    frontier.iter().for_each(|page| known[*page as usize] = true);
    let mut order: Vec<PageNumber> = Vec::new();
    while !watch.is_over() {
        let window = (frontier.len() * usize::from(percent)).div_ceil(100);
        for page in best_first(&mut frontier, window, &mass) {
            mass.download(page);
            watch.downloaded(page);
            order.push(page);
        }
        for page in &order {
            mass.push(*page, |grown| {
                if !std::mem::replace(&mut known[grown.page as usize], true) {
                    frontier.push(grown.page);
                }
            });
        }
        watch.proven(mass.settled(), mass.pushes, mass.edge_updates);
    }
}

/// Takes so many pages out of the frontier, those with the most residual.
fn best_first(frontier: &mut Vec<PageNumber>, window: usize, mass: &Mass<'_>) -> Vec<PageNumber> {
    let by_residual = |one: &PageNumber, other: &PageNumber| {
        mass.residual(*other).total_cmp(&mass.residual(*one)).then(one.cmp(other))
    };
    if window < frontier.len() {
        frontier.select_nth_unstable_by(window, by_residual);
    }
    let mut best: Vec<PageNumber> = frontier.drain(..window).collect();
    best.sort_unstable_by(by_residual);
    best
}
