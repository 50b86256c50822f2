//! A partition that this node owns, as the node sees it: what its engine was told, what it has come
//! to, and what of the crawl's limits it holds.

use super::partition::{Closing, OpenPart};
use rhumb_cluster::address::AddressSlots;
use rhumb_cluster::allowance::{Amounts, Grant, GrantRequest, Holder};
use rhumb_cluster::collection::{Owed, PartitionReport};
use rhumb_engine::ceilings::Ceilings;
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::mass::Sums;
use rhumb_engine::snapshot::{EngineSnapshot, PartSnapshot};
use rhumb_engine::time::Time;
use std::collections::VecDeque;

pub struct HeldPart {
    pub open: OpenPart,
    pub opened_at: Time,
    /// Orders were looked for since the opening.
    pub is_polled: bool,
    /// Requests may begin before this.
    pub allowed_until: Time,
    /// It is being closed so.
    pub closing: Option<Closing>,
    /// The last order that is obeyed and shipped.
    pub obeyed: Option<u64>,
    /// What it had come to when it was last shipped.
    pub reported: Option<EngineSnapshot>,
    /// It said so last.
    pub was_busy: Option<bool>,
    /// What is granted of the addresses that hash to it.
    pub slots: AddressSlots,
    bounds: Ceilings,
    /// Once the engine has heard of these numbers, and that is shipped, these orders are obeyed.
    obeying: VecDeque<(u64, u64)>,
    holder: Holder,
    lowering: Option<Lowering>,
    owed: Owed,
}

/// A ceiling that is being lowered: what is above it goes back once the engine has heard of it.
#[derive(Clone, Copy, Debug)]
struct Lowering {
    number: u64,
    to: Amounts,
    /// The order of the limits it is for, if it is that.
    is_new_limit: bool,
}

/// What a partition has booked.
fn books(snapshot: &EngineSnapshot) -> Amounts {
    let counters = &snapshot.counters;
    Amounts { pages: counters.pages, bytes: counters.bytes, requests: counters.asked }
}

/// The same with all that is under way.
fn used(snapshot: &EngineSnapshot) -> Amounts {
    let in_force = snapshot.part.as_ref().and_then(|part| part.in_force);
    let pages = in_force.map_or(0, |in_force| in_force.pages_used);
    books(snapshot).at_least(Amounts { pages, ..Amounts::default() })
}

fn part_of(snapshot: &EngineSnapshot) -> Option<&PartSnapshot> {
    snapshot.part.as_deref()
}

impl HeldPart {
    pub fn new(
        partition: u32,
        now: Time,
        open: OpenPart,
        is_limited: bool,
        per_address: u16,
    ) -> HeldPart {
        let counters = &open.counters;
        let booked =
            Amounts { pages: counters.pages, bytes: counters.bytes, requests: counters.asked };
        // Where nobody was before, nobody has released anything.
        let owed_since = if open.is_new { Time::ZERO } else { now };
        HeldPart {
            holder: Holder::new(partition, open.epoch, booked, is_limited),
            open,
            opened_at: now,
            is_polled: false,
            allowed_until: Time::ZERO,
            closing: None,
            obeyed: None,
            reported: None,
            was_busy: None,
            slots: AddressSlots::new(now, per_address),
            bounds: Ceilings { is_held: true, ..Ceilings::default() },
            obeying: VecDeque::new(),
            lowering: None,
            owed: Owed::new(owed_since),
        }
    }

    pub fn send(&self, event: Event) {
        // A loop that has ended says so.
        let _ = self.open.events.send(event);
    }

    /// Stops its loop, to close it so afterwards.
    pub fn stop(&mut self, reason: StopReason, closing: Closing) {
        if self.closing.is_none() {
            self.closing = Some(closing);
            self.send(Event::Stopped(reason));
        }
    }

    /// These are all orders up to this one, in events.
    pub fn obey(&mut self, events: Vec<Event>, order: u64) {
        events.into_iter().for_each(|event| self.send(event));
        let number = self.tell(self.bounds);
        self.obeying.push_back((number, order));
    }

