//! The engine, with somebody watching: every now and then what it is doing is published.

use super::changes::{Changes, LoggedChange};
use rhumb_engine::engine::Engine;
use rhumb_engine::event::{Event, Step, StopReason};
use rhumb_engine::holdups::Holdups;
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::time::Time;
use rhumb_engine::turn::Machine;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PUBLISH_EVERY: Duration = Duration::from_millis(100);
/// A pass over the hosts awake is worth so many publications.
const HOLDUPS_EVERY: Duration = Duration::from_secs(1);

pub struct Published<P: Fn(EngineSnapshot)> {
    pub engine: Engine,
    publish: P,
    published: Option<Instant>,
    /// What hosts wait for, and when that was looked at.
    holdups: Option<(Instant, Arc<Holdups>)>,
    changes: Changes,
}

impl<P: Fn(EngineSnapshot)> Published<P> {
    pub fn new(engine: Engine, publish: P) -> Published<P> {
        Published { engine, publish, published: None, holdups: None, changes: Changes::default() }
    }
}

impl<P: Fn(EngineSnapshot)> Published<P> {
    fn holdups(&mut self, now: Time) -> Arc<Holdups> {
        match &self.holdups {
            Some((at, holdups)) if at.elapsed() < HOLDUPS_EVERY => Arc::clone(holdups),
            _ => {
                let holdups = Arc::new(self.engine.holdups(now));
                self.holdups = Some((Instant::now(), Arc::clone(&holdups)));
                holdups
            }
        }
    }

    /// What it is doing now.
    pub fn publish(&self, now: Time) {
        (self.publish)(self.engine.snapshot(now));
    }
}

impl<P: Fn(EngineSnapshot)> Machine for Published<P> {
    fn step(&mut self, now: Time, event: Event, step: &mut Step) {
        self.engine.step(now, event, step);
    }

    fn conclude(&mut self, now: Time, step: &mut Step) {
        self.engine.conclude(now, step);
        if self.published.is_none_or(|at| at.elapsed() >= PUBLISH_EVERY) {
            self.published = Some(Instant::now());
            let holdups = Some(self.holdups(now));
            let snapshot = EngineSnapshot { holdups, ..self.engine.snapshot(now) };
            self.changes.since_last(&snapshot).iter().for_each(LoggedChange::log);
            (self.publish)(snapshot);
        }
    }

    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        self.engine.next_wakeup(now)
    }

    fn last_words(&mut self, step: &mut Step) {
        self.engine.last_words(step);
    }

    fn over(&self) -> Option<StopReason> {
        self.engine.over()
    }
}
