//! Hands: what the owner asks of a crawl that runs.
//!
//! A hand is an event like any other. What it changes goes into the rows that the change is about,
//! in the commit of its turn, and a line about it into the log of hands, which is a row too. What
//! outlasts the run: seeds, rests and requests do by their rows; an exclusion does because whoever
//! sent it has written it into the settings first. A pause ends with its run: starting a crawl
//! means that it is to go on.

use crate::books::{UrlHost, UrlPosition};
use crate::config::Config;
use crate::discovery::{Discovery, FoundAs};
use crate::engine::Engine;
use crate::event::{Row, Step, StopReason};
use crate::host::HostRecord;
use crate::log::Happening;
use crate::queue::{Entry, Place, SleepPlace};
use crate::record::UrlRecord;
use crate::sifted::Batch;
use crate::time::{Span, Time};
use rhumb_page::url::{HostKey, Rules, Url};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};

/// Lines of the log of hands, the latest.
pub const HANDS_KEPT: usize = 100;
/// Of a line: a URL may be much longer.
const LINE_BYTES_MAX: usize = 300;
/// Hosts that are being read from the store to be laid to rest. Of more hands the first are done.
const RESTS_MAX: usize = 1_000;
/// The longest rest: one that was meant otherwise ends by itself.
pub const REST_MAX: Span = Span::secs(30 * 86_400);
/// Where a URL stands that the owner wants now: before all others of its host.
const FRONT_CLASS: u8 = 0;

/// What the owner asks for.
#[derive(Clone, Debug)]
pub enum Hand {
    /// Begin no further request.
    Pause,
    Resume,
    Stop,
    Seed {
        url: Url,
        weight: f64,
    },
    /// Leave out what a pattern matches, also of what waits.
    Exclude {
        pattern: String,
        /// The filters that are in force from now on.
        rules: Rules,
    },
    /// Ask a host for nothing for so long.
    Rest {
        host: HostKey,
        span: Span,
    },
    /// Fetch a URL, or fetch it again, as soon as its host may be asked.
    FetchNow {
        url: Url,
    },
}

/// A line of the log of hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandLine {
    pub at: Time,
    pub what: String,
}

/// What hands have left in the engine.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    pub is_paused: bool,
    lines: VecDeque<HandLine>,
    /// Hosts asleep that are to rest, until when. Looked up, never iterated.
    rests: HashMap<HostKey, Time>,
    /// The sieve is asked about a URL that the owner wants.
    is_sought: bool,
    /// URLs that left their places since: what the sieve has read of them is old. Looked up, never
    /// iterated.
    moved: HashSet<u64>,
}

impl Hand {
    /// In words, bounded.
    pub fn told(&self) -> String {
        let mut told = match self {
            Hand::Pause => "pause".to_owned(),
            Hand::Resume => "resume".to_owned(),
            Hand::Stop => "stop".to_owned(),
            Hand::Seed { url, .. } => format!("seed {}", url.as_str()),
            Hand::Exclude { pattern, .. } => format!("exclude {pattern}"),
            Hand::Rest { host, span } => {
                format!("rest {} for {} s", host.origin(), span.0 / 1_000_000)
            }
            Hand::FetchNow { url } => format!("fetch now {}", url.as_str()),
        };
        told.truncate(told.floor_char_boundary(LINE_BYTES_MAX));
        told
    }
}

impl Hands {
    pub fn open(lines: Vec<HandLine>) -> Hands {
        Hands { lines: lines.into(), ..Hands::default() }
    }

    fn write(&mut self, at: Time, what: String, step: &mut Step) {
        if self.lines.len() == HANDS_KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(HandLine { at, what });
        step.rows.push(Row::Hands(self.lines.iter().cloned().collect()));
    }

    /// The sieve is asked about these.
    pub fn begin_sift(&mut self, candidates: &[Discovery]) {
        self.moved.clear();
        self.is_sought = candidates.iter().any(|candidate| candidate.kind == FoundAs::Asked);
    }

    /// A URL left its place.
    pub fn note_moved(&mut self, id: u64) {
        if self.is_sought {
            self.moved.insert(id);
        }
    }

    /// Until when a host that wakes is to rest, if it is.
    pub fn take_rest(&mut self, host: &HostKey) -> Option<Time> {
        if self.rests.is_empty() { None } else { self.rests.remove(host) }
    }
}

