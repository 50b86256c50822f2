//! When a visit is worth its price: one index for every objective.
//!
//! Let c(t) be the expected loss a day, `t` days after a visit. A page is due when
//! V(t) = w (t c(t) − ∫c) reaches the price μ: waiting longer then costs more than a visit. The
//! form is that of Olston and Pandey ("Recrawl scheduling based on information longevity", WWW
//! 2008); for a known rate it is the Lagrange condition of each policy.
//!
//! Here the rate is not known: λ is Gamma(a, b), and a page is unchanged after `t` days with
//! probability S(t) = (b/(b+t))^a. Its tail is heavy where little is known and where changes come
//! in bursts, so that no page is ever given up for good. In terms of S:
//!
//! | objective | loss | V(t) / w |
//! |---|---|---|
//! | freshness | 1 − S(t) | ∫S − t S(t) |
//! | harmonic: the k-th missed change costs 1/k | ∫(1 − S)/s ds | t − ∫S, the expected age |
//! | age | ∫(1 − S) | ∫s (1 − S) ds |
//! | delay | λt | λt²/2 |

use super::belief::Gamma;
use serde::{Deserialize, Serialize};

/// What a crawl wants of its copies.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Objective {
    #[default]
    Harmonic,
    Freshness,
    Age,
    Delay,
}

/// Newton's method gets there in three or four.
const STEPS_MAX: usize = 12;
const TOLERANCE: f64 = 1e-3;

/// How old our copy is expected to be `t` days after a visit: t − ∫S.
pub fn expected_age(gamma: Gamma, t: f64) -> f64 {
    value(Objective::Harmonic, gamma, t).0.max(0.0)
}

/// V(t)/w and its derivative.
fn value(objective: Objective, gamma: Gamma, t: f64) -> (f64, f64) {
    let Gamma { a, b } = gamma;
    let ln_x = (t / b).ln_1p();
    let unchanged = (-a * ln_x).exp();
    // ∫S from 0 to t, smooth through a = 1.
    let fresh_days = || b * ln_x * falling((a - 1.0) * ln_x);
    match objective {
        Objective::Harmonic => (t - fresh_days(), 1.0 - unchanged),
        Objective::Freshness => (fresh_days() - t * unchanged, t * a / (b + t) * unchanged),
        Objective::Age => {
            let moment = b * (b * ln_x * falling((a - 2.0) * ln_x) - fresh_days());
            (t * t / 2.0 - moment, t * (1.0 - unchanged))
        }
        Objective::Delay => (gamma.mean() * t * t / 2.0, gamma.mean() * t),
    }
}

/// (1 − e^−z)/z.
fn falling(z: f64) -> f64 {
    if z.abs() < 1e-6 { 1.0 - z / 2.0 } else { -(-z).exp_m1() / z }
}

/// How long a page may wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    pub days: f64,
    /// The derivative of ln(days) by ln μ: 0 where the bound decides.
    pub elasticity: f64,
}

/// The days after a visit at which V(t) reaches `worth` = μ/w, at most `days_max`.
pub fn due_after(objective: Objective, gamma: Gamma, worth: f64, days_max: f64) -> Wait {
    let rate = gamma.mean();
    // Right for pages that change rarely between visits, and for those that always do.
    let guess = match objective {
        Objective::Harmonic => worth / 2.0 + (worth * worth / 4.0 + 2.0 * worth / rate).sqrt(),
        Objective::Age => (3.0 * worth / rate).cbrt().max((2.0 * worth).sqrt()),
        Objective::Freshness | Objective::Delay => (2.0 * worth / rate).sqrt(),
    };
    if objective == Objective::Delay {
        let within = guess < days_max;
        return Wait { days: guess.min(days_max), elasticity: if within { 0.5 } else { 0.0 } };
    }
    let mut t = guess.min(days_max);
    let mut elasticity = 0.0;
    let (mut low, mut high) = (0.0, days_max);
    for _ in 0..STEPS_MAX {
        let (v, slope) = value(objective, gamma, t);
        if v < worth {
            low = t;
        } else {
            high = t;
        }
        // V grows like a power of t at both ends: Newton on logarithms is nearly exact there.
        elasticity = v / (slope * t);
        let next = t * ((worth / v).ln() * elasticity).exp();
        let inside = next.is_finite() && next > low && next < high;
        let next = if inside { next } else { (low + high) / 2.0 };
        let done = (next - t).abs() <= TOLERANCE * t;
        t = next;
        if done {
            break;
        }
    }
    let within = t < days_max * (1.0 - TOLERANCE) && elasticity.is_finite();
    Wait { days: t, elasticity: if within { elasticity } else { 0.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::policy::{Demand, age, delay, freshness};

    const ALL: [Objective; 4] =
        [Objective::Harmonic, Objective::Freshness, Objective::Age, Objective::Delay];

    #[test]
    fn the_index_is_the_integral_that_defines_it() {
        for objective in ALL {
            for a in [0.2, 0.999_999, 1.0, 1.7, 2.0, 9.0] {
                let gamma = Gamma { a, b: 3.0 };
                let mut sum = 0.0;
                let (steps, t) = (100_000, 7.0);
                for step in 0..steps {
                    let s = (f64::from(step) + 0.5) * t / f64::from(steps);
                    sum += value(objective, gamma, s).1 * t / f64::from(steps);
                }
                let v = value(objective, gamma, t).0;
                assert!((v - sum).abs() < 1e-6 * sum, "{objective:?} a={a}: {v} for {sum}");
            }
        }
    }

    #[test]
    fn a_rate_known_for_sure_gives_the_optimal_interval_of_its_policy() {
        for (rate, price) in [(0.05, 3.0), (0.7, 0.2), (4.0, 0.05)] {
            let sure = Gamma { a: 1e7, b: 1e7 / rate };
            let page = Demand { rate, weight: 1.0 };
            let t = |objective| due_after(objective, sure, price, 1e6).days;
            let near = |t: f64, f: f64| assert!((t * f - 1.0).abs() < 3e-3, "{t} for {}", 1.0 / f);
            near(t(Objective::Freshness), freshness::visits(page, price).per_day);
            near(t(Objective::Age), age::visits(page, price).per_day);
            near(t(Objective::Delay), delay::share(page) / (2.0 * price).sqrt());
        }
    }

    #[test]
    fn nothing_known_and_nothing_worth_stay_within_the_bound() {
        for objective in ALL {
            for worth in [0.0, 1e-12, 1.0, 1e12] {
                for gamma in [Gamma { a: 0.02, b: 1e-6 }, Gamma { a: 5.0, b: 1e9 }] {
                    let t = due_after(objective, gamma, worth, 90.0).days;
                    assert!((0.0..=90.0).contains(&t), "{objective:?} {worth} {gamma:?}: {t}");
                }
            }
        }
    }
}
