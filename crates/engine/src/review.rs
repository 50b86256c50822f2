//! Readmission: URLs that were refused are judged again when the rules of admission have changed.
//!
//! A row holds the fingerprint of the rules by which all refused URLs were judged. While the rules
//! in force have another one, the engine reads through the URLs, a page at a time and only while
//! the outbox has room, and sends the refused ones through the outbox to the sieve. The row is
//! written in the commit that judges the last of them. A run that ends before, in whatever way,
//! leaves the old row, and the next run begins again.

use crate::admit;
use crate::config::Config;
use crate::discovery::Discovery;
use crate::engine::Engine;
use crate::event::{Action, Question, Row, Step};
use crate::outbox::CHUNKS_HELD_MAX;
use crate::record::{Refusal, Status};
use rhumb_page::url::UrlKey;

/// Rows that one question looks at: some ten milliseconds of the thread that reads the state.
pub const REVIEW_ROWS_MAX: usize = 8_192;
/// Rules that change during a run are applied to what was refused at once if no more URLs than this
/// are known, else when there is nothing else to do: each change costs a walk over all of them.
const REVIEW_SOON_ROWS: u64 = 65_536;
/// No further page is asked for while this many chunks wait for the sieve.
const CHUNKS_WAITING_MAX: u64 = CHUNKS_HELD_MAX as u64 / 2;

#[derive(Debug)]
pub(crate) struct Review {
    /// Of the rules in force but for the scope's members, which seeds add to.
    rules: u64,
    /// Of the rules by which all that is refused was judged.
    judged_by: Option<u64>,
    stage: Stage,
    /// There was no review since the engine was opened.
    is_first: bool,
}

#[derive(Debug)]
enum Stage {
    Rest,
    /// Reads URLs after this key, to be judged by rules with this fingerprint.
    Reading {
        after: Option<UrlKey>,
        is_asked: bool,
        rules: u64,
    },
    /// All were read: those of the last page are not in outbox rows yet.
    Read {
        rules: u64,
    },
    /// All are in the outbox, before the chunk with this number.
    Sifting {
        until: u64,
        rules: u64,
    },
}

/// Whether a URL of this status is judged again when the rules have changed. What robots.txt said
/// is asked again when the host's rules are read again, not here.
pub fn is_reviewed(status: Status) -> bool {
    matches!(status, Status::Refused(why) if why != Refusal::Robots)
}

impl Review {
    pub fn open(config: &Config, judged_by: Option<u64>) -> Review {
        let rules = admit::fingerprint(config);
        Review { rules, judged_by, stage: Stage::Rest, is_first: true }
    }

    pub fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Rest)
    }
}

impl Engine {
    pub(crate) fn reviewed(&mut self, found: Vec<Discovery>, next: Option<UrlKey>) {
        let Stage::Reading { rules, .. } = self.review.stage else {
            unreachable!("a page of a review that was asked for")
        };
        found.into_iter().for_each(|discovery| self.outbox.push(discovery));
        self.review.stage = match next {
            None => Stage::Read { rules },
            after => Stage::Reading { after, is_asked: false, rules },
        };
    }

    /// Ends a turn, after the outbox has written its rows.
    pub(crate) fn conclude_review(&mut self, step: &mut Step) {
        self.begin_review(step);
        let waiting = self.counters.next_outbox - self.counters.outbox_head;
        let may_ask = self.stopping.is_none() && waiting <= CHUNKS_WAITING_MAX;
        match &mut self.review.stage {
            Stage::Reading { after, is_asked: is_asked @ false, .. } if may_ask => {
                *is_asked = true;
                let (after, rows_max) = (after.clone(), REVIEW_ROWS_MAX);
                step.actions.push(Action::Ask(Question::Review { after, rows_max }));
            }
            Stage::Read { rules } => {
                let until = self.counters.next_outbox;
                self.review.stage = Stage::Sifting { until, rules: *rules };
            }
            _ => {}
        }
        if let Stage::Sifting { until, rules } = self.review.stage
            && self.counters.outbox_head >= until
        {
            self.judged_by(rules, step);
        }
    }

    fn begin_review(&mut self, step: &mut Step) {
        let rules = self.review.rules ^ self.config.scope.fingerprint();
        if self.review.is_under_way() || self.review.judged_by == Some(rules) {
            return;
        }
        if self.counters.known == 0 {
            return self.judged_by(rules, step);
        }
        let is_soon = self.review.is_first || self.counters.known <= REVIEW_SOON_ROWS;
        if is_soon || self.is_idle() {
            self.review.is_first = false;
            self.review.stage = Stage::Reading { after: None, is_asked: false, rules };
        }
    }

    fn judged_by(&mut self, rules: u64, step: &mut Step) {
        self.review.judged_by = Some(rules);
        self.review.stage = Stage::Rest;
        step.rows.push(Row::Rules { fingerprint: rules });
    }
}
