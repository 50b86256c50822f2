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
//!
//! Three more are here to be compared with, all by the mean λ = a/b: uniform (V = t), proportional
//! (V = λt) and binary (V = λt²/(1+λt)², the rates of Azar et al., PNAS 2018).

use super::belief::{Gamma, ln_1p};
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
    Binary,
    Proportional,
    Uniform,
}

impl Objective {
    /// Those that a crawl may be after; the others are for comparison.
    pub const OFFERED: [Objective; 4] =
        [Objective::Harmonic, Objective::Freshness, Objective::Age, Objective::Delay];
    pub const ALL: [Objective; 7] = [
        Objective::Uniform,
        Objective::Proportional,
        Objective::Binary,
        Objective::Delay,
        Objective::Freshness,
        Objective::Age,
        Objective::Harmonic,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Objective::Harmonic => "harmonic",
            Objective::Freshness => "freshness",
            Objective::Age => "age",
            Objective::Delay => "delay",
            Objective::Binary => "binary",
            Objective::Proportional => "proportional",
            Objective::Uniform => "uniform",
        }
    }
}

/// Newton's method gets there in one or two, seldom in six.
const STEPS_MAX: usize = 12;
const TOLERANCE: f64 = 1e-3;
/// A step smaller than this leaves less than the tolerance: errors shrink with their square.
const LAST_STEP: f64 = 0.03;

/// How old our copy is expected to be `t` days after a visit: t − ∫S.
pub fn expected_age(gamma: Gamma, t: f64) -> f64 {
    value(Objective::Harmonic, gamma, t).0.max(0.0)
}

/// V(t)/w and its derivative.
fn value(objective: Objective, gamma: Gamma, t: f64) -> (f64, f64) {
    let Gamma { a, b } = gamma;
    let ln_x = ln_1p(t / b);
    let unchanged = (-a * ln_x).exp();
    let x = 1.0 + t / b;
    // ∫S from 0 to t.
    let fresh_days = || b * grown(a - 1.0, ln_x, unchanged * x);
    match objective {
        Objective::Harmonic => (t - fresh_days(), 1.0 - unchanged),
        Objective::Freshness => (fresh_days() - t * unchanged, t * a / (b + t) * unchanged),
        Objective::Age => {
            let moment = b * (b * grown(a - 2.0, ln_x, unchanged * x * x) - fresh_days());
            (t * t / 2.0 - moment, t * (1.0 - unchanged))
        }
        Objective::Delay => (gamma.mean() * t * t / 2.0, gamma.mean() * t),
        Objective::Binary => {
            let changes = gamma.mean() * t;
            let shrunk = 1.0 / (1.0 + changes);
            (changes * t * shrunk * shrunk, 2.0 * changes * shrunk.powi(3))
        }
        Objective::Proportional => (gamma.mean() * t, gamma.mean()),
        Objective::Uniform => (t, 1.0),
    }
}

/// (1 − x^−k)/k from ln x and x^−k, smooth through k = 0.
fn grown(k: f64, ln_x: f64, rest: f64) -> f64 {
    let z = k * ln_x;
    if z.abs() < 1e-4 { ln_x * (1.0 - z / 2.0 + z * z / 6.0) } else { (1.0 - rest) / k }
}

/// r^e; by a fraction where r is near 1, which is right to the second order there.
fn power(r: f64, e: f64) -> f64 {
    if (0.5..2.0).contains(&r) && e < 1.5 {
        let (sum, step) = (r + 1.0, e * (r - 1.0));
        (sum + step) / (sum - step)
    } else {
        (r.ln() * e).exp()
    }
}

/// Whether V(t) has reached `worth` after `days`: cheaper than to find when it does.
pub fn is_due(objective: Objective, gamma: Gamma, worth: f64, days: f64) -> bool {
    value(objective, gamma, days).0 >= worth
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
    // V is a series in k t, which is turned round to the third order.
    let k = (gamma.a + 1.0) / gamma.b;
    // Right for pages that change rarely between visits, and for those that always do.
    let guess = match objective {
        Objective::Harmonic => worth / 2.0 + (worth * worth / 4.0 + 2.0 * worth / rate).sqrt(),
        Objective::Age => {
            // V = rate (t³/3 − k t⁴/8 + …).
            let t = (3.0 * worth / rate).cbrt();
            let more = 1.0 + k * t * (1.0 / 8.0 + (13.0 / 960.0 * k - 1.0 / (30.0 * gamma.b)) * t);
            (t * more).max((2.0 * worth).sqrt())
        }
        Objective::Freshness => {
            // V = rate (t²/2 − k t³/3 + …).
            let t = (2.0 * worth / rate).sqrt();
            t * (1.0 + k * t * (1.0 / 3.0 + (11.0 / 72.0 * k - 1.0 / (8.0 * gamma.b)) * t))
        }
        Objective::Delay => (2.0 * worth / rate).sqrt(),
        Objective::Binary => (worth / rate).sqrt(),
        Objective::Proportional => worth / rate,
        Objective::Uniform => worth,
    };
    // Where V is a power of t the first guess is right.
    let closed = match objective {
        Objective::Delay => Some(0.5),
        Objective::Proportional | Objective::Uniform => Some(1.0),
        _ => None,
    };
    if let Some(elasticity) = closed {
        let within = guess < days_max;
        return Wait {
            days: guess.min(days_max),
            elasticity: if within { elasticity } else { 0.0 },
        };
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
        let next = t * power(worth / v, elasticity);
        let inside = next.is_finite() && next > low && next < high;
        let done = inside && (next - t).abs() <= LAST_STEP * t || high - low <= TOLERANCE * high;
        let next = if inside { next } else { (low + high) / 2.0 };
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

    const ALL: [Objective; 7] = Objective::ALL;

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
