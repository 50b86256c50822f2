//! Broken engines, one for each invariant: if the watch does not catch them, it sleeps.
//!
//! A mutant is the real engine with its events or its step spoilt on the way, so that no broken
//! code lives in the engine itself.

use rhumb_engine::engine::Engine;
use rhumb_engine::event::{Answer, Event, Row, Step, StopReason};
use rhumb_engine::outcome::{Outcome, Report, RobotsAnswer};
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::Machine;
use std::hash::{BuildHasher, RandomState};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Believes that responses ended two seconds before they did (1).
    Hasty,
    /// Believes that no robots.txt has rules (2).
    Deaf,
    /// Takes what it knows for new (3).
    Credulous,
    /// Loses some of what it discovers (4).
    Forgetful,
    /// Writes a wrong sum (5).
    Miscounting,
    /// Acts in an order that no seed decides (6).
    Capricious,
    /// Lets some bodies go unkept (7).
    Careless,
    /// Keeps a copy of all it ever heard (8).
    Hoarding,
}

impl Mutant {
    pub const ALL: [Mutant; 8] = [
        Mutant::Hasty,
        Mutant::Deaf,
        Mutant::Credulous,
        Mutant::Forgetful,
        Mutant::Miscounting,
        Mutant::Capricious,
        Mutant::Careless,
        Mutant::Hoarding,
    ];

    /// The invariant that catches it.
    pub fn breaks(self) -> u8 {
        1 + Mutant::ALL.iter().position(|m| *m == self).expect("listed") as u8
    }
}

/// The engine, whole or spoilt.
pub struct Subject {
    pub engine: Engine,
    pub mutant: Option<Mutant>,
    hoard: Vec<Event>,
    keeps: u64,
}

impl Subject {
    pub fn new(engine: Engine, mutant: Option<Mutant>) -> Subject {
        Subject { engine, mutant, hoard: Vec::new(), keeps: 0 }
    }

    pub fn heap_bytes(&self) -> usize {
        let hoarded: usize = self.hoard.iter().map(event_bytes).sum();
        self.engine.heap_bytes() + hoarded
    }

    fn spoil_event(&mut self, now: Time, mut event: Event) -> (Time, Event) {
        match (self.mutant, &mut event) {
            (Some(Mutant::Hasty), Event::Fetched { .. }) => return (now - Span::secs(2), event),
            (
                Some(Mutant::Deaf),
                Event::Fetched { report: Report { outcome: Outcome::Robots(answer), .. }, .. },
            ) => {
                if matches!(answer, RobotsAnswer::Rules(_)) {
                    *answer = RobotsAnswer::Absent;
                }
            }
            (Some(Mutant::Credulous), Event::Answered(Answer::Sifted(sifted))) => {
                let again = sifted.judged.first().cloned();
                sifted.judged.extend(again);
            }
            (Some(Mutant::Forgetful), Event::Answered(Answer::Sifted(sifted))) => {
                sifted.judged.retain(|j| j.discovery.url.fingerprint(0) % 20 != 0);
            }
            (Some(Mutant::Hoarding), event) => self.hoard.push(event.clone()),
            _ => {}
        }
        (now, event)
    }

    fn spoil_step(&mut self, step: &mut Step) {
        match self.mutant {
            Some(Mutant::Miscounting) => step.rows.iter_mut().for_each(|row| {
                if let Row::Counters(counters) = row {
                    counters.pages += 1;
                }
            }),
            Some(Mutant::Capricious) => {
                let coin = RandomState::new();
                step.actions.sort_by_cached_key(|action| coin.hash_one(format!("{action:?}")));
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

impl Machine for Subject {
    fn step(&mut self, now: Time, event: Event, step: &mut Step) {
        let (now, event) = self.spoil_event(now, event);
        self.engine.step(now, event, step);
    }

    fn conclude(&mut self, now: Time, step: &mut Step) {
        self.engine.conclude(now, step);
        self.spoil_step(step);
    }

    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        self.engine.next_wakeup(now)
    }

    fn over(&self) -> Option<StopReason> {
        self.engine.over()
    }
}

fn event_bytes(event: &Event) -> usize {
    match event {
        Event::Fetched { report: Report { outcome: Outcome::Page(page), .. }, .. } => {
            size_of::<Event>() + page.found.len() * 120
        }
        Event::Answered(Answer::Sifted(sifted)) => sifted.judged.len() * 300,
        _ => size_of::<Event>(),
    }
}
