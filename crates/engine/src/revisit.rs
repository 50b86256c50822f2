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
use crate::outcome::Report;
use crate::queue::{Entry, Place};
use crate::record::{Next, Status, UrlRecord};
use crate::refresh::detect::{Learnt, detect};
use crate::refresh::scheduler::{Estimate, Scheduler, Settings, Subject, Visit};
use crate::time::{Span, Time};
use rhumb_page::url::Url;

/// Visits come late by this share of a round, by intention: there is always somebody due.
const LAG_WANTED: f64 = 0.05;
/// A page is not visited sooner than this share of what it may wait at today's price.
const SOONEST: f64 = 0.7;
/// The scheduler's row is written after so many visits, and after a 32nd of the pages.
const WRITE_VISITS_MIN: u64 = 256;
const WRITES_PER_ROUND: u64 = 32;
/// Visits between two looks at how the collection is doing.
const LOOK_VISITS: u64 = 64;
/// Of four page requests one is for a new page, where both kinds wait.
const SHARE_OF_NEW: i64 = 4;
const CREDIT_MAX: i64 = 1_000;
/// Before anything is known, pages are taken to change once in so many periods.
const GUESS_PERIODS: f64 = 10.0;

/// How the pages of a crawl that goes on are doing, as a sample of them has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Collection {
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
}

/// A crawl that goes on for ever.
pub struct Revisiting {
    pub(crate) scheduler: Scheduler,
    config: Continuous,
    visits_since_write: u64,
    /// As it was when it was last looked at: once in so many visits.
    collection: Collection,
    visits: u64,
    /// Above 0 if new pages had less than their share.
    credit: i64,
}

/// What kind of page request to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Revisit,
    New,
}

impl Revisiting {
    pub(crate) fn new(config: Continuous, scheduler: Option<Scheduler>) -> Revisiting {
        let settings =
            Settings { objective: config.objective, budget_per_day: config.budget.per_period() };
        let mut scheduler =
            scheduler.unwrap_or_else(|| Scheduler::new(settings, 1.0 / GUESS_PERIODS));
        scheduler.set(settings);
        Revisiting {
            scheduler,
            config,
            visits_since_write: 0,
            collection: Collection::default(),
            visits: 0,
            credit: 0,
        }
    }

    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// Looks at the collection now and then: it takes longer than a decision.
    fn look(&mut self, at: f64) {
        self.visits += 1;
        if self.visits % LOOK_VISITS != 1 {
            return;
        }
        let Estimate { freshness, age_days, delay } = self.scheduler.estimate(at);
        self.collection = Collection {
            pages: self.scheduler.pages(),
            freshness,
            age_s: self.span(age_days).as_secs_f64(),
            delay,
            price: self.scheduler.price(),
        };
    }

    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    fn periods(&self, span: Span) -> f64 {
        span.0 as f64 / self.config.budget.period.0.max(1) as f64
    }

    fn span(&self, periods: f64) -> Span {
        self.config.budget.period.times(periods)
    }

    fn turn(&mut self, is_due: bool, is_new: bool) -> Turn {
        let turn = match (is_due, is_new) {
            (true, true) if self.credit >= SHARE_OF_NEW => Turn::New,
            (true, _) => Turn::Revisit,
            (false, _) => Turn::New,
        };
        // Left-overs flow both ways: only where both waited is there anything to owe.
        if is_due && is_new {
            let step = if turn == Turn::New { 1 - SHARE_OF_NEW } else { 1 };
            self.credit = (self.credit + step).clamp(-CREDIT_MAX, CREDIT_MAX);
        }
        turn
    }
}

