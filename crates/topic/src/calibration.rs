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

impl Calibration {
    /// Puts the curve between others that score high and examples that score as usual. `None` where
    /// the examples do not score above the others: nothing was learnt.
    pub fn between(others: &mut [f32], examples: &mut [f32]) -> Option<Calibration> {
        let high = quantile(others, OTHERS_BELOW)?;
        let usual = quantile(examples, 0.5)?;
        let between = usual - high;
        let (middle, reach) = (high + between * MIDDLE, between * REACH);
        (between > 0.0).then(|| Calibration { middle, reach: reach.max(REACH_MIN) })
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
