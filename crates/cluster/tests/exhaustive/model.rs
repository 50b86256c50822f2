//! A store, a few nodes and what is under way between them, in small whole ticks of time.
//!
//! Every order in which waiting operations take effect and are answered is a transition. What
//! passes the time with an operation unfinished, or loses one, is paid for from a budget, so that
//! the number of states stays finite and small.

use rhumb_cluster::beat::{Heartbeat, Identity, Timing};
use rhumb_cluster::event::{Command, Exit, MemberEvent};
use rhumb_cluster::member::Member;
use rhumb_engine::time::{Span, Time};
use std::collections::BTreeMap;

/// Three quarters of the hold, as in production.
pub const TIMING: Timing = Timing {
    beat_every: Span(1),
    lease: Span(3),
    hold: Span(4),
    retry: Span(1),
    ready_within: Span(2),
    leave_within: Span(7),
};

/// What is wrong with the world, to see that the properties catch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// Leases count from when a heart-beat was known to be written.
    LeaseFromTheEnd,
    /// A process that was started again goes on with the epoch that its disk remembers.
    EpochUsedAgain,
    /// Released when closed, though not everything is shipped.
    ReleasedUnshipped,
    /// What is asked as a proof is said to be durable, and nothing is written.
    NoProof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Ticks that pass while an operation is unfinished, and orders of effect and answer.
    pub slow: u8,
    pub lost: u8,
    pub stops: u8,
    pub restarts: u8,
    pub leaves: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub now: u64,
    pub until: u64,
    pub budget: Budget,
    pub mutant: Option<Mutant>,
    pub partitions: u32,
    pub nodes: Vec<Node>,
    beats: BTreeMap<String, Heartbeat>,
    databases: BTreeMap<u32, Database>,
    pub violation: Option<String>,
}

/// Of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Database {
    epoch: u64,
    /// Which run wrote in each epoch.
    writers: BTreeMap<u64, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its clock is ahead of the true one.
    ahead: u64,
    run: u64,
    pub has_own_disk: bool,
    pub member: Member,
    pub allowed: BTreeMap<u32, (u64, u64)>,
    /// What was committed here and is not shipped, by partition.
    unshipped: BTreeMap<u32, u64>,
    pending: Vec<Pending>,
    /// Nobody waits for them any more, and they may still take effect.
    orphans: Vec<Operation>,
    pub is_stopped: bool,
    pub gone: Option<Exit>,
    needs_tick: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Pending {
    began: u64,
    operation: Operation,
    /// The answer, once it has taken effect.
    effect: Option<Effect>,
    is_slow: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Operation {
    Look,
    Beat(u64, BeatOf),
    Open(u32),
    Prove(u32, u64),
    Release(u32, u64),
}

/// In a box of its own: ordered by its counter alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct BeatOf(Box<Heartbeat>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Effect {
    Done,
    Seen(Vec<BeatOf>),
    Opened(u64),
    Fenced,
}

