//! A budget of requests, spread evenly over its period.
//!
//! The generic cell rate algorithm (ITU-T I.371, 1996) in its virtual-scheduling form: one number,
//! the time until which the budget is spent. In any stretch of time at most what the budget gives
//! for it is asked for, and a burst more; the number is committed with the requests that it counts,
//! so a crash forgets none of them.

use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// What may be asked for at once, as a share of the budget: what a stall of that share of the
/// period leaves over can be caught up with, and no day exceeds the budget by more than 1.6 %.
const BURST_SHARE: u64 = 64;

/// Requests in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestBudget {
    pub requests: u64,
    pub period: Span,
}

/// How far a budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    until: Time,
}

impl RequestBudget {
    /// The share of one of several partitions.
    pub fn divided(self, count: u32) -> RequestBudget {
        let period = Span(self.period.0.saturating_mul(u64::from(count.max(1))));
        RequestBudget { period, ..self }
    }

    /// The time that one request costs; none if there is no budget at all.
    fn cost(&self) -> Option<Span> {
        (self.requests > 0).then(|| Span(self.period.0.div_ceil(self.requests).max(1)))
    }

    fn burst(&self) -> Span {
        Span(self.period.0 / BURST_SHARE)
    }

    /// When the next request may be made: now, later, or never.
    pub fn next(&self, spent: Spent, now: Time) -> Option<Time> {
        let cost = self.cost()?;
        // A clock that was set back must not make us wait for more than was spent.
        let until = spent.until.min(now + self.burst() + cost);
        Some((until - self.burst()).max(now))
    }

    /// Charges a request that is made now.
    pub fn charge(&self, spent: &mut Spent, now: Time) {
        let Some(cost) = self.cost() else { return };
        let until = spent.until.min(now + self.burst() + cost);
        spent.until = until.max(now) + cost;
    }

    /// Requests a period, as the scheduler counts them.
    pub fn per_period(&self) -> f64 {
        self.requests as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Span = Span::secs(86_400);

    /// Makes every request as soon as it is allowed; their times.
    fn greedy(budget: RequestBudget, spent: &mut Spent, from: Time, to: Time) -> Vec<Time> {
        let (mut now, mut times) = (from, Vec::new());
        while let Some(next) = budget.next(*spent, now).filter(|next| *next < to) {
            now = next;
            budget.charge(spent, now);
            times.push(now);
        }
        times
    }

    #[test]
    fn a_day_is_spent_within_two_per_cent_and_no_stretch_of_it_brings_a_burst() {
        for requests in [1, 7, 100, 50_000] {
            let budget = RequestBudget { requests, period: DAY };
            let start = Time(1_000_000_000_000);
            let mut spent = Spent::default();
            let times = greedy(budget, &mut spent, start, start + DAY);
            let most = requests as f64 * 1.016 + 1.0;
            assert!(times.len() as f64 >= requests as f64 * 0.98, "{} of {requests}", times.len());
            assert!(times.len() as f64 <= most, "{} of {requests}", times.len());
            let hour = Span::secs(3_600);
            for (at, time) in times.iter().enumerate() {
                let within = times[at..].iter().take_while(|t| **t < *time + hour).count();
                let fair = requests as f64 * (1.0 / 24.0 + 0.0157) + 2.0;
                assert!(within as f64 <= fair, "{within} in an hour of {requests} a day");
            }
        }
    }

    #[test]
    fn a_clock_set_back_or_forward_neither_stalls_nor_floods() {
        let budget = RequestBudget { requests: 1_000, period: DAY };
        let late = Time(10 * DAY.0);
        let mut spent = Spent::default();
        greedy(budget, &mut spent, late, late + DAY);
        let early = late - Span(5 * DAY.0);
        let after = greedy(budget, &mut spent, early, early + Span(DAY.0 / 10));
        assert!((98..=118).contains(&after.len()), "{} after the clock went back", after.len());
        let far = late + Span(30 * DAY.0);
        let after = greedy(budget, &mut spent, far, far + Span(DAY.0 / 10));
        assert!((98..=118).contains(&after.len()), "{} after the clock leapt", after.len());
    }

    #[test]
    fn no_budget_is_no_request() {
        let none = RequestBudget { requests: 0, period: DAY };
        assert_eq!(none.next(Spent::default(), Time(5)), None);
    }
}
