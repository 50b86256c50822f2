//! Learning in the loop: pages change at rates that we know and the scheduler does not.
//!
//! Change times are drawn from the rates; then any policy is replayed over them. The oracle is the
//! freshness-optimal policy with the true rates, visiting from staggered starts.

use super::histories::Histories;
use rhumb_engine::rng::mix;

/// Change times of one Poisson process for each rate, up to `days`.
pub fn drawn(rates: &[f64], days: f64, seed: u64) -> Histories {
    let mut histories = Histories::default();
    for (page, rate) in rates.iter().enumerate() {
        let mut times = Vec::new();
        // A rate of 0 makes the first change infinitely late.
        let next =
            |at: f64, number: usize| at + exponential(seed, page as u64, number as u64) / rate;
        let mut at = next(0.0, 0);
        while at <= days {
            times.push(at);
            at = next(at, times.len());
        }
        histories.push("drawn", times);
    }
    histories
}

/// An exponential variate of mean 1, the same for the same seed, page and number.
fn exponential(seed: u64, page: u64, number: u64) -> f64 {
    let bits = mix(mix(seed ^ mix(page)).wrapping_add(number));
    -(((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::policy::Policy;
    use crate::refresh::rates::{RateSpread, rates};
    use crate::refresh::replay::{Course, ReplayContender, replay};
    use rhumb_engine::refresh::index::Objective;

    /// The whole table takes 20,000 pages; these are enough to show the same within a per cent.
    const PAGES: usize = 4_000;
    const DAYS: f64 = 60.0;

    #[test]
    fn the_scheduler_comes_near_an_oracle_without_being_told_any_rate() {
        let cases = [
            (RateSpread::Gamma, 0.1, 0.925),
            (RateSpread::Gamma, 0.5, 0.98),
            (RateSpread::Lognormal, 0.1, 0.94),
            (RateSpread::Lognormal, 0.5, 0.98),
        ];
        for (spread, visits, least) in cases {
            let rates = rates(spread, PAGES);
            let histories = drawn(&rates, DAYS, 1);
            let course = Course::drawn(&histories, DAYS, &rates);
            let of = |contender| replay(contender, course, visits * PAGES as f64).freshness;
            let oracle = of(ReplayContender::Known(Policy::Freshness));
            let share = of(ReplayContender::Learned(Objective::Freshness)) / oracle;
            println!("{spread:?} {visits} a day: {:.1} % of {oracle:.4}", share * 100.0);
            assert!(share >= least, "{spread:?} {visits} a day: {share:.4} of {oracle}");
        }
    }
}
