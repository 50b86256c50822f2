//! Revisiting in the engine: what a visit teaches, when the next is due, what the budget allows.
//!
//! The calendar is the rows: a fetched page waits at `Place::Later` under its due time, and its
//! belief is in its record. So a crawl of any size costs no memory here, and a restart knows all
//! that was learnt. What all pages share is the [`Scheduler`], a row of its own that is written now
//! and then; a crash takes it back by a few visits, which cost it nothing but a little precision.
//!
//! The scheduler's day is the budget's period. It is asked for a little more than the budget, so
//! that something is always due and no request is lost; the budget itself decides when.

use crate::config::Continuous;
use crate::engine::Engine;
use crate::event::{Row, Step};
use crate::record::UrlRecord;
use crate::refresh::budget::RequestBudget;
use crate::refresh::constants::RefreshConstants;
use crate::refresh::scheduler::{CollectionEstimate, Scheduler, SchedulerSettings};
use crate::time::{Span, Time};
use std::collections::HashSet;

/// The scheduler's row is written after so many visits, and after a 32nd of the pages.
const WRITE_VISITS_MIN: u64 = 256;
const WRITES_PER_ROUND: u64 = 32;
/// Looks at how the collection is doing, in a period: each takes longer than a decision.
const LOOKS_PER_PERIOD: u64 = 1_024;
/// What one visit counts in the mean lateness.
const LATE_SHARE: f64 = 0.02;
/// Of four page requests one is for a new page, where both kinds wait.
const SHARE_OF_NEW: i64 = 4;
const CREDIT_MAX: i64 = 1_000;
/// Before anything is known, pages are taken to change once in so many periods.
const GUESS_PERIODS: f64 = 10.0;

/// How the pages of a crawl that goes on are doing, as a sample of them has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RevisitCollection {
    /// Pages that wait for another visit.
    pub pages: u64,
    /// The share of them whose copy is believed to be right.
    pub freshness: f64,
    /// Mean age of their copies, in seconds.
    pub age_s: f64,
    /// Changes that were not seen yet, for each.
    pub delay: f64,
    /// What a visit must bring to be made.
    pub price: f64,
    pub budget: Option<RequestBudget>,
    /// Requests in the last period, or since the start of this run if that is shorter; and what
    /// the budget gives for as long.
    pub asked: u64,
    pub allowed: f64,
    /// By how many seconds visits came late, of late.
    pub late_s: f64,
}

/// A crawl that goes on for ever.
pub struct Revisiting {
    pub(crate) scheduler: Scheduler,
    pub(crate) config: Continuous,
    pub(crate) visits_since_write: u64,
    is_written: bool,
    /// As it was when it was last looked at.
    collection: RevisitCollection,
    looked: Option<Time>,
    asked: Asked,
    /// Mean lateness of the last visits, in periods.
    late: f64,
    /// Above 0 if new pages had less than their share.
    credit: i64,
    /// Pages whose rows were written while the sieve was asked: what it read of them may be old.
    pub(crate) since_sift: HashSet<u64>,
}

impl Revisiting {
    pub(crate) fn new(config: Continuous, scheduler: Option<Scheduler>) -> Revisiting {
        let settings = SchedulerSettings {
            objective: config.objective,
            budget_per_day: config.budget.per_period(),
            day: config.budget.period,
            constants: RefreshConstants::default(),
        };
        let mut scheduler =
            scheduler.unwrap_or_else(|| Scheduler::new(settings, 1.0 / GUESS_PERIODS));
        scheduler.set(settings);
        Revisiting {
            scheduler,
            config,
            visits_since_write: 0,
            is_written: false,
            collection: RevisitCollection::default(),
            looked: None,
            asked: Asked::new(config.budget.period),
            late: 0.0,
            credit: 0,
            since_sift: HashSet::new(),
        }
    }

    pub fn collection(&self) -> &RevisitCollection {
        &self.collection
    }

    /// Looks at the collection now and then.
    fn look(&mut self, now: Time) {
        let every = Span(self.config.budget.period.0 / LOOKS_PER_PERIOD);
        if self.looked.is_some_and(|at| now.since(at) < every) {
            return;
        }
        self.looked = Some(now);
        let at = self.periods(Span(now.0));
        let CollectionEstimate { freshness, age_days, delay } = self.scheduler.estimate(at);
        let (asked, share) = self.asked.lately(now);
        self.collection = RevisitCollection {
            pages: self.scheduler.pages(),
            freshness,
            age_s: self.span(age_days).as_secs_f64(),
            delay,
            price: self.scheduler.price(),
            budget: Some(self.config.budget),
            asked,
            allowed: self.config.budget.per_period() * share,
            late_s: self.span(self.late).as_secs_f64(),
        };
    }

    pub(crate) fn came_late(&mut self, periods: f64) {
        self.late += (periods.max(0.0) - self.late) * LATE_SHARE;
    }

    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    pub(crate) fn periods(&self, span: Span) -> f64 {
        span.0 as f64 / self.config.budget.period.0.max(1) as f64
    }

    pub(crate) fn span(&self, periods: f64) -> Span {
        self.config.budget.period.times(periods)
    }

    /// Left-overs flow both ways: only where both waited is there anything to owe.
    pub(crate) fn revisited_before_new(&mut self) {
        self.credit = (self.credit + 1).min(CREDIT_MAX);
    }

