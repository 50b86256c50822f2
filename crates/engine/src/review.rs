//! Readmission: URLs that were refused are put to admission again when the rules of admission have
//! changed, and URLs that failed are tried again in each new run.
//!
//! A row says by which rules all refused URLs were admitted. While others are in force, the engine
//! reads through the URLs, a page at a time and only while the outbox has room, and sends the
//! refused ones through the outbox to the sieve. The row is written in the commit that judges the
//! last of them. A run that ends before, in whatever way, leaves the old row, and the next run
//! begins again.
//!
//! What robots.txt forbade is readmitted when it was read for another user agent; its host's rules
//! are read again before anything is fetched. URLs that failed come along, once in a run. Such a
//! one gets a single try, or as many as a new one if the owner asked for it.
//!
//! What waits is put to admission again when its turn comes (`dispatch`).

use crate::admit;
use crate::config::Config;
use crate::counters::Counters;
use crate::discovery::Discovery;
use crate::engine::Engine;
use crate::event::{Action, Question, Row, Step};
use crate::outbox::CHUNKS_HELD_MAX;
use crate::outcome::FailKind;
use crate::record::{RecordStatus, Refusal, UrlRecord};
use rhumb_page::robots::Agent;
use rhumb_page::url::UrlKey;
use serde::{Deserialize, Serialize};

/// Rows that one question looks at: some ten milliseconds of the thread that reads the state.
pub const REVIEW_ROWS_MAX: usize = 8_192;
/// Rules that change during a run are applied to what was refused at once if no more URLs than this
/// are known, else when there is nothing else to do: each change costs a walk over all of them.
const REVIEW_SOON_ROWS: u64 = 65_536;
/// No further page is asked for while this many chunks wait for the sieve.
const CHUNKS_WAITING_MAX: u64 = CHUNKS_HELD_MAX as u64 / 2;

/// The URLs that a review looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewWanted {
    /// Refused by any rule but robots.txt.
    pub refused: bool,
    /// Forbidden by robots.txt.
    pub denied: bool,
    pub failed: ReviewFailed,
}

/// By what all refused URLs were to_admit: a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesFingerprint {
    /// A fingerprint of the rules of admission.
    pub rules: u64,
    /// For whom robots.txt was read, whose own sites among them.
    pub agent: Agent,
}

/// Which of the URLs that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewFailed {
    #[default]
    None,
    /// Those that each new run tries again.
    ByKind,
    All,
}

impl ReviewWanted {
    pub fn includes(&self, record: &UrlRecord) -> bool {
        let is_wanted = match record.status {
            RecordStatus::Refused(Refusal::Robots) => self.denied,
            RecordStatus::Refused(_) => self.refused,
            RecordStatus::Failed(kind) => self.failed.includes(kind),
            _ => false,
        };
        // One with a place waits for a date already.
        is_wanted && record.place.is_none()
    }
}

impl ReviewFailed {
    fn of(config: &Config) -> ReviewFailed {
        if config.retry_failed { ReviewFailed::All } else { ReviewFailed::ByKind }
    }