impl Engine {
    /// When a request may be made, as far as the budget is concerned; none is never.
    pub(crate) fn budget_next(&self, now: Time) -> Option<Time> {
        match &self.config.continuous {
            Some(continuous) => continuous.budget.next(self.counters.spent, now),
            None => Some(now),
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

    pub(crate) fn charge(&mut self, now: Time) {
        self.counters.asked += 1;
        if let Some(continuous) = &self.config.continuous {
            continuous.budget.charge(&mut self.counters.spent, now);
        }
    }

    /// Whether a host that has both is to fetch what is due or what is new.
    pub(crate) fn turn_of(&mut self, is_due: bool, is_new: bool) -> Turn {
        match &mut self.revisiting {
            Some(revisiting) => revisiting.turn(is_due, is_new),
            None if is_due => Turn::Revisit,
            None => Turn::New,
        }
    }

    /// When a page that came up is due at today's price, if that is well ahead.
    pub(crate) fn too_soon(
        &self,
        now: Time,
        slot: u32,
        place: Place,
        entry: &Entry,
    ) -> Option<Time> {
        let revisiting = self.revisiting.as_ref()?;
        let (Place::Later { .. }, Some(visited)) = (place, entry.record.visited) else {
            return None;
        };
        // A retry has its own date.
        if entry.record.status == Status::Queued || entry.record.learnt.is_none() {
            return None;
        }
        let subject = self.subject(slot, &entry.url, &entry.record)?;
        let wait = revisiting.scheduler.wait(&subject);
        let elapsed = revisiting.periods(now.since(visited));
        (elapsed < SOONEST * wait).then(|| visited + revisiting.span(wait))
    }

    fn subject(&self, slot: u32, url: &Url, record: &UrlRecord) -> Option<Subject> {
        let revisiting = self.revisiting.as_ref()?;
        let rule = self.config.priorities.iter().find(|p| p.pattern.is_match(url.as_str()));
        let bound = rule.and_then(|rule| rule.interval_max).unwrap_or(Span(u64::MAX));
        Some(Subject {
            id: record.id.0,
            belief: record.learnt.unwrap_or_default().belief,
            host: self.awake.get(slot)?.record.standing,
            weight: rule.and_then(|rule| rule.weight).unwrap_or(1.0),
            days_max: revisiting.periods(bound.min(revisiting.config.interval_max)),
        })
    }

    /// Learns from a visit to a page and says when the next is due.
    pub(crate) fn learn(
        &mut self,
        now: Time,
        (slot, place): (u32, Place),
        before: &Entry,
        report: &Report,
        (record, next): (&mut UrlRecord, Next),
    ) -> Next {
        let is_retry = record.status == Status::Queued;
        if self.revisiting.is_none() || is_retry || record.visited.is_none() {
            return next;
        }
        let Some(mut subject) = self.subject(slot, &before.url, &before.record) else {
            return next;
        };
        let waiting = self.counters.queued.saturating_sub(self.calendar_len());
        let Some(revisiting) = &mut self.revisiting else { return next };
        revisiting.scheduler.expect(waiting);
        let detected = detect(&before.record, &report.outcome);
        let at = revisiting.periods(Span(now.0));
        match (before.record.learnt, before.record.visited, detected) {
            (Some(_), Some(visited), Some(detected)) => {
                let round = revisiting.scheduler.round_days();
                let due = match place {
                    Place::Later { due, .. } => due,
                    Place::Now { .. } => now,
                };
                let late = revisiting.periods(now.since(due)) - revisiting.periods(due.since(now));
                let visit = Visit {
                    at,
                    after: revisiting.periods(now.since(visited)),
                    seen: detected.seen,
                    wait: revisiting.periods(due.since(visited)),
                    lag: late - LAG_WANTED * round,
                };
                (subject.belief, subject.host) = revisiting.scheduler.visited(&subject, visit);
                revisiting.visits_since_write += 1;
            }
            (None, _, Some(_)) => revisiting.scheduler.joined(&subject, at),
            // It failed, or was never seen: nothing is learnt, nothing forgotten.
            _ => {}
        }
        revisiting.look(at);
        let wait = revisiting.scheduler.wait(&subject);
        let due = now + revisiting.span(wait).max(Span(1));
        let texts = detected
            .map_or_else(|| record.learnt.unwrap_or_default().texts, |detected| detected.texts);
        if detected.is_some() || record.learnt.is_some() {
            record.learnt = Some(Learnt { belief: subject.belief, texts });
        }
        let changed = detected.is_some_and(|d| d.seen != crate::refresh::belief::Seen::Unchanged);
        self.counters.changes_seen += u64::from(changed && before.record.learnt.is_some());
        let host = self.awake.at(slot);
        host.record.standing = subject.host;
        host.record.lies =
            host.record.lies.saturating_add(u8::from(detected.is_some_and(|d| d.lied)));
        Next::At(due)
    }

    /// Pages that wait for another visit.
    fn calendar_len(&self) -> u64 {
        self.revisiting.as_ref().map_or(0, |revisiting| revisiting.scheduler.pages())
    }

    /// A page that left the calendar: its host was given up, or robots say no.
    pub(crate) fn leave_calendar(&mut self, record: &UrlRecord) {
        if let (Some(revisiting), Some(_)) = (&mut self.revisiting, record.learnt) {
            revisiting.scheduler.left(record.id.0);
        }
    }

    /// Writes the scheduler's row now and then.
    pub(crate) fn write_scheduler(&mut self, step: &mut Step) {
        let Some(revisiting) = &mut self.revisiting else { return };
        let every = (revisiting.scheduler.pages() / WRITES_PER_ROUND).max(WRITE_VISITS_MIN);
        if revisiting.visits_since_write >= every
            || step_is_last(self.stopping.is_some(), revisiting)
        {
            revisiting.visits_since_write = 0;
            step.rows.push(Row::Refresh(Box::new(revisiting.scheduler.clone())));
        }
    }

    pub fn revisiting(&self) -> Option<&Revisiting> {
        self.revisiting.as_ref()
    }
}

/// A crawl that stops writes what it still has to say.
fn step_is_last(is_stopping: bool, revisiting: &Revisiting) -> bool {
    is_stopping && revisiting.visits_since_write > 0
}
