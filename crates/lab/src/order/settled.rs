//! Settled: order by what is known, prove only when a proof is in reach.
//!
//! Our own, after Cho and Schonfeld's RankMass (VLDB 2007), which ties both together: it downloads
//! a page whenever that has the most residual, and proves only what has settled. But pushing a page
//! that was downloaded costs no request. So
//!
//! 1. the page outside with the most residual is downloaded; before that, pages inside that have
//!    more are pushed, for the order's sake (in half octaves, so that a queue will do);
//! 2. the residual inside counts as proven: it can only settle or come back;
//! 3. residual outside can never be proven by pushing, so `possible` (see [`super::mass`]) says at
//!    every moment whether more pushes could prove the next target at all. Only then the pages
//!    inside are pushed further, most residual first, until the target is proven or is out of reach
//!    again or the doubt is below `SLACK` of what the target leaves open. Each attempt tells which
//!    part of the doubt escapes when it is resolved, and the next one waits until that much more
//!    is possible.
//!
//! Without the third point a proof as good needs every page inside to be pushed down to a small
//! share of the frontier's best at all times, four times the pushes for a worse bound.

use super::Experiment;
use super::heap::Heap;
use super::mass::{Dangling, Grown, Mass};
use super::record::Watch;

/// A doubt smaller than this share of 1 − target is resolved by a download instead.
const SLACK: f64 = 0.01;
/// An attempt is made if it would succeed with this part of the escape seen in the last one: a
/// failed attempt costs pushes, one made too late costs downloads.
const CAUTION: f64 = 0.5;
/// How much finer each round of a proof is than the one before.
const FINER: f64 = 0.5;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut mass = Mass::new(experiment, Dangling::Reinjected);
    let mut frontier = Heap::new(experiment.pages());
    let raise = |frontier: &mut Heap, grown: Grown| {
        if !grown.downloaded {
            frontier.raise(grown.page, grown.residual);
        }
    };
    let mut escaping = 0.0;
    while !watch.is_over() {
        // Pushes raise the frontier's best, so ask again until both agree.
        let mut least = f64::INFINITY;
        while let Some((best, _)) = frontier.peek(|page| mass.residual_outside(page))
            && half_octave(best) != least
        {
            least = half_octave(best);
            mass.settle(least, |_| false, |grown| raise(&mut frontier, grown));
        }
        let Some((_, page)) = frontier.pop(|page| mass.residual_outside(page)) else { break };
        mass.download(page);
        watch.downloaded(page);
        mass.settle(least, |_| false, |grown| raise(&mut frontier, grown));
        prove(&mut mass, &mut escaping, least, watch, |grown| raise(&mut frontier, grown));
    }
    if frontier.peek(|page| mass.residual_outside(page)).is_none() {
        // Nothing is outside: all there is was downloaded.
        watch.proven(1.0, mass.pushes, mass.edge_updates);
    }
}

/// Pushes on while that could prove the next target. `escaping` is the part of the doubt that left
/// for pages outside when it was last resolved.
pub(super) fn prove(
    mass: &mut Mass<'_>,
    escaping: &mut f64,
    mut least: f64,
    watch: &mut Watch<'_>,
    mut grown: impl FnMut(Grown),
) {
    watch.proven(mass.proven(), mass.pushes, mass.edge_updates);
    while let Some(target) = watch.target() {
        let (possible, doubt) = (mass.possible(), mass.doubt());
        let slack = SLACK * (1.0 - target);
        if possible - CAUTION * *escaping * doubt < target || doubt <= slack {
            return;
        }
        let open = |mass: &Mass<'_>| {
            mass.possible() >= target && mass.proven() < target && mass.doubt() > slack
        };
        while open(mass) {
            least *= FINER;
            mass.settle(least, |mass| !open(mass), &mut grown);
        }
        let resolved = doubt - mass.doubt();
        if resolved > 0.0 {
            *escaping = ((possible - mass.possible()) / resolved).clamp(0.0, 1.0);
        }
        watch.proven(mass.proven(), mass.pushes, mass.edge_updates);
    }
}

/// The greatest power of √2 that is not above a number.
fn half_octave(number: f64) -> f64 {
    ((2.0 * number.log2()).floor() / 2.0).exp2()
}
