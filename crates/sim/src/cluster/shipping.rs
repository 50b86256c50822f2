//! Putting what is committed at a place into the partition's database: every two seconds the frames
//! since the last time, and when a file of the journal is full and shipped, its rows, then the
//! mark. Only then the file is removed.

use super::database::SimPut;
use super::drive::{SimCluster, SimDue};
use super::journal::SimFrame;
use super::life::bodies;
use super::operations::Kind;
use crate::mutant::Mutant;
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::ceilings::Ceilings;
use rhumb_engine::event as engine;
use rhumb_engine::time::{Span, Time};

const SHIP_EVERY: Span = Span::secs(2);

impl SimCluster {
    /// There may be something to ship.
    pub(super) fn schedule_shipping(&mut self, place: usize) {
        let (n, partition) = self.of_place(place);
        let now = self.now();
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let has_more = !life.is_shipped(&self.shared.borrow().parts[place]);
        if life.shipping.is_putting || life.shipping.is_scheduled || !has_more {
            return;
        }
        life.shipping.is_scheduled = true;
        let at = if life.is_closing { now } else { life.shipping.due.max(now) };
        let opening = life.opening;
        self.at(at, SimDue::Ship(place, opening));
    }

    pub(super) fn ship_due(&mut self, place: usize, opening: u64) {
        let (n, partition) = self.of_place(place);
        let is_it = |life: &&mut super::life::Life| life.opening == opening;
        if self.nodes[n].lives.get_mut(&partition).filter(is_it).is_none()
            || !self.is_awake(n, &SimDue::Ship(place, opening))
        {
            return;
        }
        let life = self.nodes[n].lives.get_mut(&partition).expect("just seen");
        life.shipping.is_scheduled = false;
        self.put_next(n, partition);
    }

    /// Begins the next put, if none is under way and there is something to put.
    fn put_next(&mut self, n: usize, partition: u32) {
        let (now, place) = (self.now(), self.place(n, partition));
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let shipping = &mut life.shipping;
        if shipping.is_putting {
            return;
        }
        let put = match shipping.next.pop_front() {
            Some(put) => Some(put),
            None => {
                let mut shared = self.shared.borrow_mut();
                let journal = shared.parts[place].journal_mut();
                let frames: Vec<SimFrame> = journal.behind(shipping.shipped).cloned().collect();
                let wants_proof = std::mem::take(&mut shipping.wants_proof);
                match frames.is_empty() {
                    false => Some(SimPut::Frames(frames)),
                    true if wants_proof => Some(SimPut::Proof),
                    true => None,
                }
            }
        };
        let Some(put) = put else { return };
        if matches!(put, SimPut::Frames(_)) {
            shipping.wants_proof = false;
            shipping.due = now + SHIP_EVERY;
        }
        shipping.is_putting = true;
        let (number, opening) = (shipping.puts, life.opening);
        self.begin(n, Kind::Put { partition, opening, number, put });
    }

    /// A write is wanted that shows that nobody has opened the database.
    pub(super) fn prove(&mut self, n: usize, partition: u32) {
        if let Some(life) = self.nodes[n].lives.get_mut(&partition) {
            life.shipping.wants_proof = true;
            self.put_next(n, partition);
        }
    }

    /// Whether the put was by the last opening.
    pub(super) fn put_takes_effect(
        &mut self,
        (n, run): (usize, u64),
        partition: u32,
        (opening, number): (u64, u64),
        put: SimPut,
    ) -> bool {
        let database = &mut self.databases[partition as usize];
        if database.opening != opening {
            self.tally.fenced += 1;
            return false;
        }
        // Tried again, it finds that it was there before.
        if number < database.puts {
            return true;
        }
        database.puts += 1;
        let epoch = database.epoch;
        if let SimPut::Frames(frames) = &put {
            let writer = *database.writers.entry(epoch).or_insert(run);
            let shared = &mut *self.shared.borrow_mut();
            let history = shared.history.iter_mut();
            let (bodies, commits) = (bodies(frames.iter()), frames.len() as u64);
            history.for_each(|history| history.shipped(partition, bodies, commits));
            if writer != run {
                let what = format!(
                    "partition {partition}: runs {writer} and {run} wrote in epoch {epoch}, and \
                     both are read (node {n})"
                );
                shared.checker.violated(5, what);
            }
        }
        self.databases[partition as usize].put(put);
        self.check_limit();
        true
    }

