//! Where the time of requests and of the loop goes, in sums that only grow: what is read twice
//! tells the mean of the time between. A few additions for each request and turn.

use rhumb_engine::error::Error;
use rhumb_engine::event::Row;
use rhumb_engine::turn::{ArchivePosition, State};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What a request, or the loop, is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A request waits for its turn at an address that several partitions ask.
    AddressTurn,
    /// It is under way: connecting, sent, being answered.
    Network,
    /// A large answer waits for others to be parsed.
    Large,
    /// The answer is decoded, parsed, compared with what is known and packed.
    Parsing,
    /// A loop waits for something to happen.
    Idle,
    /// A loop writes records.
    Archive,
    /// A loop commits rows.
    Commit,
    /// A loop has archive or store reach the disk.
    Sync,
}

pub const WORKS: usize = 8;

#[derive(Debug, Default)]
pub struct WorkTimes([AtomicU64; WORKS]);

impl WorkTimes {
    pub fn add(&self, work: Work, began: Instant) {
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.0[work as usize].fetch_add(micros, Ordering::Relaxed);
    }

    /// Seconds so far, indexed by [`Work`].
    pub fn seconds(&self) -> [f64; WORKS] {
        std::array::from_fn(|at| self.0[at].load(Ordering::Relaxed) as f64 / 1e6)
    }
}

/// A state of which it is known how long it takes.
pub struct TimedState<S> {
    pub state: S,
    pub times: Arc<WorkTimes>,
}

impl<S: State> State for TimedState<S> {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: ArchivePosition) -> Result<(), Error> {
        let began = Instant::now();
        let committed = self.state.commit(rows, archived);
        self.times.add(Work::Commit, began);
        committed
    }

    fn sync(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let synced = self.state.sync();
        self.times.add(Work::Sync, began);
        synced
    }

    fn wants_sync(&self) -> bool {
        self.state.wants_sync()
    }
}
