//! The membership machine of one node: which partitions to open, hold and let go, and until when to
//! fetch for them.
//!
//! Each node writes a heart-beat and looks at those of the others. It wants the partitions that
//! `rank::assign` gives it, and opens one when its owner has released it, or when no new heart-beat
//! named its last epoch for `hold` of this node's clock. The opening itself is what takes over: the
//! store fences the earlier owner. Times are for politeness alone (`lease`).
//!
//! Why two nodes never fetch for one partition. Let X own it in epoch e, and Y open a later epoch
//! at moment o. X fetches only after a write that was durable before o and that began when a
//! heart-beat that names e had been written: so Y's look after o shows X. If X's heart-beat is
//! older than `hold`, X's lease has run out, and after the gap its next write must come before its
//! next fetch: it fails. If it is not, Y waits for `hold` from o, and X fetches for `lease` from
//! the beginning of its last durable write at most, which was before o. An epoch that Y did not
//! know shows by its number: Y's is then not the next one after the last it knew, and Y waits as
//! well.

use crate::beat::{Heartbeat, Identity, Timing};
use crate::event::{Command, Dropped, Exit, MemberEvent};
use crate::lease::Lease;
use crate::rank::assign;
use crate::view::ClusterView;
use rhumb_engine::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Openings under way at once.
const OPENINGS_MAX: usize = 4;
/// Partitions that go from a node that stays to others at once: each is without an owner meanwhile.
const HANDED_OVER_MAX: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    node: Identity,
    partitions: u32,
    timing: Timing,
    /// This process has the disk of the earlier runs of its id to itself: none of them lives.
    has_own_disk: bool,
    view: ClusterView,
    held: BTreeMap<u32, Held>,
    /// Told of in heart-beats until another names a later epoch.
    released: BTreeMap<u32, u64>,
    copying: BTreeSet<u32>,
    ready: BTreeSet<u32>,
    /// Openings that failed and partitions that were fenced are left alone until then.
    not_before: BTreeMap<u32, Time>,
    counter: u64,
    /// The heart-beat that is being written.
    beating: Option<Heartbeat>,
    beat_due: Time,
    /// When the first good heart-beat was known.
    joined: Option<Time>,
    is_looking: bool,
    look_due: Time,
    /// The last look that was answered.
    looked_at: Option<Time>,
    admission: Admission,
    leaving: Option<Leaving>,
    exit: Option<Exit>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leaving {
    since: Time,
    returns_within: Option<Span>,
    exit: Exit,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    phase: Phase,
    /// The last epoch that was known when it was decided to open it.
    known: u64,
    epoch: u64,
    opened_at: Time,
    /// A look that began after the opening was answered.
    is_checked: bool,
    wait_until: Time,
    /// None before the orders are obeyed.
    obeyed: Option<u64>,
    is_busy: bool,
    lease: Lease,
    /// The last permission given.
    allowed_until: Time,
    proof_asked: Option<Time>,
}

/// Whether this process may use its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Admission {
    /// Not before it has looked.
    Unknown,
    /// There is a heart-beat of another run: whether it goes on is to be seen.
    Watching {
        run: u64,
        counter: u64,
        since: Time,
    },
    Clear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Opening,
    Open,
    Closing,
}

impl Member {
    pub fn new(node: Identity, partitions: u32, has_own_disk: bool, timing: Timing) -> Member {
        Member {
            node,
            partitions,
            timing,
            has_own_disk,
            view: ClusterView::default(),
            held: BTreeMap::new(),
            released: BTreeMap::new(),
            copying: BTreeSet::new(),
            ready: BTreeSet::new(),
            not_before: BTreeMap::new(),
            counter: 0,
            beating: None,
            beat_due: Time::ZERO,
            joined: None,
            is_looking: false,
            look_due: Time::ZERO,
            looked_at: None,
            admission: Admission::Unknown,
            leaving: None,
            exit: None,
        }
    }

