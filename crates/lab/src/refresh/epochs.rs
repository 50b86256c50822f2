//! Policies that place all visits anew now and then: the time is cut into epochs, each begins with
//! visits a day for every page, and a page is visited whenever its phase has gone round.
//!
//! Known rates never change theirs; estimators are solved again for freshness with all that was
//! seen so far; the rules of other crawlers adapt an interval at each visit, and are scaled so
//! that all of them together cost the budget.

use super::histories::Histories;
use super::peers::Adapt;
use super::rates;
use super::replay::{Course, visits_within};
use super::score::{Referee, Scores};
use crate::refresh::allocate::{Pages, allocate};
use crate::refresh::estimate::{improved, irregular, naive};
use crate::refresh::policy::Policy;
use rhumb_engine::refresh::belief::{Belief, Gamma, VisitFinding};

const EPOCHS: usize = 60;
/// Of estimates, in changes an epoch: an optimiser believes what it is told.
const RATE_RANGE: (f64, f64) = (0.25 / EPOCHS as f64, 100.0);
/// A page that was never seen to change may still do: the rate of a quarter of a change.
const CHANGES_MIN: f64 = 0.25;
/// Of [`Placing::Bayes`]: the shape of the prior, what is kept of old evidence at a visit, and the
/// changes as which the mean of all pages counts against those of a host.
const BAYES_SHAPE: f64 = 0.5;
const BAYES_KEPT: f64 = 0.9;
const BAYES_STRENGTH: f64 = 5.0;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Where page number `page` begins: phases that no number of pages makes fall together.
pub fn phase(page: usize) -> f64 {
    ((page + 1) as f64 * GOLDEN).fract()
}

/// How visits are placed at the beginning of an epoch.
#[derive(Clone, Copy, Debug)]
pub enum Placing {
    /// Every page's own mean rate is known.
    Known(Policy),
    Naive,
    Improved,
    Irregular,
    /// A Gamma posterior for each page, after harmonic. Its prior is told: the mean rate of the
    /// page's host over the whole time, drawn towards that of all pages.
    Bayes,
    Peer(Adapt),
}

pub fn replay(placing: Placing, course: Course<'_>, budget: f64) -> Scores {
    let Course { histories, days, from, rates } = course;
    let mut referee = Referee::new(histories, from, days);
    let mut memory = Memory::new(placing, histories, days, budget);
    if let Some(rates) = rates {
        memory.known = rates.to_vec();
    }
    let mut phases: Vec<f64> = (0..histories.len()).map(phase).collect();
    let mut last = vec![0.0; histories.len()];
    let length = days / EPOCHS as f64;
    let most = visits_within(budget, days);
    for epoch in 0..EPOCHS {
        let rates = memory.rates();
        let (begin, end) = (epoch as f64 * length, (epoch + 1) as f64 * length);
        for page in 0..histories.len() {
            let (mut now, f) = (begin, rates[page]);
            while f > 0.0 && phases[page] + f * (end - now) >= 1.0 && referee.visits() < most {
                now += (1.0 - phases[page]) / f;
                phases[page] = 0.0;
                let changed = referee.visit(page, now);
                memory.learn(page, now - last[page], changed);
                last[page] = now;
            }
            phases[page] += f * (end - now);
        }
    }
    referee.finish(budget)
}

/// What was seen of each page.
struct Memory {
    placing: Placing,
    budget: f64,
    epoch_days: f64,
    /// For pages that were not visited yet: the mean over all.
    mean: f64,
    known: Vec<f64>,
    seen: Vec<Vec<(f32, bool)>>,
    priors: Vec<Gamma>,
    beliefs: Vec<Belief>,
    intervals: Vec<f64>,
}

