//! The whole engine on a synthetic web that changes, in virtual time: a crawl that goes on, with a
//! budget, through crashes and whatever else the scenario has.

use crate::run::{Simulated, simulate};
use crate::scenario::{Faults, Scenario};
use crate::web::WebConfig;
use rhumb_engine::config::{Config, Continuous, Polite};
use rhumb_engine::refresh::budget::Budget;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::time::Span;

pub const DAY: Span = Span::secs(86_400);

/// A crawl of some pages that change about once in `change_days` days, over so many days.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    pub seed: u64,
    pub pages: u32,
    pub sites: u32,
    pub change_days: f64,
    pub days: u64,
    pub requests_per_day: u64,
    pub objective: Objective,
    pub delay: Span,
    pub faults: Faults,
}

impl Default for Whole {
    fn default() -> Whole {
        Whole {
            seed: 1,
            pages: 400,
            sites: 12,
            change_days: 1.0,
            days: 4,
            requests_per_day: 1_500,
            objective: Objective::Harmonic,
            delay: Span::secs(1),
            faults: Faults::default(),
        }
    }
}

impl Whole {
    pub fn scenario(&self) -> Scenario {
        let base = Scenario::named("revisit", self.seed).expect("a scenario of this name");
        let change_period_us = (self.change_days * DAY.0 as f64) as u64;
        let plain = WebConfig::plain(self.sites, self.pages);
        let continuous = Continuous {
            objective: self.objective,
            budget: Budget { requests: self.requests_per_day, period: DAY },
            interval_max: Span(90 * DAY.0),
        };
        let polite = Polite { delay: self.delay, ..base.config.polite };
        Scenario {
            web: WebConfig { seed: self.seed, change_period_us, ..plain },
            config: Config {
                revisit_after: None,
                continuous: Some(continuous),
                polite,
                ..base.config.clone()
            },
            time_max: Some(Span(self.days * DAY.0)),
            faults: self.faults,
            ..base
        }
    }

    pub fn run(&self) -> Simulated {
        simulate(&self.scenario(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::event::StopReason;

    fn holds(simulated: &Simulated) {
        assert_eq!(simulated.violations, [], "{:?}", simulated.counters);
        assert_eq!(simulated.stopped, Some(StopReason::Time));
    }

    #[test]
    fn a_crawl_that_goes_on_spends_its_budget_within_two_per_cent_also_through_crashes() {
        for faults in [Faults::default(), Faults::usual()] {
            let whole = Whole { faults, ..Whole::default() };
            let simulated = whole.run();
            holds(&simulated);
            let used =
                simulated.tally.fetches as f64 / (whole.days * whole.requests_per_day) as f64;
            println!("{used:.4} of the budget, {:?}", simulated.counters);
            assert!((0.98..=1.02).contains(&used), "{used}: {:?}", simulated.counters);
            assert!(simulated.counters.changes_seen > 0);
        }
    }

    #[test]
    fn no_budget_is_no_request_and_no_end() {
        let simulated = Whole { requests_per_day: 0, days: 1, ..Whole::default() }.run();
        holds(&simulated);
        assert_eq!(simulated.tally.fetches, 0);
    }

    #[test]
    fn hosts_that_cannot_take_their_share_do_not_keep_the_others_from_theirs() {
        // Two sites with most of the pages, each at most one request in ten minutes.
        let slow = Whole { sites: 3, delay: Span::secs(600), ..Whole::default() };
        let simulated = slow.run();
        holds(&simulated);
        let most = slow.days * 86_400 / 600 * 3 + 10;
        assert!(simulated.tally.fetches <= most, "{} of {most}", simulated.tally.fetches);
        assert!(simulated.tally.fetches as f64 > most as f64 * 0.8, "{}", simulated.tally.fetches);
    }

    #[test]
    fn the_same_seed_does_the_same() {
        let whole = Whole { days: 2, faults: Faults::usual(), ..Whole::default() };
        assert_eq!(whole.run().digest, whole.run().digest);
    }
}