    /// Takes one event. Once it has said `Exit`, it says nothing more.
    pub fn step(&mut self, now: Time, event: MemberEvent, commands: &mut Vec<Command>) {
        if self.exit.is_some() {
            return;
        }
        match event {
            MemberEvent::Tick => {}
            MemberEvent::Looked { began, beats } => self.looked(now, began, beats, commands),
            MemberEvent::LookFailed => {
                self.is_looking = false;
                self.look_due = now + self.timing.retry;
            }
            MemberEvent::Beaten { counter, began } => self.beaten(now, counter, began),
            MemberEvent::BeatFailed { counter } => {
                if self.beating.take_if(|beat| beat.counter == counter).is_some() {
                    self.beat_due = now + self.timing.retry;
                }
            }
            MemberEvent::Opened { partition, epoch } => self.opened(now, partition, epoch),
            MemberEvent::OpenFailed { partition } => {
                if self.in_phase(partition, Phase::Opening).is_some() {
                    self.held.remove(&partition);
                    self.not_before.insert(partition, now + self.timing.beat_every);
                }
            }
            MemberEvent::Claimed { partition, epoch } => {
                // Its heart-beat will name it; if none does, it is free when such a one is.
                if self.in_phase(partition, Phase::Opening).is_some() {
                    self.held.remove(&partition);
                    self.view.name(now, partition, epoch);
                }
            }
            MemberEvent::Fenced { partition } => {
                self.lose(now, partition, Dropped::Fenced, commands)
            }
            MemberEvent::Durable { partition, epoch, began } => {
                let length = self.timing.lease;
                if let Some(held) = self.held.get_mut(&partition).filter(|h| h.epoch == epoch) {
                    held.lease.wrote(began, length);
                    held.proof_asked = None;
                }
            }
            MemberEvent::Obeyed { partition, order } => {
                if let Some(held) = self.in_phase(partition, Phase::Open) {
                    held.obeyed = Some(order);
                }
            }
            MemberEvent::Busy { partition, is_busy } => {
                if let Some(held) = self.in_phase(partition, Phase::Open) {
                    held.is_busy = is_busy;
                }
            }
            MemberEvent::Closed { partition, epoch } => self.closed(now, partition, epoch),
            MemberEvent::Copied { partition } => {
                if self.copying.remove(&partition) {
                    self.ready.insert(partition);
                    self.beat_due = now;
                }
            }
            MemberEvent::Leave { returns_within } => self.leave(now, returns_within, Exit::Left),
        }
        self.conclude(now, commands);
    }

    /// When to be called again though nothing happens; none if it only waits for answers.
    pub fn next_wakeup(&self, now: Time) -> Option<Time> {
        let beat = Some(self.beat_due).filter(|_| self.may_beat());
        let look = Some(self.look_due).filter(|_| !self.is_looking);
        let leave = self.leaving.as_ref().map(|leaving| {
            let ready = leaving.since + self.timing.ready_within;
            if ready > now { ready } else { leaving.since + self.timing.leave_within }
        });
        let open = self.held.values().filter(|held| held.phase == Phase::Open);
        let waits = open.flat_map(|held| {
            let proof = held.proof_asked.map(|asked| asked + self.timing.beat_every);
            let renewal = held.lease.write_until() - self.timing.beat_every;
            let wait = held.wait_until - self.timing.beat_every;
            let ends = [held.wait_until, held.allowed_until, renewal, wait].map(Some);
            ends.into_iter().chain([proof])
        });
        let waits = waits.flatten().filter(|at| *at > now).min();
        [beat, look, leave, waits].into_iter().flatten().min().map(|at| at.max(now))
    }

    /// What it is, for those who ask.
    pub fn exit(&self) -> Option<Exit> {
        self.exit
    }

    pub fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// Partitions that are open or being closed here, with their epochs.
    pub fn owned(&self) -> BTreeMap<u32, u64> {
        let open = self.held.iter().filter(|(_, held)| held.phase != Phase::Opening);
        open.map(|(partition, held)| (*partition, held.epoch)).collect()
    }

    pub fn view(&self) -> &ClusterView {
        &self.view
    }

    fn in_phase(&mut self, partition: u32, phase: Phase) -> Option<&mut Held> {
        self.held.get_mut(&partition).filter(|held| held.phase == phase)
    }

