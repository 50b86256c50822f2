//! A machine: its clocks, its membership machine, and the partitions that are open on it.

use super::life::Life;
use rhumb_cluster::beat::{Identity, Timing};
use rhumb_cluster::member::Member;
use rhumb_engine::rng::Rng;
use rhumb_engine::time::Time;
use std::collections::BTreeMap;

/// Boot-time clocks are so far apart …
const APART_MAX_US: u64 = 1_000_000_000_000;
/// … and so many in a thousand faster or slower.
const SPEED_ERROR: u64 = 20;
/// What the clocks of the wall are wrong by at most.
const WALL_ERROR_US: u64 = 120_000_000;

pub struct SimNode {
    pub id: String,
    pub run: u64,
    ahead: u64,
    per_mille: u64,
    /// What its clock of the wall is ahead.
    pub skew_us: i64,
    pub member: Member,
    pub lives: BTreeMap<u32, Life>,
    pub state: SimNodeState,
    /// Its process stands still until then.
    pub stopped_until: Time,
    /// It reaches neither the store nor other nodes until then.
    pub cut_off_until: Time,
    pub no_store_until: Time,
    /// When an operation of its was last slow or lost.
    pub troubled_at: Time,
    pub died_at: Time,
    pub wakes_at: Time,
    /// Its CPU has something to do until then.
    pub busy_until: Time,
    /// Orders that it has read.
    pub orders: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimNodeState {
    Up,
    /// Its process has ended; the disk is there.
    Down,
    /// The machine is gone for ever.
    Lost,
}

impl SimNode {
    pub fn new(
        n: usize,
        run: u64,
        partitions: u32,
        (rng, clocks_differ): (&mut Rng, bool),
    ) -> SimNode {
        let id = format!("node-{n}");
        let draw = |rng: &mut Rng, max: u64| if clocks_differ { rng.draw() % max } else { 0 };
        let ahead = draw(rng, APART_MAX_US);
        let per_mille =
            1_000 + draw(rng, SPEED_ERROR) - if clocks_differ { SPEED_ERROR / 2 } else { 0 };
        let skew_us = draw(rng, WALL_ERROR_US) as i64
            - if clocks_differ { WALL_ERROR_US as i64 / 2 } else { 0 };
        let member = SimNode::member(&id, run, partitions, true);
        SimNode {
            id,
            run,
            ahead,
            per_mille,
            skew_us,
            member,
            lives: BTreeMap::new(),
            state: SimNodeState::Up,
            stopped_until: Time::ZERO,
            cut_off_until: Time::ZERO,
            no_store_until: Time::ZERO,
            troubled_at: Time::ZERO,
            died_at: Time::ZERO,
            wakes_at: Time::ZERO,
            busy_until: Time::ZERO,
            orders: 0,
        }
    }

    fn member(id: &str, run: u64, partitions: u32, has_own_disk: bool) -> Member {
        let node = Identity {
            id: id.to_owned(),
            run,
            address: String::new(),
            version: String::new(),
            weight: 1,
        };
        Member::new(node, partitions, has_own_disk, Timing::default())
    }

    /// Another process on the same machine.
    pub fn restart(&mut self, run: u64, partitions: u32, has_own_disk: bool) {
        self.run = run;
        self.member = SimNode::member(&self.id, run, partitions, has_own_disk);
        self.state = SimNodeState::Up;
        self.stopped_until = Time::ZERO;
        self.orders = 0;
    }

    pub fn is_up(&self) -> bool {
        self.state == SimNodeState::Up
    }

    /// Its boot-time clock, and what that says in true time.
    pub fn clock(&self, now: Time) -> Time {
        Time(self.ahead + (now.0 - crate::run::BEGINNING.0) * self.per_mille / 1_000)
    }

    pub fn truly(&self, at: Time) -> Time {
        let since = (at.0.saturating_sub(self.ahead) * 1_000) / self.per_mille;
        Time(crate::run::BEGINNING.0 + since)
    }
}
