//! How likely a URL that waits is of the crawl's topic: learnt from the URLs that were fetched.
//!
//! What is known of a URL before it is fetched are the links to it: how relevant the pages are that
//! they stand on, and what the topic's model made of their texts. Logistic regression (by Newton's
//! method, with a prior that stands for the first pages) makes one probability of these numbers. It
//! is fitted again as pages come, on the latest of them, by arithmetic whose order is fixed: the
//! same pages make the same model. It steers the order alone; no bound rests on it.

use crate::mass::{FIFTEENTHS, LEVEL_NONE, Surfer, level};
use serde::{Deserialize, Serialize};

/// What is summed of the links to a URL: 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    links: u16,
    relevance_sum: u16,
    weight_sum: u16,
    /// Of the best: relevance of the page, and weight of the link, in fifteenths.
    relevance_max: u8,
    weight_max: u8,
}

const NUMBERS: usize = 9;
type SequenceNumbers = [f64; NUMBERS];

impl Hints {
    /// One more link, of this weight, on a page left by this surfer.
    pub fn add(&mut self, surfer: Surfer, weight: u8) {
        let relevance = surfer.relevance();
        self.links = self.links.saturating_add(1);
        self.relevance_sum = self.relevance_sum.saturating_add(u16::from(relevance));
        self.weight_sum = self.weight_sum.saturating_add(u16::from(weight));
        self.relevance_max = self.relevance_max.max(relevance);
        self.weight_max = self.weight_max.max(weight);
    }

    /// One, the best page's relevance and the mean, the best link's weight and the mean, both means
    /// together, how many links there are, how much relevance their pages have in all, and
    /// the octave of what lies on the URL.
    fn numbers(&self, residue: i64) -> SequenceNumbers {
        let unit = f64::from(FIFTEENTHS);
        let links = f64::from(self.links.max(1));
        let relevance = f64::from(self.relevance_sum) / links / unit;
        let weight = f64::from(self.weight_sum) / links / unit;
        let octave = f64::from(level(residue)) / f64::from(LEVEL_NONE);
        [
            1.0,
            f64::from(self.relevance_max) / unit,
            relevance,
            f64::from(self.weight_max) / unit,
            weight,
            relevance * weight,
            links.ln() / 4.0,
            (1.0 + f64::from(self.relevance_sum) / unit).ln() / 4.0,
            octave,
        ]
    }
}

/// Coefficients of the numbers above. A row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkModel {
    coefficients: SequenceNumbers,
    /// Pages that had come when it was fitted.
    pub pages: u64,
}

/// What is believed before anything is learnt: links that say so, on pages of the topic.
const PRIOR: SequenceNumbers = [-2.5, 0.5, 1.0, 2.0, 1.0, 1.0, 0.0, 0.5, 0.0];
/// The prior weighs as much as so many pages.
const PRIOR_WEIGHT: f64 = 0.6;
/// Pages between two fits: so many, or an eighth of those that came, but no more than a thousand.
const FIT_EVERY_MIN: u64 = 20;
const FIT_EVERY_PART: u64 = 8;
const FIT_EVERY_MAX: u64 = 1_000;
/// Pages that it is fitted on: the latest.
const EXAMPLES_MAX: usize = 4_096;
const STEPS: usize = 5;

impl Default for LinkModel {
    fn default() -> LinkModel {
        LinkModel { coefficients: PRIOR, pages: 0 }
    }
}

impl LinkModel {
    pub fn probability(&self, hints: &Hints, residue: i64) -> f64 {
        logistic(dot(&self.coefficients, &hints.numbers(residue)))
    }
}

/// Pages that came, and the model made of them.
#[derive(Debug, Default)]
pub struct Learner {
    pub model: LinkModel,
    /// What was known of each before it was fetched, and how relevant it was.
    examples: Vec<(Hints, i64, u8)>,
    pages: u64,
}

impl Learner {
    /// A page came: whether the model was fitted anew.
    pub fn take(&mut self, hints: Hints, residue: i64, surfer: Surfer) -> bool {
        // Nobody linked to a seed, and a redirect says nothing.
        if hints == Hints::default() || surfer == Surfer::PASSAGE {
            return false;
        }
        let example = (hints, residue, surfer.relevance());
        let at = (self.pages % EXAMPLES_MAX as u64) as usize;
        match self.examples.get_mut(at) {
            Some(oldest) => *oldest = example,
            None => self.examples.push(example),
        }
        self.pages += 1;
        let wait = (self.model.pages / FIT_EVERY_PART).clamp(FIT_EVERY_MIN, FIT_EVERY_MAX);
        let is_due = self.pages >= self.model.pages + wait;
        if is_due {
            self.fit();
        }
        is_due
    }