    fn looked(
        &mut self,
        now: Time,
        began: Time,
        beats: Vec<Heartbeat>,
        commands: &mut Vec<Command>,
    ) {
        self.is_looking = false;
        let last = self.looked_at.replace(now);
        if let Some(last) = last.filter(|last| now.since(*last) >= self.timing.hold) {
            self.view.missed(last, now, &self.timing);
        }
        let (own, others): (Vec<_>, Vec<_>) =
            beats.into_iter().partition(|beat| beat.node.id == self.node.id);
        others.into_iter().for_each(|beat| self.view.see(now, beat));
        self.admit(now, began, own.into_iter().find(|beat| beat.node.run != self.node.run));
        if let Some(expiry) = self.view.next_expiry(now, &self.timing) {
            self.look_due = self.look_due.min(expiry);
        }
        let lost = self.held.iter().filter(|(partition, held)| {
            held.phase != Phase::Opening && self.view.epoch_elsewhere(**partition) > held.epoch
        });
        for partition in lost.map(|(partition, _)| *partition).collect::<Vec<_>>() {
            self.lose(now, partition, Dropped::Superseded, commands);
        }
        self.check_openings(began);
        let elsewhere =
            |(partition, epoch): (&u32, &u64)| self.view.epoch_elsewhere(*partition) > *epoch;
        let taken: Vec<u32> =
            self.released.iter().filter(|entry| elsewhere(*entry)).map(|(p, _)| *p).collect();
        taken.iter().for_each(|partition| {
            self.released.remove(partition);
        });
        if self.joined.is_some_and(|joined| began >= joined) {
            self.divide(now, commands);
        }
    }

    /// Judges a heart-beat under this node's id: of an earlier run, or of a process that should not
    /// be.
    fn admit(&mut self, now: Time, began: Time, namesake: Option<Heartbeat>) {
        let Some(beat) = namesake else {
            self.admission = Admission::Clear;
            return;
        };
        if let Some(joined) = self.joined {
            // A look that began before the first heart-beat was written shows the earlier run.
            self.exit = self.exit.or((began >= joined).then_some(Exit::IdInUse));
            return;
        }
        let is_gone = self.has_own_disk || beat.is_leaving || beat.returns_within.is_some();
        for (&partition, &epoch) in &beat.owned {
            match is_gone {
                true => self.view.release(now, partition, epoch),
                false => self.view.name(now, partition, epoch),
            }
        }
        for (&partition, &epoch) in &beat.released {
            self.view.release(now, partition, epoch);
        }
        if is_gone {
            // Others must go on hearing of what is free.
            self.released.extend(beat.owned.into_iter().chain(beat.released));
            self.admission = Admission::Clear;
            return;
        }
        let Heartbeat { node: Identity { run, .. }, counter, .. } = beat;
        self.admission = match self.admission {
            Admission::Watching { run: last, counter: of, .. } if (last, of) != (run, counter) => {
                self.exit = Some(Exit::IdInUse);
                self.admission
            }
            Admission::Watching { since, .. } if now >= since + self.timing.hold => {
                Admission::Clear
            }
            Admission::Watching { .. } | Admission::Clear => self.admission,
            Admission::Unknown => Admission::Watching { run, counter, since: now },
        };
    }

    /// An opening is checked by a look that began after it: an earlier owner that was heard of not
    /// long ago may still fetch.
    fn check_openings(&mut self, began: Time) {
        for (&partition, held) in &mut self.held {
            let is_due = held.phase == Phase::Open && !held.is_checked && began >= held.opened_at;
            if !is_due {
                continue;
            }
            held.is_checked = true;
            let mut others = self.view.others.values();
            let may_own =
                others.any(|seen| seen.may_still_own(began, partition, held.epoch, &self.timing));
            if may_own || held.epoch > held.known + 1 {
                held.wait_until = held.opened_at + self.timing.hold;
            }
        }
    }

    /// Opens what is wanted and free, copies what is wanted and another's, and lets go what another
    /// should have.
    fn divide(&mut self, now: Time, commands: &mut Vec<Command>) {
        let mut living = self.view.living(now, &self.timing);
        let goes = self.leaving.as_ref().is_some_and(|leaving| leaving.returns_within.is_none());
        if !goes {
            living.push((&self.node.id, self.node.weight));
        }
        let owners: Vec<Option<String>> =
            assign(self.partitions, &living).into_iter().map(|id| id.map(str::to_owned)).collect();
        self.ready.retain(|p| owners[*p as usize].as_ref() == Some(&self.node.id));
        for (partition, owner) in (0..).zip(owners) {
            let is_wanted = owner.as_ref() == Some(&self.node.id);
            match self.held.get(&partition).map(|held| held.phase) {
                None if is_wanted && self.leaving.is_none() => {
                    self.open_if_free(now, partition, commands);
                }
                Some(Phase::Open) if !is_wanted || self.leaving.is_some() => {
                    self.release_if_ready(now, partition, owner.as_deref(), commands);
                }
                _ => {}
            }
        }
    }

