//! How the pages of a crawl that goes on are doing, as reports and status tell it.

use super::moment::short;
use rhumb_engine::counters::Counters;
use rhumb_engine::refresh::budget::RequestBudget;
use rhumb_engine::refresh::revisit::RevisitCollection;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a sample of the pages says of all: estimated, not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FreshnessEstimate {
    pub pages: u64,
    pub freshness: f64,
    pub age_s: f64,
    /// Changes that were not seen yet, for each page.
    pub delay: f64,
    /// By how much visits came late, of late.
    pub late_s: f64,
    pub budget: Spending,
    /// Requests of any kind, over all runs.
    pub asked: u64,
    /// Revisits that found a change.
    pub changes_seen: u64,
    /// Changes that sitemaps and feeds announced.
    pub announced: u64,
}

/// The budget and what was spent of it in the last period, or since the start of the run if that
/// is shorter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spending {
    pub requests: u64,
    pub period_s: f64,
    pub asked: u64,
    /// What it was as a share of what the budget gave for that time; null if that is nothing.
    pub used: Option<f64>,
}

impl FreshnessEstimate {
    pub fn of(collection: &RevisitCollection, counters: &Counters) -> FreshnessEstimate {
        let rounded = |value: f64, parts: f64| (value * parts).round() / parts;
        FreshnessEstimate {
            pages: collection.pages,
            freshness: rounded(collection.freshness, 1e6),
            age_s: rounded(collection.age_s, 1e3),
            delay: rounded(collection.delay, 1e6),
            late_s: rounded(collection.late_s, 1e3),
            budget: collection
                .budget
                .map(|budget| spending(budget, collection))
                .unwrap_or_default(),
            asked: counters.asked,
            changes_seen: counters.changes_seen,
            announced: counters.announced,
        }
    }

    /// `3h05m old on average, 0.21 changes unseen a page`.
    pub fn note(&self) -> String {
        let age = Duration::try_from_secs_f64(self.age_s).unwrap_or_default();
        let pages = self.pages;
        format!("of {pages} pages; {} old on average, {:.2} changes unseen", short(age), self.delay)
    }
}

fn spending(budget: RequestBudget, collection: &RevisitCollection) -> Spending {
    let used = collection.asked as f64 / collection.allowed;
    Spending {
        requests: budget.requests,
        period_s: budget.period.as_secs_f64(),
        asked: collection.asked,
        used: (collection.allowed >= 1.0).then(|| (used * 1e4).round() / 1e4),
    }
}

impl Spending {
    /// `4,870 asked of 5000 in 24h00m, 97 % of what was allowed so far`.
    pub fn note(&self) -> String {
        let period = Duration::try_from_secs_f64(self.period_s).unwrap_or_default();
        let used = self.used.map(|used| format!(", {:.0} % used", used * 100.0));
        format!("of {} in {}{}", self.requests, short(period), used.unwrap_or_default())
    }
}
