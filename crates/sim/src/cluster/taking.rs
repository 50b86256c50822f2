//! Opening a partition's database, and what a place has of the partition then.

use super::drive::{SimCluster, SimDue};
use super::life::{self, Life, SimShipping, books};
use super::node::SimNodeState;
use crate::history::PageChange;
use crate::mutant::Mutant;
use crate::power::{Disk, Left};
use crate::process::Process;
use crate::store::{DurablePart, Shared};
use crate::world::SimWorld;
use rhumb_cluster::address::AddressSlots;
use rhumb_cluster::allowance::{Amounts, Grantor, Holder};
use rhumb_cluster::collection::{Collection, Owed};
use rhumb_cluster::event::MemberEvent;
use rhumb_cluster::gate::Gate;
use rhumb_engine::ceilings::Ceilings;
use rhumb_engine::event as engine;
use rhumb_engine::order;
use rhumb_engine::partition::Partition;
use rhumb_engine::time::{Span, Time};
use std::rc::Rc;

/// Rows that may be committed and not shipped before fetches wait.
const UNSHIPPED_MAX: u64 = 4_000;
/// A machine that is lost takes what it committed in its last seconds, and no more.
const LOST_AGE_MAX: Span = Span::secs(3);

impl SimCluster {
    /// Opening takes effect: whoever had the partition is fenced.
    pub(super) fn database_opened(&mut self, n: usize, partition: u32, opening: u64) -> (u64, u64) {
        self.tally.openings += 1;
        let place = self.place(n, partition);
        let before = self.databases[partition as usize].opening;
        if let Some(old) = (0..self.nodes.len())
            .map(|n| self.place(n, partition))
            .find(|place| self.shared.borrow().parts[*place].is_current())
        {
            self.shared.borrow_mut().parts[old].journal_mut().is_current = false;
        }
        let goes_on = {
            let shared = &mut *self.shared.borrow_mut();
            let part = &mut shared.parts[place];
            let goes_on = part.journal_mut().owned.contains(&before);
            if !goes_on {
                // What is here is no part of the copy's past: it goes before the opening is noted.
                part.commits = 0;
                part.journal_mut().owned.clear();
            }
            part.journal_mut().owned.push(opening);
            goes_on
        };
        let is_new = !(goes_on && self.mutant == Some(Mutant::Recycling));
        let database = &mut self.databases[partition as usize];
        database.open(opening, is_new);
        (database.epoch, before)
    }

    /// The node hears that a database is open, and makes its place what the copy says.
    pub(super) fn opened(
        &mut self,
        n: usize,
        partition: u32,
        (opening, epoch): (u64, u64),
        before: u64,
    ) {
        if self.databases[partition as usize].opening != opening {
            return self.event(n, MemberEvent::OpenFailed { partition });
        }
        let place = self.place(n, partition);
        self.make_place(place, partition, opening, before);
        let life = self.new_life((n, place), partition, (opening, epoch));
        let order = life.order;
        self.nodes[n].lives.insert(partition, life);
        self.after(Span::secs(1), SimDue::Second(place, opening));
        self.schedule_shipping(place);
        self.event(n, MemberEvent::Opened { partition, epoch });
        self.event(n, MemberEvent::Obeyed { partition, order });
    }

    /// Keeps the rows of a place if they are what the copy was made of, else makes them of it.
    fn make_place(&mut self, place: usize, partition: u32, opening: u64, before: u64) {
        let database = &self.databases[partition as usize];
        let last = database.last();
        let shared = &mut *self.shared.borrow_mut();
        let Shared { parts, history, checker, clock, .. } = shared;
        let part = &mut parts[place];
        let is_home = part.journal_mut().owned.contains(&before) && part.commits >= last;
        let age_max = self.lost_age(partition, before, parts, *clock);
        let part = &mut parts[place];
        if !is_home {
            self.tally.elsewhere += u64::from(before != 0);
            let (rows, _) = database.read();
            part.disk = part.disk.take().map(|_| Disk::of(rows.clone()));
            part.state.rows = rows;
            part.commits = last;
            part.journal_mut().replaced(database.frames.iter().cloned().collect());
        }
        let journal = part.journal_mut();
        (journal.owned, journal.is_current) = (vec![opening], true);
        let left = Left {
            bodies: life::bodies(journal.behind(last)) + journal.bodies(),
            commits: journal.behind(last).count() as u64,
        };
        part.gate = Gate::new(last, UNSHIPPED_MAX);
        let behind: Vec<(u64, u64)> = part
            .journal_mut()
            .behind(last)
            .map(|frame| (frame.number, frame.rows.len() as u64))
            .collect();
        behind.into_iter().for_each(|(number, rows)| part.gate.committed(number, rows));
        if let Some(history) = history {
            checker.written = history.take_back(partition, &left, false);
        }
        if let Some((count, age)) = age_max.filter(|_| !is_home) {
            self.tally.commits_lost += count;
            self.tally.lost_age_max = self.tally.lost_age_max.max(age);
            if age > LOST_AGE_MAX {
                let age = age.as_secs_f64();
                checker.violated(7, format!("a machine took what it committed {age:.1} s before"));
            }
        }
    }

