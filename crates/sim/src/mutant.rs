//! Broken engines, one for each invariant: if the watch does not catch them, it sleeps.
//!
//! A mutant is the real engine with its events or its step spoilt on the way, or the real loop over
//! a spoilt disk, so that no broken code lives in the engine itself.

use rhumb_engine::discovery::{FoundAs, FoundUrl};
use rhumb_engine::engine::Engine;
use rhumb_engine::event::{
    Action, Answer, Event, FetchId, Row, SiftTarget, Sifted, Step, StopReason, ToAdmit,
};
use rhumb_engine::mass::{ONE, Sums, WALKS};
use rhumb_engine::outcome::{FetchReport, Outcome, RobotsAnswer};
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::Machine;
use rhumb_page::url::Url;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Believes that responses ended two seconds before they did (1).
    Hasty,
    /// Its clock is five hours ahead (1).
    Sleepless,
    /// Believes that answers bring no bytes (1).
    Gluttonous,
    /// Believes that no robots.txt has rules (2).
    Deaf,
    /// Takes what it knows for new (3).
    Credulous,
    /// Loses some of what it discovers (4).
    Forgetful,
    /// Writes a wrong sum (5).
    Miscounting,
    /// Takes two links of a page for one, and so pays the others twice (5).
    Overpaying,
    /// Believes that every page links to itself, and so keeps what it should hand on (5).
    Vain,
    /// Takes pages that are not to be had for pages without links (5).
    Lenient,
    /// Takes pages for more relevant than they are (5).
    Partisan,
    /// Changes its mind about the links of pages that it has read (5).
    Fickle,
    /// Counts against the topic what lies on URLs, not all that is missing from the whole: what is
    /// on its way between partitions seems to be had (5).
    Summing,
    /// Takes what another partition sends for twice as much (5).
    Greedy,
    /// Does not write down what it sent, and would send it again after a crash (5).
    Indebted,
    /// Sends messages that a power cut may take back (5).
    Blabbing,
    /// Acknowledges what a power cut may take back (5).
    Assuring,
    /// Repeats an acknowledgement of what a power cut may take back (5).
    Insisting,
    /// Acts in an order that no seed decides (6).
    Capricious,
    /// Lets some bodies go unkept (7).
    Careless,
    /// Syncs the state and not the archive (7).
    Rash,
    /// Believes commits that speak of more than the archive holds (7).
    Gullible,
    /// Keeps a copy of all it ever heard (8).
    Hoarding,
    /// Counts leases from when it heard that it has them (1).
    Tardy,
    /// Forgets at once what messages took back and others may not yet know of (5).
    Forgiving,
    /// Takes the crawl for finished though messages are on their way (4).
    Concluding,
    /// Goes on in the epoch of the process before it (5).
    Recycling,
    /// Removes journal files whose rows are in tables and nowhere else (7).
    Tidy,
    /// Writes the mark before the rows that it speaks of (7).
    Presuming,
}

impl Mutant {
    pub const ALL: [Mutant; 29] = [
        Mutant::Hasty,
        Mutant::Sleepless,
        Mutant::Gluttonous,
        Mutant::Deaf,
        Mutant::Credulous,
        Mutant::Forgetful,
        Mutant::Miscounting,
        Mutant::Overpaying,
        Mutant::Vain,
        Mutant::Lenient,
        Mutant::Partisan,
        Mutant::Fickle,
        Mutant::Summing,
        Mutant::Greedy,
        Mutant::Indebted,
        Mutant::Blabbing,
        Mutant::Assuring,
        Mutant::Insisting,
        Mutant::Capricious,
        Mutant::Careless,
        Mutant::Rash,
        Mutant::Gullible,
        Mutant::Hoarding,
        Mutant::Tardy,
        Mutant::Forgiving,
        Mutant::Concluding,
        Mutant::Recycling,
        Mutant::Tidy,
        Mutant::Presuming,
    ];

