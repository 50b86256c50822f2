//! How likely a URL that waits is of the crawl's topic: learnt from the URLs that were fetched.
//!
//! What is known of a URL before it is fetched are the links to it: how relevant the pages are that
//! they stand on, what the topic's model made of their texts, and where other links of those pages
//! led. Logistic regression (by Newton's
//! method, with a prior that stands for the first pages) makes one probability of these numbers. It
//! is fitted again as pages come, on the latest of them, by arithmetic whose order is fixed: the
//! same pages make the same model. It steers the order alone; no bound rests on it.

use crate::mass::{FIFTEENTHS, Surfer};
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
type Numbers = [f64; NUMBERS];

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

    /// So many, as far as they are counted.
    pub fn links(&self) -> u16 {
        self.links
    }

    /// One, the best page's relevance and the mean, the best link's weight, both means together,
    /// how many links there are, how much relevance their pages have in all, and how well these
    /// kept their promises: the mean share, and the sum of its log-odds over the root of their
    /// number.
    fn numbers(&self, promises: Promises) -> Numbers {
        let unit = f64::from(FIFTEENTHS);
        let links = f64::from(self.links.max(1));
        let relevance = f64::from(self.relevance_sum) / links / unit;
        let weight = f64::from(self.weight_sum) / links / unit;
        let pages = f64::from(promises.pages.max(1));
        [
            1.0,
            f64::from(self.relevance_max) / unit,
            relevance,
            f64::from(self.weight_max) / unit,
            f64::from(promises.shares) / pages,
            relevance * weight,
            links.ln() / 4.0,
            (1.0 + f64::from(self.relevance_sum) / unit).ln() / 4.0,
            f64::from(promises.odds) / pages.sqrt() / 4.0,
        ]
    }
}

/// Where the links of a page led, as far as their targets came: 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkYield {
    pages: u16,
    relevance_sum: u16,
}

/// Before anything came, a page promises this part of its own relevance; that weighs as so many.
const PROMISED: f64 = 0.3;
const PROMISED_WEIGHT: f64 = 2.0;
/// More than so many pages are counted half, so that sums fit and old ones fade.
const YIELD_PAGES_MAX: u16 = 4_000;

impl LinkYield {
    /// One of those that the page links to came.
    pub fn add(&mut self, came: Surfer) {
        if self.pages == YIELD_PAGES_MAX {
            (self.pages, self.relevance_sum) = (self.pages / 2, self.relevance_sum / 2);
        }
        self.pages += 1;
        self.relevance_sum += u16::from(came.relevance());
    }

    /// How relevant one more is likely to be, of a page that is this relevant itself.
    pub fn share(self, own: Surfer) -> f64 {
        let unit = f64::from(FIFTEENTHS);
        let promised = PROMISED_WEIGHT * PROMISED * f64::from(own.relevance()) / unit;
        (f64::from(self.relevance_sum) / unit + promised)
            / (f64::from(self.pages) + PROMISED_WEIGHT)
    }
}

/// The same of all pages that link to a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Promises {
    pages: u32,
    shares: f32,
    odds: f32,
}

/// Log-odds of a share that says neither yes nor no, and how far shares are believed.
const ODDS_USUAL: f64 = -1.73;
const SHARE_MIN: f64 = 0.02;

impl Promises {
    pub fn add(&mut self, share: f64) {
        let believed = share.clamp(SHARE_MIN, 1.0 - SHARE_MIN);
        self.pages += 1;
        self.shares += share as f32;
        self.odds += ((believed / (1.0 - believed)).ln() - ODDS_USUAL) as f32;
    }
}

/// Coefficients of the numbers above. A row: one that was written when they meant something else
/// steers until the next fit, and no longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkModel {
    coefficients: Numbers,
    /// Pages that had come when it was fitted.
    pub pages: u64,
}

/// What is believed before anything is learnt: links that say so, on pages of the topic.
const PRIOR: Numbers = [-2.5, 0.5, 1.0, 2.0, 1.0, 1.0, 0.0, 0.5, 0.0];
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
    pub fn probability(&self, hints: &Hints, promises: Promises) -> f64 {
        logistic(dot(&self.coefficients, &hints.numbers(promises)))
    }
}

/// Pages that came, and the model made of them.
#[derive(Debug, Default)]
pub struct Learner {
    pub model: LinkModel,
    /// What was known of each before it was fetched, and how relevant it was.
    examples: Vec<(Hints, Promises, u8)>,
    pages: u64,
}

impl Learner {
    /// A page came: whether the model was fitted anew.
    pub fn take(&mut self, (hints, promises): (Hints, Promises), surfer: Surfer) -> bool {
        // Nobody linked to a seed, and a redirect says nothing.
        if hints == Hints::default() || surfer == Surfer::PASSAGE {
            return false;
        }
        let example = (hints, promises, surfer.relevance());
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
        self.examples.capacity() * size_of::<(Hints, Promises, u8)>()
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
            for (hints, promises, relevance) in &self.examples {
                let numbers = hints.numbers(*promises);
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

fn dot(a: &Numbers, b: &Numbers) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves A·x = b by Cholesky's method, where the lower half of A is given. The prior keeps A
/// positive definite.
fn solved(mut a: [Numbers; NUMBERS], mut b: Numbers) -> Numbers {
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
    use crate::rng::Rng;

    #[test]
    fn equations_are_solved() {
        let mut a = [[0.0; NUMBERS]; NUMBERS];
        (0..NUMBERS).for_each(|n| (0..=n).for_each(|m| a[n][m] = 1.0 / (1 + n + m) as f64));
        (0..NUMBERS).for_each(|n| a[n][n] += 1.0);
        let x: Numbers = std::array::from_fn(|n| n as f64 - 3.0);
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
        let before = learner.model.probability(&hints(0, 0), Promises::default());
        for _ in 0..400 {
            let is_dull = rng.draw().is_multiple_of(2);
            let (parent, own) = if is_dull { (0, 255) } else { (255, 0) };
            learner.take((hints(parent, 7), Promises::default()), Surfer::on(own));
        }
        let of = |relevance| learner.model.probability(&hints(relevance, 7), Promises::default());
        assert!(before < 0.2 && of(0) > 0.9 && of(255) < 0.1, "{before} {} {}", of(0), of(255));
        assert!(learner.model.pages > 300);
    }

    #[test]
    fn a_dull_list_of_the_right_pages_is_worth_more_than_a_relevant_page_that_leads_elsewhere() {
        let mut list = LinkYield::default();
        let mut essay = LinkYield::default();
        let (dull, relevant) = (Surfer::on(0), Surfer::on(255));
        assert!(essay.share(relevant) > list.share(dull), "nothing came yet");
        for _ in 0..8 {
            list.add(relevant);
            essay.add(dull);
        }
        assert!(list.share(dull) > 0.7 && essay.share(relevant) < 0.1);
        let of = |share| {
            let mut promises = Promises::default();
            promises.add(share);
            LinkModel::default().probability(&Hints::default(), promises)
        };
        assert!(of(list.share(dull)) > of(essay.share(relevant)));
        (0..100_000).for_each(|_| list.add(relevant));
        assert!(list.share(dull) > 0.99, "however many came");
    }
}
