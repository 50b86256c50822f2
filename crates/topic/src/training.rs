//! Learning a linear model from a few examples, and from texts that are none.
//!
//! Logistic regression by stochastic gradients (Shalev-Shwartz, Singer, Srebro, *Pegasos*, ICML
//! 2007), an example after each text that is none, however few the examples are, in a fixed order:
//! the same texts make the same model. Five folds say what texts score that a model has not seen;
//! from that the curve is made.

use crate::calibration::Calibration;
use crate::features::{BUCKETS, Feature, length};
use crate::linear::Linear;

const EPOCHS: usize = 12;
/// How much weights are pulled to nought: as in a sum over some hundred texts.
const SHRINKING: f32 = 0.003;
/// The first steps are as long as if so many had been made before.
const STEPS_BEFORE: f32 = 100.0;
/// Makes vectors about as long as one.
const RARITY_USUAL: f32 = 4.0;
const FOLDS: usize = 5;
/// Texts that are none, at most: more tell little and cost time.
pub const AGAINST_MAX: usize = 2_000;
pub const EXAMPLES_MAX: usize = 10_000;

/// What a model was learnt from, and how sure that is.
#[derive(Clone, Debug, PartialEq)]
pub struct LearntModel {
    pub model: Linear,
    /// Of held-out texts: the probability that an example scores above another. One half is chance.
    /// A single example cannot be held out.
    pub auc: Option<f32>,
    /// Held-out examples scored no higher than others: the examples contradict each other, or are
    /// of no subject.
    pub is_blurred: bool,
}

/// Learns from the features of texts. None if there is no example, or nothing to tell it from.
pub fn learn(examples: &[&[Feature]], others: &[&[Feature]]) -> Option<LearntModel> {
    let (weights, auc, [mut of_examples, mut of_others]) = fitted(examples, others)?;
    let curve = Calibration::between(&mut of_others, &mut of_examples);
    let above = || Calibration::above(&mut of_others);
    let model = Linear::rounded(&weights.of, weights.bias, curve.unwrap_or_else(above));
    Some(LearntModel { model, auc, is_blurred: curve.is_none() })
}

/// As [`learn`], where the others are no pages but [`mod@crate::background`].
pub fn learn_alone(examples: &[&[Feature]], background: &[&[Feature]]) -> Option<LearntModel> {
    let (weights, auc, [mut of_examples, mut of_others]) = fitted(examples, background)?;
    let curve = Calibration::around(weights.bias, &mut of_examples);
    let above = || Calibration::above(&mut of_others);
    let model = Linear::rounded(&weights.of, weights.bias, curve.unwrap_or_else(above));
    Some(LearntModel { model, auc, is_blurred: curve.is_none() })
}

/// Weights, how well texts that were held out are told apart, and what these score.
type Fitted = (Weights, Option<f32>, [Vec<f32>; 2]);

fn fitted(examples: &[&[Feature]], others: &[&[Feature]]) -> Option<Fitted> {
    if examples.is_empty() || others.len() < FOLDS {
        return None;
    }
    let (mut of_examples, mut of_others) = (Vec::new(), Vec::new());
    let folds = if examples.len() == 1 { 1 } else { FOLDS };
    for fold in 0..folds {
        let (seen, unseen) = split(examples, fold, folds);
        let (seen_others, unseen_others) = split(others, fold, FOLDS);
        let seen = if seen.is_empty() { examples.to_vec() } else { seen };
        let weights = Weights::fitted(&seen, &seen_others);
        of_examples.extend(unseen.iter().map(|text| weights.score(text)));
        of_others.extend(unseen_others.iter().map(|text| weights.score(text)));
    }
    let auc = (folds > 1).then(|| auc(&of_examples, &of_others));
    Some((Weights::fitted(examples, others), auc, [of_examples, of_others]))
}

