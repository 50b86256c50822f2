//! Operations on the bucket: they take a while there and back, may be lost on either way, and find
//! the store away. What the membership machine of a node says is carried out here.

use super::database::SimPut;
use super::drive::{OwnerOrder, SimCluster, SimDue};
use super::node::SimNodeState;
use rhumb_cluster::beat::Heartbeat;
use rhumb_cluster::event::{Command, MemberEvent};
use rhumb_engine::time::{Span, Time};

/// A client gives an operation up after this.
const TIMEOUT: Span = Span::secs(5);
/// One way, of most operations and of slow ones.
const WAY_US_MAX: u64 = 60_000;
const WAY_SLOW_US_MAX: u64 = 15_000_000;

pub struct Operation {
    pub node: usize,
    pub run: u64,
    /// When it was begun for the first time, by the true clock.
    began: Time,
    kind: Kind,
    effect: Option<Effect>,
}

#[derive(Clone)]
pub enum Kind {
    Look,
    Beat(Box<Heartbeat>),
    Open { partition: u32, opening: u64, known: u64 },
    Put { partition: u32, opening: u64, number: u64, put: SimPut },
    Copy(u32),
    Order(usize, OwnerOrder),
}

enum Effect {
    Seen(Vec<Heartbeat>, usize),
    Done,
    Fenced,
    /// Another has the database open, in this epoch.
    Claimed(u64),
    /// The database was opened, in this epoch; it was another opening's before.
    Opened {
        epoch: u64,
        before: u64,
    },
}

impl SimCluster {
    /// Tells the membership machine of a node what happened, and does what it says.
    pub fn event(&mut self, n: usize, event: MemberEvent) {
        let now = self.now();
        let node = &mut self.nodes[n];
        let clock = node.clock(now);
        let mut commands = Vec::new();
        node.member.step(clock, event, &mut commands);
        commands.into_iter().for_each(|command| self.perform(n, command));
        let node = &mut self.nodes[n];
        if let (true, Some(at)) = (node.is_up(), node.member.next_wakeup(clock)) {
            let at = (node.truly(at) + Span(2)).max(now + Span(1));
            node.wakes_at = at;
            let run = node.run;
            self.at(at, SimDue::Wake(n, run));
        }
    }

    fn perform(&mut self, n: usize, command: Command) {
        match command {
            Command::Look => self.begin(n, Kind::Look),
            Command::Beat(beat) => self.begin(n, Kind::Beat(beat)),
            Command::Open { partition, known } => {
                self.counter += 1;
                let opening = self.counter;
                self.begin(n, Kind::Open { partition, opening, known });
            }
            Command::Copy { partition } => self.begin(n, Kind::Copy(partition)),
            Command::Prove { partition, .. } => self.prove(n, partition),
            Command::Allow { partition, until, .. } => self.allow(n, partition, until),
            Command::Pause { partition } => self.pause(n, partition),
            Command::Release { partition, .. } => self.release(n, partition),
            Command::Drop { partition, .. } => self.drop_life(n, partition),
            Command::Exit(_) => self.end_process(n, SimNodeState::Down),
        }
    }

    pub(super) fn begin(&mut self, n: usize, kind: Kind) {
        let (began, run) = (self.now(), self.nodes[n].run);
        self.begin_again(Operation { node: n, run, began, kind, effect: None });
    }

    fn begin_again(&mut self, operation: Operation) {
        let (n, now) = (operation.node, self.now());
        self.tally.operations += 1;
        let is_slow = self.is_troubled();
        let longest = if is_slow { WAY_SLOW_US_MAX } else { WAY_US_MAX };
        let (there, back) = (Span(self.draw(2_000, longest)), Span(self.draw(2_000, longest)));
        let node = &self.nodes[n];
        let is_cut_off = now < node.no_store_until;
        let is_lost = self.is_troubled() || is_cut_off;
        if is_slow || is_lost || now < self.away_until {
            self.nodes[n].troubled_at = now;
        }
        self.counter += 1;
        let id = self.counter;
        // Lost on the way there, or back.
        if !is_lost || (!is_cut_off && self.rng.draw().is_multiple_of(2)) {
            self.after(there, SimDue::Effect(id));
        }
        let answers = if is_lost { TIMEOUT } else { Span(there.0 + back.0).min(TIMEOUT) };
        self.operations.insert(id, operation);
        self.after(answers, SimDue::Answer(id));
    }