    /// The invariant that catches it.
    pub fn breaks(self) -> u8 {
        match self {
            Mutant::Hasty | Mutant::Sleepless | Mutant::Gluttonous => 1,
            Mutant::Deaf => 2,
            Mutant::Credulous => 3,
            Mutant::Forgetful => 4,
            Mutant::Miscounting | Mutant::Overpaying | Mutant::Vain | Mutant::Lenient => 5,
            Mutant::Partisan | Mutant::Fickle | Mutant::Summing => 5,
            Mutant::Greedy | Mutant::Indebted => 5,
            Mutant::Blabbing | Mutant::Assuring | Mutant::Insisting => 5,
            Mutant::Capricious => 6,
            Mutant::Careless | Mutant::Rash | Mutant::Gullible => 7,
            Mutant::Hoarding => 8,
            Mutant::Tardy => 1,
            Mutant::Forgiving | Mutant::Recycling => 5,
            Mutant::Concluding => 4,
            Mutant::Tidy | Mutant::Presuming => 7,
        }
    }
}

/// The engine, whole or spoilt.
pub struct EngineUnderTest {
    pub engine: Engine,
    pub mutant: Option<Mutant>,
    hoard: Vec<Event>,
    keeps: u64,
    /// What was asked for, by those who must know.
    asked: HashMap<FetchId, Url>,
}

impl EngineUnderTest {
    pub fn new(engine: Engine, mutant: Option<Mutant>) -> EngineUnderTest {
        EngineUnderTest { engine, mutant, hoard: Vec::new(), keeps: 0, asked: HashMap::new() }
    }

    pub fn hosts_awake(&self) -> usize {
        self.engine.hosts_awake()
    }

    pub fn heap_bytes(&self) -> usize {
        let hoarded: usize = self.hoard.iter().map(event_bytes).sum();
        self.engine.heap_bytes() + hoarded
    }

    fn spoil_event(&mut self, now: Time, mut event: Event) -> (Time, Event) {
        match (self.mutant, &mut event) {
            (Some(Mutant::Hasty), Event::Fetched { .. }) => return (now - Span::secs(2), event),
            (Some(Mutant::Gluttonous), Event::Fetched { report, .. }) => report.bytes = 0,
            (
                Some(Mutant::Deaf),
                Event::Fetched {
                    report: FetchReport { outcome: Outcome::Robots(answer), .. }, ..
                },
            ) => {
                if matches!(answer, RobotsAnswer::Rules(_)) {
                    *answer = RobotsAnswer::Absent;
                }
            }
            (Some(Mutant::Credulous), Event::Answered(Answer::Sifted(sifted))) => {
                let again = sifted.to_admit.first().cloned();
                sifted.to_admit.extend(again);
            }
            (Some(Mutant::Forgetful), Event::Answered(Answer::Sifted(sifted))) => {
                forget(sifted);
            }
            (Some(Mutant::Overpaying), Event::Answered(Answer::Sifted(sifted))) => {
                for pair in sifted.targets.chunks_exact_mut(2) {
                    pair[1] = pair[0];
                }
            }
            (
                Some(Mutant::Vain),
                Event::Fetched { fetch, report: FetchReport { outcome: Outcome::Page(page), .. } },
            ) => {
                let url = self.asked.remove(fetch);
                page.found.extend(url.map(|url| FoundUrl::new(url, FoundAs::Link)));
            }
            (
                Some(Mutant::Lenient),
                Event::Fetched {
                    report: FetchReport { outcome: outcome @ Outcome::Gone, .. }, ..
                },
            ) => *outcome = Outcome::Page(Box::default()),
            (
                Some(Mutant::Partisan),
                Event::Fetched { report: FetchReport { outcome: Outcome::Page(page), .. }, .. },
            ) => page.relevance = page.relevance.saturating_add(64),
            (
                Some(Mutant::Fickle),
                Event::Fetched { report: FetchReport { outcome: Outcome::Page(page), .. }, .. },
            ) => page.found.iter_mut().for_each(|found| found.weight = 15 - found.weight),
            (Some(Mutant::Greedy), Event::Delivered { message, .. }) => {
                Arc::make_mut(message).iter_mut().for_each(|item| item.mass *= 2);
            }
            (Some(Mutant::Hoarding), event) => self.hoard.push(event.clone()),
            _ => {}
        }
        (now, event)
    }

