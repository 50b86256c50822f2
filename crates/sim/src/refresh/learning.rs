//! Learning in the loop: pages change at rates that we know and the scheduler does not.
//!
//! A change process without memory may be drawn anew at each visit, so a page is two numbers: when
//! it was last visited and when it changes next. What the scheduler reaches is compared with an
//! oracle that visits at the best rates from the beginning.

use super::epochs::phase;
use super::learned::Collection;
use rhumb_engine::refresh::allocate::{Pages, allocate};
use rhumb_engine::refresh::policy::Policy;
use rhumb_engine::refresh::scheduler::Settings;
use rhumb_engine::rng::mix;

/// Mean freshness over all days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learnt {
    pub scheduler: f64,
    pub oracle: f64,
}

pub fn learn(rates: &[f64], settings: Settings, days: f64) -> Learnt {
    let mut world = Drawn::new(rates);
    let mut collection = Collection::fresh(rates.len(), settings);
    for visit in 1..=(settings.budget_per_day * days) as u64 {
        let now = visit as f64 / settings.budget_per_day;
        collection.visit(now, |page| world.visit(page, now));
    }
    Learnt { scheduler: world.freshness(days), oracle: oracle(rates, settings, days) }
}

/// The freshness-optimal rates, visited periodically from staggered starts.
fn oracle(rates: &[f64], settings: Settings, days: f64) -> f64 {
    let best = allocate(Policy::Freshness, Pages::new(rates, None), settings.budget_per_day);
    let mut world = Drawn::new(rates);
    for (page, f) in best.visits.iter().enumerate().filter(|(_, f)| **f > 0.0) {
        let mut now = (1.0 - phase(page)) / f;
        while now < days {
            world.visit(page, now);
            now += 1.0 / f;
        }
    }
    world.freshness(days)
}

/// Pages that change at random.
struct Drawn<'a> {
    rates: &'a [f64],
    visits: Vec<u32>,
    last: Vec<f64>,
    next: Vec<f64>,
    fresh: f64,
}

impl<'a> Drawn<'a> {
    fn new(rates: &'a [f64]) -> Drawn<'a> {
        let next = (0..rates.len()).map(|page| exponential(page, 0) / rates[page]).collect();
        let (visits, last) = (vec![0; rates.len()], vec![0.0; rates.len()]);
        Drawn { rates, visits, last, next, fresh: 0.0 }
    }

    fn visit(&mut self, page: usize, now: f64) -> bool {
        let changed = self.next[page] <= now;
        self.fresh += self.next[page].min(now) - self.last[page];
        self.visits[page] += 1;
        self.last[page] = now;
        self.next[page] = now + exponential(page, self.visits[page]) / self.rates[page];
        changed
    }

    fn freshness(&self, days: f64) -> f64 {
        let rest = self.next.iter().zip(&self.last).map(|(next, last)| next.min(days) - last);
        (self.fresh + rest.map(|fresh| fresh.max(0.0)).sum::<f64>())
            / (days * self.rates.len() as f64)
    }
}

/// An exponential variate of mean 1, the same for the same page and visit.
fn exponential(page: usize, visit: u32) -> f64 {
    let number = ((page as u64) << 20) + u64::from(visit) + 1;
    let bits = mix(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    -(((bits >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::rates::{Spread, rates};
    use rhumb_engine::refresh::index::Objective;

    /// The whole table takes 20,000 pages; these are enough to show the same within a per cent.
    const PAGES: usize = 4_000;

    #[test]
    fn the_scheduler_comes_near_an_oracle_without_being_told_any_rate() {
        let cases = [
            (Spread::Gamma, 0.1, 0.925),
            (Spread::Gamma, 0.5, 0.98),
            (Spread::Lognormal, 0.1, 0.94),
            (Spread::Lognormal, 0.5, 0.98),
        ];
        for (spread, visits, least) in cases {
            let settings =
                Settings { objective: Objective::Freshness, budget_per_day: visits * PAGES as f64 };
            let learnt = learn(&rates(spread, PAGES), settings, 60.0);
            let share = learnt.scheduler / learnt.oracle;
            println!("{spread:?} {visits} a day: {learnt:?}, {:.1} %", share * 100.0);
            assert!(share >= least, "{spread:?} {visits} a day: {learnt:?}, {share:.4}");
        }
    }
}
