//! The processes of a simulated crawl, one for each partition, in one virtual time.
//!
//! Whoever has something to do next has the next turn of the engine's own loop. A process that dies
//! is started again after a while, and the others go on. When none has anything left to do, and no
//! message is on its way, the crawl has come to its end: of several partitions none could know it.

use crate::mutant::{EngineUnderTest, Mutant};
use crate::process::Process;
use crate::scenario::Scenario;
use crate::store::{Shared, SharedRef};
use crate::web::Web;
use crate::world::{SimWorld, Visited};
use rhumb_engine::config::Config;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::mass::Mass;
use rhumb_engine::order;
use rhumb_engine::partition::Partition;
use rhumb_engine::time::Span;
use rhumb_state::memory::MemoryRows;
use std::rc::Rc;

/// A process that died is started again after so long.
const DOWNTIME: Span = Span::secs(3);
/// Comparisons with the truth are rarer by the square of how often a web has so many URLs: each
/// takes longer, and there are more turns.
const COMPARE_SIZE: u64 = 5_000;

/// A crawl in which something went wrong is watched for so long: partitions may wait for ever for
/// what was lost.
const GIVEN_UP_AFTER: Span = Span::secs(5_000);

pub struct Drive {
    web: Rc<Web>,
    shared: SharedRef,
    clock_jump_s: i64,
    mutant: Option<Mutant>,
    processes: Vec<Process>,
    turns: u64,
    compare_every: u64,
}

impl Drive {
    pub fn new(
        scenario: &Scenario,
        web: &Rc<Web>,
        shared: &SharedRef,
        mutant: Option<Mutant>,
    ) -> Drive {
        let process = |own: u32| {
            let place = (Rc::clone(shared), own, own as usize);
            let seed = scenario.config.seed;
            let mut world = SimWorld::new(Rc::clone(web), place, scenario.faults, (seed, mutant));
            world.stop_at = scenario.time_max.map(|span| crate::run::BEGINNING + span);
            world.wants_addresses = order::policy(&scenario.config).follows_importance();
            world.keeps_visits = scenario.config.continuous.is_some();
            let partition = Partition { own, count: scenario.partitions };
            Process::new(partition, own as usize, world)
        };
        Drive {
            web: Rc::clone(web),
            shared: Rc::clone(shared),
            clock_jump_s: scenario.faults.clock_jump_s,
            mutant,
            processes: (0..scenario.partitions).map(process).collect(),
            turns: 0,
            compare_every: scenario.compare_every.max(1),
        }
    }

    pub fn heap_bytes_peak(&self) -> usize {
        self.processes.iter().map(|process| process.heap_bytes_peak).max().unwrap_or(0)
    }

    pub fn take_visits(&mut self) -> Vec<Visited> {
        self.processes.iter_mut().flat_map(|p| std::mem::take(&mut p.world.visits)).collect()
    }

    /// Crawls by these rules to the end, through crashes; none if something went wrong. Before it
    /// there were so many other runs.
    pub fn run(&mut self, config: &Config, run: usize) -> Option<StopReason> {
        let clock = self.shared.borrow().clock;
        self.shared.borrow_mut().begin_run(run);
        for process in &mut self.processes {
            self.shared.borrow_mut().process_ended(process.place, clock);
            process.lie_down(&self.shared, if run > 0 { clock + DOWNTIME } else { clock });
            process.over = None;
        }
        while self.processes.iter().any(|process| process.over.is_none()) {
            self.tell_if_all_are_idle();
            let Some(own) = self.next() else {
                self.stuck()?;
                continue;
            };
            let process = &mut self.processes[own];
            if process.subject.is_none() {
                process.start(config, false, &self.shared, self.mutant);
                process.name_seeds(&self.web);
            }
            if let Err(error) = process.turn(&self.shared) {
                self.failed(own, &error)?;
            }
            self.turns += 1;
            self.compare();
            if self.is_hopeless() {
                return None;
            }
        }
        let over = self.processes.first().and_then(|process| process.over);
        check_limit(config, &mut self.shared.borrow_mut());
        over
    }

    /// Something went wrong, and the crawl does not come to an end by it.
    fn is_hopeless(&self) -> bool {
        let shared = self.shared.borrow();
        let wrong = shared.checker.first_violation;
        wrong.is_some_and(|at| shared.clock.since(at) > GIVEN_UP_AFTER)
    }

