//! A partition that is open on a node: its engine, what ships it, and its part in what all
//! partitions do together.

use super::database::SimPut;
use super::journal::SimFrame;
use super::told::Summed;
use crate::process::Process;
use crate::store::DurablePart;
use rhumb_cluster::address::AddressSlots;
use rhumb_cluster::allowance::{Amounts, Grantor, Holder};
use rhumb_cluster::collection::{Collection, Owed};
use rhumb_engine::ceilings::Ceilings;
use rhumb_engine::counters::Counters;
use rhumb_engine::event::StopReason;
use rhumb_engine::time::Time;
use std::collections::VecDeque;

pub struct Life {
    pub place: usize,
    pub epoch: u64,
    pub opening: u64,
    /// None before fetches were allowed for the first time: delays count from its opening, and an
    /// earlier owner may fetch until then.
    pub process: Option<Process>,
    pub is_closing: bool,
    pub allowed_until: Time,
    pub shipping: SimShipping,
    pub holder: Holder,
    /// Of the owner of partition 0.
    pub grantor: Option<Grantor>,
    pub collection: Option<Collection<Summed>>,
    pub slots: AddressSlots,
    pub owed: Owed,
    /// The last order that it obeys.
    pub order: u64,
    pub stopped: Option<StopReason>,
    pub ceilings: Ceilings,
    pub is_busy: bool,
}

pub struct SimShipping {
    /// The last commit that is known to be shipped, and the mark.
    pub shipped: u64,
    pub mark: u64,
    /// Puts that were begun, all but the last of which are answered.
    pub puts: u64,
    pub is_putting: bool,
    /// A round begins then, if there is anything to ship.
    pub due: Time,
    pub is_scheduled: bool,
    pub wants_proof: bool,
    /// What comes after the put that is under way.
    pub next: VecDeque<SimPut>,
}

impl SimShipping {
    pub fn new(shipped: u64, mark: u64) -> SimShipping {
        SimShipping {
            shipped,
            mark,
            puts: 0,
            is_putting: false,
            due: Time::ZERO,
            is_scheduled: false,
            wants_proof: false,
            next: VecDeque::new(),
        }
    }

    /// A put is durable.
    pub fn done(&mut self, put: &SimPut) {
        self.is_putting = false;
        self.puts += 1;
        match put {
            SimPut::Frames(frames) => {
                let last = frames.last().map_or(0, |frame| frame.number);
                self.shipped = self.shipped.max(last);
            }
            SimPut::Mark(mark) => self.mark = *mark,
            SimPut::Rows(_) | SimPut::Proof => {}
        }
    }
}

impl Life {
    pub fn is_shipped(&self, part: &DurablePart) -> bool {
        self.shipping.shipped >= part.commits
    }

    /// Requests under way and pages that are compared count as booked.
    pub fn used(&self, now: Time, part: &DurablePart) -> Amounts {
        let books = books(&part.state.rows.counters);
        let engine = self.process.as_ref().and_then(|process| process.subject.as_ref());
        let held = engine.map_or(0, |subject| {
            let snapshot = subject.engine.snapshot(now);
            (snapshot.in_flight + snapshot.comparing) as u64
        });
        books.plus(Amounts { pages: held, bytes: 0, requests: held })
    }

    pub fn is_idle(&self) -> bool {
        let engine = self.process.as_ref().and_then(|process| process.subject.as_ref());
        engine.is_some_and(|subject| subject.engine.is_idle())
    }
}

pub fn books(counters: &Counters) -> Amounts {
    Amounts { pages: counters.pages, bytes: counters.bytes, requests: counters.asked }
}

pub fn bodies<'a>(frames: impl Iterator<Item = &'a SimFrame>) -> u64 {
    frames.map(|frame| frame.bodies).sum()
}