    /// Of what an earlier owner's machine took with it: how many commits, and how old the oldest
    /// was when the machine was lost. None if there are none, or if its operations were slow or
    /// lost shortly before.
    fn lost_age(
        &self,
        partition: u32,
        before: u64,
        parts: &[DurablePart],
        now: Time,
    ) -> Option<(u64, Span)> {
        const CALM: Span = Span::secs(30);
        let last = self.databases[partition as usize].last();
        let nodes = (0..self.nodes.len()).filter(|n| self.nodes[*n].state == SimNodeState::Lost);
        let mut lost = nodes.filter_map(|n| {
            let journal = parts[self.place(n, partition)].journal.as_ref()?;
            let node = &self.nodes[n];
            let is_calm = node.died_at.since(node.troubled_at) > CALM && now > node.died_at;
            let is_it = journal.owned.contains(&before) && is_calm;
            let mut frames = journal.behind(last).filter(|_| is_it).peekable();
            let first = frames.peek()?.committed_at;
            Some((frames.count() as u64, node.died_at.since(first)))
        });
        lost.next()
    }

    fn new_life(
        &mut self,
        (n, place): (usize, usize),
        partition: u32,
        (opening, epoch): (u64, u64),
    ) -> Life {
        let clock = self.nodes[n].clock(self.now());
        let order = self.orders.len();
        let (limits, stopped) = self.ordered(order);
        let database = &self.databases[partition as usize];
        let (last, mark) = (database.last(), database.mark);
        let shared = self.shared.borrow();
        let part = &shared.parts[place];
        let own = books(&part.state.rows.counters);
        let collects = partition == 0;
        let ledger = self.ledger(part);
        let order = order as u64;
        let unlimited = Amounts::UNLIMITED;
        Life {
            place,
            epoch,
            opening,
            process: None,
            is_closing: false,
            allowed_until: Time::ZERO,
            shipping: SimShipping::new(last, mark),
            holder: Holder::new(partition, epoch, own, limits.is_some()),
            grantor: collects
                .then(|| Grantor::new(self.partitions, order, limits.unwrap_or(unlimited), ledger)),
            collection: collects.then(|| Collection::new(self.partitions)),
            slots: AddressSlots::new(clock, self.config.polite.per_address),
            owed: Owed::new(clock),
            order,
            stopped,
            ceilings: Ceilings::default(),
            is_busy: true,
        }
    }

    /// What was granted, as the place has it: the copy's ledger, and what was committed since.
    fn ledger(&self, part: &DurablePart) -> rhumb_cluster::allowance::Grants {
        let (_, of_copy) = self.databases[part.own as usize].read();
        let frames = part.journal.iter().flat_map(|journal| journal.frames.iter());
        frames.rev().find_map(|frame| frame.ledger.clone()).unwrap_or(of_copy)
    }

    /// Fetches may begin before this moment of the node's clock.
    pub(super) fn allow(&mut self, n: usize, partition: u32, until: Time) {
        let until = self.nodes[n].truly(until);
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        life.allowed_until = until;
        let (place, is_closing) = (life.place, life.is_closing);
        let is_new = life.process.is_none() && !is_closing;
        self.shared.borrow_mut().parts[place].journal_mut().fetches_until = until;
        if is_new {
            self.start_engine(n, partition);
        }
        self.set_ceilings(place);
        self.with_process(place, |process| process.world.begin_withheld());
    }

