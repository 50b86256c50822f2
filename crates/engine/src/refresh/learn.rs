//! What a visit teaches the engine, and when the next is due.

use crate::config::MinorChanges;
use crate::engine::Engine;
use crate::outcome::{FetchReport, Outcome};
use crate::queue::{Entry, Place};
use crate::record::{Next, RecordStatus, UrlRecord};
use crate::refresh::belief::VisitFinding;
use crate::refresh::detect::{Detected, LearntChange, detect};
use crate::refresh::scheduler::{ScheduledPage, Visit};
use crate::time::{Span, Time};
use rhumb_page::url::Url;

/// Visits come late by this share of a round, by intention: there is always somebody due.
const LAG_WANTED: f64 = 0.05;
/// A page is not visited sooner than this share of what it may wait at today's price.
const SOONEST: f64 = 0.7;
/// A page's importance counts for this much at least and at most, the mean being 1: a seed must
/// not be visited all the time, nor what nobody links to never.
const IMPORTANCE: (f64, f64) = (1.0 / 16.0, 16.0);

impl Engine {
    /// When a page that came up is due at today's price, if that is well ahead.
    pub(crate) fn too_soon(
        &self,
        now: Time,
        slot: u32,
        place: Place,
        entry: &Entry,
    ) -> Option<Time> {
        let revisiting = self.revisiting.as_ref()?;
        let (Place::Later { .. }, Some(visited), Some(learnt)) =
            (place, entry.record.past.visited, entry.record.past.learnt)
        else {
            return None;
        };
        // A retry has its own date, and so has a change that was announced.
        let is_announced = learnt.announced().is_some_and(|at| at > visited);
        if entry.record.status == RecordStatus::Queued || is_announced {
            return None;
        }
        let subject = self.subject(slot, &entry.url, &entry.record)?;
        let wait = revisiting.scheduler.wait(&subject);
        let elapsed = revisiting.periods(now.since(visited));
        (elapsed < SOONEST * wait).then(|| visited + revisiting.span(wait))
    }

    fn subject(&self, slot: u32, url: &Url, record: &UrlRecord) -> Option<ScheduledPage> {
        let host = self.frontier.awake.get(slot)?.record.standing;
        self.subject_of(url, record, host)
    }

    pub(crate) fn subject_of(
        &self,
        url: &Url,
        record: &UrlRecord,
        host: crate::refresh::scheduler::HostStanding,
    ) -> Option<ScheduledPage> {
        let revisiting = self.revisiting.as_ref()?;
        let rule = self.config.priorities.iter().find(|p| p.pattern.is_match(url.as_str()));
        let bound = rule.and_then(|rule| rule.interval_max).unwrap_or(Span(u64::MAX));
        let wanted = rule.and_then(|rule| rule.weight).unwrap_or(1.0);
        Some(ScheduledPage {
            id: record.id.0,
            belief: record.past.learnt.unwrap_or_default().belief,
            host,
            weight: wanted * self.importance(record),
            days_max: revisiting.periods(bound.min(revisiting.config.interval_max)),
        })
    }

    /// A page's share of all importance, in shares of a page like any other.
    fn importance(&self, record: &UrlRecord) -> f64 {
        let weighs = self.config.continuous.is_some_and(|c| c.by_importance);
        if !weighs || self.books.mass.is_stale() {
            return 1.0;
        }
        let (settled, lying) = self.books.mass.of(record.id);
        let share = (settled + lying) * self.books.mass.ledger().pages_len().max(1) as f64;
        share.clamp(IMPORTANCE.0, IMPORTANCE.1)
    }

