//! Partial PageRank: the frontier ordered by PageRank of the graph as known so far, now and then.
//!
//! Cho, Garcia-Molina and Page, *Efficient crawling through URL ordering* (WWW 1998), metric IR'.
//! Computed anew after 1, 2, 4, … downloads and then after every hundredth of what can be reached;
//! between two computations the order stays, and what was found meanwhile waits.
//!
//! Deviation in the method, not in the result: in the known graph pages not downloaded yet have no
//! links, so their rank is what the downloaded ones push to them. The residual of earlier
//! computations stays valid when pages are added, so nothing is ever computed from the start.

use rhumb_graph::PageNumber;

use super::mass::{Dangling, Mass};
use super::record::Watch;
use super::{DAMPING, Experiment};

/// Residual that remains on downloaded pages, as L1 of ranks.
const ERROR: f64 = 1e-6;
const ROUNDS_PER_CRAWL: u32 = 100;
/// How much finer each round of pushes is than the one before.
const FINER: f64 = 0.25;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut mass = Mass::new(experiment, Dangling::Lost);
    let mut known = vec![false; experiment.pages()];
    let mut frontier: Vec<PageNumber> = experiment.trusted().collect();
    frontier.iter().for_each(|page| known[*page as usize] = true);
    let stride = experiment.reachable.div_ceil(ROUNDS_PER_CRAWL).max(1) as usize;
    let (mut downloads, mut next) = (0, 1);
    while !watch.is_over() {
        settle(&mut mass);
        frontier.sort_unstable_by(|one, other| {
            mass.residual(*other).total_cmp(&mass.residual(*one)).then(one.cmp(other))
        });
        if frontier.is_empty() {
            break;
        }
        let count = (next - downloads).min(frontier.len());
        let chosen: Vec<PageNumber> = frontier.drain(..count).collect();
        for page in chosen {
            mass.download(page);
            watch.downloaded(page);
            // Also where nothing is pushed yet: a link that was read is known.
            let found = experiment.graph.links_of(page);
            frontier.extend(found.filter(|t| !std::mem::replace(&mut known[*t as usize], true)));
        }
        downloads += count;
        next = if downloads < stride { (2 * downloads).min(stride) } else { downloads + stride };
        watch.proven(0.0, mass.pushes, mass.edge_updates);
    }
}

fn settle(mass: &mut Mass<'_>) {
    let mut least = 1.0 - DAMPING;
    while mass.inside() > ERROR * (1.0 - DAMPING) {
        mass.settle(least, |_| false, |_| ());
        least *= FINER;
    }
}