    /// The books that are shipped never exceed the limit.
    fn check_limit(&self) {
        let pages: u64 = self.databases.iter().map(|database| database.pages).sum();
        if let Some(max) = self.plan.pages_max.filter(|max| pages > *max) {
            self.violated(5, format!("{pages} pages are shipped, {max} were asked for"));
        }
    }

    pub(super) fn put_done(
        &mut self,
        n: usize,
        partition: u32,
        opening: u64,
        put: SimPut,
        began: Time,
    ) {
        let place = self.place(n, partition);
        let mutant = self.mutant;
        let is_it = |life: &&mut super::life::Life| life.opening == opening;
        let Some(life) = self.nodes[n].lives.get_mut(&partition).filter(is_it) else { return };
        life.shipping.done(&put);
        let epoch = life.epoch;
        {
            let shared = &mut *self.shared.borrow_mut();
            let part = &mut shared.parts[place];
            let (committed, _) = part.gate.numbers();
            part.gate.shipped(life.shipping.shipped.min(committed));
            let shipped = life.shipping.shipped;
            let journal = part.journal_mut();
            let full = journal.full_until(shipped);
            if full > life.shipping.mark && life.shipping.next.is_empty() {
                let frames: Vec<SimFrame> =
                    journal.frames.iter().filter(|frame| frame.number <= full).cloned().collect();
                let (some, others) = frames.split_at(frames.len() / 2);
                let rows = [SimPut::Rows(some.to_vec()), SimPut::Rows(others.to_vec())];
                let puts = rows.into_iter().chain([SimPut::Mark(full)]);
                life.shipping.next = puts.collect();
                if mutant == Some(Mutant::Presuming) {
                    life.shipping.next.rotate_right(1);
                }
            }
            match mutant {
                // Removes what the tables have, shipped or not.
                Some(Mutant::Tidy) => {
                    let (full, mark) = (journal.full_until(committed), life.shipping.mark);
                    journal.frames.retain(|frame| frame.number <= mark || frame.number > full);
                }
                _ => journal.remove_until(life.shipping.mark),
            }
            shared.let_leave(place);
        }
        self.carry_what_left();
        self.event(n, MemberEvent::Durable { partition, epoch, began });
        self.set_ceilings(place);
        let goes_on = |life: &super::life::Life| {
            !life.shipping.next.is_empty() || life.shipping.wants_proof || life.is_closing
        };
        if self.nodes[n].lives.get(&partition).is_some_and(goes_on) {
            self.put_next(n, partition);
        }
        self.schedule_shipping(place);
        self.close_if_shipped(place);
    }

    pub(super) fn fenced(&mut self, n: usize, partition: u32, opening: u64) {
        if self.nodes[n].lives.get(&partition).is_some_and(|life| life.opening == opening) {
            self.event(n, MemberEvent::Fenced { partition });
            // The machine may have let it go before.
            self.drop_life(n, partition);
        }
    }

    /// From when a lease counts: from the beginning of what was written.
    pub(super) fn lease_from(&self, n: usize, began: Time) -> Time {
        match self.mutant {
            Some(Mutant::Tardy) => self.nodes[n].clock(self.now()),
            _ => began,
        }
    }

    /// Tells the engine how far it may go, if that has changed.
    pub(super) fn set_ceilings(&mut self, place: usize) {
        let (n, partition) = self.of_place(place);
        let now = self.now();
        let Some(life) = self.nodes[n].lives.get_mut(&partition) else { return };
        let may_fetch = self.shared.borrow().parts[place].gate.may_fetch();
        let of_limits = life.holder.ceiling();
        let ceilings = Ceilings {
            is_held: now >= life.allowed_until || !may_fetch,
            pages: of_limits.pages,
            bytes: of_limits.bytes,
            requests: of_limits.requests,
            ..Ceilings::default()
        };
        if ceilings == life.ceilings || life.process.is_none() {
            return;
        }
        life.ceilings = ceilings;
        self.with_process(place, |process| {
            process.world.send(Span::ZERO, engine::Event::Bounded(ceilings));
        });
    }
}
