//! What the partitions do together: orders, allowances, reports, the end, and slots at addresses.

use super::drive::{OwnerOrder, SimCluster, SimDue};
use super::life::books;
use super::operations::Kind;
use super::told::{Packet, SimTold, Summed};
use crate::mail::Leaving;
use crate::mutant::Mutant;
use crate::scenario::NEVER;
use rhumb_cluster::address::{GRANT_FOR, partition_of};
use rhumb_cluster::allowance::{Amounts, GrantRequest};
use rhumb_cluster::collection::{End, PartitionReport};
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::event as engine;
use rhumb_engine::event::StopReason;
use rhumb_engine::mass::Sums;
use rhumb_engine::time::{Span, Time};
use std::net::IpAddr;

/// What floating point may make of the truth.
const TRUTH_ERROR: f64 = 1e-9;

impl SimCluster {
    /// The limits and the stop that are in force after so many orders.
    pub(super) fn ordered(&self, orders: usize) -> (Option<Amounts>, Option<StopReason>) {
        let (mut limits, mut stopped) = (None, None);
        for order in &self.orders[..orders] {
            match order {
                OwnerOrder::Limit(amounts) => limits = Some(*amounts),
                OwnerOrder::Stop(reason) => stopped = Some(*reason),
                OwnerOrder::Resume => stopped = None,
            }
        }
        (limits, stopped)
    }

    /// A node has read the orders up to here.
    pub(super) fn read_orders(&mut self, n: usize, orders: usize) {
        let (limits, stopped) = self.ordered(orders);
        for partition in self.nodes[n].lives.keys().copied().collect::<Vec<_>>() {
            let life = self.nodes[n].lives.get_mut(&partition).expect("just seen");
            if life.order >= orders as u64 {
                continue;
            }
            let place = life.place;
            life.order = orders as u64;
            life.stopped = stopped;
            if let (Some(grantor), Some(limits)) = (&mut life.grantor, limits) {
                grantor.limited(orders as u64, limits);
            }
            let order = SimTold::Obeyed(orders as u64);
            let shared = &mut *self.shared.borrow_mut();
            shared.parts[place].gate.hold(Leaving::Told(order));
            shared.let_leave(place);
        }
        if let Some(reason) = stopped {
            for partition in 0..self.partitions {
                let place = self.place(n, partition);
                self.with_process(place, |process| {
                    if process.over.is_none() {
                        process.world.send(Span::ZERO, engine::Event::Stopped(reason));
                    }
                });
            }
        }
        self.carry_what_left();
    }

    /// What an owner does every second.
    pub(super) fn second(&mut self, place: usize, opening: u64) {
        let (n, partition) = self.of_place(place);
        let is_it = |life: &super::life::Life| life.opening == opening;
        let due = SimDue::Second(place, opening);
        if !self.nodes[n].lives.get(&partition).is_some_and(is_it) || !self.is_awake(n, &due) {
            return;
        }
        self.after(Span::secs(1), due);
        self.say_whether_busy(n, partition);
        self.ask_for_more(n, partition);
        self.ask_for_slots(n);
        self.set_ceilings(place);
        if partition == 0 {
            self.collect(n);
        }
    }

    fn say_whether_busy(&mut self, n: usize, partition: u32) {
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let is_over = life.process.as_ref().is_some_and(|process| process.over.is_some());
        let is_busy = !(life.is_idle() || is_over);
        if std::mem::replace(&mut life.is_busy, is_busy) != is_busy {
            self.event(n, MemberEvent::Busy { partition, is_busy });
        }
    }

    /// Tells the owner of partition 0 the books, which leaves when they are shipped.
    fn ask_for_more(&mut self, n: usize, partition: u32) {
        if self.ordered(self.orders.len()).0.is_none() {
            return;
        }
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        if life.process.is_none() {
            return;
        }
        let place = life.place;
        {
            let shared = &mut *self.shared.borrow_mut();
            let part = &mut shared.parts[place];
            let own = books(&part.state.rows.counters);
            let request = life.holder.request(life.order, own, !life.is_idle());
            part.gate.hold(Leaving::Told(SimTold::Request(request)));
            shared.let_leave(place);
        }
        self.carry_what_left();
    }