/// Those outside of a fold, and those in it. A single example is in its own fold, and learnt from
/// all the same: there is nothing else.
fn split<'a>(
    texts: &[&'a [Feature]],
    fold: usize,
    folds: usize,
) -> (Vec<&'a [Feature]>, Vec<&'a [Feature]>) {
    let all = texts.iter().enumerate();
    let (unseen, seen): (Vec<_>, Vec<_>) = all.partition(|(at, _)| at % folds == fold);
    let texts =
        |list: Vec<(usize, &&'a [Feature])>| list.into_iter().map(|(_, text)| *text).collect();
    (texts(seen), texts(unseen))
}

/// The share of pairs that stand in the right order.
fn auc(examples: &[f32], others: &[f32]) -> f32 {
    let pairs = examples.len() * others.len();
    let above = |e: &f32| others.iter().filter(|o| *o < e).count();
    examples.iter().map(above).sum::<usize>() as f32 / pairs.max(1) as f32
}

/// Weights of features, fitted in the unit in which other texts spread by one around nought.
struct Weights {
    of: Vec<f32>,
    bias: f32,
}

impl Weights {
    fn fitted(examples: &[&[Feature]], others: &[&[Feature]]) -> Weights {
        let rarity = rarity(examples, others);
        let vector = |text: &&[Feature]| Vector::of(text, &rarity);
        let examples: Vec<Vector> = examples.iter().map(vector).collect();
        let vectors: Vec<Vector> = others.iter().map(vector).collect();
        let (mut of, mut bias, mut shrunk, mut step) = (vec![0.0f32; BUCKETS], 0.0f32, 1.0f32, 0.0);
        let mut take = |vector: &Vector, truth: f32| {
            step += 1.0;
            let rate = 1.0 / (SHRINKING * (step + STEPS_BEFORE));
            let score = bias + shrunk * vector.dot(&of);
            let error = 1.0 / (1.0 + (-score).exp()) - truth;
            // Shrinking all weights is one multiplication; it is undone for what is added.
            shrunk *= 1.0 - rate * SHRINKING;
            vector.add(-rate * error / shrunk, &mut of);
            bias -= 0.1 * rate * error;
        };
        for epoch in 0..EPOCHS {
            for (at, other) in vectors.iter().enumerate() {
                take(other, 0.0);
                take(&examples[(at + epoch * vectors.len()) % examples.len()], 1.0);
            }
        }
        let folded = of.iter().zip(&rarity).map(|(w, rarity)| w * shrunk * rarity);
        Weights { of: folded.collect(), bias }.scaled(others)
    }

    fn scaled(mut self, others: &[&[Feature]]) -> Weights {
        let scores: Vec<f32> = others.iter().map(|text| self.score(text)).collect();
        let n = scores.len() as f32;
        let mean = scores.iter().sum::<f32>() / n;
        let spread = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f32>() / n).sqrt().max(1e-6);
        self.of.iter_mut().for_each(|w| *w /= spread);
        self.bias = (self.bias - mean) / spread;
        self
    }

    fn score(&self, features: &[Feature]) -> f32 {
        let sum: f32 = features.iter().map(|f| self.of[f.index()] * f.often() as f32).sum();
        self.bias + sum / length(features)
    }
}

/// A text, each feature times its rarity.
struct Vector(Vec<(u32, f32)>);

impl Vector {
    fn of(text: &[Feature], rarity: &[f32]) -> Vector {
        let unit = 1.0 / length(text);
        let known = text.iter().filter(|f| rarity[f.index()] > 0.0);
        let value = |f: &Feature| rarity[f.index()] * f.often() as f32 * unit;
        Vector(known.map(|f| (f.index() as u32, value(f))).collect())
    }

    fn dot(&self, weights: &[f32]) -> f32 {
        self.0.iter().map(|(index, x)| weights[*index as usize] * x).sum()
    }

    fn add(&self, times: f32, weights: &mut [f32]) {
        self.0.iter().for_each(|(index, x)| weights[*index as usize] += times * x);
    }
}

/// How rare each feature is among all texts: nought for one that a single text has, which is told
/// from no other by it.
fn rarity(examples: &[&[Feature]], others: &[&[Feature]]) -> Vec<f32> {
    let mut texts = vec![0.0f32; BUCKETS];
    let all = examples.iter().chain(others);
    all.flat_map(|text| text.iter()).for_each(|f| texts[f.index()] += 1.0);
    let n = (examples.len() + others.len()) as f32;
    let rarity =
        |&with: &f32| if with < 2.0 { 0.0 } else { (1.0 + (n / with).ln()) / RARITY_USUAL };
    texts.iter().map(rarity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::TextFeatures;

    /// Texts of some words of their own and some of all, drawn by a rule.
    fn texts(own: &str, count: u32, features: &mut TextFeatures) -> Vec<Vec<Feature>> {
        let text = |n: u32| -> String {
            let word = |k: u32| match (n * 31 + k * 17) % 5 {
                0 => format!("{own}{} ", (n + k * 7) % 12),
                _ => format!("common{} ", (n * 13 + k * k) % 90),
            };
            (0..120).map(word).collect()
        };
        (0..count).map(|n| features.of(&text(n)).to_vec()).collect()
    }

    fn slices(texts: &[Vec<Feature>]) -> Vec<&[Feature]> {
        texts.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn few_texts_that_are_none_count_as_relevant_even_where_the_examples_teach_nothing() {
        let features = &mut TextFeatures::default();
        let all = texts("dull", 400, features);
        let (others, fresh) = all.split_at(200);
        let clear = texts("tide", 5, features);
        // Examples of nothing in particular are like the others.
        let (blurred, fresh) = fresh.split_at(5);
        for (examples, is_blurred) in [(&clear[..], false), (blurred, true)] {
            let learnt = learn(&slices(examples), &slices(others)).unwrap();
            assert_eq!(learnt.is_blurred, is_blurred);
            let wrong = fresh.iter().filter(|text| learnt.model.relevance(text) > 0.1).count();
            // Three in a hundred of pages (docs/topic.md); these texts are made of few words, and
            // more of them are like each other.
            assert!(wrong as f64 <= 0.12 * fresh.len() as f64, "{wrong} of {}", fresh.len());
        }
    }
}
