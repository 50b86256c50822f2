//! The policy's constants, chosen without the set that they are judged on.
//!
//! Every candidate of a grid is replayed on every set at every budget. For each given set that is
//! left out, the candidate is chosen that is best on all the others, given and made up: the most
//! gained over uniform revisiting, a set of a hundred pages that loses more than the promise has it
//! weighing ten times as much. Then it is judged on the set that was left out, beside the constants
//! that crawls have.

use super::{LEAST, PROMISED_PAGES, Set, TIMES, rate};
use crate::refresh::learned;
use crate::refresh::policy::Policy;
use crate::refresh::replay::{Course, ReplayContender, replay};
use rhumb_engine::refresh::constants::RefreshConstants;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::refresh::scheduler::SchedulerSettings;

const DOUBTS: [f64; 4] = [0.1, 0.2, 0.3, 0.4];
const HALVINGS: [f64; 3] = [250.0, 500.0, 1_000.0];
const SHAPES: [f64; 3] = [2.0, 4.0, 8.0];
const EXPLORATIONS: [f64; 3] = [0.025, 0.05, 0.1];
/// What is lost beyond the promise weighs so many times as much as what is gained.
const BROKEN_WEIGHT: f64 = 10.0;

/// A given set, judged with constants that it had no part in.
#[derive(Clone, Debug)]
pub struct ConstantsLeftOut {
    pub set: String,
    pub pages: usize,
    pub chosen: RefreshConstants,
    /// Freshness by the chosen constants, by those of crawls, and of uniform revisiting: means
    /// over the budgets.
    pub by_chosen: f64,
    pub by_shipped: f64,
    pub by_uniform: f64,
    /// The chosen less uniform at the budget where that is least.
    pub worst: f64,
}

/// What each candidate has on a set, less uniform, at each budget.
struct Tried {
    uniform: Vec<f64>,
    gains: Vec<Vec<f64>>,
}

/// All candidates.
pub fn grid() -> Vec<RefreshConstants> {
    let mut all = Vec::new();
    for doubt_first in DOUBTS {
        for changes_halving in HALVINGS {
            for shape_first in SHAPES {
                all.extend(EXPLORATIONS.map(|exploration| RefreshConstants {
                    doubt_first,
                    changes_halving,
                    shape_first,
                    exploration,
                }));
            }
        }
    }
    all
}

/// Leaves out each given set in turn; a set without changes takes no part.
pub fn left_out(
    sets: &[Set],
    objective: Objective,
    candidates: &[RefreshConstants],
) -> Vec<ConstantsLeftOut> {
    let sets: Vec<&Set> = sets.iter().filter(|set| rate(&set.histories, set.days) > 0.0).collect();
    let shipped = [RefreshConstants::default()];
    let tried: Vec<Tried> = sets.iter().map(|set| tried(set, objective, candidates)).collect();
    let of = |(out, set): (usize, &&Set)| {
        let score = |candidate: usize| -> f64 {
            let others = (0..sets.len()).filter(|other| *other != out);
            others.map(|other| worth(sets[other], &tried[other].gains[candidate])).sum()
        };
        let best = (0..candidates.len()).max_by(|a, b| score(*a).total_cmp(&score(*b)))?;
        let Tried { uniform, gains } = &tried[out];
        let by_uniform = mean(uniform);
        Some(ConstantsLeftOut {
            set: set.name.clone(),
            pages: set.histories.len(),
            chosen: candidates[best],
            by_chosen: by_uniform + mean(&gains[best]),
            by_shipped: by_uniform + mean(&self::tried(set, objective, &shipped).gains[0]),
            by_uniform,
            worst: gains[best].iter().copied().fold(f64::INFINITY, f64::min),
        })
    };
    sets.iter().enumerate().filter(|(_, set)| set.kind.is_none()).filter_map(of).collect()
}

fn tried(set: &Set, objective: Objective, candidates: &[RefreshConstants]) -> Tried {
    let course = Course::real(&set.histories, set.days);
    let budgets = TIMES.map(|times| times * rate(&set.histories, set.days));
    let uniform = ReplayContender::Known(Policy::Uniform);
    let uniform = budgets.map(|budget| replay(uniform, course, budget).freshness);
    let gained = |constants: &RefreshConstants| {
        let each = budgets.iter().zip(uniform).map(|(budget, uniform)| {
            let settings = SchedulerSettings::new(objective, *budget);
            let settings = SchedulerSettings { constants: *constants, ..settings };
            learned::replay(course, settings).freshness - uniform
        });
        each.collect()
    };
    Tried { uniform: uniform.to_vec(), gains: candidates.iter().map(gained).collect() }
}

/// What a candidate is worth on one set.
fn worth(set: &Set, gains: &[f64]) -> f64 {
    let broken: f64 = gains.iter().map(|gain| (LEAST - gain).max(0.0)).sum();
    let is_promised = set.histories.len() >= PROMISED_PAGES;
    mean(gains) - if is_promised { BROKEN_WEIGHT * broken } else { 0.0 }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::made::{MadeKind, made};

    /// Doubts nothing, and believes that pages differ before any was seen to.
    const RASH: RefreshConstants = RefreshConstants {
        doubt_first: 1e-9,
        changes_halving: 1.0,
        shape_first: 0.25,
        exploration: 0.0,
    };

    #[test]
    fn the_set_that_is_left_out_has_no_part_in_the_choice_and_all_others_have() {
        let given = |kind, seed| Set::given(String::new(), 1_000.0, made(kind, 150, seed));
        let candidates = [RefreshConstants::default(), RASH];
        let chosen = |sets: &[Set]| -> Vec<RefreshConstants> {
            let out = left_out(sets, Objective::Harmonic, &candidates);
            out.iter().map(|out| out.chosen).collect()
        };
        // Where pages are alike the rash lose, whatever is gained on the set that is left out.
        let alike = || Set::made(MadeKind::Alike, 150, 1);
        let first =
            chosen(&[given(MadeKind::Dead, 1), alike(), Set::made(MadeKind::Alike, 150, 2)]);
        let other =
            chosen(&[given(MadeKind::Bursts, 1), alike(), Set::made(MadeKind::Alike, 150, 2)]);
        assert_eq!((&first, first[0]), (&other, RefreshConstants::default()));
        // With nothing else to choose by, what is left out would be chosen for, and is not.
        let two = left_out(
            &[given(MadeKind::Alike, 1), given(MadeKind::Alike, 2)],
            Objective::Harmonic,
            &candidates,
        );
        assert_eq!(two.len(), 2);
        assert!(two.iter().all(|out| out.by_chosen == out.by_shipped && out.worst < 0.02));
    }

    #[test]
    fn the_grid_has_the_constants_that_crawls_have() {
        assert!(grid().contains(&RefreshConstants::default()));
    }
}
