//! Sums that a bound is made of, and the counts beside them.

use super::super::coverage::{Coverage, coverage};
use super::super::fixed::{LEVELS, PARTS};
use super::super::standing::MassStanding;
use super::super::surfer::{SURFERS, Surfer};
use super::super::topical::{TopicCoverage, topic_coverage};
use serde::{Deserialize, Serialize};

/// URLs that wait, by level.
#[derive(Debug)]
pub(super) struct Waiting {
    pub count: [u32; LEVELS],
    pub levels: u64,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { count: [0; LEVELS], levels: 0 }
    }
}

impl Waiting {
    pub fn add(&mut self, level: u8) {
        self.count[level as usize] += 1;
        self.levels |= 1 << level;
    }

    pub fn remove(&mut self, level: u8) {
        let count = &mut self.count[level as usize];
        *count -= 1;
        if *count == 0 {
            self.levels &= !(1 << level);
        }
    }
}

/// Trusted pages that were seen without links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadEnds {
    pub pages: u32,
    pub trust: i64,
}

/// What is settled, by the surfer of its page: on pages that may hand it on, and on those that were
/// seen without links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledSums {
    pub moving: [i64; SURFERS],
    pub dangling: [i64; SURFERS],
}

impl SettledSums {
    pub fn add(&mut self, surfer: Surfer, standing: MassStanding, x: i64) {
        let of =
            if standing == MassStanding::Dangling { &mut self.dangling } else { &mut self.moving };
        of[surfer.index()] += x;
    }

    pub fn all(&self) -> i64 {
        self.moving.iter().chain(&self.dangling).sum()
    }

    pub fn on_dangling(&self) -> i64 {
        self.dangling.iter().sum()
    }

    /// Walks that have ended, in parts of [`PARTS`]: on each page, times what `worth` says of it.
    pub fn ended(&self, worth: impl Fn(Surfer) -> i64) -> i128 {
        let ended = Surfer::all().map(|surfer| {
            let at = surfer.index();
            let moving = i128::from(self.moving[at]) * i128::from(surfer.stopped());
            let dangling = i128::from(self.dangling[at]) * i128::from(PARTS);
            (moving + dangling) * i128::from(worth(surfer))
        });
        ended.sum()
    }

    fn plus(&mut self, other: &SettledSums) {
        self.moving.iter_mut().zip(other.moving).for_each(|(a, b)| *a += b);
        self.dangling.iter_mut().zip(other.dangling).for_each(|(a, b)| *a += b);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    pub settled: SettledSums,
    /// Crawled pages by their surfer.
    pub pages: [u64; SURFERS],
    pub residue: [i64; MassStanding::ALL.len()],
    pub below: [i64; MassStanding::ALL.len()],
    pub unnamed: i64,
    pub trusted: i64,
    /// What came from other partitions, less what went to them, and what is owed to them.
    pub moved: i64,
    pub owed: i64,
    pub dead_ends: DeadEnds,
}

impl Sums {
    /// The bound on importance, for the usual surfer.
    pub fn of_importance(&self) -> Coverage {
        coverage(self)
    }

    /// The bound on the topic, for the biased one.
    pub fn of_topic(&self) -> TopicCoverage {
        topic_coverage(self)
    }

    /// Of two partitions together.
    pub fn plus(mut self, other: &Sums) -> Sums {
        self.settled.plus(&other.settled);
        self.pages.iter_mut().zip(other.pages).for_each(|(a, b)| *a += b);
        self.residue.iter_mut().zip(other.residue).for_each(|(a, b)| *a += b);
        self.below.iter_mut().zip(other.below).for_each(|(a, b)| *a += b);
        self.unnamed += other.unnamed;
        self.trusted += other.trusted;
        self.moved += other.moved;
        self.owed += other.owed;
        self.dead_ends.pages += other.dead_ends.pages;
        self.dead_ends.trust += other.dead_ends.trust;
        self
    }
}
