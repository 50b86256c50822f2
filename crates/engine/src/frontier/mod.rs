//! The frontier, after Mercator (Heydon and Najork, World Wide Web 2(4), 1999).
//!
//! A host with work to do is *awake* or *asleep*. Awake hosts have a back queue in memory
//! ([`back_queue`]) and an earliest time for their next request; those whose time has come stand
//! in the front queue of their best class ([`ready`]), from which a biased selector takes them.
//! All other hosts sleep in the state, by class or by due time ([`sleepers`]), until a place
//! becomes free. So memory is bounded by the hosts awake, not by the URLs known.

pub mod address_list;
pub mod awake;
pub mod back_queue;
pub mod ready;
pub mod sleepers;

use crate::config::Config;
use crate::event::{Action, Question, Refill, Row, Step};
use crate::host::HostRecord;
use crate::hours::Hours;
use crate::queue::{Section, SleepPlace};
use crate::time::Time;
use address_list::Detours;
use awake::{AwakeHosts, RobotsReferral};
use ready::Ready;
use rhumb_page::url::HostKey;
use sleepers::Sleepers;
use std::collections::{HashMap, VecDeque};

/// Back queues at the start, per request in flight.
pub const AWAKE_PER_FETCH: usize = 3;
/// Queues refilled by one question.
pub const REFILL_MAX: usize = 512;

/// The machine of the frontier: all hosts that have work, awake and asleep.
pub(crate) struct Frontier {
    pub awake: AwakeHosts,
    pub awake_limit: usize,
    pub ready: Ready,
    pub sleepers: Sleepers,
    pub resting: Resting,
    /// Some host that has work is outside its hours until then.
    pub closed_until: Time,
    pub detours: Detours,
    /// Rows of hosts that were written while a question about hosts was under way: the snapshot
    /// that answers it may not show them. Nothing is kept here when none is.
    pub since_sift: HashMap<HostKey, HostRecord>,
    pub since_wake: HashMap<HostKey, HostRecord>,
    /// Referrals for hosts that are being woken for them. Looked up, never iterated.
    pub referrals_to_wake: HashMap<HostKey, Vec<RobotsReferral>>,
    refills: VecDeque<u32>,
    refill_asked: bool,
    /// Awake hosts whose rows must be written in this turn's commit.
    dirty: Vec<u32>,
}

/// Hosts that went to rest in this run, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resting {
    pub failing: u64,
    /// Their sites have had their share of names.
    pub held: u64,
    /// Their sites have had their budget of pages or bytes.
    pub spent: u64,
    /// Hosts with hours.
    pub closed: u64,
}

impl Frontier {
    /// All hosts with work are asleep, at these places.
    pub fn open(config: &Config, places: Vec<SleepPlace>, run: u32) -> Frontier {
        let awake_limit = (config.concurrency * AWAKE_PER_FETCH).min(config.hosts_awake_max).max(1);
        Frontier {
            awake: AwakeHosts::default(),
            awake_limit,
            ready: Ready::default(),
            sleepers: Sleepers::open(places.into_iter(), run),
            resting: Resting::default(),
            closed_until: Time::ZERO,
            detours: Detours::default(),
            since_sift: HashMap::new(),
            since_wake: HashMap::new(),
            referrals_to_wake: HashMap::new(),
            refills: VecDeque::new(),
            refill_asked: false,
            dirty: Vec::new(),
        }
    }

    /// The row of an awake host must be written in this turn's commit.
    pub fn mark_dirty(&mut self, slot: u32) {
        let host = self.awake.at(slot);
        if !host.dirty {
            host.dirty = true;
            self.dirty.push(slot);
        }
    }

    pub fn write_dirty(&mut self, step: &mut Step) {
        for slot in std::mem::take(&mut self.dirty) {
            // It may have gone to sleep since, which wrote its row.
            if let Some(host) = self.awake.get_mut(slot).filter(|host| host.dirty) {
                host.dirty = false;
                step.rows.push(Row::Host { key: host.key.clone(), record: host.record.clone() });
            }
        }
    }

    /// An entry in a line is good if its host still carries the ticket that the entry shows.
    pub fn is_in_line(&self, slot: u32, ticket: u32) -> bool {
        self.awake.get(slot).is_some_and(|host| host.queued_up && host.ticket == ticket)
    }

    /// The count that a host which rests is part of: of those that fail, of those that have hours,
    /// or of those whose site has had its share: of names, if it was never asked, else its budget.
    pub fn resting_as(
        &mut self,
        host: &HostKey,
        (is_failing, was_asked): (bool, bool),
        hours: &Hours,
    ) -> &mut u64 {
        match is_failing {
            true => &mut self.resting.failing,
            false if hours.of_host(host).is_some() => &mut self.resting.closed,
            false if was_asked => &mut self.resting.spent,
            false => &mut self.resting.held,
        }
    }

    /// Has an awake host's queues read on, if they have fallen low.
    pub fn refill_if_low(&mut self, slot: u32) {
        let host = self.awake.at(slot);
        if host.now.wants_refill() || host.later.wants_refill() {
            self.refills.push_back(slot);
        }
    }

    pub fn ask_refills(&mut self, step: &mut Step) {
        if self.refill_asked || self.refills.is_empty() {
            return;
        }
        let mut hosts = Vec::new();
        while hosts.len() < REFILL_MAX {
            let Some(slot) = self.refills.pop_front() else { break };
            let Some(awake) = self.awake.get_mut(slot) else { continue };
            for section in [Section::Now, Section::Later] {
                let queue = awake.queue(section);
                if queue.wants_refill() {
                    let (after, rows_max) = (queue.begin_refill(), queue.rows_max());
                    let host = awake.key.clone();
                    hosts.push(Refill { host, section, after, rows_max });
                }
            }
        }
        if !hosts.is_empty() {
            self.refill_asked = true;
            step.actions.push(Action::Ask(Question::Refill { hosts }));
        }
    }

    /// The state has answered: it may be asked again.
    pub fn refills_came(&mut self) {
        self.refill_asked = false;
    }

    pub fn heap_bytes(&self) -> usize {
        let hosts: usize = self.awake.iter().map(|host| host.heap_bytes()).sum();
        let overlays = self.since_sift.len() + self.since_wake.len();
        hosts + self.ready.heap_len() * 16 + self.detours.heap_bytes() + overlays * OVERLAY_BYTES
    }
}

pub(crate) const OVERLAY_BYTES: usize = size_of::<(HostKey, HostRecord)>() + 48;
