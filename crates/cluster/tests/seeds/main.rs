//! Nodes and a store in virtual time, by seeds: operations that are slow or lost, a store that is
//! away, nodes that are cut off, stopped, killed with and without their disk and gone for ever,
//! that join and leave, with clocks apart and of different speed, at the times of production.
//!
//! At no moment do two nodes fetch for one partition; nothing is released that is not shipped; and
//! when the faults are over, every partition has an owner before long.

use rhumb_cluster::beat::{Heartbeat, Identity, Timing};
use rhumb_cluster::event::{Command, Exit, MemberEvent};
use rhumb_cluster::member::Member;
use rhumb_engine::rng::Rng;
use rhumb_engine::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Faults happen for so long; then everything works until the end.
const FAULTS_FOR: u64 = 120_000_000;
const RECOVERS_WITHIN: u64 = 100_000_000;
/// By then who was asked to leave is gone.
const LEFT_WITHIN: u64 = 30_000_000;
/// A client gives an operation up after this.
const TIMEOUT: u64 = 5_000_000;
/// While it fetches, a partition is shipped so often.
const SHIP_EVERY: u64 = 2_000_000;
const PARTITIONS: u32 = 8;

struct Node {
    /// Its clock: so far ahead, and so many parts in a thousand faster.
    ahead: u64,
    per_mille: u64,
    run: u64,
    member: Member,
    /// By partition the epoch, and until when in true time.
    allowed: BTreeMap<u32, (u64, u64)>,
    unshipped: BTreeMap<u32, u64>,
    stopped_until: u64,
    cut_off_until: u64,
    is_up: bool,
    exit: Option<Exit>,
    woken_at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Wake(usize, u64),
    Ship(usize, u64),
    /// Of this run of a node: takes effect, if the store is there.
    Effect(usize, u64, u64),
    Answer(usize, u64, u64),
    Fault,
    Check,
}

#[derive(Clone)]
enum Operation {
    Look,
    Beat(Box<Heartbeat>),
    /// A partition, and its last epoch that was known.
    Open(u32, u64),
    Write(u32, u64),
    Close(u32, u64),
    Copy(u32),
}

struct World {
    now: u64,
    rng: Rng,
    nodes: Vec<Node>,
    due: BinaryHeap<Reverse<(u64, u64, Due)>>,
    order: u64,
    operations: BTreeMap<u64, (u64, Operation, Option<MemberEvent>)>,
    away_until: u64,
    beats: BTreeMap<String, Heartbeat>,
    epochs: BTreeMap<u32, u64>,
    /// Heart-beats of one run take effect in any order.
    are_beats_late: bool,
    faults_until: u64,
    takeovers: u64,
}

impl Node {
    fn new(n: usize, run: u64, rng: &mut Rng, has_own_disk: bool) -> Node {
        let node = Identity {
            id: format!("node-{n}"),
            run,
            address: String::new(),
            version: String::new(),
            weight: 1 + n as u32 % 2,
        };
        Node {
            ahead: rng.draw() % 1_000_000_000_000,
            per_mille: 950 + rng.draw() % 101,
            run,
            member: Member::new(node, PARTITIONS, has_own_disk, Timing::default()),
            allowed: BTreeMap::new(),
            unshipped: BTreeMap::new(),
            stopped_until: 0,
            cut_off_until: 0,
            is_up: true,
            exit: None,
            woken_at: u64::MAX,
        }
    }

    fn clock(&self, now: u64) -> Time {
        Time(self.ahead + now * self.per_mille / 1_000)
    }

    fn truly(&self, at: Time) -> u64 {
        (at.0.saturating_sub(self.ahead) * 1_000).div_ceil(self.per_mille)
    }
}

impl World {
    fn new(seed: u64, nodes: usize) -> World {
        let mut rng = Rng::new(seed);
        let nodes = (0..nodes).map(|n| Node::new(n, n as u64, &mut rng, true)).collect();
        let mut world = World {
            now: 0,
            rng,
            nodes,
            due: BinaryHeap::new(),
            order: 0,
            operations: BTreeMap::new(),
            away_until: 0,
            beats: BTreeMap::new(),
            epochs: BTreeMap::new(),
            are_beats_late: seed.is_multiple_of(2),
            faults_until: FAULTS_FOR,
            takeovers: 0,
        };
        (0..world.nodes.len()).for_each(|n| world.begin(n));
        world.at(1_000_000, Due::Fault);
        world
    }