    pub(crate) fn fetched_new_before_due(&mut self) {
        self.credit = (self.credit + 1 - SHARE_OF_NEW).max(-CREDIT_MAX);
    }
}

impl Engine {
    /// When a request may be made, as far as the budget and the rate are concerned; none is never.
    pub(crate) fn budget_next(&self, now: Time) -> Option<Time> {
        let flows = self.limits.flow.as_ref().map_or(now, |flow| flow.next(now));
        match &self.config.continuous {
            Some(continuous) => {
                continuous.budget.next(self.books.counters.spent, now).map(|next| next.max(flows))
            }
            None => Some(flows),
        }
    }

    /// When to look again, for hosts that stand in line for nothing but the budget. One of 0 is
    /// looked at once in its period, so that the engine always has something to wait for.
    pub(crate) fn budget_wakeup(&self, now: Time) -> Time {
        let period = self.config.continuous.map_or(Span::ZERO, |c| c.budget.period);
        self.budget_next(now).unwrap_or(now + period)
    }

    pub(crate) fn within_budget(&self, now: Time) -> bool {
        self.budget_next(now).is_some_and(|next| next <= now)
    }

    /// A request begins; the bytes that it is taken to bring.
    pub(crate) fn charge(&mut self, now: Time) -> u64 {
        self.books.counters.asked += 1;
        if let Some(continuous) = &self.config.continuous {
            continuous.budget.charge(&mut self.books.counters.spent, now);
        }
        if let Some(revisiting) = &mut self.revisiting {
            revisiting.asked.add(now);
        }
        self.limits.flow.as_mut().map_or(0, |flow| flow.begin(now))
    }

    /// Whether what is new had less than its share of the requests.
    pub(crate) fn owes_new(&self) -> bool {
        self.revisiting.as_ref().is_some_and(|revisiting| revisiting.credit >= SHARE_OF_NEW)
    }

    /// Pages that wait for another visit.
    pub(crate) fn calendar_len(&self) -> u64 {
        self.revisiting.as_ref().map_or(0, |revisiting| revisiting.scheduler.pages())
    }

    /// A page that left the calendar: robots say no.
    pub(crate) fn leave_calendar(&mut self, record: &UrlRecord) {
        if let (Some(revisiting), Some(_)) = (&mut self.revisiting, record.past.learnt) {
            revisiting.scheduler.left(record.id.0);
        }
    }

    /// Ends a turn: looks how the pages are doing, and writes the scheduler's row now and then.
    pub(crate) fn conclude_revisiting(&mut self, now: Time, step: &mut Step) {
        let is_stopping = self.limits.is_stopping();
        let Some(revisiting) = &mut self.revisiting else { return };
        revisiting.look(now);
        let every = (revisiting.scheduler.pages() / WRITES_PER_ROUND).max(WRITE_VISITS_MIN);
        let news = revisiting.visits_since_write;
        let is_first = !revisiting.is_written && revisiting.scheduler.pages() > 0;
        // A crawl that stops writes what it still has to say.
        if news >= every || is_first || (is_stopping && news > 0) {
            (revisiting.visits_since_write, revisiting.is_written) = (0, true);
            step.rows.push(Row::Refresh(Box::new(revisiting.scheduler.clone())));
        }
    }

    pub fn revisiting(&self) -> Option<&Revisiting> {
        self.revisiting.as_ref()
    }
}

/// Requests of the last period, in so many equal parts of it.
const PARTS: usize = 64;

struct Asked {
    part: Span,
    requests: [u32; PARTS],
    /// The part that is being counted; parts are counted from the epoch.
    latest: u64,
    began: Option<Time>,
}

impl Asked {
    fn new(period: Span) -> Asked {
        let part = Span((period.0 / PARTS as u64).max(1));
        Asked { part, requests: [0; PARTS], latest: 0, began: None }
    }

    fn add(&mut self, now: Time) {
        self.pass(now);
        let requests = &mut self.requests[self.latest as usize % PARTS];
        *requests = requests.saturating_add(1);
    }

    /// Requests, and the share of a period that they were made in.
    fn lately(&mut self, now: Time) -> (u64, f64) {
        self.pass(now);
        let all = self.requests.iter().map(|n| u64::from(*n)).sum();
        let parts = (PARTS - 1) as f64 + (now.0 % self.part.0) as f64 / self.part.0 as f64;
        let lived = now.since(self.began.unwrap_or(now)).0 as f64 / self.part.0 as f64;
        (all, parts.min(lived) / PARTS as f64)
    }

    fn pass(&mut self, now: Time) {
        self.began.get_or_insert(now);
        let part = now.0 / self.part.0;
        for old in (self.latest + 1..=part).rev().take(PARTS) {
            self.requests[old as usize % PARTS] = 0;
        }
        self.latest = self.latest.max(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_the_last_period_are_counted_and_older_ones_are_not() {
        let mut asked = Asked::new(Span::secs(6_400));
        let start = Time(1_000_000_000_000);
        for second in 0..20_000u64 {
            asked.add(start + Span::secs(second));
            let (requests, share) = asked.lately(start + Span::secs(second));
            let fair = share * 6_400.0;
            assert!((requests as f64 - fair).abs() <= 2.0, "{requests} for {fair} at {second}");
        }
        let (requests, _) = asked.lately(start + Span::secs(90_000));
        assert_eq!(requests, 0);
    }
}