    /// Whose turn it is, after the mail that comes before it. None if there is nothing to do.
    fn next(&mut self) -> Option<usize> {
        loop {
            let times = self.processes.iter().enumerate();
            let first = times.filter_map(|(n, process)| Some((process.next()?, n))).min();
            let shared = &mut *self.shared.borrow_mut();
            let mail = shared.mail.next().filter(|at| first.is_none_or(|(due, _)| *at <= due));
            // Time passes where it is waited for, and not here: an engine is asked when it wants
            // to be called before the moment has come.
            let Some(at) = mail else { return first.map(|(_, n)| n) };
            let Shared { mail, parts, checker, .. } = shared;
            if let Some((to, event)) = mail.deliver(at, parts, checker) {
                let process = &mut self.processes[to as usize];
                // What comes to a process that is down, nobody hears.
                if process.subject.is_some() && process.over.is_none() {
                    process.world.arrive(at, event);
                }
            }
        }
    }

    /// Several partitions are told when none has anything left to do and nothing is on its way:
    /// none of them could know.
    fn tell_if_all_are_idle(&mut self) {
        {
            let shared = self.shared.borrow();
            let is_quiet = |process: &Process| process.over.is_none() && process.is_quiet(&shared);
            let is_over = self.processes.len() > 1 && self.processes.iter().all(is_quiet);
            if !is_over || shared.mail.next().is_some() {
                return;
            }
        }
        let engines = self.processes.iter().filter_map(|process| process.subject.as_ref());
        let mut reasons = engines.map(|subject| subject.engine.idle_because());
        let failing = reasons.find(|reason| *reason == StopReason::HostsFailing);
        let reason = failing.unwrap_or(StopReason::Finished);
        for process in &mut self.processes {
            process.world.send(Span::ZERO, Event::Stopped(reason));
        }
    }

    /// Nobody has anything to do and the crawl is not over: somebody waits for nothing.
    fn stuck(&mut self) -> Option<()> {
        let own = {
            let shared = self.shared.borrow();
            self.processes.iter().position(|process| !process.is_quiet(&shared)).unwrap_or(0)
        };
        let error = self.processes[own].turn(&self.shared).expect_err("nothing will come");
        self.failed(own, &error)
    }

    /// A process died, by chance or by its own fault; none if it was that.
    fn failed(&mut self, own: usize, error: &Error) -> Option<()> {
        let process = &mut self.processes[own];
        if error.kind != ErrorKind::Crash {
            let clock = self.shared.borrow().clock;
            let snapshot = process.subject.as_ref().map(|s| s.engine.snapshot(clock));
            let why = snapshot.as_ref().and_then(|s| s.why_idle()).unwrap_or_default();
            let what = format!("{error} ({why}): {snapshot:?}");
            self.shared.borrow_mut().checker.violated(4, what);
        }
        if !self.shared.borrow().checker.violations.is_empty() {
            return None;
        }
        let starts_at = {
            let shared = &mut *self.shared.borrow_mut();
            shared.died(own, self.mutant);
            shared.parts[own].skew_us += self.clock_jump_s * 1_000_000;
            shared.clock + DOWNTIME
        };
        process.lie_down(&self.shared, starts_at);
        Some(())
    }

    /// Holds the books of those that are up against the truth, now and then, and at the end.
    fn compare(&mut self) {
        let subjects: Vec<&EngineUnderTest> =
            self.processes.iter().filter_map(|process| process.subject.as_ref()).collect();
        let known: u64 = subjects.iter().map(|s| s.engine.counters().known).sum();
        let is_over = self.processes.iter().all(|process| process.over.is_some());
        // The truth of a larger web takes longer to compute.
        let every = self.compare_every * (1 + known / COMPARE_SIZE).pow(2);
        if !is_over && !self.turns.is_multiple_of(every) {
            return;
        }
        // What waits at a host that fails is not judged by narrower rules before its turn comes:
        // only a crawl that has finished proves all that is covered.
        let is_end = is_over && self.processes[0].over == Some(StopReason::Finished);
        let books: Vec<&Mass> = subjects.iter().map(|s| s.engine.mass()).collect();
        let pages = subjects.iter().map(|s| s.engine.counters().pages).sum();
        let Shared { checker, parts, .. } = &mut *self.shared.borrow_mut();
        checker.importance((&books, self.mutant), pages, is_end);
        let rows: Vec<&MemoryRows> = parts.iter().map(|part| &part.state.rows).collect();
        checker.exchange(&rows);
    }
}

/// A run ends at its limit and not beyond it.
fn check_limit(config: &Config, shared: &mut Shared) {
    let Shared { checker, parts, .. } = shared;
    for part in parts {
        let pages = part.state.rows.counters.pages;
        if let Some(max) = config.pages_max.filter(|max| pages > *max) {
            checker.violated(5, format!("{pages} pages, {max} were asked for"));
        }
    }
}
