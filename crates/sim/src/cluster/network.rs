//! Packets between nodes: lost, doubled, late, and in any order. Messages lie in their sender's
//! rows, and go again until they are acknowledged.

use super::drive::{SimCluster, SimDue};
use super::told::{Packet, SimTold};
use crate::mail::{Envelope, Leaving};
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::event as engine;
use rhumb_engine::outbound::taken_back;
use rhumb_engine::time::Span;
use std::sync::Arc;

/// A message that is not acknowledged goes again after so long.
const AGAIN_AFTER: Span = Span::secs(2);
/// On its way at most, most often and if it is late.
const WAY_US_MAX: u64 = 20_000;
const WAY_LATE_US_MAX: u64 = 7_000_000;

impl SimCluster {
    /// Carries what has passed the gates.
    pub(super) fn carry_what_left(&mut self) {
        let leaving = std::mem::take(&mut self.shared.borrow_mut().leaving);
        for (place, leaving) in leaving {
            self.carry(place, leaving);
        }
    }

    fn carry(&mut self, place: usize, leaving: Leaving) {
        let (n, partition) = self.of_place(place);
        match leaving {
            Leaving::Envelope(Envelope::Message { to, number, .. }) => {
                self.check_message(place, to, number);
                let opening = self.nodes[n].lives.get(&partition).map_or(0, |life| life.opening);
                self.again((place, opening), to, number);
            }
            Leaving::Envelope(envelope @ Envelope::Acknowledgement { to, number, .. }) => {
                self.check_acknowledgement(partition, to, number);
                self.send_to_owner(n, to, Packet::Envelope(envelope, None));
            }
            Leaving::Told(told) => self.carry_told(n, partition, told),
        }
    }

    fn carry_told(&mut self, n: usize, partition: u32, told: SimTold) {
        match &told {
            SimTold::Report { to, .. } => self.send((n, *to), Packet::Told(told)),
            SimTold::Request(_) => self.send_to_owner(n, 0, Packet::Told(told)),
            SimTold::Grant(grant) => self.send_to_owner(n, grant.partition, Packet::Told(told)),
            SimTold::Reclaim(of) => self.send_to_owner(n, *of, Packet::Told(told)),
            SimTold::Obeyed(order) => {
                self.event(n, MemberEvent::Obeyed { partition, order: *order })
            }
        }
    }

    /// Sends a message that is not acknowledged, and looks again later.
    pub(super) fn again(&mut self, (place, opening): (usize, u64), to: u32, number: u64) {
        let (n, partition) = self.of_place(place);
        let is_it = |life: &super::life::Life| life.opening == opening;
        let due = SimDue::Again { place, opening, to, number };
        if !self.nodes[n].lives.get(&partition).is_some_and(is_it) || !self.is_awake(n, &due) {
            return;
        }
        let message = {
            let shared = self.shared.borrow();
            shared.parts[place].state.rows.messages.get(&(to, number)).map(Arc::clone)
        };
        let Some(message) = message else { return };
        self.after(AGAIN_AFTER, due);
        self.tally.items += message.len() as u64;
        self.tally.url_bytes +=
            message.iter().map(|item| item.url.as_str().len() as u64).sum::<u64>();
        let items = message.len() as u64;
        self.spend(n, |cost| items * cost.url * cost.slower + cost.message);
        let back = taken_back(&message);
        if back > 0 {
            self.taken_back.insert((partition, to, number), back);
        }
        let envelope = Envelope::Message { from: partition, to, number };
        self.send_to_owner(n, to, Packet::Envelope(envelope, Some(message)));
    }

    /// The node that owns a partition, as another has heard.
    pub(super) fn owner_of(&self, n: usize, partition: u32) -> Option<usize> {
        let node = &self.nodes[n];
        let own = node.lives.get(&partition).map(|life| (life.epoch, n));
        let others = node.member.view().others.values().filter_map(|seen| {
            let epoch = seen.beat.owned.get(&partition)?;
            let id = self.nodes.iter().position(|node| node.id == seen.beat.node.id)?;
            Some((*epoch, id))
        });
        others.chain(own).max().map(|(_, n)| n)
    }

