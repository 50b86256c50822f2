//! The least mean age.
//!
//! Cho and Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28(4),
//! 2003, section 4: (w/λ²)(r²/2 − 1 + e^−r (1 + r)) = μ with r = λ/f. Age grows without end while
//! a page is not visited, so none is given up.

use super::{Demand, PolicyVisits};

/// Below this r the condition is r³/3 − r⁴/8 + r⁵/30 to more digits than its closed form has.
const SERIES_BELOW: f64 = 0.02;
const STEPS: usize = 5;

pub fn visits(page: Demand, price: f64) -> PolicyVisits {
    if page.rate <= 0.0 || page.weight <= 0.0 {
        return PolicyVisits::default();
    }
    let y = price * page.rate * page.rate / page.weight;
    let r = changes_between(y);
    let per_day = page.rate / r;
    // dy/dr = r (1 − e^−r).
    let slope = per_day * y / (r * r * (-r).exp_m1());
    PolicyVisits { per_day, slope }
}

/// The r > 0 with r²/2 − 1 + e^−r (1 + r) = y.
fn changes_between(y: f64) -> f64 {
    let cube = (3.0 * y).cbrt();
    // Two terms of the series for few changes, and what is left of the condition for many.
    let mut r = if y < 2.0 { cube * (1.0 + cube / 8.0) } else { (2.0 * (1.0 + y)).sqrt() };
    if r < SERIES_BELOW {
        for _ in 0..STEPS {
            let condition = r * r * r * (1.0 / 3.0 - r / 8.0 + r * r / 30.0);
            r -= (condition - y) / (r * r * (1.0 - r / 2.0));
        }
        return r;
    }
    for _ in 0..STEPS {
        let e = (-r).exp();
        r -= (r * r / 2.0 - 1.0 + e * (1.0 + r) - y) / (r * (1.0 - e));
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_of_the_paper_holds_at_every_price() {
        for exponent in -60..=30 {
            let y = 10f64.powf(f64::from(exponent) / 6.0);
            let r = changes_between(y);
            let condition = if r < 0.1 {
                let terms = [1.0 / 3.0, -1.0 / 8.0, 1.0 / 30.0, -1.0 / 144.0, 1.0 / 840.0];
                terms.iter().rev().fold(0.0, |sum, term| sum * r + term) * r.powi(3)
            } else {
                r * r / 2.0 - 1.0 + (-r).exp() * (1.0 + r)
            };
            assert!((condition / y - 1.0).abs() < 1e-6, "{condition} for {y}");
        }
    }
}
