//! A linear model: a small weight for each feature, and what their sum says of a text.

use crate::calibration::Calibration;
use crate::features::{BUCKETS, Feature, length, of_pair, of_word};

/// Weights in parts of their largest, so that a model takes 256 kB whatever it was trained on.
#[derive(Clone, PartialEq)]
pub struct Linear {
    weights: Box<[i8]>,
    /// What a weight of one stands for.
    scale: f32,
    pub bias: f32,
    pub calibration: Calibration,
}

impl std::fmt::Debug for Linear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let used = self.weights.iter().filter(|w| **w != 0).count();
        write!(f, "Linear({used} weights, {:?})", self.calibration)
    }
}

impl Linear {
    /// Rounds weights to eight bits.
    pub fn rounded(weights: &[f32], bias: f32, calibration: Calibration) -> Linear {
        assert_eq!(weights.len(), BUCKETS, "a weight for each feature");
        let largest = weights.iter().fold(0.0f32, |max, w| max.max(w.abs()));
        let scale = if largest > 0.0 { largest / f32::from(i8::MAX) } else { 1.0 };
        let round = |w: &f32| (w / scale).round() as i8;
        Linear { weights: weights.iter().map(round).collect(), scale, bias, calibration }
    }

    /// As read from a file; none if the parts do not fit.
    pub fn of_parts(
        weights: Vec<i8>,
        scale: f32,
        bias: f32,
        calibration: Calibration,
    ) -> Option<Linear> {
        let fits = weights.len() == BUCKETS && scale.is_finite() && bias.is_finite();
        fits.then(|| Linear { weights: weights.into(), scale, bias, calibration })
    }

    pub fn weights(&self) -> &[i8] {
        &self.weights
    }

    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// What a text with these features scores: the sum of their weights, as often as they occur,
    /// over the length of the text as a vector, so that long texts and short ones compare.
    pub fn score(&self, features: &[Feature]) -> f32 {
        let weigh = |f: &Feature| i64::from(self.weights[f.index()]) * i64::from(f.often());
        let sum: i64 = features.iter().map(weigh).sum();
        self.bias + self.scale * sum as f32 / length(features)
    }

    /// The relevance of a text with these features.
    pub fn relevance(&self, features: &[Feature]) -> f32 {
        if features.is_empty() { 0.0 } else { self.calibration.relevance(self.score(features)) }
    }

    /// What a few words in a row say, each counted once: as a text would score, without the bias.
    pub fn of_words(&self, hashes: &[u64]) -> f32 {
        let mut sum = 0i32;
        let mut before = None;
        for &hash in hashes {
            sum += i32::from(self.weights[of_word(hash) as usize]);
            if let Some(before) = before {
                sum += i32::from(self.weights[of_pair(before, hash) as usize]);
            }
            before = Some(hash);
        }
        // Words, and pairs of them.
        let features = (2 * hashes.len()).saturating_sub(1).max(1);
        self.scale * sum as f32 / (features as f32).sqrt()
    }

    /// What one word, or a word after another, adds to the sum.
    pub fn weight(&self, feature: u32) -> f32 {
        self.scale * f32::from(self.weights[feature as usize])
    }
}