    fn ask_for_slots(&mut self, n: usize) {
        let wanted = {
            let shared = &mut *self.shared.borrow_mut();
            shared.doors[n].take_wanted()
        };
        let asked = self.nodes[n].clock(self.now());
        for (address, wanted) in wanted {
            let owner = partition_of(address, self.partitions);
            let packet = Packet::WantSlots { from: n, address, wanted, asked };
            self.send_to_owner(n, owner, packet);
        }
    }

    pub(super) fn grant_slots(
        &mut self,
        (n, from): (usize, usize),
        address: IpAddr,
        wanted: u16,
        asked: Time,
    ) {
        let clock = self.nodes[n].clock(self.now());
        let id = self.nodes[from].id.clone();
        let partition = partition_of(address, self.partitions);
        let per_address = self.config.polite.per_address;
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let slots = life.slots.ask(clock, &id, address, wanted.min(per_address));
        self.send((n, from), Packet::Slots { address, slots, asked });
    }

    /// Good from when they were asked for.
    pub(super) fn slots(&mut self, n: usize, address: IpAddr, slots: u16, asked: Time) {
        let until = self.nodes[n].truly(asked + GRANT_FOR);
        self.shared.borrow_mut().doors[n].granted(address, slots, until);
        self.begin_withheld(n);
    }

    /// The owner of partition 0 asks all for reports, and adds up those that it has.
    fn collect(&mut self, n: usize) {
        let asked = self.nodes[n].clock(self.now());
        for partition in 0..self.partitions {
            self.send_to_owner(n, partition, Packet::Ask { from: n, partition, asked });
        }
        let pages = self.databases.iter().map(|database| database.pages).sum();
        self.tally.pages.push(pages);
        let orders = self.orders.len();
        let Some(life) = self.nodes[n].lives.get(&0) else { return };
        let (Some(collection), Some(grantor)) = (&life.collection, &life.grantor) else { return };
        // Others may have been given since; then it is old.
        let is_last = life.order == orders as u64 && life.stopped.is_none();
        if let Some(all) = collection.sums(asked, life.order) {
            self.check_owed(&all);
            let sum = all.iter().map(|of| of.sums).reduce(|a, b| a.plus(&b));
            self.check_coverage(&sum.expect("at least one partition"));
        }
        let limited = self.ordered(orders).0.is_some();
        let end = match collection.end(life.order) {
            Some(End::Finished) => Some(StopReason::Finished),
            Some(End::HostsFailing) => Some(StopReason::HostsFailing),
            None => (limited && grantor.left_when_spent().is_some()).then_some(StopReason::Pages),
        };
        if let (Some(reason), true) = (end, is_last) {
            self.begin(n, Kind::Order(orders, OwnerOrder::Stop(reason)));
        }
    }

    /// Mass below zero that a partition sent, and that is missing in what its addressee reported,
    /// is owed in what the sender reported.
    fn check_owed(&self, all: &[&Summed]) {
        for from in all {
            let lacks = all.iter().flat_map(|to| {
                let (own, to_own) = (from.partition as usize, to.partition as usize);
                let missing = to.taken[own] + 1..=from.sent[to_own];
                missing.map(|number| (from.partition, to.partition, number))
            });
            let missing: i64 = lacks.filter_map(|message| self.taken_back.get(&message)).sum();
            if missing > from.sums.owed {
                let (own, owed) = (from.partition, from.sums.owed);
                let what =
                    format!("{own} owes {owed}, and {missing} that it took back are missing");
                self.violated(5, what);
            }
        }
    }

    fn check_coverage(&self, sums: &Sums) {
        if self.scenario.compare_every == NEVER {
            return;
        }
        let bound = match self.config.topic {
            Some(_) => sums.of_topic().bound,
            None => sums.of_importance().bound,
        };
        let shared = &mut *self.shared.borrow_mut();
        let truth = shared.checker.written.oracle.covered();
        if self.config.topic.is_none() && bound > truth + TRUTH_ERROR {
            let what = format!("{bound} of importance covered, all reports say; it is {truth}");
            shared.checker.violated(5, what);
        }
    }

