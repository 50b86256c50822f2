//! What a node's disk holds of a partition beside its rows: commits that are not shipped, or whose
//! rows are not merged yet; and what it knows of the opening to which all that belongs.

use rhumb_cluster::allowance::Grants;
use rhumb_engine::event::Row;
use rhumb_engine::time::Time;
use std::collections::VecDeque;
use std::rc::Rc;

/// A file of the journal is full with so many commits.
pub const FILE_COMMITS: u64 = 40;

/// A commit, as the copy has it.
#[derive(Clone)]
pub struct SimFrame {
    pub number: u64,
    pub rows: Rc<Vec<Row>>,
    /// Bodies that the archive gained with it.
    pub bodies: u64,
    /// What the owner of partition 0 has granted, where that has changed.
    pub ledger: Option<Grants>,
    pub committed_at: Time,
}

pub struct SimJournal {
    pub node: usize,
    /// Openings to which this place's rows may belong: the last that is known to have succeeded,
    /// and those since of which nobody heard.
    pub owned: Vec<u64>,
    /// Nobody has opened the partition since.
    pub is_current: bool,
    /// Fetches may begin before this, by the true clock.
    pub fetches_until: Time,
    /// In order, without gaps.
    pub frames: VecDeque<SimFrame>,
    bodies: u64,
}

impl SimJournal {
    pub fn new(node: usize) -> SimJournal {
        SimJournal {
            node,
            owned: Vec::new(),
            is_current: false,
            fetches_until: Time::ZERO,
            frames: VecDeque::new(),
            bodies: 0,
        }
    }

    pub fn keep(&mut self) {
        self.bodies += 1;
    }

    pub fn commit(&mut self, number: u64, rows: Rc<Vec<Row>>, committed_at: Time) {
        let bodies = std::mem::take(&mut self.bodies);
        self.frames.push_back(SimFrame { number, rows, bodies, ledger: None, committed_at });
    }

    pub fn commit_ledger(&mut self, number: u64, ledger: Grants, committed_at: Time) {
        let (rows, bodies) = (Rc::default(), std::mem::take(&mut self.bodies));
        self.frames.push_back(SimFrame {
            number,
            rows,
            bodies,
            ledger: Some(ledger),
            committed_at,
        });
    }

    /// Bodies that no commit speaks of yet.
    pub fn bodies(&self) -> u64 {
        self.bodies
    }

    /// All bodies, of commits and beyond, after so many of the last were lost.
    pub fn fall_back(&mut self, last: u64, bodies_lost: u64) {
        let all = self.frames.iter().map(|frame| frame.bodies).sum::<u64>() + self.bodies;
        self.frames.retain(|frame| frame.number <= last);
        let of_frames: u64 = self.frames.iter().map(|frame| frame.bodies).sum();
        self.bodies = all.saturating_sub(bodies_lost + of_frames);
    }

    /// Another copy takes the place of what was here.
    pub fn replaced(&mut self, frames: VecDeque<SimFrame>) {
        (self.frames, self.bodies) = (frames, 0);
    }

    /// Commits that are in files which are full.
    pub fn full_until(&self, last: u64) -> u64 {
        last / FILE_COMMITS * FILE_COMMITS
    }

    /// Removes the files that end at or before this commit.
    pub fn remove_until(&mut self, number: u64) {
        while self.frames.pop_front_if(|frame| frame.number <= number).is_some() {}
    }

    /// Commits behind this one.
    pub fn behind(&self, number: u64) -> impl Iterator<Item = &SimFrame> {
        self.frames.iter().filter(move |frame| frame.number > number)
    }
}
