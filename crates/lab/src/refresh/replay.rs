//! Any policy over histories, real or drawn: all pages are fetched at 0, then visited within the
//! budget.

use super::epochs::{self, Placing};
use super::histories::Histories;
use super::learned;
use super::peers::{heritrix, nutch, stormcrawler};
use super::score::Scores;
use crate::refresh::policy::Policy;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::refresh::scheduler::SchedulerSettings;

/// Metrics of real histories begin after this share of the time: the first visits are for learning.
const SKIPPED: f64 = 1.0 / 3.0;

/// What is replayed.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    pub histories: &'a Histories,
    pub days: f64,
    /// The day from which metrics count.
    pub from: f64,
    /// The rates that the histories were drawn from; of real ones only their means are known.
    pub rates: Option<&'a [f64]>,
}

impl<'a> Course<'a> {
    pub fn real(histories: &'a Histories, days: f64) -> Course<'a> {
        Course { histories, days, from: days * SKIPPED, rates: None }
    }

    /// Learning in the loop is put to admission from the first day: it has to pay for what it
    /// learns.
    pub fn drawn(histories: &'a Histories, days: f64, rates: &'a [f64]) -> Course<'a> {
        Course { histories, days, from: 0.0, rates: Some(rates) }
    }
}

/// Whoever places the visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayContender {
    /// A policy that is told every page's mean rate.
    Known(Policy),
    /// The engine's scheduler, which is told nothing.
    Learned(Objective),
    Naive,
    Cho,
    Mle,
    Bayes,
    Nutch,
    Stormcrawler,
    Heritrix,
}

impl ReplayContender {
    pub fn word(self) -> &'static str {
        match self {
            ReplayContender::Known(policy) => policy.word(),
            ReplayContender::Learned(_) => "learned",
            ReplayContender::Naive => "naive",
            ReplayContender::Cho => "cho",
            ReplayContender::Mle => "mle",
            ReplayContender::Bayes => "bayes",
            ReplayContender::Nutch => "nutch",
            ReplayContender::Stormcrawler => "stormcrawler",
            ReplayContender::Heritrix => "heritrix",
        }
    }
}

/// Visits that a budget a day allows in so many days, whoever places them: nobody is compared with
/// more than others had. Budgets are products of rates, a hair below whole numbers at times.
pub fn visits_within(budget: f64, days: f64) -> u64 {
    (budget * days + 1e-6).floor() as u64
}

/// Replays a course with `budget` visits a day in all.
pub fn replay(contender: ReplayContender, course: Course<'_>, budget: f64) -> Scores {
    let placing = match contender {
        ReplayContender::Learned(objective) => {
            let settings = SchedulerSettings::new(objective, budget);
            return learned::replay(course, settings);
        }
        ReplayContender::Known(policy) => Placing::Known(policy),
        ReplayContender::Naive => Placing::Naive,
        ReplayContender::Cho => Placing::Improved,
        ReplayContender::Mle => Placing::Irregular,
        ReplayContender::Bayes => Placing::Bayes,
        ReplayContender::Nutch => Placing::Peer(nutch::adapt),
        ReplayContender::Stormcrawler => Placing::Peer(stormcrawler::adapt),
        ReplayContender::Heritrix => Placing::Peer(heritrix::adapt),
    };
    epochs::replay(placing, course, budget)
}