    fn includes(self, kind: FailKind) -> bool {
        match self {
            ReviewFailed::None => false,
            ReviewFailed::ByKind => kind.is_tried_by_later_runs(),
            ReviewFailed::All => true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Review {
    /// Of the rules in force but for the scope's members, which seeds add to.
    rules: u64,
    rules_fingerprint: Option<RulesFingerprint>,
    /// What failed in earlier runs and was not looked for in this one.
    failed: ReviewFailed,
    walk: Option<Walk>,
    /// There was no walk since the engine was opened.
    is_first: bool,
}

/// One walk over all URLs.
#[derive(Debug)]
struct Walk {
    wanted: ReviewWanted,
    /// What was in force when it began.
    rules_fingerprint: RulesFingerprint,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Reads URLs after this key.
    Reading { after: Option<UrlKey>, is_asked: bool },
    /// All were read: those of the last page are not in outbox rows yet.
    Read,
    /// All are in the outbox, before the chunk with this number.
    Sifting { until: u64 },
}

impl Review {
    pub fn open(
        config: &Config,
        rules_fingerprint: Option<RulesFingerprint>,
        counters: &Counters,
    ) -> Review {
        let wanted = ReviewFailed::of(config);
        let mut failed = FailKind::ALL.iter().zip(counters.failed).filter(|(_, count)| *count > 0);
        let any = failed.any(|(kind, _)| wanted.includes(*kind));
        Review {
            rules: admit::fingerprint(config),
            rules_fingerprint,
            failed: if any { wanted } else { ReviewFailed::None },
            walk: None,
            is_first: true,
        }
    }

    /// Other rules are in force: what was refused is put to admission again.
    pub fn rules_changed(&mut self, config: &Config) {
        self.rules = admit::fingerprint(config);
    }

    pub fn is_under_way(&self) -> bool {
        self.walk.is_some()
    }

    /// URLs may enter the graph that importance flows over.
    pub fn changes_graph(&self) -> bool {
        self.walk.as_ref().is_some_and(|walk| walk.wanted.refused)
    }
}

impl Engine {
    /// Whether a URL that failed, or that robots.txt forbade, is to be tried again if it comes as a
    /// seed or from a review.
    pub(crate) fn is_tried_again(&self, record: &UrlRecord) -> bool {
        let failed = ReviewFailed::of(&self.config);
        ReviewWanted { refused: false, denied: true, failed }.includes(record)
    }

    /// The failed tries that a URL has behind it when it is tried again.
    pub(crate) fn tries_behind(&self) -> u8 {
        if self.config.retry_failed { 0 } else { self.config.retry.tries_max.saturating_sub(1) }
    }

    pub(crate) fn reviewed(&mut self, found: Vec<Discovery>, next: Option<UrlKey>) {
        let walk = self.admission.review.walk.as_mut().expect("a walk that asked");
        found.into_iter().for_each(|discovery| self.admission.outbox.push(discovery));
        walk.stage = match next {
            None => Stage::Read,
            after => Stage::Reading { after, is_asked: false },
        };
    }

    /// Ends a turn, after the outbox has written its rows.
    pub(crate) fn conclude_review(&mut self, step: &mut Step) {
        self.begin_review(step);
        let Counters { next_outbox, outbox_head, .. } = self.books.counters;
        let has_room = next_outbox - outbox_head <= CHUNKS_WAITING_MAX;
        let may_ask = !self.limits.is_stopping() && has_room;
        let Some(Walk { wanted, rules_fingerprint, stage }) = &mut self.admission.review.walk
        else {
            return;
        };
        match stage {
            Stage::Reading { after, is_asked: is_asked @ false } if may_ask => {
                *is_asked = true;
                let (wanted, after, rows_max) = (*wanted, after.clone(), REVIEW_ROWS_MAX);
                step.actions.push(Action::Ask(Question::Review { wanted, after, rows_max }));
            }
            Stage::Read => *stage = Stage::Sifting { until: next_outbox },
            _ => {}
        }
        if matches!(stage, Stage::Sifting { until } if outbox_head >= *until) {
            let rules_fingerprint = *rules_fingerprint;
            self.admission.review.walk = None;
            self.admission.nearer.forget();
            self.rules_fingerprint(rules_fingerprint, step);
        }
    }

    fn begin_review(&mut self, step: &mut Step) {
        let rules = self.admission.review.rules ^ self.config.scope.fingerprint();
        let now = RulesFingerprint { rules, agent: self.config.agents() };
        let before = self.admission.review.rules_fingerprint;
        let wanted = ReviewWanted {
            refused: before.is_none_or(|before| before.rules != now.rules) || self.finds_nearer(),
            denied: before.is_none_or(|before| before.agent != now.agent),
            failed: self.admission.review.failed,
        };
        if self.admission.review.is_under_way() || wanted == ReviewWanted::default() {
            return;
        }
        if self.books.counters.known == 0 {
            return self.rules_fingerprint(now, step);
        }
        let is_soon =
            self.admission.review.is_first || self.books.counters.known <= REVIEW_SOON_ROWS;
        if is_soon || self.is_idle() {
            (self.admission.review.is_first, self.admission.review.failed) =
                (false, ReviewFailed::None);
            let stage = Stage::Reading { after: None, is_asked: false };
            self.admission.review.walk = Some(Walk { wanted, rules_fingerprint: now, stage });
        }
    }

    fn rules_fingerprint(&mut self, now: RulesFingerprint, step: &mut Step) {
        if self.admission.review.rules_fingerprint != Some(now) {
            self.admission.review.rules_fingerprint = Some(now);
            step.rows.push(Row::Rules(now));
        }
    }
}
