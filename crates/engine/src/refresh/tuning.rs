//! How much pages differ and how fast they change their ways, learnt by prediction.
//!
//! Two numbers govern the beliefs: the shape of the prior (are pages of a host alike?) and what is
//! kept of old evidence at a visit (do they change in bursts?). Each visit to a page of the sample
//! is predicted by every candidate before it is looked at, and what they predict best is believed:
//! Dawid, "Statistical theory: the prequential approach", J. R. Statist. Soc. A 147(2), 1984.

use super::belief::{Belief, Gamma, VisitFinding};
use super::constants::RefreshConstants;
use serde::{Deserialize, Serialize};

/// Candidates for the shape of the prior. Pages of a shape of 30 differ by a fifth.
const SHAPES: [f64; 6] = [0.25, 0.5, 1.0, 3.0, 9.0, 30.0];
/// Candidates for what is left of old evidence after a visit.
pub const KEPT: [f64; 4] = [0.7, 0.85, 0.95, 1.0];
/// What is believed before anything was predicted, besides the shape, and how strongly: a handful
/// of visits.
const KEPT_FIRST: f64 = 0.9;
const KEPT_SCALE: f64 = 0.1;
/// What is left of a score at each look: the population may change, too.
const FADING: f64 = 0.995;
/// A prediction that failed altogether costs no more than this probability.
const CHANCE_MIN: f64 = 1e-9;

/// Beliefs of one page, one for each candidate of [`KEPT`].
pub type Rivals = [Belief; KEPT.len()];

/// What predicts best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    pub shape: f64,
    pub kept: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Logarithms of how well each pair of candidates predicted.
    scores: [[f64; KEPT.len()]; SHAPES.len()],
}

impl Tuning {
    /// Before anything was predicted.
    pub fn new(constants: &RefreshConstants) -> Tuning {
        let doubt = |shape: f64, kept: f64| {
            let octaves = (shape / constants.shape_first).log2();
            let far = (kept - KEPT_FIRST) / KEPT_SCALE;
            -(octaves * octaves + far * far) / 2.0
        };
        Tuning { scores: SHAPES.map(|shape| KEPT.map(|kept| doubt(shape, kept))) }
    }

    /// Scores every candidate's prediction of a visit after `t` days, then lets each learn from
    /// it. They share the mean of the prior in force.
    pub fn predicted(&mut self, rivals: &mut Rivals, prior: Gamma, t: f64, seen: VisitFinding) {
        for (row, shape) in self.scores.iter_mut().zip(SHAPES) {
            let candidate = Gamma { a: shape, b: shape / prior.mean() };
            for (score, belief) in row.iter_mut().zip(&*rivals) {
                let unchanged = belief.with(candidate).ln_unchanged(t);
                *score += match seen {
                    VisitFinding::Unchanged => unchanged,
                    VisitFinding::Changed | VisitFinding::ChangedAgo(_) => {
                        (-unchanged.exp_m1()).max(CHANCE_MIN).ln()
                    }
                };
            }
        }
        for (belief, kept) in rivals.iter_mut().zip(KEPT) {
            *belief = belief.after(prior, kept, t, seen);
        }
    }

    pub fn fade(&mut self) {
        self.scores.iter_mut().flatten().for_each(|score| *score *= FADING);
    }

    /// The candidates' mean, each weighed by how well it predicts.
    pub fn best(&self) -> Best {
        let top = self.scores.iter().flatten().fold(f64::NEG_INFINITY, |top, s| top.max(*s));
        let (mut sum, mut ln_shape, mut kept) = (0.0, 0.0, 0.0);
        for (row, shape) in self.scores.iter().zip(SHAPES) {
            for (score, candidate) in row.iter().zip(KEPT) {
                let share = (score - top).exp();
                sum += share;
                ln_shape += share * shape.ln();
                kept += share * candidate;
            }
        }
        Best { shape: (ln_shape / sum).exp(), kept: kept / sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Visits pages whose rates are drawn by `rate`, every day, and tells what predicts best.
    fn tuned(mut rate: impl FnMut(&mut Rng, u32) -> f64) -> Best {
        let mut tuning = Tuning::new(&RefreshConstants::default());
        let mut rng = Rng::new(5);
        let prior = Gamma { a: 0.7, b: 0.7 / 0.5 };
        for page in 0..300 {
            let mut rivals = Rivals::default();
            for visit in 0..40 {
                let rate = rate(&mut rng, page * 40 + visit);
                let chance = (rng.draw() >> 11) as f64 / (1u64 << 53) as f64;
                let changed = chance < -(-rate).exp_m1();
                let seen = if changed { VisitFinding::Changed } else { VisitFinding::Unchanged };
                tuning.predicted(&mut rivals, prior, 1.0, seen);
            }
        }
        tuning.best()
    }

    #[test]
    fn pages_that_are_alike_have_a_greater_shape_than_pages_that_differ() {
        let alike = tuned(|_, _| 0.5);
        let unlike = tuned(|_, visit| if (visit / 40).is_multiple_of(2) { 0.02 } else { 1.0 });
        assert!(alike.shape > 4.0, "{alike:?}");
        assert!(unlike.shape < 1.5, "{unlike:?}");
        assert!(unlike.kept > 0.94, "what is steady is remembered: {unlike:?}");
    }

    #[test]
    fn pages_that_change_in_bursts_are_forgotten_faster() {
        let bursts = tuned(|_, visit| if visit / 8 % 4 == 0 { 3.0 } else { 0.02 });
        assert!(bursts.kept < 0.86, "{bursts:?}");
    }
}