impl Engine {
    pub(crate) fn told(&mut self, now: Time, hand: Hand, step: &mut Step) {
        self.hands.write(now, hand.told(), step);
        self.log(now, step, || Happening::Told { what: hand.told() });
        match hand {
            Hand::Pause => self.hands.is_paused = true,
            Hand::Resume => self.hands.is_paused = false,
            Hand::Stop => self.limits.stop(StopReason::Interrupted),
            Hand::Seed { url, weight } => {
                self.seeded(vec![(named(url, FoundAs::Seed), weight)], step)
            }
            Hand::Exclude { rules, .. } => {
                self.config = Config { rules, ..self.config.clone() };
                self.admission.review.rules_changed(&self.config);
            }
            Hand::Rest { host, span } => self.lay_to_rest(now + span.min(REST_MAX), host),
            Hand::FetchNow { url } => self.admission.outbox.push(named(url, FoundAs::Asked)),
        }
    }

    /// A host that stands in a line is looked at when its turn comes: it is not asked then.
    pub(crate) fn lay_to_rest(&mut self, until: Time, host: HostKey) {
        if let Some(slot) = self.frontier.awake.slot_of(&host) {
            let record = &mut self.frontier.awake.at(slot).record;
            record.not_before = record.not_before.max(until);
            self.frontier.mark_dirty(slot);
        } else if self.hands.rests.len() < RESTS_MAX {
            self.hands.rests.insert(host.clone(), until);
            self.frontier.sleepers.call(host);
        }
    }

    /// The owner wants a URL that is known, and was not refused.
    pub(crate) fn ask_now(
        &mut self,
        now: Time,
        discovery: Discovery,
        record: UrlRecord,
        batch: &mut Batch,
        step: &mut Step,
    ) {
        let id = record.id.0;
        if self.hands.moved.contains(&id) {
            return;
        }
        let host = discovery.url.host_key();
        let slot = self.frontier.awake.slot_of(&host);
        let old = record.place;
        if let (Some(slot), Some(old)) = (slot, old)
            && !self.frontier.awake.at(slot).queue(old.section()).withdraw(old)
        {
            // It is being fetched.
            return;
        }
        let place = match old {
            Some(Place::Now { .. }) => front(id),
            Some(Place::Later { .. }) | None => Place::Later { due: now, id },
        };
        let was = UrlPosition::of(&record);
        let entry = Entry { url: discovery.url, record };
        if let Some(slot) = slot {
            let home = UrlHost::Awake(self.frontier.awake.at(slot));
            self.books.put(home, was, entry, Some(place), &mut step.rows);
            self.frontier.mark_dirty(slot);
            batch.slots.insert(slot);
            return;
        }
        let known = batch.touched.remove(&host).or_else(|| batch.known.remove(&host));
        let mut asleep = known.unwrap_or_default();
        let home = UrlHost::Asleep(&host, &mut asleep);
        self.books.put(home, was, entry, Some(place), &mut step.rows);
        self.file_asleep(&host, &mut asleep, place, step);
        batch.touched.insert(host, asleep);
    }

    /// A host asleep has something that its owner wants.
    fn file_asleep(
        &mut self,
        host: &HostKey,
        asleep: &mut HostRecord,
        work: Place,
        step: &mut Step,
    ) {
        let Place::Later { due, .. } = work else {
            return self.move_bed(host, asleep, work, step);
        };
        if asleep.later_after.is_some_and(|after| work <= after) {
            asleep.later_after = work.before();
        }
        let due = due.max(asleep.not_before);
        if !sleeps_longer(asleep.sleep, due) {
            return;
        }
        let place = SleepPlace::Later { due, rank: self.books.counters.next_sleep };
        self.books.counters.next_sleep += 1;
        self.frontier.sleepers.add(place);
        if let Some(place) = asleep.sleep.replace(place) {
            self.frontier.sleepers.remove(place);
            step.rows.push(Row::Sleep { host: host.clone(), place, asleep: false });
        }
        step.rows.push(Row::Sleep { host: host.clone(), place, asleep: true });
    }
}

/// A host that waits for room is woken for what it has; one that fails is tried when it is due.
fn sleeps_longer(place: Option<SleepPlace>, due: Time) -> bool {
    match place {
        None => true,
        Some(SleepPlace::Later { due: present, .. }) => due < present,
        Some(SleepPlace::Ready { .. } | SleepPlace::Resting { .. }) => false,
    }
}

/// Before all others of its host.
pub(crate) fn front(id: u64) -> Place {
    Place::Now { class: FRONT_CLASS, rank: 0, id }
}

/// As the owner names it.
fn named(url: Url, kind: FoundAs) -> Discovery {
    Discovery { url, kind, depth: 0, hops: 0, from: None }
}
