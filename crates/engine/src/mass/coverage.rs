//! The bound: how much of all importance the crawled pages have for certain.
//!
//! With dangling pages jumping to the trusted ones, importance is p/Σp, where p is what pushing
//! without such jumps would settle in the end and Σp = 1 − d/(1−d)·p(dangling). What is settled,
//! and what lies on crawled pages, are lower bounds of p there, so both parts of the fraction are
//! on the safe side. A residue below zero, which links that changed can leave, may cost up to
//! 1/(1−d) of itself anywhere.

use super::fixed::{JUMPED, ONE, PARTS};
use super::ledger::Sums;
use super::standing::MassStanding;

/// More than all that floating point can add to a quotient of exact sums.
pub const DOUBT: f64 = 1e-12;

/// Shares of the whole. `bound`, the shares that wait, and those lost make at most 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// The crawled pages have at least this importance.
    pub bound: f64,
    /// The bound cannot exceed this any more, unless what is lost is found again.
    pub ceiling: f64,
    /// What lies on URLs that wait, here or in another partition.
    pub frontier: f64,
    /// What was settled on pages without links, and thereby divided out.
    pub dangling: f64,
    /// By cause.
    pub lost: Vec<(&'static str, f64)>,
    /// Seeds that were seen without links, and how much of the trust lies on them.
    pub dead_ends: u32,
    pub dead_end_trust: f64,
    /// Like the ceiling, but what was refused for its depth may still come by a shorter way.
    pub ceiling_for_good: f64,
}

pub fn coverage(sums: &Sums) -> Coverage {
    let per_jump = PARTS as f64 / JUMPED as f64;
    let residue = |s: MassStanding| (sums.residue[s as usize] + sums.below[s as usize]) as f64;
    let below = sums.below.iter().map(|&b| b as f64).sum::<f64>() + sums.owed as f64;
    let below = below * per_jump;
    let crawled = residue(MassStanding::Fetched) + residue(MassStanding::Linked);
    let dangling = sums.settled.on_dangling() as f64 + residue(MassStanding::Dangling);
    let proven = sums.settled.all() as f64 + crawled + residue(MassStanding::Dangling) - below;
    let jumps = (dangling - below).max(0.0) * (per_jump - 1.0);
    // Σp is at least what a jump alone leaves.
    let whole = (ONE as f64 - jumps).max(ONE as f64 / per_jump);
    let share = |r: f64| (r * per_jump / whole).clamp(0.0, 1.0);
    let mut lost: Vec<(&'static str, f64)> =
        MassStanding::LOST.iter().map(|&s| (s.word(), share(residue(s)))).collect();
    lost.push(("unfollowed", share(sums.unnamed as f64)));
    let all: f64 = lost.iter().map(|(_, share)| share).sum();
    let depth = share(residue(MassStanding::Depth));
    Coverage {
        bound: (proven / whole - DOUBT).clamp(0.0, 1.0),
        ceiling: (1.0 - all).clamp(0.0, 1.0),
        ceiling_for_good: (1.0 - all + depth).clamp(0.0, 1.0),
        frontier: share(
            residue(MassStanding::Waiting)
                + residue(MassStanding::Nobody)
                + residue(MassStanding::Foreign),
        ),
        dangling: (dangling / whole).clamp(0.0, 1.0),
        dead_ends: sums.dead_ends.pages,
        dead_end_trust: sums.dead_ends.trust as f64 / sums.trusted.max(1) as f64,
        lost,
    }
}