    pub(super) fn send_to_owner(&mut self, n: usize, partition: u32, packet: Packet) {
        if let Some(to) = self.owner_of(n, partition) {
            self.send((n, to), packet);
        }
    }

    pub(super) fn send(&mut self, (from, to): (usize, usize), packet: Packet) {
        if from == to {
            return self.on_its_way(Span(1), to, packet);
        }
        self.tally.packets += 1;
        let now = self.now();
        let is_cut = |n: usize| now < self.nodes[n].cut_off_until;
        if is_cut(from) || is_cut(to) || self.is_troubled() {
            return;
        }
        let longest = if self.is_troubled() { WAY_LATE_US_MAX } else { WAY_US_MAX };
        if self.is_troubled() {
            let way = Span(self.draw(500, longest));
            self.on_its_way(way, to, packet.clone());
        }
        let way = Span(self.draw(500, longest));
        self.on_its_way(way, to, packet);
    }

    fn on_its_way(&mut self, way: Span, to: usize, packet: Packet) {
        self.counter += 1;
        let id = self.counter;
        self.packets.insert(id, (to, packet));
        self.after(way, SimDue::Packet(id));
    }

    pub(super) fn arrives(&mut self, id: u64) {
        let Some((to, _)) = self.packets.get(&id) else { return };
        let to = *to;
        if !self.nodes[to].is_up() {
            self.packets.remove(&id);
            return;
        }
        if !self.is_awake(to, &SimDue::Packet(id)) {
            return;
        }
        let Some((_, packet)) = self.packets.remove(&id) else { return };
        match packet {
            Packet::Envelope(Envelope::Message { from, to: own, number }, Some(message)) => {
                let items = message.len() as u64;
                self.spend(to, |cost| items * cost.url * cost.slower + cost.message);
                self.hear(to, own, engine::Event::Delivered { from, number, message });
            }
            Packet::Envelope(Envelope::Acknowledgement { by, to: own, number }, _) => {
                self.acknowledged(to, own, by, number);
            }
            Packet::Envelope(Envelope::Message { .. }, None) => {}
            Packet::Told(told) => self.is_told(to, told),
            Packet::Ask { from, partition, asked } => self.report((to, from), partition, asked),
            Packet::WantSlots { from, address, wanted, asked } => {
                self.grant_slots((to, from), address, wanted, asked);
            }
            Packet::Slots { address, slots, asked } => self.slots(to, address, slots, asked),
        }
    }

    /// The engine of a partition hears something, if it is there.
    fn hear(&mut self, n: usize, partition: u32, event: engine::Event) {
        let (place, now) = (self.place(n, partition), self.now());
        self.with_process(place, |process| {
            if process.over.is_none() {
                process.world.arrive(now, event);
            }
        });
    }

    /// What was never sent is refused before the engine hears of it.
    fn acknowledged(&mut self, n: usize, own: u32, by: u32, number: u64) {
        let place = self.place(n, own);
        let (sent, is_current) = {
            let shared = self.shared.borrow();
            let part = &shared.parts[place];
            let sent = part.state.rows.numbers.sent.get(by as usize).copied().unwrap_or(0);
            (sent, part.is_current())
        };
        if number > sent {
            if is_current {
                self.violated(5, format!("{by} has message {number} of {own}: never sent"));
            }
            return;
        }
        self.hear(n, own, engine::Event::Acknowledged { by, number });
    }

    /// A message rests on a commit that is shipped: whoever owns the partition next has it, too.
    fn check_message(&self, place: usize, to: u32, number: u64) {
        let (_, partition) = self.of_place(place);
        if !self.shared.borrow().parts[place].is_current() {
            return;
        }
        let sent =
            self.databases[partition as usize].numbers.sent.get(to as usize).copied().unwrap_or(0);
        if number > sent {
            self.violated(5, format!("message {number} of {partition} to {to}: not shipped"));
        }
    }

    fn check_acknowledgement(&self, partition: u32, to: u32, number: u64) {
        let taken =
            self.databases[partition as usize].numbers.taken.get(to as usize).copied().unwrap_or(0);
        if number > taken {
            let what = format!("{partition} acknowledged message {number} of {to}: not shipped");
            self.violated(5, what);
        }
    }
}