    pub fn heap_bytes(&self) -> usize {
        self.examples.capacity() * size_of::<(Hints, i64, u8)>()
    }

    fn fit(&mut self) {
        let mut coefficients = self.model.coefficients;
        for _ in 0..STEPS {
            let mut slope = [0.0; NUMBERS];
            let mut bend = [[0.0; NUMBERS]; NUMBERS];
            for n in 0..NUMBERS {
                slope[n] = PRIOR_WEIGHT * (coefficients[n] - PRIOR[n]);
                bend[n][n] = PRIOR_WEIGHT;
            }
            for (hints, residue, relevance) in &self.examples {
                let numbers = hints.numbers(*residue);
                let p = logistic(dot(&coefficients, &numbers));
                let error = p - f64::from(*relevance) / f64::from(FIFTEENTHS);
                for n in 0..NUMBERS {
                    slope[n] += error * numbers[n];
                    for m in 0..=n {
                        bend[n][m] += p * (1.0 - p) * numbers[n] * numbers[m];
                    }
                }
            }
            let step = solved(bend, slope);
            (0..NUMBERS).for_each(|n| coefficients[n] -= step[n].clamp(-2.0, 2.0));
        }
        self.model = LinkModel { coefficients, pages: self.pages };
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn dot(a: &SequenceNumbers, b: &SequenceNumbers) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves A·x = b by Cholesky's method, where the lower half of A is given. The prior keeps A
/// positive definite.
fn solved(mut a: [SequenceNumbers; NUMBERS], mut b: SequenceNumbers) -> SequenceNumbers {
    for n in 0..NUMBERS {
        for m in 0..=n {
            let inner: f64 = (0..m).map(|k| a[n][k] * a[m][k]).sum();
            let rest = a[n][m] - inner;
            a[n][m] = if n == m { rest.max(1e-9).sqrt() } else { rest / a[m][m] };
        }
    }
    for n in 0..NUMBERS {
        let inner: f64 = (0..n).map(|k| a[n][k] * b[k]).sum();
        b[n] = (b[n] - inner) / a[n][n];
    }
    for n in (0..NUMBERS).rev() {
        let inner: f64 = (n + 1..NUMBERS).map(|k| a[k][n] * b[k]).sum();
        b[n] = (b[n] - inner) / a[n][n];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mass::ONE;
    use crate::rng::Rng;

    #[test]
    fn equations_are_solved() {
        let mut a = [[0.0; NUMBERS]; NUMBERS];
        (0..NUMBERS).for_each(|n| (0..=n).for_each(|m| a[n][m] = 1.0 / (1 + n + m) as f64));
        (0..NUMBERS).for_each(|n| a[n][n] += 1.0);
        let x: SequenceNumbers = std::array::from_fn(|n| n as f64 - 3.0);
        let full = |n: usize, m: usize| if m <= n { a[n][m] } else { a[m][n] };
        let b = std::array::from_fn(|n| (0..NUMBERS).map(|m| full(n, m) * x[m]).sum());
        let found = solved(a, b);
        assert!(found.iter().zip(&x).all(|(f, x)| (f - x).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn a_web_whose_relevant_pages_are_linked_by_dull_ones_is_learnt() {
        let mut learner = Learner::default();
        let mut rng = Rng::new(5);
        let hints = |relevance: u8, weight: u8| {
            let mut hints = Hints::default();
            hints.add(Surfer::on(relevance), weight);
            hints
        };
        let before = learner.model.probability(&hints(0, 0), ONE / 99);
        for _ in 0..400 {
            let is_dull = rng.draw().is_multiple_of(2);
            let (parent, own) = if is_dull { (0, 255) } else { (255, 0) };
            learner.take(hints(parent, 7), ONE / 99, Surfer::on(own));
        }
        let of = |relevance| learner.model.probability(&hints(relevance, 7), ONE / 99);
        assert!(before < 0.2 && of(0) > 0.9 && of(255) < 0.1, "{before} {} {}", of(0), of(255));
        assert!(learner.model.pages > 300);
    }
}