    fn at(&mut self, at: u64, due: Due) {
        self.order += 1;
        self.due.push(Reverse((at, self.order, due)));
    }

    fn draw(&mut self, from: u64, to: u64) -> u64 {
        from + self.rng.draw() % (to - from)
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        self.now < self.faults_until && self.rng.draw() % 1_000 < per_mille
    }

    fn begin(&mut self, n: usize) {
        let run = self.nodes[n].run;
        let at = self.now + self.rng.draw() % 500_000;
        self.nodes[n].woken_at = at;
        self.at(at, Due::Wake(n, run));
        self.at(at, Due::Ship(n, run));
    }

    fn run(&mut self) {
        while let Some(Reverse((at, _, due))) = self.due.pop() {
            if at > FAULTS_FOR + RECOVERS_WITHIN {
                break;
            }
            self.now = at;
            self.happens(due);
        }
    }

    /// Whether the process is there and runs; what comes while it is stopped waits for it.
    fn is_awake(&mut self, n: usize, run: u64, due: &Due) -> bool {
        let node = &self.nodes[n];
        if !node.is_up || node.run != run || node.exit.is_some() {
            return false;
        }
        let until = node.stopped_until;
        if self.now < until {
            self.at(until, due.clone());
            return false;
        }
        true
    }

    fn happens(&mut self, due: Due) {
        match due {
            Due::Wake(n, run) => {
                if self.nodes[n].woken_at <= self.now && self.is_awake(n, run, &due) {
                    self.event(n, MemberEvent::Tick);
                }
            }
            Due::Ship(n, run) => {
                if self.is_awake(n, run, &due) {
                    let now = self.now;
                    let allowed = self.nodes[n].allowed.clone();
                    for (partition, (epoch, until)) in allowed {
                        if now < until {
                            self.nodes[n].unshipped.insert(partition, epoch);
                            self.begin_operation(n, Operation::Write(partition, epoch));
                        }
                    }
                    self.at(now + SHIP_EVERY, Due::Ship(n, run));
                }
            }
            Due::Effect(n, run, id) => self.effect(n, run, id),
            Due::Answer(n, run, id) => {
                if self.is_awake(n, run, &due)
                    && let Some((_, operation, event)) = self.operations.remove(&id)
                {
                    match event {
                        Some(event) => self.answered(n, event),
                        None => self.failed(n, operation),
                    }
                }
            }
            Due::Fault => self.fault(),
            Due::Check => (0..PARTITIONS).for_each(|partition| self.check(partition)),
        }
    }

    fn answered(&mut self, n: usize, event: MemberEvent) {
        let opened = match event {
            MemberEvent::Opened { partition, .. } => Some(partition),
            _ => None,
        };
        self.event(n, event);
        if let Some(partition) = opened {
            self.event(n, MemberEvent::Obeyed { partition, order: 0 });
        }
    }

    fn failed(&mut self, n: usize, operation: Operation) {
        match operation {
            Operation::Look => self.event(n, MemberEvent::LookFailed),
            Operation::Beat(beat) => {
                self.event(n, MemberEvent::BeatFailed { counter: beat.counter })
            }
            Operation::Open(partition, _) => self.event(n, MemberEvent::OpenFailed { partition }),
            // The store's client tries again until it is answered.
            Operation::Write(..) | Operation::Close(..) | Operation::Copy(_) => {
                self.begin_operation(n, operation);
            }
        }
    }

