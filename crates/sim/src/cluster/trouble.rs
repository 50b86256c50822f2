//! What goes wrong with machines, the network and the store, one thing after the other.

use super::drive::{SimCluster, SimDue};
use super::node::{SimNode, SimNodeState};
use crate::cluster::doors::Doors;
use crate::cluster::journal::SimJournal;
use crate::power::Disk;
use crate::store::{CrashPlan, DurablePart};
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::time::Span;

/// A process that ended is started again after so long.
const DOWNTIME: Span = Span::secs(3);
/// A process that was asked to leave is gone after this.
const LEFT_AFTER: Span = Span::secs(25);
/// Between two faults.
const BETWEEN_US: (u64, u64) = (2_000_000, 12_000_000);
const SPAN_US: (u64, u64) = (1_000_000, 25_000_000);

impl SimCluster {
    pub(super) fn add_node(&mut self) {
        let n = self.nodes.len();
        let differ = self.plan.trouble.clocks_differ;
        let run = n as u64 + 1;
        let node = SimNode::new(n, run, self.partitions, (&mut self.rng, differ));
        let skew_us = node.skew_us;
        self.nodes.push(node);
        let seed = self.scenario.config.seed;
        let crashes = self.scenario.faults.crashes;
        {
            let shared = &mut *self.shared.borrow_mut();
            for partition in 0..self.partitions {
                let place = shared.parts.len() as u64;
                let crash = CrashPlan::new(seed ^ place << 16, crashes, 0);
                // What hashes by it passes the journal by: a partition has one, wherever it is.
                let of_rows = seed ^ u64::from(partition) << 32;
                let mut part = DurablePart::new(partition, of_rows, crash, Some(Disk::default()));
                part.journal = Some(SimJournal::new(n));
                part.skew_us = skew_us;
                shared.parts.push(part);
                shared.checker.add_place(partition, n as u32);
            }
            shared.doors.push(Doors::default());
        }
        self.after(Span(1 + n as u64 * 10_000), SimDue::Wake(n, run));
    }

    pub(super) fn start_node(&mut self, n: usize, has_own_disk: bool) {
        if self.nodes[n].state != SimNodeState::Down {
            return;
        }
        self.counter += 1;
        // Greater than that of every run before.
        let run = self.counter << 8 | n as u64;
        self.nodes[n].restart(run, self.partitions, has_own_disk);
        self.nodes[n].wakes_at = self.now();
        self.after(Span::ZERO, SimDue::Wake(n, run));
    }

    /// A process died between two lines of its loop.
    pub(super) fn crashed(&mut self, n: usize) {
        let now = self.now();
        let places: Vec<usize> = self.nodes[n].lives.values().map(|life| life.place).collect();
        {
            let shared = &mut *self.shared.borrow_mut();
            shared.checker.tally.crashes += 1;
            for place in places {
                shared.checker.tally.repeated += shared.process_ended(place, now);
            }
        }
        self.tally.restarts += 1;
        self.end_process(n, SimNodeState::Down);
        let span = if self.rng.draw().is_multiple_of(2) { DOWNTIME } else { LEFT_AFTER };
        self.after(span, SimDue::Start(n, true));
    }

    pub(super) fn fault(&mut self) {
        if self.now() >= self.faults_until {
            return;
        }
        let weights = self.plan.trouble.weights();
        let all: u64 = weights.iter().sum();
        let up: Vec<usize> = (0..self.nodes.len()).filter(|n| self.nodes[*n].is_up()).collect();
        if all > 0 && !up.is_empty() {
            let n = up[(self.rng.draw() % up.len() as u64) as usize];
            let mut drawn = self.rng.draw() % all;
            for (kind, weight) in weights.into_iter().enumerate() {
                if drawn < weight {
                    self.happens(n, kind);
                    break;
                }
                drawn -= weight;
            }
        }
        let next = Span(self.draw(BETWEEN_US.0, BETWEEN_US.1));
        self.after(next, SimDue::Fault);
    }

    fn happens(&mut self, n: usize, kind: usize) {
        let now = self.now();
        let span = Span(self.draw(SPAN_US.0, SPAN_US.1));
        self.nodes[n].troubled_at = match kind {
            // How it ends says nothing of how it was.
            0..=3 => self.nodes[n].troubled_at,
            _ => now + span,
        };
        match kind {
            0 => self.lose(n),
            1 => self.cut_power(n, span),
            2 => self.kill(n, span, true),
            3 => self.kill(n, span, false),
            4 => self.stop(n, span),
            5 => {
                self.tally.cut_offs += 1;
                let which = self.rng.draw() % 3;
                let node = &mut self.nodes[n];
                if which != 1 {
                    node.no_store_until = now + span;
                }
                if which != 0 {
                    node.cut_off_until = now + span;
                }
            }
            6 => {
                self.tally.store_away += 1;
                self.away_until = now + span;
                self.nodes.iter_mut().for_each(|node| node.troubled_at = now + span);
            }
            _ => {
                self.tally.leaves += 1;
                let returns = self.rng.draw().is_multiple_of(2).then_some(Span::secs(20));
                self.event(n, MemberEvent::Leave { returns_within: returns });
                self.after(LEFT_AFTER, SimDue::Start(n, true));
            }
        }
    }

    /// A machine is gone for ever; another comes after a while.
    fn lose(&mut self, n: usize) {
        self.tally.machines_lost += 1;
        self.end_process(n, SimNodeState::Lost);
        self.add_node();
    }

    fn kill(&mut self, n: usize, span: Span, keeps_disk: bool) {
        self.tally.restarts += 1;
        self.end_process(n, SimNodeState::Down);
        if !keeps_disk {
            self.wipe(n);
        }
        self.after(span, SimDue::Start(n, keeps_disk));
    }

    fn wipe(&mut self, n: usize) {
        let shared = &mut *self.shared.borrow_mut();
        for partition in 0..self.partitions {
            let place = n * self.partitions as usize + partition as usize;
            shared.parts[place].journal_mut().owned.clear();
        }
    }

    /// Power fails at a machine: its disk has what was synced, and any part of what came since.
    fn cut_power(&mut self, n: usize, span: Span) {
        self.tally.restarts += 1;
        self.end_process(n, SimNodeState::Down);
        {
            let shared = &mut *self.shared.borrow_mut();
            shared.checker.tally.power_cuts += 1;
            for partition in 0..self.partitions {
                let place = n * self.partitions as usize + partition as usize;
                shared.parts[place].fall_back();
            }
        }
        self.after(span, SimDue::Start(n, true));
    }

    /// The process stands still, and goes on.
    fn stop(&mut self, n: usize, span: Span) {
        self.tally.stops += 1;
        let until = self.now() + span;
        self.nodes[n].stopped_until = until;
        let lives = self.nodes[n].lives.values();
        let lapses: Vec<_> = lives.map(|life| (life.allowed_until, life.place)).collect();
        for (at, place) in lapses {
            self.touch(place);
            if at > self.now() && at < until {
                self.at(at, SimDue::Lapse(place));
            }
        }
    }
}
