//! Any policy over real histories: all pages are fetched at 0, then visited within the budget.

use super::epochs::{self, Placing};
use super::histories::Histories;
use super::learned;
use super::peers::{heritrix, nutch, stormcrawler};
use super::score::Scores;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::refresh::policy::Policy;
use rhumb_engine::refresh::scheduler::Settings;

/// Whoever places the visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// A policy that is told every page's mean rate.
    Known(Policy),
    /// The engine's scheduler, which is told nothing.
    Learned(Objective),
    Naive,
    Cho,
    Mle,
    Nutch,
    Stormcrawler,
    Heritrix,
}

impl Contender {
    pub fn word(self) -> &'static str {
        match self {
            Contender::Known(policy) => policy.word(),
            Contender::Learned(_) => "learned",
            Contender::Naive => "naive",
            Contender::Cho => "cho",
            Contender::Mle => "mle",
            Contender::Nutch => "nutch",
            Contender::Stormcrawler => "stormcrawler",
            Contender::Heritrix => "heritrix",
        }
    }
}

/// Replays `days` of histories with `budget` visits a day in all.
pub fn replay(contender: Contender, histories: &Histories, days: f64, budget: f64) -> Scores {
    let placing = match contender {
        Contender::Learned(objective) => {
            let settings = Settings { objective, budget_per_day: budget };
            return learned::replay(histories, settings, days);
        }
        Contender::Known(policy) => Placing::Known(policy),
        Contender::Naive => Placing::Naive,
        Contender::Cho => Placing::Improved,
        Contender::Mle => Placing::Irregular,
        Contender::Nutch => Placing::Peer(nutch::adapt),
        Contender::Stormcrawler => Placing::Peer(stormcrawler::adapt),
        Contender::Heritrix => Placing::Peer(heritrix::adapt),
    };
    epochs::replay(placing, histories, days, budget)
}