    fn begin_operation(&mut self, n: usize, operation: Operation) {
        let (now, run) = (self.now, self.nodes[n].run);
        let id = self.order;
        let is_slow = self.chance(30);
        let longest = if is_slow { 20_000_000 } else { 300_000 };
        let (there, back) = (self.draw(1_000, longest), self.draw(1_000, longest));
        let is_cut_off = now < self.nodes[n].cut_off_until;
        let is_lost = self.chance(20) || is_cut_off;
        // Lost on the way there, or back.
        if !is_lost || (!is_cut_off && self.rng.draw().is_multiple_of(2)) {
            self.at(now + there, Due::Effect(n, run, id));
        }
        self.operations.insert(id, (now, operation, None));
        let arrives = if is_lost { TIMEOUT } else { there + back };
        self.at(now + arrives.min(TIMEOUT), Due::Answer(n, run, id));
        self.order += 1;
    }

    fn effect(&mut self, n: usize, run: u64, id: u64) {
        let Some((began, operation, _)) = self.operations.get(&id).cloned() else { return };
        if self.now < self.away_until {
            return;
        }
        let began = self.nodes[n].clock(began);
        let event = match operation.clone() {
            Operation::Look => {
                MemberEvent::Looked { began, beats: self.beats.values().cloned().collect() }
            }
            Operation::Beat(beat) => self.land(n, *beat, began),
            Operation::Open(partition, known) => {
                let epoch = self.epochs.entry(partition).or_default();
                // Whoever looks for a claim may just miss it.
                if *epoch > known && id.is_multiple_of(2) {
                    MemberEvent::Claimed { partition, epoch: *epoch }
                } else {
                    *epoch += 1;
                    self.takeovers += 1;
                    MemberEvent::Opened { partition, epoch: *epoch }
                }
            }
            Operation::Copy(partition) => MemberEvent::Copied { partition },
            Operation::Write(partition, epoch) | Operation::Close(partition, epoch) => {
                if self.epochs[&partition] != epoch {
                    MemberEvent::Fenced { partition }
                } else {
                    if self.nodes[n].run == run {
                        self.nodes[n].unshipped.remove(&partition);
                    }
                    match operation {
                        Operation::Close(..) => MemberEvent::Closed { partition, epoch },
                        _ => MemberEvent::Durable { partition, epoch, began },
                    }
                }
            }
        };
        self.operations.entry(id).and_modify(|(_, _, answer)| *answer = Some(event));
    }

    fn land(&mut self, n: usize, beat: Heartbeat, began: Time) -> MemberEvent {
        let counter = beat.counter;
        let unshipped = &self.nodes[n].unshipped;
        let early = beat.released.iter().find(|(p, epoch)| unshipped.get(*p) == Some(*epoch));
        let is_same_run = self.nodes[n].run == beat.node.run;
        assert!(early.is_none() || !is_same_run, "released before it was shipped: {early:?}");
        let key = |beat: &Heartbeat| (beat.node.run, beat.counter);
        let last = self.beats.get(&beat.node.id);
        // Of one run a late one may overwrite a later one: no store has to know better.
        let is_of_its_run = last.is_some_and(|last| last.node.run == beat.node.run);
        let may_land = self.are_beats_late && is_of_its_run;
        if may_land || last.is_none_or(|last| key(last) < key(&beat)) {
            self.beats.insert(beat.node.id.clone(), beat);
        }
        MemberEvent::Beaten { counter, began }
    }

    fn event(&mut self, n: usize, event: MemberEvent) {
        let mut commands = Vec::new();
        let now = self.nodes[n].clock(self.now);
        self.nodes[n].member.step(now, event, &mut commands);
        commands.into_iter().for_each(|command| self.perform(n, command));
        let node = &mut self.nodes[n];
        if let (None, Some(at)) = (node.exit, node.member.next_wakeup(now)) {
            let at = node.truly(at).max(self.now + 1);
            let run = node.run;
            node.woken_at = at;
            self.at(at, Due::Wake(n, run));
        }
    }

