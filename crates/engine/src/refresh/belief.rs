//! What we believe of a page's rate of change: a Gamma distribution in two numbers.
//!
//! A visit after `t` days that finds no change has likelihood e^−λt: exact, b grows by t. One that
//! finds a change has 1 − e^−λt; the posterior is a difference of two Gammas and is replaced by the
//! Gamma of the same mean and variance (assumed-density filtering). With q = b/(b+t):
//! E[λ] = (a/b)(1 − q^(a+1))/(1 − q^a), E[λ²] = (a(a+1)/b²)(1 − q^(a+2))/(1 − q^a).
//!
//! Kept is the *evidence*: what visits added to the prior. So the prior can move on while we learn
//! about all pages, and a page that was never visited again moves with it. Forgetting multiplies
//! the evidence: pages change their ways, and they change in bursts.

use serde::{Deserialize, Serialize};

/// The least a and b that a Gamma may have: evidence can be negative when the prior has moved.
const SHAPE_MIN: f64 = 0.02;
const DAYS_MIN: f64 = 1e-6;

/// Above this 1 + x and 1 − e^−x are as good as the functions made for small x, within 1e-12, and
/// take half the time.
const PLAIN_MIN: f64 = 1e-3;

/// ln(1 + x) for an x that is not negative.
pub(super) fn ln_1p(x: f64) -> f64 {
    if x > PLAIN_MIN { (1.0 + x).ln() } else { x.ln_1p() }
}

/// Evidence of one page, over its prior.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Belief {
    pub changes: f32,
    pub days: f32,
}

/// By bits: a belief is part of records, which are compared as rows are.
impl PartialEq for Belief {
    fn eq(&self, other: &Belief) -> bool {
        let bits = |belief: &Belief| (belief.changes.to_bits(), belief.days.to_bits());
        bits(self) == bits(other)
    }
}

impl Eq for Belief {}

/// A Gamma distribution of changes a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gamma {
    pub a: f64,
    pub b: f64,
}

/// What a visit found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VisitFinding {
    Unchanged,
    Changed,
    /// Changed, and a server that we trust says how many days ago it last did.
    ChangedAgo(f64),
}

impl VisitFinding {
    /// The same, if time had gone faster by this factor.
    pub fn stretched(self, factor: f64) -> VisitFinding {
        match self {
            VisitFinding::ChangedAgo(ago) => VisitFinding::ChangedAgo(ago * factor),
            undated => undated,
        }
    }
}

impl Gamma {
    pub fn mean(self) -> f64 {
        self.a / self.b
    }

    /// ln S(t): the logarithm of the chance that nothing changes in `t` days.
    pub fn ln_unchanged(self, t: f64) -> f64 {
        -self.a * ln_1p(t / self.b)
    }

    /// After a visit `t` days after the one before.
    pub fn after(self, t: f64, seen: VisitFinding) -> Gamma {
        match seen {
            VisitFinding::Unchanged => Gamma { b: self.b + t, ..self },
            // The last change is as far back as the next one is ahead: one event in that time.
            VisitFinding::ChangedAgo(ago) => {
                Gamma { a: self.a + 1.0, b: self.b + ago.clamp(0.0, t) }
            }
            VisitFinding::Changed => self.after_change(t),
        }
    }

    fn after_change(self, t: f64) -> Gamma {
        let Gamma { a, b } = self;
        let (q, ln_q) = (b / (b + t), -ln_1p(t / b));
        // 1 − q^k for k = a, a + 1, a + 2; exact for a q near 1.
        let [rest_0, rest_1, rest_2] = match a * ln_q < -PLAIN_MIN {
            true => {
                let power = (a * ln_q).exp();
                [1.0 - power, 1.0 - power * q, 1.0 - power * q * q]
            }
            false => [a, a + 1.0, a + 2.0].map(|k| -(k * ln_q).exp_m1()),
        };
        let m1 = a / b * rest_1 / rest_0;
        let m2 = a * (a + 1.0) / (b * b) * rest_2 / rest_0;
        let variance = m2 - m1 * m1;
        let tangible = variance.is_finite() && variance > m1 * m1 * 1e-9 && m1.is_finite();
        if !tangible {
            // The interval was so short that only the change itself tells anything.
            return Gamma { a: a + 1.0, b };
        }
        Gamma { a: m1 * m1 / variance, b: m1 / variance }
    }
}

