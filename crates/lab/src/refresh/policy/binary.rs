//! The greatest mean freshness when visits, too, fall at random.
//!
//! Azar, Horvitz, Lubetzky, Peres and Shahaf, "Tractable near-optimal policies for crawling",
//! PNAS 115(32), 2018: f = max(0, √(wλ/μ) − λ). Its rates are within a few per cent of the
//! periodic optimum and cost one square root.

use super::{Demand, PolicyVisits};

pub fn visits(page: Demand, price: f64) -> PolicyVisits {
    let root = (page.weight * page.rate / price).sqrt();
    if page.rate <= 0.0 || root <= page.rate {
        return PolicyVisits::default();
    }
    PolicyVisits { per_day: root - page.rate, slope: -root / 2.0 }
}
