//! The nodes of a simulated crawl in one virtual time: whatever comes first is next, a turn of some
//! engine or something that was due.

use super::database::SimDatabase;
use super::node::{SimNode, SimNodeState};
use super::operations::Operation;
use super::plan::{ClusterPlan, ClusterTally, Cost};
use super::told::Packet;
use crate::mutant::Mutant;
use crate::scenario::{NEVER, Scenario};
use crate::store::SharedRef;
use crate::web::Web;
use rhumb_cluster::allowance::Amounts;
use rhumb_cluster::beat::Heartbeat;
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::config::Config;
use rhumb_engine::error::ErrorKind;
use rhumb_engine::event::StopReason;
use rhumb_engine::mass::Mass;
use rhumb_engine::rng::Rng;
use rhumb_engine::time::{Span, Time};
use rhumb_state::memory::MemoryRows;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A crawl that is not over so long after the faults is given up: somebody waits for ever.
const GIVEN_UP_AFTER: Span = Span::secs(40_000);
/// Comparisons with the truth are rarer by the square of how often a web has so many URLs.
const COMPARE_SIZE: u64 = 5_000;

pub struct SimCluster {
    pub(super) web: Rc<Web>,
    pub(super) shared: SharedRef,
    pub(super) mutant: Option<Mutant>,
    pub(super) config: Config,
    pub(super) scenario: Scenario,
    pub(super) plan: ClusterPlan,
    pub(super) partitions: u32,
    pub(super) rng: Rng,
    pub(super) nodes: Vec<SimNode>,
    pub(super) databases: Vec<SimDatabase>,
    pub(super) beats: BTreeMap<String, Heartbeat>,
    pub(super) orders: Vec<OwnerOrder>,
    due: BTreeMap<(Time, u64), SimDue>,
    /// Places whose engines have something to do, by when.
    turns: BTreeSet<(Time, usize)>,
    turn_at: Vec<Option<Time>>,
    pub(super) counter: u64,
    pub(super) operations: BTreeMap<u64, Operation>,
    pub(super) packets: BTreeMap<u64, (usize, Packet)>,
    /// What messages take back, of those that take anything: by sender, addressee and number.
    pub(super) taken_back: BTreeMap<(u32, u32, u64), i64>,
    pub(super) away_until: Time,
    pub(super) faults_until: Time,
    pub tally: ClusterTally,
    turns_taken: u64,
    pub heap_bytes_peak: usize,
}

/// In the bucket, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerOrder {
    Limit(Amounts),
    Stop(StopReason),
    /// After a stop.
    Resume,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimDue {
    /// A node's membership machine wants to be called.
    Wake(usize, u64),
    /// An operation takes effect, or is answered.
    Effect(u64),
    Answer(u64),
    Packet(u64),
    /// A message that was not acknowledged goes again: of this place and opening, to a partition.
    Again {
        place: usize,
        opening: u64,
        to: u32,
        number: u64,
    },
    /// What an owner does every second.
    Second(usize, u64),
    Ship(usize, u64),
    /// The lease of a place ends while its node stands still.
    Lapse(usize),
    Fault,
    /// The time that the owner gave is over.
    Over,
    /// A process is started, with its disk or without.
    Start(usize, bool),
}

impl SimCluster {
    pub fn new(
        scenario: &Scenario,
        plan: ClusterPlan,
        web: &Rc<Web>,
        shared: &SharedRef,
        mutant: Option<Mutant>,
    ) -> SimCluster {
        let began = shared.borrow().clock;
        let partitions = scenario.partitions;
        let mut cluster = SimCluster {
            web: Rc::clone(web),
            shared: Rc::clone(shared),
            mutant,
            config: scenario.config.clone(),
            scenario: scenario.clone(),
            plan,
            partitions,
            rng: Rng::new(scenario.config.seed ^ 0x0c10_57e4),
            nodes: Vec::new(),
            databases: (0..partitions).map(|_| SimDatabase::default()).collect(),
            beats: BTreeMap::new(),
            orders: Vec::new(),
            due: BTreeMap::new(),
            turns: BTreeSet::new(),
            turn_at: Vec::new(),
            counter: 0,
            operations: BTreeMap::new(),
            packets: BTreeMap::new(),
            taken_back: BTreeMap::new(),
            away_until: Time::ZERO,
            faults_until: began + plan.trouble.lasts,
            tally: ClusterTally::default(),
            turns_taken: 0,
            heap_bytes_peak: 0,
        };
        if let Some(pages) = plan.pages_max {
            let unlimited = Amounts { pages, bytes: u64::MAX / 4, requests: u64::MAX / 4 };
            cluster.orders.push(OwnerOrder::Limit(unlimited));
        }
        (0..plan.nodes).for_each(|_| cluster.add_node());
        if let Some(span) = scenario.time_max {
            cluster.after(span, SimDue::Over);
        }
        if plan.trouble.lasts > Span::ZERO {
            cluster.after(Span::secs(8), SimDue::Fault);
        }
        cluster
    }

    pub(super) fn now(&self) -> Time {
        self.shared.borrow().clock
    }

