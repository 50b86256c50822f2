//! What pages are like before we know them: the prior, learnt from all of them.
//!
//! Empirical Bayes in two levels (Robbins, "An empirical Bayes approach to statistics", 1956). The
//! mean rate of a host's pages is drawn towards the mean of all pages with the strength of some
//! changes; how much pages of one host differ is the shape, which [`super::tuning`] finds. Where
//! all pages change alike the shape grows and every page is believed to be like its host, so that
//! nothing is spent on differences that are not there.

use super::belief::{Gamma, VisitFinding};
use serde::{Deserialize, Serialize};

/// The mean of all pages weighs as much as this many changes of one host.
const HOST_STRENGTH: f64 = 32.0;
/// The first guess of the mean weighs as much as this many changes.
const GUESS_STRENGTH: f64 = 1.0;
/// Rates beyond these no visit will ever tell from the bound.
const RATE_RANGE: (f64, f64) = (1e-9, 1e6);

/// Changes and the days in which they came, of all pages of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seasons {
    pub changes: f32,
    pub days: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Population {
    pub shape: f64,
    /// Changes a day, if nothing else were known.
    guess: f64,
    changes: f64,
    days: f64,
}

impl Population {
    pub fn new(guess_per_day: f64, shape: f64) -> Population {
        let guess = guess_per_day.clamp(RATE_RANGE.0, RATE_RANGE.1);
        Population { shape, guess, changes: 0.0, days: 0.0 }
    }

    /// The mean rate over all pages.
    pub fn mean(&self) -> f64 {
        (GUESS_STRENGTH + self.changes) / (GUESS_STRENGTH / self.guess + self.days)
    }

    /// Changes seen, counting those that hid behind others.
    pub fn changes(&self) -> f64 {
        self.changes
    }

    /// A page like any other, as [`Population::prior`] has it without a host.
    pub fn usual(&self) -> Gamma {
        Gamma { a: self.shape, b: self.shape / self.mean().clamp(RATE_RANGE.0, RATE_RANGE.1) }
    }

    /// What a page of this host is believed to be before any visit of its own.
    pub fn prior(&self, host: Seasons) -> Gamma {
        let (changes, days) = (f64::from(host.changes), f64::from(host.days));
        let mean = (HOST_STRENGTH + changes) / (HOST_STRENGTH / self.mean() + days);
        Gamma { a: self.shape, b: self.shape / mean.clamp(RATE_RANGE.0, RATE_RANGE.1) }
    }

    /// Counts a visit to a page that was believed to be `before`. Several changes between two
    /// visits look like one: what counts is their expected number, E[N | N > 0].
    pub fn count(&mut self, host: &mut Seasons, before: Gamma, t: f64, seen: VisitFinding) {
        let changes = match seen {
            VisitFinding::Unchanged => 0.0,
            VisitFinding::Changed | VisitFinding::ChangedAgo(_) => {
                let chance = -before.ln_unchanged(t).exp_m1();
                (before.mean() * t / chance).max(1.0)
            }
        };
        let changes = if changes.is_finite() { changes } else { 1.0 };
        self.changes += changes;
        self.days += t;
        host.changes += changes as f32;
        host.days += t as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::belief::Belief;
    use crate::rng::Rng;

    #[test]
    fn the_mean_rate_is_found_though_most_changes_are_never_seen() {
        // Half of the pages change about once a visit, half once in a hundred visits.
        let mut population = Population::new(1.0, 0.5);
        let mut rng = Rng::new(3);
        let mut hosts = [Seasons::default(); 2];
        let rates = [10.0, 0.1];
        for page in 0..400 {
            let which = page % 2;
            let mut belief = Belief::default();
            for _ in 0..20 {
                let chance = (rng.draw() >> 11) as f64 / (1u64 << 53) as f64;
                let changed = chance < -(-rates[which] * 0.1f64).exp_m1();
                let seen = if changed { VisitFinding::Changed } else { VisitFinding::Unchanged };
                let prior = population.prior(hosts[which]);
                population.count(&mut hosts[which], belief.with(prior), 0.1, seen);
                belief = belief.after(prior, 1.0, 0.1, seen);
            }
        }
        let mean = population.mean();
        assert!((mean / 5.05 - 1.0).abs() < 0.25, "{mean}");
        let of_host = |host: usize| population.prior(hosts[host]).mean();
        assert!(of_host(0) > 8.0 && of_host(1) < 0.3, "{} and {}", of_host(0), of_host(1));
    }
}