    pub(super) fn takes_effect(&mut self, id: u64) {
        let now = self.now();
        if now < self.away_until {
            return;
        }
        let Some(operation) = self.operations.get(&id) else { return };
        let (n, run, kind) = (operation.node, operation.run, operation.kind.clone());
        let effect = match kind {
            Kind::Look => Effect::Seen(self.beats.values().cloned().collect(), self.orders.len()),
            Kind::Beat(beat) => {
                let key = |beat: &Heartbeat| (beat.node.run, beat.counter);
                let last = self.beats.get(&beat.node.id);
                if last.is_none_or(|last| key(last) < key(&beat)) {
                    self.beats.insert(beat.node.id.clone(), *beat);
                }
                Effect::Done
            }
            // Whoever looks for a claim may just miss it.
            Kind::Open { partition, known, .. }
                if self.databases[partition as usize].epoch > known && id.is_multiple_of(2) =>
            {
                Effect::Claimed(self.databases[partition as usize].epoch)
            }
            Kind::Open { partition, opening, .. } => {
                let (epoch, before) = self.database_opened(n, partition, opening);
                Effect::Opened { epoch, before }
            }
            Kind::Put { partition, opening, number, put } => {
                match self.put_takes_effect((n, run), partition, (opening, number), put) {
                    true => Effect::Done,
                    false => Effect::Fenced,
                }
            }
            Kind::Copy(_) => Effect::Done,
            Kind::Order(number, order) => {
                // Put if absent.
                if self.orders.len() == number {
                    self.orders.push(order);
                }
                Effect::Done
            }
        };
        // Whoever asked may have given it up.
        if let Some(operation) = self.operations.get_mut(&id) {
            operation.effect = Some(effect);
        }
    }

    pub(super) fn answered(&mut self, id: u64) {
        let Some(operation) = self.operations.get(&id) else { return };
        let (n, run) = (operation.node, operation.run);
        if self.nodes[n].run != run || !self.is_awake(n, &SimDue::Answer(id)) {
            if self.nodes[n].run != run || !self.nodes[n].is_up() {
                self.orphaned(id);
            }
            return;
        }
        let Some(operation) = self.operations.remove(&id) else { return };
        let Operation { began, kind, effect, .. } = operation;
        let clock = self.nodes[n].clock(began);
        match (kind, effect) {
            (Kind::Look, Some(Effect::Seen(beats, orders))) => {
                self.read_orders(n, orders);
                self.event(n, MemberEvent::Looked { began: clock, beats });
            }
            (Kind::Look, _) => self.event(n, MemberEvent::LookFailed),
            (Kind::Beat(beat), Some(_)) => {
                let began = self.lease_from(n, clock);
                self.event(n, MemberEvent::Beaten { counter: beat.counter, began });
            }
            (Kind::Beat(beat), None) => {
                self.event(n, MemberEvent::BeatFailed { counter: beat.counter });
            }
            (Kind::Open { partition, .. }, Some(Effect::Claimed(epoch))) => {
                self.event(n, MemberEvent::Claimed { partition, epoch });
            }
            (Kind::Open { partition, opening, .. }, Some(Effect::Opened { epoch, before })) => {
                self.opened(n, partition, (opening, epoch), before);
            }
            (Kind::Open { partition, .. }, _) => {
                self.event(n, MemberEvent::OpenFailed { partition })
            }
            (Kind::Put { partition, opening, .. }, Some(Effect::Fenced)) => {
                self.fenced(n, partition, opening);
            }
            (Kind::Put { partition, opening, put, .. }, Some(_)) => {
                let began = self.lease_from(n, clock);
                self.put_done(n, partition, opening, put, began);
            }
            (Kind::Copy(partition), Some(_)) => self.event(n, MemberEvent::Copied { partition }),
            (Kind::Order(..), Some(_)) => {}
            // The store's client tries again until it is answered; it began when it first did.
            (kind @ (Kind::Put { .. } | Kind::Copy(_) | Kind::Order(..)), None) => {
                self.begin_again(Operation { node: n, run, began, kind, effect: None });
            }
        }
    }

    /// Nobody waits for it any more; it may still take effect.
    fn orphaned(&mut self, id: u64) {
        let slowest = Span(WAY_SLOW_US_MAX);
        let is_over =
            self.operations.get(&id).is_none_or(|op| self.now().since(op.began) > slowest);
        match is_over {
            true => {
                self.operations.remove(&id);
            }
            false => self.after(slowest, SimDue::Answer(id)),
        }
    }
}
