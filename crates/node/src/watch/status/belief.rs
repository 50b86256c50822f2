//! What is believed of one page's changes, and of its host's word on them.

use crate::watch::moment::rfc3339;
use rhumb_engine::host::HostRecord;
use rhumb_engine::record::UrlRecord;
use rhumb_engine::refresh::index::expected_age;
use rhumb_engine::refresh::scheduler::{ScheduledPage, Scheduler};
use rhumb_engine::refresh::trust::HostReliability;
use rhumb_engine::time::Time;
use serde::{Deserialize, Serialize};

const DAY_S: f64 = 86_400.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UrlBelief {
    /// How often it is believed to change, and how uncertain that is: the standard deviation.
    pub changes_per_day: f64,
    pub uncertain_per_day: f64,
    /// The chance that our copy is still right, and how old it is expected to be.
    pub fresh: f64,
    pub age_s: f64,
    /// The last visits, the earliest first: `x` found a change, `.` found none.
    pub recent: String,
    /// The last change that a sitemap or a feed announced.
    pub announced: Option<String>,
}

/// How far a host's word on its pages is believed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostTrust {
    pub validators: bool,
    /// Dates of Last-Modified.
    pub dates: bool,
    /// The share of announced changes that were true, having begun at one half.
    pub announcements: f64,
}

/// None of a page that was never visited by a crawl that goes on.
pub fn of_page(
    record: &UrlRecord,
    host: &HostRecord,
    scheduler: &Scheduler,
    now: Time,
) -> Option<UrlBelief> {
    let (learnt, visited) = (record.past.learnt?, record.past.visited?);
    let subject = ScheduledPage {
        id: record.id.0,
        belief: learnt.belief,
        host: host.standing,
        weight: 1.0,
        days_max: f64::INFINITY,
    };
    let gamma = scheduler.gamma(&subject);
    let day_s = scheduler.settings().day.as_secs_f64().max(f64::MIN_POSITIVE);
    let days = now.since(visited).as_secs_f64() / day_s;
    Some(UrlBelief {
        changes_per_day: gamma.mean() * DAY_S / day_s,
        uncertain_per_day: gamma.a.sqrt() / gamma.b * DAY_S / day_s,
        fresh: gamma.ln_unchanged(days).exp(),
        age_s: expected_age(gamma, days) * day_s,
        recent: learnt.recent.visits().map(|changed| if changed { 'x' } else { '.' }).collect(),
        announced: learnt.announced().map(rfc3339),
    })
}

pub fn of_host(trust: &HostReliability) -> HostTrust {
    HostTrust {
        validators: trust.believes_validators(),
        dates: trust.believes_dates(),
        announcements: trust.announcements.share(),
    }
}
