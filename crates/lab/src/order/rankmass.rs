//! RankMass, exactly: always the page with the most residual, of equal ones the first.
//!
//! Cho and Schonfeld, *RankMass crawler: a crawler with high PageRank coverage guarantee* (VLDB
//! 2007), algorithm "RankMass". Its bound is what has settled. Deviations: a page's residual is
//! set to nothing before its shares go out, and pages without links jump to the trusted ones, as
//! the definition of what is bounded says; read literally it loses their mass and never stops.

use super::Experiment;
use super::heap::Heap;
use super::mass::{Dangling, Mass};
use super::record::Watch;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut mass = Mass::new(experiment, Dangling::Reinjected);
    let mut heap = Heap::new(experiment.pages());
    while !watch.is_over()
        && let Some((_, page)) = heap.pop(|page| mass.residual(page))
    {
        if !mass.is_downloaded(page) {
            mass.download(page);
            watch.downloaded(page);
        }
        mass.push(page, |grown| heap.raise(grown.page, grown.residual));
        watch.proven(mass.settled(), mass.pushes, mass.edge_updates);
    }
}