    fn open_if_free(&mut self, now: Time, partition: u32, commands: &mut Vec<Command>) {
        if self.not_before.get(&partition).is_some_and(|at| now < *at) {
            return;
        }
        let known = self.view.epochs.get(&partition);
        if known.is_some_and(|known| !known.is_free(now, &self.timing)) {
            if !self.ready.contains(&partition) && self.copying.insert(partition) {
                commands.push(Command::Copy { partition });
            }
            return;
        }
        let known = known.map_or(0, |known| known.epoch);
        let openings = self.held.values().filter(|held| held.phase == Phase::Opening).count();
        if openings < OPENINGS_MAX {
            self.ready.remove(&partition);
            self.copying.remove(&partition);
            self.held.insert(partition, Held::opening(known));
            commands.push(Command::Open { partition, known });
        }
    }

    /// To a successor that has a copy; when leaving, not for ever.
    fn release_if_ready(
        &mut self,
        now: Time,
        partition: u32,
        successor: Option<&str>,
        commands: &mut Vec<Command>,
    ) {
        let beat = successor.and_then(|id| self.view.others.get(id)).map(|seen| &seen.beat);
        let is_ready = beat.is_some_and(|beat| beat.ready.contains(&partition));
        let may = match &self.leaving {
            None => is_ready && self.handed_over() < HANDED_OVER_MAX,
            Some(leaving) => {
                let is_time = now >= leaving.since + self.timing.ready_within;
                is_ready || is_time || leaving.returns_within.is_some() || beat.is_none()
            }
        };
        if !may {
            return;
        }
        let held = self.held.get_mut(&partition).expect("it is open");
        held.phase = Phase::Closing;
        held.allowed_until = Time::ZERO;
        commands.push(Command::Pause { partition });
        commands.push(Command::Release { partition, epoch: held.epoch });
    }

    /// Partitions between this owner and the next.
    fn handed_over(&self) -> usize {
        let closing = self.held.values().filter(|held| held.phase == Phase::Closing).count();
        closing + self.released.len()
    }

    fn opened(&mut self, now: Time, partition: u32, epoch: u64) {
        let Some(held) = self.in_phase(partition, Phase::Opening) else { return };
        held.phase = Phase::Open;
        (held.epoch, held.opened_at) = (epoch, now);
        self.released.remove(&partition);
        (self.beat_due, self.look_due) = (now, now);
    }

    fn closed(&mut self, now: Time, partition: u32, epoch: u64) {
        let is_it = |held: &&mut Held| held.epoch == epoch;
        if self.in_phase(partition, Phase::Closing).filter(is_it).is_some() {
            self.held.remove(&partition);
            self.released.insert(partition, epoch);
            self.view.release(now, partition, epoch);
            self.beat_due = now;
        }
    }

    /// Another has the partition now. A node that was given up by the others, and so lost it, ends:
    /// who starts it again finds out why.
    fn lose(&mut self, now: Time, partition: u32, why: Dropped, commands: &mut Vec<Command>) {
        let Some(held) = self.held.remove(&partition) else { return };
        self.not_before.insert(partition, now + self.timing.hold);
        self.view.name(now, partition, held.epoch);
        self.beat_due = now;
        commands.push(Command::Drop { partition, why });
        if held.lease.was_given_up(now) {
            self.leave(now, None, Exit::Fenced);
        }
    }

    fn beaten(&mut self, now: Time, counter: u64, began: Time) {
        let Some(beat) = self.beating.take_if(|beat| beat.counter == counter) else { return };
        self.joined.get_or_insert(now);
        for (partition, epoch) in &beat.owned {
            if let Some(held) = self.held.get_mut(partition).filter(|held| held.epoch == *epoch) {
                held.lease.beaten(began, now, self.timing.lease);
            }
        }
        if beat != self.heartbeat() {
            // What has changed since is told at once.
            self.beat_due = now;
        } else if let Some(leaving) = self.leaving.as_ref().filter(|_| self.held.is_empty()) {
            self.exit = Some(leaving.exit);
        }
        if counter == 1 {
            self.look_due = now;
        }
    }