impl Memory {
    fn new(placing: Placing, histories: &Histories, days: f64, budget: f64) -> Memory {
        let changes = |page| rates::seen(histories.changes(page), days) * days;
        let counts: Vec<f64> = (0..histories.len()).map(changes).collect();
        let mean = counts.iter().sum::<f64>() / days / histories.len().max(1) as f64;
        Memory {
            placing,
            budget,
            epoch_days: days / EPOCHS as f64,
            mean,
            known: counts.iter().map(|count| count.max(CHANGES_MIN) / days).collect(),
            seen: vec![Vec::new(); histories.len()],
            priors: told(histories, &counts, days, mean),
            beliefs: vec![Belief::default(); histories.len()],
            intervals: vec![histories.len() as f64 / budget; histories.len()],
        }
    }

    fn learn(&mut self, page: usize, days: f64, changed: bool) {
        match self.placing {
            Placing::Known(_) => {}
            Placing::Peer(adapt) => {
                self.intervals[page] = adapt(self.intervals[page], changed);
            }
            Placing::Naive | Placing::Improved | Placing::Irregular => {
                self.seen[page].push((days as f32, changed));
            }
            Placing::Bayes => {
                let seen = if changed { VisitFinding::Changed } else { VisitFinding::Unchanged };
                let belief = &mut self.beliefs[page];
                *belief = belief.after(self.priors[page], BAYES_KEPT, days, seen);
            }
        }
    }

    /// Visits a day for every page.
    fn rates(&self) -> Vec<f64> {
        match self.placing {
            Placing::Known(policy) => {
                allocate(policy, Pages::new(&self.known, None), self.budget).visits
            }
            Placing::Bayes => {
                let believed = self.beliefs.iter().zip(&self.priors);
                let rates: Vec<f64> = believed.map(|(b, prior)| b.with(*prior).mean()).collect();
                allocate(Policy::Harmonic, Pages::new(&rates, None), self.budget).visits
            }
            Placing::Peer(_) => {
                let total: f64 = self.intervals.iter().map(|days| 1.0 / days).sum();
                self.intervals.iter().map(|days| self.budget / days / total).collect()
            }
            Placing::Naive | Placing::Improved | Placing::Irregular => {
                let rates: Vec<f64> = self.seen.iter().map(|seen| self.estimate(seen)).collect();
                allocate(Policy::Freshness, Pages::new(&rates, None), self.budget).visits
            }
        }
    }

    fn estimate(&self, seen: &[(f32, bool)]) -> f64 {
        if seen.is_empty() {
            return self.mean;
        }
        let days: f64 = seen.iter().map(|(days, _)| f64::from(*days)).sum();
        let changed = seen.iter().filter(|(_, changed)| *changed).count() as u64;
        let rate = match self.placing {
            Placing::Naive => naive::rate(changed, days),
            Placing::Irregular => {
                let of = |wanted: bool| -> Vec<f64> {
                    let those = seen.iter().filter(|(_, changed)| *changed == wanted);
                    those.map(|(days, _)| f64::from(*days)).collect()
                };
                irregular::rate(&of(true), &of(false))
            }
            _ => improved::rate(seen.len() as u64, changed, days),
        };
        let (least, most) = RATE_RANGE;
        rate.clamp(least / self.epoch_days, most / self.epoch_days)
    }
}

/// Priors of mean rates that nobody could know.
fn told(histories: &Histories, counts: &[f64], days: f64, mean: f64) -> Vec<Gamma> {
    let mut hosts = vec![(0.0, 0.0); histories.hosts_len()];
    for (page, count) in counts.iter().enumerate() {
        let (changes, lived) = &mut hosts[histories.host_of(page) as usize];
        (*changes, *lived) = (*changes + count, *lived + days);
    }
    let of = |page: usize| {
        let (changes, lived) = hosts[histories.host_of(page) as usize];
        let drawn = (BAYES_STRENGTH + changes) / (BAYES_STRENGTH / mean.max(1e-12) + lived);
        Gamma { a: BAYES_SHAPE, b: BAYES_SHAPE / drawn }
    };
    (0..counts.len()).map(of).collect()
}
