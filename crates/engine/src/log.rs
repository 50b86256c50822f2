//! What happened, for people and programs that watch a crawl (`--events`). An entry is an action of
//! the turn that decided: it is performed after the turn's commit, and tells nothing that a crash
//! could undo.

use crate::engine::Engine;
use crate::event::{Action, Step};
use crate::frontier::awake::Awake;
use crate::outcome::{FailKind, FetchReport, Outcome, RobotsAnswer};
use crate::record::{Next, RecordStatus, Refusal, Role, UrlRecord};
use crate::time::{Span, Time};
use rhumb_page::url::{HostKey, Url};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    pub at: Time,
    pub what: Happening,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A request for a page was answered.
    Fetched { url: Url, status: u16, bytes: u64, took: Span, kind: FetchedAs },
    /// A request for a page failed, or was not worth making any more; when it is made again.
    Failed { url: Url, kind: FailKind, status: u16, took: Span, again: Option<Time> },
    /// A URL is not fetched.
    Refused { url: Url, why: Refusal },
    /// What became of the request for a host's robots.txt.
    Robots { host: HostKey, answer: RobotsWord },
    /// A host has failed so many times in a row, and is left alone until then.
    HostFailing { host: HostKey, kind: FailKind, failures: u16, until: Time },
    /// A host that failed answers again.
    HostRecovered { host: HostKey },
    /// The owner asked for something.
    Told { what: String },
}

/// What an answer amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchedAs {
    Page,
    Sitemap,
    Requisite,
    Duplicate,
    NearDuplicate,
    Unchanged,
    Moved { to: Option<Url> },
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsWord {
    Rules,
    Absent,
    Moved { to: Option<Url> },
    Unreachable(FailKind),
}

impl FetchedAs {
    pub fn word(&self) -> &'static str {
        match self {
            FetchedAs::Page => "page",
            FetchedAs::Sitemap => "sitemap",
            FetchedAs::Requisite => "requisite",
            FetchedAs::Duplicate => "duplicate",
            FetchedAs::NearDuplicate => "near_duplicate",
            FetchedAs::Unchanged => "unchanged",
            FetchedAs::Moved { .. } => "moved",
            FetchedAs::Gone => "gone",
        }
    }
}

impl RobotsWord {
    pub fn word(&self) -> &'static str {
        match self {
            RobotsWord::Rules => "rules",
            RobotsWord::Absent => "absent",
            RobotsWord::Moved { .. } => "moved",
            RobotsWord::Unreachable(_) => "unreachable",
        }
    }
}

impl Engine {
    /// Tells what happened, if anybody wants to know.
    pub(crate) fn log(&self, now: Time, step: &mut Step, what: impl FnOnce() -> Happening) {
        if self.config.logs {
            step.actions.push(Action::Log(Box::new(LogEntry { at: now, what: what() })));
        }
    }

    /// What became of a request for a page, its record being what it is after it.
    pub(crate) fn log_answer(
        &self,
        now: Time,
        url: &Url,
        report: &FetchReport,
        (record, next): (&UrlRecord, Next),
        step: &mut Step,
    ) {
        if record.role == Role::TriedSitemap && record.status == RecordStatus::Gone {
            return;
        }
        self.log(now, step, || {
            let FetchReport { status, bytes, took, .. } = *report;
            let url = url.clone();
            match report.outcome.failed_as() {
                Some(kind) => {
                    let again = match next {
                        Next::At(at) => Some(at),
                        Next::Never => None,
                    };
                    Happening::Failed { url, kind, status, took, again }
                }
                None => {
                    let kind = fetched_as(&report.outcome, record);
                    Happening::Fetched { url, status, bytes, took, kind }
                }
            }
        });
    }

    /// A request failed for its host's sake: its page waits as long as the host is left alone.
    pub(crate) fn log_waiting(
        &self,
        now: Time,
        slot: u32,
        url: &Url,
        report: &FetchReport,
        step: &mut Step,
    ) {
        let Some(kind) = report.outcome.failed_as() else { return };
        self.log(now, step, || {
            let FetchReport { status, took, .. } = *report;
            let again = Some(self.left_alone_until(slot));
            Happening::Failed { url: url.clone(), kind, status, took, again }
        });
    }

    pub(crate) fn log_failing(&self, now: Time, slot: u32, kind: FailKind, step: &mut Step) {
        self.log(now, step, || {
            let Awake { key, record, .. } = self.awake_at(slot);
            let (host, failures) = (key.clone(), record.failures);
            Happening::HostFailing { host, kind, failures, until: self.left_alone_until(slot) }
        });
    }

    pub(crate) fn log_recovered(&self, now: Time, slot: u32, step: &mut Step) {
        self.log(now, step, || Happening::HostRecovered { host: self.awake_at(slot).key.clone() });
    }

    fn left_alone_until(&self, slot: u32) -> Time {
        let host = self.awake_at(slot);
        host.record.not_before.max(host.rest_until)
    }

    fn awake_at(&self, slot: u32) -> &Awake {
        self.frontier.awake.get(slot).expect("a host that is answered is awake")
    }

    pub(crate) fn log_robots(&self, now: Time, slot: u32, answer: &RobotsAnswer, step: &mut Step) {
        self.log(now, step, || {
            let host = self.awake_at(slot).key.clone();
            let answer = match answer {
                RobotsAnswer::Rules(_) => RobotsWord::Rules,
                RobotsAnswer::Absent => RobotsWord::Absent,
                RobotsAnswer::Moved { to } => RobotsWord::Moved { to: to.clone() },
                RobotsAnswer::Unreachable { kind, .. } => RobotsWord::Unreachable(*kind),
            };
            Happening::Robots { host, answer }
        });
    }
}

fn fetched_as(outcome: &Outcome, record: &UrlRecord) -> FetchedAs {
    match outcome {
        Outcome::Moved { to } => FetchedAs::Moved { to: to.clone() },
        Outcome::Gone => FetchedAs::Gone,
        Outcome::Unchanged => FetchedAs::Unchanged,
        _ if record.role.is_requisite() => FetchedAs::Requisite,
        _ if record.role != Role::Page => FetchedAs::Sitemap,
        _ if record.status == RecordStatus::Duplicate => FetchedAs::Duplicate,
        _ if record.past.near.is_some() => FetchedAs::NearDuplicate,
        _ => FetchedAs::Page,
    }
}