    fn leave(&mut self, now: Time, returns_within: Option<Span>, exit: Exit) {
        if self.leaving.is_none() {
            self.leaving = Some(Leaving { since: now, returns_within, exit });
            (self.beat_due, self.look_due) = (now, now);
        }
        if self.joined.is_none() {
            self.exit = Some(exit);
        }
    }

    fn heartbeat(&self) -> Heartbeat {
        let obeyed = self.held.values().filter_map(|held| held.obeyed).min();
        let returns_within = self.leaving.as_ref().and_then(|leaving| leaving.returns_within);
        Heartbeat {
            node: self.node.clone(),
            counter: self.counter,
            owned: self.owned(),
            released: self.released.clone(),
            ready: self.ready.clone(),
            obeyed: obeyed.unwrap_or(0),
            is_leaving: self.leaving.is_some() && returns_within.is_none(),
            returns_within,
        }
    }

    /// None is written before it is certain that no other process has this id.
    fn may_beat(&self) -> bool {
        self.beating.is_none() && self.admission == Admission::Clear
    }

    /// Ends a step: renews what fetches rest on, and does what is due.
    fn conclude(&mut self, now: Time, commands: &mut Vec<Command>) {
        let late = self.leaving.as_ref().filter(|l| now >= l.since + self.timing.leave_within);
        if let Some(leaving) = late.filter(|_| self.exit.is_none()) {
            let is_fenced = leaving.exit == Exit::Fenced;
            self.exit = Some(if is_fenced { Exit::Fenced } else { Exit::Late });
        }
        if let Some(exit) = self.exit {
            let held = std::mem::take(&mut self.held).into_keys();
            commands.extend(held.map(|partition| Command::Drop { partition, why: Dropped::Late }));
            commands.push(Command::Exit(exit));
            return;
        }
        for (&partition, held) in &mut self.held {
            held.permit(now, partition, commands);
            held.ask_proof(now, partition, &self.timing, commands);
        }
        if !self.is_looking && now >= self.look_due {
            self.is_looking = true;
            self.look_due = now + self.timing.beat_every;
            commands.push(Command::Look);
        }
        if self.may_beat() && now >= self.beat_due {
            self.counter += 1;
            self.beat_due = now + self.timing.beat_every;
            let beat = self.heartbeat();
            self.beating = Some(beat.clone());
            commands.push(Command::Beat(Box::new(beat)));
        }
    }
}

impl Held {
    fn opening(known: u64) -> Held {
        Held {
            phase: Phase::Opening,
            known,
            epoch: 0,
            opened_at: Time::ZERO,
            is_checked: false,
            wait_until: Time::ZERO,
            obeyed: None,
            is_busy: true,
            lease: Lease::default(),
            allowed_until: Time::ZERO,
            proof_asked: None,
        }
    }

    /// Says until when to fetch, when that has changed.
    fn permit(&mut self, now: Time, partition: u32, commands: &mut Vec<Command>) {
        let may = self.phase == Phase::Open
            && self.is_checked
            && self.obeyed.is_some()
            && now >= self.wait_until;
        let until = if may { self.lease.until() } else { Time::ZERO };
        if until <= now {
            if std::mem::take(&mut self.allowed_until) > Time::ZERO {
                commands.push(Command::Pause { partition });
            }
        } else if until != self.allowed_until {
            self.allowed_until = until;
            commands.push(Command::Allow { partition, epoch: self.epoch, until });
        }
    }

    /// Asks for a durable write if the last one will soon be too old for fetches.
    fn ask_proof(
        &mut self,
        now: Time,
        partition: u32,
        timing: &Timing,
        commands: &mut Vec<Command>,
    ) {
        let ahead = now + timing.beat_every;
        let is_wanted = self.phase == Phase::Open
            && self.is_busy
            && self.lease.is_beating(now)
            && self.lease.write_until() <= ahead
            && self.wait_until <= ahead;
        let is_asked = self.proof_asked.is_some_and(|asked| now < asked + timing.beat_every);
        if is_wanted && !is_asked {
            self.proof_asked = Some(now);
            commands.push(Command::Prove { partition, epoch: self.epoch });
        }
    }
}