    /// Learns from a visit to a page and says when the next is due.
    pub(crate) fn learn(
        &mut self,
        now: Time,
        (slot, place): (u32, Place),
        before: &Entry,
        (report, is_minor): (&FetchReport, bool),
        (record, next): (&mut UrlRecord, Next),
    ) -> Next {
        let is_retry = record.status == RecordStatus::Queued;
        if self.revisiting.is_none() || is_retry || record.past.visited.is_none() {
            return next;
        }
        let Some(mut subject) = self.subject(slot, &before.url, &before.record) else {
            return next;
        };
        let detected = detect(&before.record, &report.outcome)
            .map(|d| self.dated(now, slot, before, report, d))
            .map(|d| if is_minor && self.ignores_minor() { d.as_unchanged() } else { d });
        let waiting = self.books.counters.queued.saturating_sub(self.calendar_len());
        let reopened = self.clock.reopened;
        let Some(revisiting) = &mut self.revisiting else { return next };
        revisiting.scheduler.expect(waiting);
        let at = revisiting.periods(Span(now.0));
        // Robots let us in again, or it is new.
        let joins = before.record.past.learnt.is_none()
            || matches!(before.record.status, RecordStatus::Refused(_));
        if joins && detected.is_some() {
            revisiting.scheduler.joined(&subject, at);
        }
        if let (Some(_), Some(visited), Some(detected)) =
            (before.record.past.learnt, before.record.past.visited, detected)
        {
            let round = revisiting.scheduler.round_days();
            let due = match place {
                Place::Later { due, .. } => due,
                Place::Now { .. } => now,
            };
            // What fell due while nobody ran, or while a clock leapt, is not late for its price.
            let rested = reopened.is_some_and(|opened| due < opened);
            let late = match rested {
                true => LAG_WANTED * round,
                false => revisiting.periods(now.since(due)) - revisiting.periods(due.since(now)),
            };
            revisiting.came_late(late);
            let visit = Visit {
                at,
                after: revisiting.periods(now.since(visited)),
                seen: detected.seen,
                wait: revisiting.periods(due.since(visited)),
                lag: late.clamp(-round, round) - LAG_WANTED * round,
            };
            (subject.belief, subject.host) = revisiting.scheduler.visited(&subject, visit);
            revisiting.visits_since_write += 1;
        }
        // Otherwise it failed, or was never seen: nothing is learnt, nothing forgotten.
        let wait = revisiting.scheduler.wait(&subject);
        let due = now + revisiting.span(wait).max(Span(1));
        self.frontier.awake.at(slot).record.standing = subject.host;
        self.write_down(before, record, detected, &subject);
        Next::At(due)
    }

    fn ignores_minor(&self) -> bool {
        let minor = self.config.continuous.map(|continuous| continuous.minor_changes);
        minor == Some(MinorChanges::Ignore)
    }

    /// What is remembered in the page's own record.
    fn write_down(
        &mut self,
        before: &Entry,
        record: &mut UrlRecord,
        detected: Option<Detected>,
        subject: &ScheduledPage,
    ) {
        let old = before.record.past.learnt;
        let Some(detected) = detected else {
            record.past.learnt =
                old.map(|learnt| LearntChange { belief: subject.belief, ..learnt });
            return;
        };
        let changed = detected.seen != VisitFinding::Unchanged && old.is_some();
        self.books.counters.changes_seen += u64::from(changed);
        let LearntChange { recent, announced_s, .. } = old.unwrap_or_default();
        let recent = if old.is_some() { recent.with(changed) } else { recent };
        record.past.learnt = Some(LearntChange {
            belief: subject.belief,
            texts: detected.texts,
            recent,
            announced_s,
        });
    }

    /// Holds what the server says against what was found, and dates a change by it if it may.
    fn dated(
        &mut self,
        now: Time,
        slot: u32,
        before: &Entry,
        report: &FetchReport,
        detected: Detected,
    ) -> Detected {
        let Some(day) = self.revisiting.as_ref().map(|r| r.config.budget.period) else {
            return detected;
        };
        let trust = &mut self.frontier.awake.at(slot).record.trust;
        let known = before.record.past.learnt.zip(before.record.past.visited);
        if let Some((learnt, visited)) = known
            && learnt.announced().is_some_and(|at| at > visited)
        {
            trust.announcements.heard(detected.seen != VisitFinding::Unchanged);
        }
        let (Outcome::Page(page), Some(is_same)) = (&report.outcome, detected.is_same) else {
            return detected;
        };
        trust.hear(&before.record, page, is_same, now);
        match trust.changed_ago(&before.record, page, now) {
            Some(ago) if detected.seen == VisitFinding::Changed => {
                let days = ago.0 as f64 / day.0.max(1) as f64;
                Detected { seen: VisitFinding::ChangedAgo(days), ..detected }
            }
            _ => detected,
        }
    }
}