    /// A report of a partition, which leaves when it is shipped.
    pub(super) fn report(&mut self, (n, to): (usize, usize), partition: u32, asked: Time) {
        let clock = self.nodes[n].clock(self.now());
        let mutant = self.mutant;
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let Some(process) = &life.process else { return };
        let Some(subject) = &process.subject else { return };
        let has_heard_all = process.turns > 0 && process.world.next(None).is_none();
        let snapshot = subject.engine.snapshot(process.world.clock());
        let Some(part) = snapshot.part else { return };
        let released = subject.engine.mass().released();
        let still = life.owed.still(clock, released);
        let still = if mutant == Some(Mutant::Forgiving) { Some(0) } else { still };
        let sums = part.sums.zip(still).map(|(sums, still)| Summed {
            partition,
            sums: Sums { owed: sums.owed + still, ..sums },
            sent: part.numbers.sent.clone(),
            taken: part.numbers.taken.clone(),
        });
        let idle = part.idle.filter(|_| has_heard_all);
        let mut report = PartitionReport {
            partition,
            epoch: life.epoch,
            order: life.order,
            is_idle: idle.is_some(),
            is_failing: idle == Some(StopReason::HostsFailing),
            sent: part.numbers.sent,
            taken: part.numbers.taken,
            sums,
        };
        if mutant == Some(Mutant::Concluding) {
            report.sent.fill(0);
            report.taken.fill(0);
        }
        let told = SimTold::Report { to, asked, report: Box::new(report) };
        let place = life.place;
        {
            let shared = &mut *self.shared.borrow_mut();
            shared.parts[place].gate.hold(Leaving::Told(told));
            shared.let_leave(place);
        }
        self.carry_what_left();
    }

    /// A node hears from an owner.
    pub(super) fn is_told(&mut self, n: usize, told: SimTold) {
        match told {
            SimTold::Report { asked, report, .. } => {
                let life = self.nodes[n].lives.get_mut(&0);
                if let Some(collection) = life.and_then(|life| life.collection.as_mut()) {
                    collection.take(asked, *report);
                }
            }
            SimTold::Request(request) => self.grant(n, request),
            SimTold::Grant(grant) => {
                let place = self.place(n, grant.partition);
                if let Some(life) = self.nodes[n].lives.get_mut(&grant.partition) {
                    life.holder.granted(grant);
                    self.set_ceilings(place);
                }
            }
            SimTold::Reclaim(partition) => {
                let (place, now) = (self.place(n, partition), self.now());
                if let Some(life) = self.nodes[n].lives.get_mut(&partition) {
                    let used = life.used(now, &self.shared.borrow().parts[place]);
                    let is_needy = !life.is_idle();
                    life.holder.reclaimed(used, is_needy);
                    self.set_ceilings(place);
                }
            }
            SimTold::Obeyed(_) => {}
        }
    }

    /// The ledger is committed before what it says leaves.
    fn grant(&mut self, n: usize, request: GrantRequest) {
        let Some(life) = self.nodes[n].lives.get_mut(&0) else { return };
        let Some(grantor) = &mut life.grantor else { return };
        let outcome = grantor.asked(request);
        let place = life.place;
        {
            let shared = &mut *self.shared.borrow_mut();
            if let Some(ledger) = outcome.ledger {
                shared.commit_ledger(place, ledger);
            }
            let gate = &mut shared.parts[place].gate;
            let grants = outcome.grants.into_iter().map(SimTold::Grant);
            let reclaims = outcome.reclaims.into_iter().map(SimTold::Reclaim);
            grants.chain(reclaims).for_each(|told| gate.hold(Leaving::Told(told)));
            shared.let_leave(place);
        }
        self.carry_what_left();
        self.schedule_shipping(place);
    }
}
