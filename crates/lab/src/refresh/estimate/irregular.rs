//! Maximum likelihood for visits at irregular intervals.
//!
//! Cho and Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003, section 4.3: the λ
//! with Σ t/(e^λt − 1) over the intervals that brought a change equal to the sum of those that
//! brought none. Where all brought one there is no such λ, and the improved estimator answers.

use super::improved;

const STEPS_MAX: usize = 60;
const TOLERANCE: f64 = 1e-9;

/// Changes a day, from the lengths in days of the intervals with and without a change.
pub fn rate(changed: &[f64], unchanged: &[f64]) -> f64 {
    let still: f64 = unchanged.iter().sum();
    if changed.is_empty() {
        return 0.0;
    }
    if unchanged.is_empty() || still <= 0.0 {
        let days: f64 = changed.iter().sum();
        return improved::rate(changed.len() as u64, changed.len() as u64, days);
    }
    // The left side falls from infinity to 0: walk down in ln λ until the bracket closes.
    let excess = |ln_rate: f64| {
        let rate = ln_rate.exp();
        changed.iter().map(|t| t / (rate * t).exp_m1()).sum::<f64>() - still
    };
    let guess = (changed.len() as f64 / still).ln();
    let (mut low, mut high) = (guess - 1.0, guess + 1.0);
    for _ in 0..STEPS_MAX {
        if excess(low) < 0.0 {
            low -= 2.0;
        } else if excess(high) > 0.0 {
            high += 2.0;
        } else {
            break;
        }
    }
    for _ in 0..STEPS_MAX {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
        if high - low < TOLERANCE {
            break;
        }
    }
    ((low + high) / 2.0).exp()
}