    fn perform(&mut self, n: usize, command: Command) {
        let operation = match command {
            Command::Look => Operation::Look,
            Command::Beat(beat) => Operation::Beat(beat),
            Command::Open { partition, known } => Operation::Open(partition, known),
            Command::Prove { partition, epoch } => Operation::Write(partition, epoch),
            Command::Release { partition, epoch } => Operation::Close(partition, epoch),
            Command::Copy { partition } => Operation::Copy(partition),
            Command::Allow { partition, epoch, until } => {
                let until = self.nodes[n].truly(until);
                self.nodes[n].allowed.insert(partition, (epoch, until));
                self.nodes[n].unshipped.insert(partition, epoch);
                return self.check(partition);
            }
            Command::Pause { partition } => {
                self.nodes[n].allowed.remove(&partition);
                return;
            }
            Command::Drop { partition, .. } => {
                self.nodes[n].allowed.remove(&partition);
                self.nodes[n].unshipped.remove(&partition);
                return;
            }
            Command::Exit(exit) => {
                self.nodes[n].exit = Some(exit);
                self.nodes[n].allowed.clear();
                return;
            }
        };
        self.begin_operation(n, operation);
    }

    fn fetching(&self, partition: u32) -> Vec<usize> {
        let may = |node: &Node| {
            let allowed = node.allowed.get(&partition);
            node.is_up
                && self.now >= node.stopped_until
                && allowed.is_some_and(|(_, until)| self.now < *until)
        };
        (0..self.nodes.len()).filter(|n| may(&self.nodes[*n])).collect()
    }

    fn check(&self, partition: u32) {
        let fetching = self.fetching(partition);
        assert!(fetching.len() <= 1, "{fetching:?} fetch for {partition} at {} us", self.now);
    }

    fn fault(&mut self) {
        let now = self.now;
        if now >= self.faults_until {
            // Those that went come back, so that there is somebody.
            for n in 0..self.nodes.len() {
                if !self.nodes[n].is_up || self.nodes[n].exit.is_some() {
                    self.restart(n, true);
                }
            }
            if now == self.faults_until {
                self.at(now + LEFT_WITHIN, Due::Fault);
            }
            return;
        }
        let n = (self.rng.draw() % self.nodes.len() as u64) as usize;
        let span = self.draw(1_000_000, 25_000_000);
        let is_up = self.nodes[n].is_up && self.nodes[n].exit.is_none();
        match self.rng.draw() % 8 {
            0 if is_up => {
                self.nodes[n].stopped_until = now + span;
                self.at(now + span, Due::Check);
            }
            1 => self.nodes[n].cut_off_until = now + span,
            2 => self.away_until = now + span,
            3 if is_up => {
                self.nodes[n].is_up = false;
                self.nodes[n].allowed.clear();
            }
            4 | 5 if !is_up => {
                let has_disk = self.rng.draw().is_multiple_of(2);
                self.restart(n, has_disk);
            }
            6 if is_up => {
                let returns_within = self.rng.draw().is_multiple_of(2).then_some(Span::secs(20));
                self.event(n, MemberEvent::Leave { returns_within });
            }
            _ => {}
        }
        (0..PARTITIONS).for_each(|partition| self.check(partition));
        let next = self.draw(500_000, 6_000_000);
        self.at((now + next).min(self.faults_until), Due::Fault);
    }

    fn restart(&mut self, n: usize, has_own_disk: bool) {
        let run = self.nodes[n].run + 100;
        self.nodes[n] = Node::new(n, run, &mut self.rng, has_own_disk);
        self.begin(n);
    }
}

#[test]
fn one_fetches_for_a_partition_at_a_time_and_somebody_in_the_end() {
    let mut takeovers = 0;
    for seed in 1..=400 {
        let mut world = World::new(seed, 2 + seed as usize % 4);
        world.run();
        takeovers += world.takeovers;
        let owners: BTreeSet<usize> = (0..PARTITIONS).flat_map(|p| world.fetching(p)).collect();
        for partition in 0..PARTITIONS {
            let fetching = world.fetching(partition);
            let views: Vec<_> = world.nodes.iter().map(|node| (&node.member, node.exit)).collect();
            assert_eq!(fetching.len(), 1, "seed {seed}: {partition} in the end: {views:#?}");
        }
        assert!(owners.len() > 1, "seed {seed}: one has everything");
    }
    assert!(takeovers > 10_000, "{takeovers} openings");
}
