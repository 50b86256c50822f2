//! The greatest mean freshness.
//!
//! Cho and Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28(4),
//! 2003, section 4: (w/λ)(1 − e^−r − r e^−r) = μ with r = λ/f, and no visits at all where
//! μλ/w ≥ 1: a page that changes too fast is given up for the sake of the others.
//!
//! With u = −ln(1 − μλ/w) the condition is r − ln(1 + r) = u, that is r = −1 − W₋₁(−e^(−1−u)).
//! Chatzigeorgiou (IEEE Comm. Letters 17(8), 2013) bounds it by √(2u) + 2u/3 < r < √(2u) + u,
//! from where Newton's method needs three steps.

use super::{Demand, PolicyVisits};

/// Below this u the series is exact to the last digits, and Newton's method is not.
const SERIES_BELOW: f64 = 1e-8;
const STEPS: usize = 3;

pub fn visits(page: Demand, price: f64) -> PolicyVisits {
    let y = price * page.rate / page.weight;
    if page.rate <= 0.0 || page.weight <= 0.0 || y >= 1.0 {
        return PolicyVisits::default();
    }
    let r = changes_between(-(-y).ln_1p());
    let per_day = page.rate / r;
    // y = 1 − e^−r (1 + r), so dy/dr = r e^−r; and e^−r = (1 − y) / (1 + r).
    let slope = -per_day * y * (1.0 + r) / (r * r * (1.0 - y));
    PolicyVisits { per_day, slope }
}

/// The r > 0 with r − ln(1 + r) = u.
fn changes_between(u: f64) -> f64 {
    let root = (2.0 * u).sqrt();
    let mut r = root + u * (2.0 / 3.0) + u * root / (18.0 + 12.0 * u.sqrt());
    if u < SERIES_BELOW {
        return r;
    }
    for _ in 0..STEPS {
        r -= (r - r.ln_1p() - u) * (1.0 + r) / r;
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_of_the_paper_holds_at_every_price() {
        for exponent in -30..=0 {
            let y = 0.999 * 10f64.powf(f64::from(exponent) / 3.0);
            let page = Demand { rate: 2.0, weight: 3.0 };
            let price = y * page.weight / page.rate;
            let r = page.rate / visits(page, price).per_day;
            let brought = page.weight / page.rate * (-(-r).exp_m1() - r * (-r).exp());
            assert!((brought / price - 1.0).abs() < 1e-6, "{brought} for {price}");
        }
        let page = Demand { rate: 5.0, weight: 1.0 };
        assert_eq!(visits(page, 0.2).per_day, 0.0, "given up where μλ/w reaches 1");
    }
}