    /// Whether it may begin anything, and what it may come to.
    pub fn bound(&mut self, is_held: bool) {
        let mut ceiling = self.holder.ceiling();
        if let Some(lowering) = self.lowering {
            ceiling = ceiling.at_most(lowering.to);
        }
        let Amounts { pages, bytes, requests } = ceiling;
        let bounds = Ceilings { is_held, pages, bytes, requests, number: self.bounds.number };
        if bounds != self.bounds {
            self.tell(bounds);
        }
    }

    fn tell(&mut self, bounds: Ceilings) -> u64 {
        self.bounds = Ceilings { number: self.bounds.number + 1, ..bounds };
        self.send(Event::Bounded(self.bounds));
        self.bounds.number
    }

    /// What it had come to at a moment that is shipped; the order that is obeyed by that, if that
    /// is news.
    pub fn reported(&mut self, snapshot: EngineSnapshot) -> Option<u64> {
        let heard = part_of(&snapshot).map_or(0, |part| part.ceilings.number);
        if let Some(lowering) = self.lowering.filter(|lowering| lowering.number <= heard) {
            self.lowering = None;
            let to = lowering.to.at_least(used(&snapshot));
            match lowering.is_new_limit {
                true => self.holder.limited(to, true),
                false => self.holder.lowered(to),
            }
        }
        let mut obeyed = None;
        while let Some((_, order)) = self.obeying.pop_front_if(|(number, _)| *number <= heard) {
            obeyed = Some(order);
        }
        self.reported = Some(snapshot);
        if obeyed.is_some() {
            self.obeyed = obeyed;
        }
        obeyed
    }

    /// Limits were set, or lifted.
    pub fn limited(&mut self, is_limited: bool) {
        if !is_limited {
            self.lowering = None;
            return self.holder.limited(Amounts::default(), false);
        }
        let now = self.open.latest().map(|snapshot| used(&snapshot)).unwrap_or_default();
        let to = now.at_most(self.holder.ceiling());
        self.lower(to, true);
    }

    pub fn granted(&mut self, grant: Grant) {
        // While it is being lowered it asks for nothing, and what comes was asked for before.
        if self.lowering.is_none() {
            self.holder.granted(grant);
        }
    }

    /// Another partition needs what this one does not.
    pub fn reclaimed(&mut self) {
        let Some(latest) = self.open.latest().filter(|_| self.lowering.is_none()) else { return };
        let mut lowered = self.holder.clone();
        lowered.reclaimed(used(&latest), is_needy(&latest));
        if lowered.ceiling() != self.holder.ceiling() {
            self.lower(lowered.ceiling(), false);
        }
    }

    fn lower(&mut self, to: Amounts, is_new_limit: bool) {
        let Amounts { pages, bytes, requests } = to.at_most(self.holder.ceiling());
        let bounds = Ceilings { pages, bytes, requests, ..self.bounds };
        let number = self.tell(bounds);
        self.lowering = Some(Lowering { number, to, is_new_limit });
    }

    /// What it asks for, under the limits of this order.
    pub fn request(&self, set_by: u64) -> Option<GrantRequest> {
        let reported = self.reported.as_ref().filter(|_| self.lowering.is_none())?;
        Some(self.holder.request(set_by, books(reported), is_needy(reported)))
    }

    /// What it reports for all, when it is in its last report that this is shipped.
    pub fn report(&mut self, partition: u32, now: Time) -> Option<Box<PartitionReport<Sums>>> {
        let snapshot = self.reported.as_ref()?;
        let part = part_of(snapshot)?;
        let still = self.owed.still(now, part.released);
        let sums = part
            .sums
            .zip(still)
            .map(|(sums, still)| Sums { owed: sums.owed.saturating_add(still), ..sums });
        Some(Box::new(PartitionReport {
            partition,
            epoch: self.open.epoch,
            order: self.obeyed?,
            is_idle: part.idle.is_some() && !snapshot.paused && self.closing.is_none(),
            is_failing: part.idle == Some(StopReason::HostsFailing),
            sent: part.numbers.sent.clone(),
            taken: part.numbers.taken.clone(),
            sums,
        }))
    }
}

/// It has something to fetch.
pub fn is_needy(snapshot: &EngineSnapshot) -> bool {
    let in_force = snapshot.part.as_ref().and_then(|part| part.in_force);
    in_force.is_some_and(|in_force| in_force.has_work)
}
