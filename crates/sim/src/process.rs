//! One engine in virtual time, with the world, the rows and the bodies of its place.
//!
//! A place is where a partition's rows and bodies lie: one for each partition where all are on one
//! machine, and one for each partition and node where there are several.

use crate::mutant::{EngineUnderTest, Mutant};
use crate::store::{Shared, SharedRef, SimArchive, SimState};
use crate::web::Web;
use crate::world::SimWorld;
use rhumb_engine::config::Config;
use rhumb_engine::discovery::{Discovery, FoundAs};
use rhumb_engine::engine::{Engine, Opening};
use rhumb_engine::error::Error;
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::partition::Partition;
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{self, Machine, TurnBuffers};
use std::rc::Rc;

/// Turns between two measurements of memory, which walk over all awake hosts: at least this many …
const MEASURE_EVERY: u64 = 64;
/// … and so many that no turn pays for more hosts than this.
const MEASURED_PER_TURN: u64 = 1;

pub struct Process {
    pub partition: Partition,
    pub place: usize,
    pub world: SimWorld,
    /// None while it is down.
    pub subject: Option<EngineUnderTest>,
    pub buffers: TurnBuffers,
    pub starts_at: Time,
    pub over: Option<StopReason>,
    pub turns: u64,
    measure_at: u64,
    pub heap_bytes_peak: usize,
}

impl Process {
    pub fn new(partition: Partition, place: usize, world: SimWorld) -> Process {
        Process {
            partition,
            place,
            world,
            subject: None,
            buffers: TurnBuffers::default(),
            starts_at: Time::ZERO,
            over: None,
            turns: 0,
            measure_at: 1,
            heap_bytes_peak: 0,
        }
    }

    /// Ends its life, if it had one: bodies that nobody kept are gone.
    pub fn lie_down(&mut self, shared: &SharedRef, starts_at: Time) {
        self.subject = None;
        self.buffers = TurnBuffers::default();
        self.world.forget();
        shared.borrow_mut().parts[self.place].held.clear();
        self.starts_at = starts_at;
    }

    /// `is_taken_over` if the rows may know nothing of what an earlier owner fetched.
    pub fn start(
        &mut self,
        config: &Config,
        is_taken_over: bool,
        shared: &SharedRef,
        mutant: Option<Mutant>,
    ) {
        let mut config = Config { partition: self.partition, ..config.clone() };
        let (opening, now) = {
            let shared = &mut *shared.borrow_mut();
            shared.clock = shared.clock.max(self.starts_at);
            shared.opened(self.place);
            let part = &mut shared.parts[self.place];
            let opening = Opening { is_taken_over, ..part.state.reopen() };
            part.state.compare_texts(config.near.threshold);
            part.state.rows.seeds.keys().for_each(|seed| config.scope.add(seed));
            (opening, part.told(shared.clock))
        };
        self.subject = Some(EngineUnderTest::new(Engine::open(config, opening, now), mutant));
        (self.turns, self.measure_at) = (0, 1);
    }

    /// The owner names the seeds at every start; those known already change nothing.
    pub fn name_seeds(&mut self, web: &Web) {
        let seeds = web.seeds().into_iter().map(|url| {
            let seed = Discovery { url, kind: FoundAs::Seed, depth: 0, hops: 0, from: None };
            (seed, 1.0)
        });
        self.world.send(Span::ZERO, Event::Seeded { seeds: seeds.collect() });
    }

    /// It is up, has nothing left to do, and nothing is on its way to it, or from it.
    pub fn is_quiet(&self, shared: &Shared) -> bool {
        let is_idle = |subject: &EngineUnderTest| subject.engine.is_idle();
        let is_waiting = shared.part(self.place).is_holding();
        let has_heard_all = self.world.next(None).is_none();
        !is_waiting && has_heard_all && self.subject.as_ref().is_some_and(is_idle)
    }

    /// When it has something to do.
    pub fn next(&self) -> Option<Time> {
        match (&self.subject, self.over) {
            (_, Some(_)) => None,
            (None, None) => Some(self.starts_at),
            (Some(subject), None) => {
                let wakeup = subject.next_wakeup(self.world.clock());
                let sync = self.buffers.sync_due().map(|due| (due, "a sync is due"));
                self.world.next(wakeup.into_iter().chain(sync).min())
            }
        }
    }

    pub fn turn(&mut self, shared: &SharedRef) -> Result<(), Error> {
        let place = self.place;
        let subject = self.subject.as_mut().expect("a process that is up");
        let mut archive = SimArchive { shared: Rc::clone(shared), place, mutant: subject.mutant };
        let mut state = SimState { shared: Rc::clone(shared), place, mutant: subject.mutant };
        let over =
            turn::turn(subject, &mut archive, &mut state, &mut self.world, &mut self.buffers)?;
        self.turns += 1;
        if self.turns >= self.measure_at {
            let hosts = subject.hosts_awake() as u64;
            self.measure_at = self.turns + MEASURE_EVERY.max(hosts / MEASURED_PER_TURN);
            self.heap_bytes_peak = subject.heap_bytes().max(self.heap_bytes_peak);
        }
        self.over = over;
        Ok(())
    }
}
