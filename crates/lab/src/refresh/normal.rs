//! Quantiles of the normal distribution, to all digits.
//!
//! A rational first guess and two steps of Halley's method on the distribution itself: its series
//! near 0, its continued fraction in the tail. Abramowitz and Stegun, "Handbook of mathematical
//! functions", 26.2.23, 26.2.10 and 26.2.14.

use std::f64::consts::PI;

/// Beyond this many deviations the series is slower than the fraction.
const SERIES_BELOW: f64 = 3.0;
const TERMS_MAX: usize = 200;

/// z with Φ(z) = p, for 0 < p < 1.
pub fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -lower(1.0 - p);
    }
    lower(p)
}

/// z ≤ 0 with Φ(z) = p ≤ ½.
fn lower(p: f64) -> f64 {
    let t = (-2.0 * p.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = -(t - above / below);
    for _ in 0..2 {
        let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
        let off = (tail(-z) - p) / density;
        z -= off / (1.0 + z * off / 2.0);
    }
    z
}

/// 1 − Φ(x) for any x.
fn tail(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
    if x < SERIES_BELOW {
        let (mut term, mut sum) = (x, x);
        for k in 1..TERMS_MAX {
            term *= x * x / (2 * k + 1) as f64;
            sum += term;
            if term.abs() < sum.abs() * 1e-17 {
                break;
            }
        }
        return 0.5 - density * sum;
    }
    let mut fraction = x;
    for k in (1..60).rev() {
        fraction = x + f64::from(k) / fraction;
    }
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables_and_turn_back_into_their_chances() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.99, 2.326_347_874_040_841)] {
            assert!((quantile(p) - z).abs() < 1e-12, "{p}: {}", quantile(p));
        }
        for exponent in 1..14 {
            let p = 10f64.powi(-exponent);
            assert!((tail(-quantile(p)) / p - 1.0).abs() < 1e-9, "{p}");
        }
    }
}