    pub(super) fn after(&mut self, span: Span, due: SimDue) {
        let at = self.now() + span;
        self.at(at, due);
    }

    pub(super) fn at(&mut self, at: Time, due: SimDue) {
        self.counter += 1;
        self.due.insert((at, self.counter), due);
    }

    pub(super) fn draw(&mut self, from: u64, to: u64) -> u64 {
        from + self.rng.draw() % (to - from)
    }

    pub(super) fn is_troubled(&mut self) -> bool {
        self.now() < self.faults_until && self.rng.draw() % 1_000 < self.plan.trouble.lost_per_mille
    }

    pub(super) fn violated(&self, invariant: u8, what: impl Into<String>) {
        self.shared.borrow_mut().checker.violated(invariant, what);
    }

    /// The node and the partition of a place.
    pub(super) fn of_place(&self, place: usize) -> (usize, u32) {
        let partitions = self.partitions as usize;
        (place / partitions, (place % partitions) as u32)
    }

    pub(super) fn place(&self, node: usize, partition: u32) -> usize {
        node * self.partitions as usize + partition as usize
    }

    /// Crawls until all partitions are stopped and shipped; why they are. None if something went
    /// wrong.
    pub fn run(&mut self) -> Option<StopReason> {
        let limit = self.faults_until.max(self.now()) + GIVEN_UP_AFTER;
        loop {
            if let Some(reason) = self.over() {
                self.compare(true);
                return Some(reason);
            }
            let due = self.due.first_key_value().map(|((at, _), _)| *at);
            let turn = self.turns.first().copied();
            if due.or(turn.map(|(at, _)| at)).is_none_or(|at| at > limit) {
                self.violated(4, "the crawl does not come to its end");
                return None;
            }
            match turn {
                Some((at, place)) if due.is_none_or(|due| at < due) => self.turn(at, place),
                _ => self.next_due(),
            }
            if self.shared.borrow().checker.first_violation.is_some() {
                return None;
            }
        }
    }

    fn next_due(&mut self) {
        let Some(((at, _), due)) = self.due.pop_first() else { return };
        {
            let shared = &mut *self.shared.borrow_mut();
            shared.clock = shared.clock.max(at);
            shared.checker.now = shared.clock;
        }
        match due {
            SimDue::Wake(n, run) => {
                let is_it = self.nodes[n].run == run && self.nodes[n].wakes_at <= at;
                if is_it && self.is_awake(n, &due) {
                    self.event(n, MemberEvent::Tick);
                }
            }
            SimDue::Effect(operation) => self.takes_effect(operation),
            SimDue::Answer(operation) => self.answered(operation),
            SimDue::Packet(packet) => self.arrives(packet),
            SimDue::Again { place, opening, to, number } => {
                self.again((place, opening), to, number)
            }
            SimDue::Second(place, opening) => self.second(place, opening),
            SimDue::Ship(place, opening) => self.ship_due(place, opening),
            SimDue::Lapse(place) => self.lapsed(place),
            SimDue::Fault => self.fault(),
            SimDue::Over => self.orders.push(OwnerOrder::Stop(StopReason::Time)),
            SimDue::Start(n, has_own_disk) => self.start_node(n, has_own_disk),
        }
    }

    /// Whether a node's process is there and runs; what comes while it stands still waits for it.
    pub(super) fn is_awake(&mut self, n: usize, due: &SimDue) -> bool {
        let node = &self.nodes[n];
        if !node.is_up() {
            return false;
        }
        let until = node.stopped_until;
        if self.now() < until {
            self.at(until, due.clone());
            return false;
        }
        true
    }

    /// A turn of the engine at a place.
    fn turn(&mut self, at: Time, place: usize) {
        {
            // A node that stood still is behind what was due.
            let shared = &mut *self.shared.borrow_mut();
            shared.clock = shared.clock.max(at);
        }
        let (n, partition) = self.of_place(place);
        let shared = Rc::clone(&self.shared);
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else {
            return self.forget_turn(place);
        };
        let process = life.process.as_mut().expect("it has a turn");
        let pages = |process: &crate::process::Process| {
            process.subject.as_ref().map_or(0, |subject| subject.engine.counters().pages)
        };
        let before = pages(process);
        let taken = process.turn(&shared);
        let fetched = pages(process) - before;
        self.heap_bytes_peak = self.heap_bytes_peak.max(process.heap_bytes_peak);
        self.turns_taken += 1;
        if let Err(error) = taken {
            if error.kind == ErrorKind::Crash {
                return self.crashed(n);
            }
            return self.violated(4, format!("partition {partition}: {error}"));
        }
        self.spend(n, |cost| fetched * cost.page * cost.slower);
        self.carry_what_left();
        self.begin_withheld(n);
        self.schedule_shipping(place);
        self.set_ceilings(place);
        self.touch(place);
        self.compare(false);
    }

    /// A node's CPU is busy with something: its engines wait for it.
    pub(super) fn spend(&mut self, n: usize, what: impl FnOnce(Cost) -> u64) {
        let Some(cost) = self.plan.cost else { return };
        let (now, node) = (self.now(), &mut self.nodes[n]);
        node.busy_until = node.busy_until.max(now) + Span(what(cost));
    }