    /// By how much its clock is ahead.
    fn ahead(&self) -> Span {
        match self.mutant {
            Some(Mutant::Sleepless) => Span::secs(5 * 3_600),
            _ => Span::ZERO,
        }
    }

    fn spoil_step(&mut self, step: &mut Step) {
        match self.mutant {
            Some(Mutant::Miscounting) => step.rows.iter_mut().for_each(|row| {
                if let Row::Counters(counters) = row {
                    counters.pages += 1;
                }
            }),
            Some(Mutant::Indebted) => {
                step.rows.retain(|row| !matches!(row, Row::Moved { mass: ..0, .. }));
            }
            Some(Mutant::Capricious) => {
                let coin = RandomState::new();
                step.actions.sort_by_cached_key(|action| coin.hash_one(format!("{action:?}")));
            }
            Some(Mutant::Vain) => {
                for action in &step.actions {
                    if let Action::Fetch(fetch) = action {
                        self.asked.insert(fetch.id, fetch.url.clone());
                    }
                }
            }
            Some(Mutant::Careless) => {
                let keeps = &mut self.keeps;
                step.keeps.retain(|_| {
                    *keeps += 1;
                    !keeps.is_multiple_of(97)
                });
            }
            _ => {}
        }
    }
}

impl Machine for EngineUnderTest {
    fn step(&mut self, now: Time, event: Event, step: &mut Step) {
        let (now, event) = self.spoil_event(now, event);
        self.engine.step(now + self.ahead(), event, step);
    }

    fn conclude(&mut self, now: Time, step: &mut Step) {
        self.engine.conclude(now + self.ahead(), step);
        self.spoil_step(step);
    }

    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        let (at, why) = self.engine.next_wakeup(now + self.ahead())?;
        Some((at - self.ahead(), why))
    }

    fn over(&self) -> Option<StopReason> {
        self.engine.over()
    }

    fn last_words(&mut self, step: &mut Step) {
        self.engine.last_words(step);
        self.spoil_step(step);
    }
}

/// What is said of the topic's share that is covered.
pub fn bound_on_topic(mutant: Option<Mutant>, sums: &Sums) -> f64 {
    let told = sums.of_topic();
    if mutant != Some(Mutant::Summing) {
        return told.bound;
    }
    let lies = sums.residue.iter().sum::<i64>() as f64 / ONE as f64 / WALKS;
    if told.had > 0.0 { told.had / (told.had + lies.max(0.0)) } else { 0.0 }
}

/// Some of what is new seems never to have been found.
fn forget(sifted: &mut Sifted) {
    let is_kept = |candidate: &ToAdmit| !candidate.discovery.url.fingerprint(0).is_multiple_of(20);
    let kept: Vec<bool> = sifted.to_admit.iter().map(is_kept).collect();
    for target in &mut sifted.targets {
        if let SiftTarget::ToAdmit(at) = *target {
            let before = kept[..at as usize].iter().filter(|kept| **kept).count() as u32;
            let is_kept = kept[at as usize];
            *target = if is_kept { SiftTarget::ToAdmit(before) } else { SiftTarget::Unknown(at) };
        }
    }
    sifted.to_admit.retain(is_kept);
}

fn event_bytes(event: &Event) -> usize {
    match event {
        Event::Fetched { report: FetchReport { outcome: Outcome::Page(page), .. }, .. } => {
            size_of::<Event>() + (page.found.len() + page.known.len()) * 120
        }
        Event::Answered(Answer::Sifted(sifted)) => sifted.to_admit.len() * 300,
        _ => size_of::<Event>(),
    }
}
