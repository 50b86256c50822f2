//! Hosts that fail: whom a failure is charged to, how long a host is left alone after it, and when
//! it no longer keeps a run alive (docs/decisions/0020-failing-hosts.md).
//!
//! No failure is final. What waits at a host that fails goes on waiting: the host is tried again
//! after pauses that grow. One that failed as often in a row as [`Retry::failures_max`] says is
//! *failing*: it rests, and a run that has nothing else to do is over. Every run begins to count
//! anew, and tries those that rest at once.

use crate::config::Retry;
use crate::engine::Engine;
use crate::event::Step;
use crate::frontier::awake::RobotsReferral;
use crate::outcome::{FailKind, Outcome, RobotsAnswer};
use crate::queue::{Entry, Place};
use crate::record::back_off;
use crate::time::{Span, Time};

/// The longest that a failing host rests before it is tried again.
const REST_MAX: Span = Span::secs(DAY_S);
/// A crawl that goes on waits for hosts whose pages it has: at first so long, twice as long each
/// time, and never longer than this.
const LONG_REST_MIN: Span = Span::secs(DAY_S);
const LONG_REST_MAX: Span = Span::secs(16 * DAY_S);
const DAY_S: u64 = 86_400;
/// Asking again seldom makes a name exist, or a certificate good.
const STUBBORN_TRIES_MAX: u16 = 2;

impl Retry {
    /// Failures in a row after which a host counts as failing.
    pub fn failures_max(&self, kind: FailKind) -> u16 {
        match kind {
            kind if kind.is_stubborn() => self.host_failures_max.min(STUBBORN_TRIES_MAX),
            FailKind::RobotsUnreachable => {
                self.host_failures_max.min(u16::from(self.robots_tries_max))
            }
            kind if !kind.is_passing() => 1,
            _ => self.host_failures_max,
        }
    }
}

impl Engine {
    /// What a page request says of its host; whether the page itself is to answer for it. It is not
    /// if no request was sent, nor if the request before it failed too.
    pub(crate) fn note_health(
        &mut self,
        now: Time,
        slot: u32,
        outcome: &Outcome,
        step: &mut Step,
    ) -> bool {
        let (kind, retry_after) = match outcome {
            Outcome::Failed(kind) if kind.concerns_host() => (*kind, None),
            Outcome::Busy { kind, retry_after } if kind.concerns_host() => (*kind, *retry_after),
            // Part of a page is the page's own matter: its host answered.
            Outcome::Failed(_) | Outcome::Busy { .. } | Outcome::Cut { .. } => return true,
            _ => {
                let record = &mut self.frontier.awake.at(slot).record;
                record.failures = 0;
                if record.failing.take().is_some() {
                    self.log_recovered(now, slot, step);
                }
                return true;
            }
        };
        let host = self.frontier.awake.at(slot);
        let was_well = host.record.failing.is_none();
        if kind == FailKind::Timeout && host.now.is_empty() {
            // No other page may tell a host that is silent from a page that is: robots.txt does.
            host.record.robots_until = None;
        }
        self.host_failed(now, slot, kind, retry_after, step);
        was_well && kind.may_be_of_page()
    }

    /// A request failed, and its page is not to answer for it: it waits on as if it had not been
    /// made. After an answer that may be the page's own fault, others are asked before it.
    pub(crate) fn wait_on(
        &mut self,
        now: Time,
        slot: u32,
        (place, entry): (Place, Entry),
        step: &mut Step,
    ) {
        self.books.counters.retries += 1;
        let retry = self.config.retry;
        let host = self.frontier.awake.at(slot);
        match host.record.failing {
            Some(kind) if kind.may_be_of_page() => {
                let due = now + back_off(&retry, host.record.failures, None);
                self.defer(slot, (place, entry), due, step);
            }
            _ => host.queue(place.section()).put_back(place, entry),
        }
    }

    pub(crate) fn host_failed(
        &mut self,
        now: Time,
        slot: u32,
        kind: FailKind,
        retry_after: Option<Span>,
        step: &mut Step,
    ) {
        let (retry, run) = (self.config.retry, self.books.counters.run);
        let record = &mut self.frontier.awake.at(slot).record;
        record.enter_run(run);
        record.failures = record.failures.saturating_add(1);
        record.failing = Some(kind);
        if record.failures >= retry.failures_max(kind) {
            self.rest(now, slot, kind, retry_after);
        } else {
            let wait = back_off(&retry, record.failures, retry_after);
            record.not_before = record.not_before.max(now + wait);
        }
        self.log_failing(now, slot, kind, step);
        self.frontier.mark_dirty(slot);
    }

    /// A host is failing. Its rest binds this run alone; what the host itself asks for binds later
    /// ones too.
    fn rest(&mut self, now: Time, slot: u32, kind: FailKind, retry_after: Option<Span>) {
        let is_endless = self.config.continuous.is_some();
        let revisits = is_endless || self.config.revisit_after.is_some();
        let retry = self.config.retry;
        let host = self.frontier.awake.at(slot);
        host.robots_at = None;
        let record = &mut host.record;
        let wish = retry_after.unwrap_or(Span::ZERO).min(retry.retry_after_max);
        record.not_before = record.not_before.max(now + wish);
        let failures = u32::from(record.failures);
        let pause = retry.wait_min.doubled(failures - 1).min(REST_MAX);
        let rests = failures - u32::from(retry.failures_max(kind));
        let long_pause = LONG_REST_MIN.doubled(rests).min(LONG_REST_MAX);
        let is_awaited = revisits && record.pages > 0 && kind.is_passing();
        match is_awaited {
            true if is_endless => record.not_before = record.not_before.max(now + long_pause),
            true => record.not_before = record.not_before.max(now + pause),
            // At least one moment, so that it lies down.
            false => host.rest_until = now + pause.max(Span(1)),
        }
    }

    /// A host that rests fetches no robots.txt for others either: they are told at once.
    pub(crate) fn refuse_referrals(&mut self, now: Time, slot: u32, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        let kind = host.record.failing.unwrap_or(FailKind::RobotsUnreachable);
        let referrals = std::mem::take(&mut host.referrals);
        self.turn_away(now, referrals, kind, step);
    }

    /// Those who asked for robots.txt here will not have it from us.
    pub(crate) fn turn_away(
        &mut self,
        now: Time,
        referrals: Vec<RobotsReferral>,
        kind: FailKind,
        step: &mut Step,
    ) {
        for referral in referrals {
            // It waits for this answer: it cannot have gone to sleep.
            let asker =
                self.frontier.awake.slot_of(&referral.for_host).expect("the host that asked");
            self.frontier.awake.at(asker).awaits_robots = false;
            let answer = RobotsAnswer::Unreachable { retry_after: None, kind };
            self.robots_answered(now, asker, Outcome::Robots(answer), step);
            self.advance(now, asker, step);
        }
    }
}
