//! What a visit rate buys, in closed form, for a page that changes as a Poisson process.
//!
//! Cho and Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28(4),
//! 2003, sections 3 and 4. Visits are periodic: one every `1/f`, and `r = λ/f` changes are expected
//! between two of them. Delay is the mean number of changes that nobody has seen yet.

/// Below this many changes between visits the closed forms lose their digits to cancellation.
const SERIES_BELOW: f64 = 1e-3;

/// The share of time for which our copy is the page.
pub fn freshness(rate: f64, visits: f64) -> f64 {
    let r = between(rate, visits);
    if r == 0.0 {
        1.0
    } else if r.is_infinite() {
        0.0
    } else {
        -(-r).exp_m1() / r
    }
}

/// For how long our copy has been out of date, on average, in the unit of time of the rates.
pub fn age(rate: f64, visits: f64) -> f64 {
    let r = between(rate, visits);
    if r == 0.0 {
        0.0
    } else if r.is_infinite() {
        f64::INFINITY
    } else if r < SERIES_BELOW {
        r * (1.0 / 6.0 - r / 24.0) / visits
    } else {
        (0.5 - 1.0 / r - (-r).exp_m1() / (r * r)) / visits
    }
}

/// How many changes wait to be seen, on average.
pub fn delay(rate: f64, visits: f64) -> f64 {
    between(rate, visits) / 2.0
}

/// Age(λ, t): how old our copy is expected to be when it was taken `t` ago.
pub fn age_after(rate: f64, t: f64) -> f64 {
    let x = rate * t;
    if x < SERIES_BELOW { t * x * (0.5 - x / 6.0) } else { t + (-x).exp_m1() / rate }
}

/// Changes expected between two visits; none for a page that never changes, however rarely seen.
fn between(rate: f64, visits: f64) -> f64 {
    if rate <= 0.0 { 0.0 } else { rate / visits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_meets_the_closed_form_and_the_ends_are_defined() {
        let at = |r: f64| age(r, 1.0);
        let step = (at(SERIES_BELOW * 0.999) - at(SERIES_BELOW * 1.001)).abs();
        assert!(step < 1e-6, "a step of {step}");
        assert_eq!(freshness(0.0, 0.0), 1.0);
        assert_eq!((freshness(1.0, 0.0), delay(1.0, 0.0)), (0.0, f64::INFINITY));
        assert_eq!((age(0.0, 0.0), age(1.0, 0.0)), (0.0, f64::INFINITY));
        assert!((age_after(0.5, 4.0) - (4.0 - (1.0 - (-2.0f64).exp()) / 0.5)).abs() < 1e-12);
    }
}
