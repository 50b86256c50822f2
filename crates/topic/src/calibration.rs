//! From a score to a relevance: by what texts scored that the model had not seen.

/// A logistic curve: 1/2 at `middle`, nine tenths one `reach` above it, one tenth one below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub middle: f32,
    pub reach: f32,
}

/// ln 9: where the curve is at nine tenths.
const NINE_TENTHS: f32 = 2.197_224_6;
/// The share of held-out others that score below the curve's tenth.
const OTHERS_BELOW: f32 = 0.97;
/// Where the curve's middle lies between these and an example's usual score, and how far it
/// reaches.
const MIDDLE: f32 = 0.5;
const REACH: f32 = 0.5;
/// Scores nearer than this are told apart by accident.
const REACH_MIN: f32 = 0.05;
/// Without pages to be told from: of what examples score above an unknown text. On pages of an
/// encyclopedia the median of all others has .7 of it, the 90th percentile .85 and pages of the
/// examples' subject about 1.
const REACH_ALONE: f32 = 0.1;
/// How far the curve reaches where examples score no higher than others: in the unit in which
/// others spread by one.
const REACH_BLURRED: f32 = 0.5;

impl Calibration {
    /// Puts the curve between others that score high and examples that score as usual. `None` where
    /// the examples do not score above the others.
    pub fn between(others: &mut [f32], examples: &mut [f32]) -> Option<Calibration> {
        let high = quantile(others, OTHERS_BELOW)?;
        let usual = quantile(examples, 0.5)?;
        let between = usual - high;
        let (middle, reach) = (high + between * MIDDLE, between * REACH);
        (between > 0.0).then(|| Calibration { middle, reach: reach.max(REACH_MIN) })
    }

    /// Puts the curve above the others alone, as high as it is where examples say no more: of
    /// pages that are none, no more count as relevant than otherwise.
    pub fn above(others: &mut [f32]) -> Calibration {
        let high = quantile(others, OTHERS_BELOW).unwrap_or(0.0);
        Calibration { middle: high + REACH_BLURRED, reach: REACH_BLURRED }
    }

    /// Puts the curve around what examples score as usual, seen from a text of which nothing is
    /// known: where the others are no pages, what they score says nothing of pages.
    pub fn around(unknown: f32, examples: &mut [f32]) -> Option<Calibration> {
        let above = quantile(examples, 0.5)? - unknown;
        let reach = (above * REACH_ALONE).max(REACH_MIN);
        (above > 0.0).then_some(Calibration { middle: unknown + above, reach })
    }

    pub fn relevance(&self, score: f32) -> f32 {
        1.0 / (1.0 + (-(score - self.middle) * NINE_TENTHS / self.reach).exp())
    }
}

fn quantile(scores: &mut [f32], at: f32) -> Option<f32> {
    scores.sort_by(f32::total_cmp);
    let last = scores.len().checked_sub(1)?;
    Some(scores[(last as f32 * at).round() as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_score_low_and_examples_high() {
        let mut others: Vec<f32> = (0..100).map(|n| n as f32 / 100.0).collect();
        let curve = Calibration::between(&mut others, &mut [3.0, 2.0, 4.0]).unwrap();
        assert!((curve.relevance(0.97) - 0.1).abs() < 0.02);
        assert!((curve.relevance(3.0) - 0.9).abs() < 0.02);
        assert_eq!(Calibration::between(&mut [1.0, 2.0], &mut [1.0]), None);
        assert_eq!(Calibration::between(&mut [1.0], &mut []), None);
    }
}