    fn start_engine(&mut self, n: usize, partition: u32) {
        let place = self.place(n, partition);
        let (shared, now) = (Rc::clone(&self.shared), self.now());
        let of = (Rc::clone(&shared), partition, place);
        let (faults, seed) = (self.scenario.faults, self.config.seed);
        let mut world = SimWorld::new(Rc::clone(&self.web), of, faults, (seed, self.mutant));
        world.wants_addresses = order::policy(&self.config).follows_importance();
        let partition_of = Partition { own: partition, count: self.partitions };
        let mut process = Process::new(partition_of, place, world);
        process.lie_down(&shared, now);
        let is_taken_over = self.nodes[n].lives[&partition].epoch > 1;
        process.start(&self.config, is_taken_over, &shared, self.mutant);
        {
            let Shared { checker, parts, .. } = &mut *shared.borrow_mut();
            checker.begins_anew(place, now, &parts[place].state.rows);
        }
        let life = self.nodes[n].lives.get_mut(&partition).expect("it is open");
        match life.stopped {
            // Of a crawl that is over nobody names seeds.
            Some(reason) => process.world.send(Span::ZERO, engine::Event::Stopped(reason)),
            None => process.name_seeds(&self.web),
        }
        life.ceilings = Ceilings::default();
        life.process = Some(process);
        self.carry_what_left();
        self.touch(place);
    }

    /// Begins no fetch, and closes the connections of those under way.
    pub(super) fn pause(&mut self, n: usize, partition: u32) {
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        life.allowed_until = Time::ZERO;
        let (place, now) = (life.place, self.now());
        {
            let shared = &mut *self.shared.borrow_mut();
            shared.parts[place].journal_mut().fetches_until = Time::ZERO;
            shared.checker.connections_ended(place, now);
        }
        self.with_process(place, |process| process.world.drop_requests());
        self.set_ceilings(place);
    }

    /// The lease of a node that stands still ends: its connections are idle, or end by themselves.
    pub(super) fn lapsed(&mut self, place: usize) {
        let (n, _) = self.of_place(place);
        let now = self.now();
        let shared = &mut *self.shared.borrow_mut();
        let until = shared.parts[place].journal_mut().fetches_until;
        if now < self.nodes[n].stopped_until && until <= now {
            shared.checker.connections_ended(place, now);
        }
    }

    /// Ends the engine, ships what is committed, and closes.
    pub(super) fn release(&mut self, n: usize, partition: u32) {
        let place = self.place(n, partition);
        self.end_engine(n, partition);
        if let Some(life) = self.nodes[n].lives.get_mut(&partition) {
            life.is_closing = true;
        }
        self.close_if_shipped(place);
    }

    pub(super) fn close_if_shipped(&mut self, place: usize) {
        let (n, partition) = self.of_place(place);
        let Some(life) = self.nodes[n].lives.get(&partition).filter(|life| life.is_closing) else {
            return;
        };
        let is_shipped = life.is_shipped(&self.shared.borrow().parts[place]);
        if is_shipped && !life.shipping.is_putting {
            let epoch = life.epoch;
            self.nodes[n].lives.remove(&partition);
            self.event(n, MemberEvent::Closed { partition, epoch });
        }
    }

    fn end_engine(&mut self, n: usize, partition: u32) {
        let now = self.now();
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let place = life.place;
        if let Some(mut process) = life.process.take() {
            process.world.take_requests();
            process.lie_down(&self.shared, now);
            let shared = &mut *self.shared.borrow_mut();
            shared.process_ended(place, now);
            if shared.parts[place].is_current() {
                shared.history.iter_mut().for_each(|h| h.push(partition, PageChange::Died));
            }
        }
        self.shared.borrow_mut().parts[place].journal_mut().fetches_until = Time::ZERO;
        self.forget_turn(place);
    }

    pub(super) fn drop_life(&mut self, n: usize, partition: u32) {
        self.end_engine(n, partition);
        self.nodes[n].lives.remove(&partition);
    }

    /// A process is gone, with all its partitions.
    pub(super) fn end_process(&mut self, n: usize, state: SimNodeState) {
        let now = self.now();
        for partition in self.nodes[n].lives.keys().copied().collect::<Vec<_>>() {
            self.drop_life(n, partition);
        }
        self.shared.borrow_mut().doors[n] = super::doors::Doors::default();
        let node = &mut self.nodes[n];
        (node.state, node.died_at) = (state, now);
        if state == SimNodeState::Down {
            node.troubled_at = now;
        }
    }
}