    /// Requests of a node that waited may begin.
    pub(super) fn begin_withheld(&mut self, n: usize) {
        let has_room = {
            let doors = &mut self.shared.borrow_mut().doors[n];
            std::mem::take(&mut doors.has_room)
        };
        if !has_room {
            return;
        }
        let places: Vec<usize> = self.nodes[n].lives.values().map(|life| life.place).collect();
        for place in places {
            self.with_process(place, |process| process.world.begin_withheld());
        }
    }

    /// Does something to the engine's world at a place, if there is one.
    pub(super) fn with_process(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut crate::process::Process),
    ) {
        let (n, partition) = self.of_place(place);
        let life = self.nodes[n].lives.get_mut(&partition);
        if let Some(process) = life.and_then(|life| life.process.as_mut()) {
            act(process);
            self.touch(place);
        }
    }

    /// Finds out when the engine at a place has its next turn.
    pub(super) fn touch(&mut self, place: usize) {
        let (n, partition) = self.of_place(place);
        let node = &self.nodes[n];
        let process = node.lives.get(&partition).and_then(|life| life.process.as_ref());
        let next = process.filter(|_| node.is_up()).and_then(|process| process.next());
        let next = next.map(|at| at.max(node.stopped_until).max(node.busy_until));
        self.forget_turn(place);
        if let Some(at) = next {
            self.turns.insert((at, place));
            self.turn_at[place] = Some(at);
        }
    }

    pub(super) fn forget_turn(&mut self, place: usize) {
        if self.turn_at.len() <= place {
            self.turn_at.resize(place + 1, None);
        }
        if let Some(at) = self.turn_at[place].take() {
            self.turns.remove(&(at, place));
        }
    }

    /// The place where a partition's owner is, if that runs.
    pub(super) fn current(&self, partition: u32) -> Option<usize> {
        let shared = self.shared.borrow();
        let places = (0..self.nodes.len()).map(|n| self.place(n, partition));
        let mut owners = places.filter(|place| {
            let (n, _) = self.of_place(*place);
            shared.parts[*place].is_current() && self.nodes[n].lives.contains_key(&partition)
        });
        owners.next()
    }

    /// All partitions are stopped and shipped.
    fn over(&self) -> Option<StopReason> {
        let Some(OwnerOrder::Stop(reason)) = self.orders.last() else { return None };
        let is_over = |partition: u32| {
            let Some(place) = self.current(partition) else { return false };
            let (n, _) = self.of_place(place);
            let life = &self.nodes[n].lives[&partition];
            let has_stopped = life.process.as_ref().is_some_and(|process| process.over.is_some());
            has_stopped && life.is_shipped(&self.shared.borrow().parts[place])
        };
        (0..self.partitions).all(is_over).then_some(*reason)
    }

    /// Holds the books of all partitions against the truth, now and then, and at the end.
    fn compare(&mut self, is_end: bool) {
        let known = |place: &usize| self.shared.borrow().parts[*place].state.rows.counters.known;
        let every = self.scenario.compare_every.max(1);
        if every == NEVER || (!is_end && !self.turns_taken.is_multiple_of(every)) {
            return;
        }
        let owners: Option<Vec<usize>> = (0..self.partitions).map(|p| self.current(p)).collect();
        let Some(owners) = owners else { return };
        let known: u64 = owners.iter().map(known).sum();
        let every = every * (1 + known / COMPARE_SIZE).pow(2);
        if !is_end && !self.turns_taken.is_multiple_of(every) {
            return;
        }
        let engines: Option<Vec<_>> = owners
            .iter()
            .map(|place| {
                let (n, partition) = self.of_place(*place);
                self.nodes[n].lives[&partition].process.as_ref()?.subject.as_ref()
            })
            .collect();
        let Some(engines) = engines else { return };
        let books: Vec<&Mass> = engines.iter().map(|subject| subject.engine.mass()).collect();
        let pages = engines.iter().map(|subject| subject.engine.counters().pages).sum();
        let crate::store::Shared { checker, parts, .. } = &mut *self.shared.borrow_mut();
        let is_finished = self.orders.last() == Some(&OwnerOrder::Stop(StopReason::Finished));
        checker.importance((&books, self.mutant), pages, is_end && is_finished);
        let rows: Vec<&MemoryRows> = owners.iter().map(|place| &parts[*place].state.rows).collect();
        checker.exchange(&rows);
    }

    /// The rows of each partition as the bucket has them, and those of its owner.
    pub fn copies(&self) -> Vec<MemoryRows> {
        self.databases.iter().map(|database| database.read().0).collect()
    }

    /// All processes end, and begin again after a while with their disks: the owner starts the
    /// crawl once more.
    pub fn go_on_after(&mut self, span: Span) {
        for n in 0..self.nodes.len() {
            if self.nodes[n].is_up() {
                self.end_process(n, SimNodeState::Down);
            }
        }
        self.orders.push(OwnerOrder::Resume);
        for n in 0..self.nodes.len() {
            if self.nodes[n].state == SimNodeState::Down {
                self.after(span, SimDue::Start(n, true));
            }
        }
    }
}
