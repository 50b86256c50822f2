//! The whole engine on a synthetic web that changes, in virtual time: a crawl that goes on, with a
//! budget, through crashes and whatever else the scenario has.

use super::whole_score::{WholeScores, score};
use rhumb_engine::config::{Config, Continuous, MinorChanges, Polite};
use rhumb_engine::refresh::budget::RequestBudget;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::time::Span;
use rhumb_sim::run::{BEGINNING, Simulated, simulate};
use rhumb_sim::scenario::{Faults, Scenario};
use rhumb_sim::web::{Lies, Oddities, Web, WebConfig};

pub const DAY: Span = Span::secs(86_400);

/// A crawl of some pages that change about once in `change_days` days, over so many days.
#[derive(Clone, Debug)]
pub struct WholeCrawl {
    pub seed: u64,
    pub pages: u32,
    pub sites: u32,
    pub change_days: f64,
    pub days: u64,
    pub requests_per_day: u64,
    pub objective: Objective,
    pub delay: Span,
    pub by_importance: bool,
    pub minor_changes: MinorChanges,
    pub lies: Lies,
    /// Of 1,000 sites, how many have a sitemap.
    pub sitemaps: u32,
    pub faults: Faults,
}

impl Default for WholeCrawl {
    fn default() -> WholeCrawl {
        WholeCrawl {
            seed: 1,
            pages: 400,
            sites: 12,
            change_days: 1.0,
            days: 4,
            requests_per_day: 1_500,
            objective: Objective::Harmonic,
            delay: Span::secs(1),
            by_importance: false,
            minor_changes: MinorChanges::Count,
            lies: Lies::default(),
            sitemaps: 0,
            faults: Faults::default(),
        }
    }
}

impl WholeCrawl {
    pub fn scenario(&self) -> Scenario {
        let base = Scenario::named("revisit", self.seed).expect("a scenario of this name");
        let change_period_us = (self.change_days * DAY.0 as f64) as u64;
        let plain = WebConfig::plain(self.sites, self.pages);
        let continuous = Continuous {
            objective: self.objective,
            budget: RequestBudget { requests: self.requests_per_day, period: DAY },
            interval_max: Span(90 * DAY.0),
            by_importance: self.by_importance,
            minor_changes: self.minor_changes,
        };
        let polite = Polite { delay: self.delay, ..base.config.polite };
        Scenario {
            web: WebConfig {
                seed: self.seed,
                change_period_us,
                lies: self.lies.clone(),
                oddities: Oddities { sitemaps: self.sitemaps, ..Oddities::default() },
                ..plain
            },
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

    /// What the visits of a run bought, over the last two thirds of its time.
    pub fn scores(&self, simulated: &Simulated) -> WholeScores {
        let span = Span(self.days * DAY.0);
        let (from, to) = (BEGINNING + Span(span.0 / 3), BEGINNING + span);
        score(&Web::new(self.scenario().web), &simulated.visits, from, to)
    }
}
