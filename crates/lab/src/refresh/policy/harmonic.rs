//! The k-th missed change costs 1/k: between freshness, which gives up on what changes fast, and
//! delay, which runs after it.
//!
//! Kolobov, Peres, Lu and Horvitz, "Staying up to date with online content changes using
//! reinforcement learning for scheduling", NeurIPS 2019 (LambdaCrawl): the cost w ln(1 + λ/f) is
//! least at f = (−λ + √(λ² + 4wλ/μ))/2. No page is given up.

use super::{Demand, PolicyVisits};

pub fn visits(page: Demand, price: f64) -> PolicyVisits {
    if page.rate <= 0.0 || page.weight <= 0.0 {
        return PolicyVisits::default();
    }
    let gain = page.weight * page.rate / price;
    let root = (page.rate * page.rate + 4.0 * gain).sqrt();
    // The difference of the root and λ, written without one.
    PolicyVisits { per_day: 2.0 * gain / (root + page.rate), slope: -gain / root }
}

/// With complete observation each change is announced: the share of them worth a visit.
pub fn announced_share(page: Demand, price: f64) -> f64 {
    if page.rate <= 0.0 { 1.0 } else { (page.weight / (price * page.rate)).min(1.0) }
}