impl PartialOrd for BeatOf {
    fn partial_cmp(&self, other: &BeatOf) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BeatOf {
    fn cmp(&self, other: &BeatOf) -> std::cmp::Ordering {
        let key = |beat: &BeatOf| (beat.0.node.run, beat.0.counter);
        key(self).cmp(&key(other))
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Tick(usize),
    /// Takes effect and is answered.
    Finish(usize, usize),
    Effect(usize, usize),
    Lose(usize, usize),
    /// What nobody waits for takes effect.
    Orphan(usize, usize),
    Stop(usize),
    Continue(usize),
    Restart(usize),
    Leave(usize, bool),
    Pass,
}

impl Pending {
    /// A heart-beat or an opening that was sent and has not taken effect.
    fn can_be_orphan(&self) -> bool {
        self.effect.is_none() && matches!(self.operation, Operation::Beat(..) | Operation::Open(_))
    }
}

impl Node {
    fn new(n: usize, run: u64, partitions: u32, has_own_disk: bool) -> Node {
        let node = Identity {
            id: ["a", "b", "c"][n].to_owned(),
            run,
            address: String::new(),
            version: String::new(),
            weight: 1,
        };
        Node {
            ahead: 1_000 * (n as u64 + 1),
            run,
            has_own_disk,
            member: Member::new(node, partitions, has_own_disk, TIMING),
            allowed: BTreeMap::new(),
            unshipped: BTreeMap::new(),
            pending: Vec::new(),
            orphans: Vec::new(),
            is_stopped: false,
            gone: None,
            needs_tick: true,
        }
    }

    fn id(&self, n: usize) -> String {
        ["a", "b", "c"][n].to_owned()
    }
}

impl World {
    pub fn new(nodes: usize, partitions: u32, mutant: Option<Mutant>) -> World {
        World {
            now: 0,
            until: 0,
            budget: Budget { slow: 0, lost: 0, stops: 0, restarts: 0, leaves: 0 },
            mutant,
            partitions,
            nodes: (0..nodes).map(|n| Node::new(n, n as u64 + 1, partitions, true)).collect(),
            beats: BTreeMap::new(),
            databases: BTreeMap::new(),
            violation: None,
        }
    }

    /// A node that comes later.
    pub fn join(&mut self) {
        let n = self.nodes.len();
        self.nodes.push(Node::new(n, n as u64 + 1, self.partitions, true));
    }

    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut is_settled = true;
        let mut unfinished = 0;
        for (n, node) in self.nodes.iter().enumerate() {
            steps.extend((0..node.orphans.len()).map(|i| Step::Orphan(n, i)));
            for (i, pending) in node.pending.iter().enumerate() {
                let is_over = node.gone.is_some();
                if !pending.is_slow && !is_over {
                    unfinished += 1;
                }
                if !node.is_stopped && !is_over {
                    steps.push(Step::Finish(n, i));
                }
                if pending.effect.is_none() && (self.budget.slow > 0 || pending.is_slow) {
                    steps.push(Step::Effect(n, i));
                }
                if !node.is_stopped && !is_over && self.budget.lost > 0 {
                    steps.push(Step::Lose(n, i));
                }
            }
            if node.gone.is_some() {
                continue;
            }
            if node.is_stopped {
                steps.push(Step::Continue(n));
                continue;
            }
            if node.needs_tick {
                is_settled = false;
                steps.push(Step::Tick(n));
            }
            if self.budget.stops > 0 {
                steps.push(Step::Stop(n));
            }
            if self.budget.restarts > 0 {
                steps.push(Step::Restart(n));
            }
            if self.budget.leaves > 0 && !node.member.is_leaving() {
                steps.push(Step::Leave(n, false));
                steps.push(Step::Leave(n, true));
            }
        }
        if is_settled && unfinished <= self.budget.slow && self.now < self.until {
            steps.push(Step::Pass);
        }
        steps
    }

    pub fn step(&mut self, step: Step) {
        match step {
            Step::Tick(n) => {
                self.nodes[n].needs_tick = false;
                self.event(n, MemberEvent::Tick);
            }
            Step::Effect(n, i) => {
                let pending = &mut self.nodes[n].pending[i];
                if !std::mem::replace(&mut pending.is_slow, true) {
                    self.budget.slow -= 1;
                }
                self.take_effect(n, i);
            }
            Step::Finish(n, i) => {
                if self.nodes[n].pending[i].effect.is_none() {
                    self.take_effect(n, i);
                }
                let pending = self.nodes[n].pending.remove(i);
                self.answer(n, pending);
            }
            Step::Lose(n, i) => {
                self.budget.lost -= 1;
                let pending = self.nodes[n].pending.remove(i);
                self.lost(n, pending);
            }
            Step::Orphan(n, i) => {
                let operation = self.nodes[n].orphans.remove(i);
                self.effect(n, operation);
            }
            Step::Stop(n) => {
                self.budget.stops -= 1;
                self.nodes[n].is_stopped = true;
                // What was sent takes its time.
                self.nodes[n].pending.iter_mut().for_each(|pending| pending.is_slow = true);
            }
            Step::Continue(n) => {
                self.nodes[n].is_stopped = false;
                self.nodes[n].needs_tick = true;
            }
            Step::Restart(n) => {
                self.budget.restarts -= 1;
                let Node { run, has_own_disk, ref pending, .. } = self.nodes[n];
                let sent = pending.iter().filter(|sent| sent.can_be_orphan());
                let orphans = sent.map(|sent| sent.operation.clone()).collect();
                let node = Node::new(n, run + 10, self.partitions, has_own_disk);
                self.nodes[n] = Node { orphans, ..node };
            }
            Step::Leave(n, returns) => {
                self.budget.leaves -= 1;
                let returns_within = returns.then_some(Span(6));
                self.event(n, MemberEvent::Leave { returns_within });
            }
            Step::Pass => self.pass(),
        }
        self.check();
    }

    pub fn pass(&mut self) {
        self.now += 1;
        for node in &mut self.nodes {
            for pending in &mut node.pending {
                if !std::mem::replace(&mut pending.is_slow, true) {
                    self.budget.slow = self.budget.slow.saturating_sub(1);
                }
            }
            node.needs_tick = !node.is_stopped;
        }
    }

    fn take_effect(&mut self, n: usize, i: usize) {
        let operation = self.nodes[n].pending[i].operation.clone();
        let effect = self.effect(n, operation);
        self.nodes[n].pending[i].effect = Some(effect);
    }

    fn effect(&mut self, n: usize, operation: Operation) -> Effect {
        let run = self.nodes[n].run;
        match operation {
            Operation::Look => Effect::Seen(
                self.beats.values().map(|beat| BeatOf(Box::new(beat.clone()))).collect(),
            ),
            Operation::Beat(_, beat) => self.land(n, *beat.0),
            Operation::Open(partition) => {
                let database = self.databases.entry(partition).or_default();
                let own = database.writers.iter().find(|(_, wrote)| **wrote % 10 == run % 10);
                match (self.mutant, own) {
                    (Some(Mutant::EpochUsedAgain), Some((&epoch, _)))
                        if epoch == database.epoch =>
                    {
                        Effect::Opened(epoch)
                    }
                    _ => {
                        database.epoch += 1;
                        Effect::Opened(database.epoch)
                    }
                }
            }
            Operation::Prove(..) if self.mutant == Some(Mutant::NoProof) => Effect::Done,
            Operation::Prove(partition, epoch) => self.write(n, partition, epoch),
            Operation::Release(partition, epoch) => match self.mutant {
                Some(Mutant::ReleasedUnshipped) => Effect::Done,
                _ => self.write(n, partition, epoch),
            },
        }
    }

    /// Of one run heart-beats take effect in order.
    fn land(&mut self, n: usize, beat: Heartbeat) -> Effect {
        for (partition, epoch) in &beat.released {
            let unshipped = self.nodes[n].unshipped.get(partition);
            if unshipped == Some(epoch) {
                self.violation = Some(format!("{partition} released, and not everything shipped"));
            }
        }
        let last = self.beats.get(&beat.node.id);
        if last.is_none_or(|last| (last.node.run, last.counter) < (beat.node.run, beat.counter)) {
            self.beats.insert(beat.node.id.clone(), beat);
        }
        Effect::Done
    }

    /// A durable write, of all that is committed.
    fn write(&mut self, n: usize, partition: u32, epoch: u64) -> Effect {
        let database = self.databases.get_mut(&partition).expect("it was opened");
        if database.epoch != epoch {
            return Effect::Fenced;
        }
        let run = self.nodes[n].run;
        let writer = *database.writers.entry(epoch).or_insert(run);
        if writer != run {
            let what = format!("two wrote in epoch {epoch} of {partition}, and both are read");
            self.violation = Some(what);
        }
        self.nodes[n].unshipped.remove(&partition);
        Effect::Done
    }

    fn answer(&mut self, n: usize, pending: Pending) {
        let ahead = self.nodes[n].ahead;
        let began = Time(pending.began + ahead);
        let end = Time(self.now + ahead);
        let effect = pending.effect.expect("it has taken effect");
        let event = match (pending.operation, effect) {
            (Operation::Look, Effect::Seen(beats)) => MemberEvent::Looked {
                began,
                beats: beats.into_iter().map(|beat| *beat.0).collect(),
            },
            (Operation::Beat(counter, _), _) => {
                let began = match self.mutant {
                    Some(Mutant::LeaseFromTheEnd) => end,
                    _ => began,
                };
                MemberEvent::Beaten { counter, began }
            }
            (Operation::Open(partition), Effect::Opened(epoch)) => {
                self.event(n, MemberEvent::Opened { partition, epoch });
                MemberEvent::Obeyed { partition, order: 0 }
            }
            (Operation::Prove(partition, _) | Operation::Release(partition, _), Effect::Fenced) => {
                MemberEvent::Fenced { partition }
            }
            (Operation::Prove(partition, epoch), _) => {
                MemberEvent::Durable { partition, epoch, began }
            }
            (Operation::Release(partition, epoch), _) => MemberEvent::Closed { partition, epoch },
            (operation, effect) => unreachable!("{operation:?} has {effect:?}"),
        };
        self.event(n, event);
    }

    /// Its answer was lost, whether or not it took effect. What a store's client does about a
    /// database's writes is its own affair: they are tried again until they are answered.
    fn lost(&mut self, n: usize, pending: Pending) {
        if pending.can_be_orphan() {
            self.nodes[n].orphans.push(pending.operation.clone());
        }
        match pending.operation {
            Operation::Look => self.event(n, MemberEvent::LookFailed),
            Operation::Beat(counter, _) => self.event(n, MemberEvent::BeatFailed { counter }),
            Operation::Open(partition) => self.event(n, MemberEvent::OpenFailed { partition }),
            Operation::Prove(..) | Operation::Release(..) => {
                let again = Pending { effect: None, is_slow: true, ..pending };
                self.nodes[n].pending.push(again);
            }
        }
    }

    fn event(&mut self, n: usize, event: MemberEvent) {
        let node = &mut self.nodes[n];
        let mut commands = Vec::new();
        node.member.step(Time(self.now + node.ahead), event, &mut commands);
        for command in commands {
            self.perform(n, command);
        }
    }

    fn perform(&mut self, n: usize, command: Command) {
        let began = self.now;
        let node = &mut self.nodes[n];
        let operation = match command {
            Command::Look => Operation::Look,
            Command::Beat(beat) => Operation::Beat(beat.counter, BeatOf(beat)),
            Command::Open { partition, .. } => Operation::Open(partition),
            Command::Prove { partition, epoch } => Operation::Prove(partition, epoch),
            Command::Release { partition, epoch } => Operation::Release(partition, epoch),
            Command::Allow { partition, epoch, until } => {
                let until = until.0 - node.ahead;
                node.allowed.insert(partition, (epoch, until));
                // It fetches at once, and commits what it fetched.
                node.unshipped.insert(partition, epoch);
                return;
            }
            Command::Pause { partition } => {
                node.allowed.remove(&partition);
                return;
            }
            Command::Drop { partition, .. } => {
                node.allowed.remove(&partition);
                node.unshipped.remove(&partition);
                return;
            }
            Command::Copy { partition } => return self.event(n, MemberEvent::Copied { partition }),
            Command::Exit(exit) => {
                node.gone = Some(exit);
                node.allowed.clear();
                return;
            }
        };
        node.pending.push(Pending { began, operation, effect: None, is_slow: false });
    }

    pub fn owner_of(&self, partition: u32) -> usize {
        let owns = |node: &Node| node.allowed.contains_key(&partition);
        self.nodes.iter().position(owns).expect("somebody owns it")
    }

    /// Who could begin a fetch for a partition now.
    pub fn fetching(&self, partition: u32) -> Vec<String> {
        let nodes = self.nodes.iter().enumerate();
        let may = nodes.filter(|(_, node)| {
            node.gone.is_none()
                && node.allowed.get(&partition).is_some_and(|(_, until)| self.now < *until)
        });
        may.map(|(n, node)| node.id(n)).collect()
    }

    fn check(&mut self) {
        for partition in 0..self.partitions {
            let fetching = self.fetching(partition);
            if fetching.len() > 1 {
                let what = format!("at {} {fetching:?} fetch for {partition}", self.now);
                self.violation.get_or_insert(what);
            }
        }
    }

    /// Everything works from here on: what is under way is answered, who is stopped goes on.
    pub fn run_well(&mut self, ticks: u64) {
        self.nodes.iter_mut().for_each(|node| node.is_stopped = false);
        for tick in 0..=ticks {
            for n in 0..self.nodes.len() {
                if self.nodes[n].gone.is_none() {
                    self.event(n, MemberEvent::Tick);
                }
                while !self.nodes[n].pending.is_empty() && self.nodes[n].gone.is_none() {
                    self.step(Step::Finish(n, 0));
                }
                self.nodes[n].pending.clear();
                self.nodes[n].needs_tick = false;
                self.check();
            }
            if tick < ticks {
                self.now += 1;
                self.check();
            }
        }
    }
}
