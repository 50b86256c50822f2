//! Messages between partitions on their way: each comes at least once, some twice, some late, in
//! any order, and again and again until its sender has heard that it is on record.

use crate::check::Checker;
use crate::cluster::told::SimTold;
use crate::scenario::Faults;
use crate::store::DurablePart;
use rhumb_engine::event::Event;
use rhumb_engine::rng::Rng;
use rhumb_engine::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A message that is not acknowledged is carried again after so long.
const AGAIN_AFTER: Span = Span::secs(2);
/// How late a message comes that comes late.
const LATE: Span = Span::secs(7);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Envelope {
    Message { from: u32, to: u32, number: u64 },
    Acknowledgement { by: u32, to: u32, number: u64 },
}

/// What may leave a place once the commit that it rests on is shipped.
#[derive(Clone, Debug)]
pub enum Leaving {
    Envelope(Envelope),
    /// Of several machines: reports, and what is granted.
    Told(SimTold),
}

pub struct Mail {
    rng: Rng,
    faults: Faults,
    coming: BinaryHeap<Reverse<(Time, u64, Envelope)>>,
    order: u64,
}

impl Mail {
    pub fn new(seed: u64, faults: Faults) -> Mail {
        let rng = Rng::new(seed ^ 0x1e77e5);
        Mail { rng, faults, coming: BinaryHeap::new(), order: 0 }
    }

    pub fn send(&mut self, now: Time, envelope: Envelope) {
        let quick = Span::millis(1 + self.rng.draw() % 20);
        let is_late = self.chance();
        self.carry(now + if is_late { LATE } else { quick }, envelope);
        if self.chance() {
            self.carry(now + quick + quick, envelope);
        }
    }

    pub fn next(&self) -> Option<Time> {
        self.coming.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next envelope that is due, as its addressee hears of it. A message that its sender no
    /// longer has was acknowledged.
    pub fn deliver(
        &mut self,
        now: Time,
        parts: &[DurablePart],
        checker: &mut Checker,
    ) -> Option<(u32, Event)> {
        while self.next().is_some_and(|at| at <= now) {
            let Reverse((_, _, envelope)) = self.coming.pop().expect("just seen");
            match envelope {
                Envelope::Acknowledgement { by, to, number } => {
                    let sent = &parts[to as usize].state.rows.numbers.sent;
                    if sent.get(by as usize).is_none_or(|sent| number > *sent) {
                        let what = format!("{by} has message {number} of {to}: never sent");
                        checker.violated(5, what);
                        continue;
                    }
                    return Some((to, Event::Acknowledged { by, number }));
                }
                Envelope::Message { from, to, number } => {
                    let messages = &parts[from as usize].state.rows.messages;
                    if let Some(message) = messages.get(&(to, number)) {
                        self.carry(now + AGAIN_AFTER, envelope);
                        let message = Arc::clone(message);
                        return Some((to, Event::Delivered { from, number, message }));
                    }
                }
            }
        }
        None
    }

    fn carry(&mut self, at: Time, envelope: Envelope) {
        self.order += 1;
        self.coming.push(Reverse((at, self.order, envelope)));
    }

    fn chance(&mut self) -> bool {
        let per_mille = u64::from(self.faults.twice_per_mille);
        per_mille > 0 && self.rng.draw() % 1_000 < per_mille
    }
}