impl Belief {
    pub fn with(self, prior: Gamma) -> Gamma {
        Gamma {
            a: (prior.a + f64::from(self.changes)).max(SHAPE_MIN),
            b: (prior.b + f64::from(self.days)).max(DAYS_MIN),
        }
    }

    /// After a visit; of the old evidence `kept` remains.
    pub fn after(self, prior: Gamma, kept: f64, t: f64, seen: VisitFinding) -> Belief {
        let faded = Belief {
            changes: (f64::from(self.changes) * kept) as f32,
            days: (f64::from(self.days) * kept) as f32,
        };
        let posterior = faded.with(prior).after(t.max(DAYS_MIN), seen);
        Belief { changes: (posterior.a - prior.a) as f32, days: (posterior.b - prior.b) as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of the exact posterior, by summing over a fine grid of rates.
    fn exact(prior: Gamma, visits: &[(f64, bool)]) -> (f64, f64) {
        let mut sums = [0.0; 3];
        for step in 0..40_000 {
            let rate = (-14.0 + f64::from(step) * 0.0005).exp();
            let mut ln = prior.a * rate.ln() - prior.b * rate;
            for (t, changed) in visits {
                ln += if *changed { (-(-rate * t).exp_m1()).ln() } else { -rate * t };
            }
            let p = ln.exp();
            (0..3).for_each(|k| sums[k] += p * rate.powi(k as i32));
        }
        let mean = sums[1] / sums[0];
        (mean, sums[2] / sums[0] - mean * mean)
    }

    #[test]
    fn one_visit_has_the_mean_and_variance_of_the_exact_posterior() {
        let prior = Gamma { a: 0.5, b: 1.0 };
        for t in [0.01, 0.5, 3.0, 40.0] {
            for changed in [true, false] {
                let seen = if changed { VisitFinding::Changed } else { VisitFinding::Unchanged };
                let ours = prior.after(t, seen);
                let (mean, variance) = exact(prior, &[(t, changed)]);
                assert!((ours.mean() / mean - 1.0).abs() < 0.01, "{ours:?} for {mean}");
                let ratio = ours.a / (ours.b * ours.b) / variance;
                assert!((ratio - 1.0).abs() < 0.02, "variance off by {ratio}");
            }
        }
    }

    #[test]
    fn many_visits_stay_near_the_exact_posterior() {
        let prior = Gamma { a: 0.5, b: 1.0 };
        let visits: Vec<(f64, bool)> =
            (0..24).map(|i| (0.3 + f64::from(i % 5) * 0.4, i % 3 == 0)).collect();
        let mut belief = Belief::default();
        for (t, changed) in &visits {
            let seen = if *changed { VisitFinding::Changed } else { VisitFinding::Unchanged };
            belief = belief.after(prior, 1.0, *t, seen);
        }
        let (mean, _) = exact(prior, &visits);
        let ours = belief.with(prior).mean();
        assert!((ours / mean - 1.0).abs() < 0.02, "{ours} for {mean}");
    }

    #[test]
    fn no_interval_however_short_or_long_breaks_a_belief() {
        for t in [0.0, 1e-12, 1e-3, 1e9, f64::from(f32::MAX)] {
            for seen in
                [VisitFinding::Changed, VisitFinding::Unchanged, VisitFinding::ChangedAgo(-5.0)]
            {
                let prior = Gamma { a: 0.5, b: 1.0 };
                let mut belief = Belief::default();
                for _ in 0..50 {
                    belief = belief.after(prior, 0.9, t, seen);
                    let gamma = belief.with(prior);
                    assert!(gamma.a > 0.0 && gamma.b > 0.0, "{gamma:?} after {t} {seen:?}");
                    assert!(gamma.mean().is_finite(), "{gamma:?} after {t} {seen:?}");
                }
            }
        }
    }
}
