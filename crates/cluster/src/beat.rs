//! What a node tells all others in its object `nodes/ID`, and the times by which they live.

use rhumb_engine::time::Span;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The times of a cluster. Each is measured by one machine's own clock, and compared with others of
/// that clock alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// From the beginning of a heart-beat, or of a look at those of others, to the next.
    pub beat_every: Span,
    /// A fetch may begin so long after the beginning of the last good heart-beat.
    pub lease: Span,
    /// A partition may be taken when so long no new heart-beat named its epoch. The difference to
    /// the lease covers clocks of different speed.
    pub hold: Span,
    /// What failed is tried again after this.
    pub retry: Span,
    /// A node that leaves waits so long for successors that have copied its partitions …
    pub ready_within: Span,
    /// … and is gone after this, whatever happens.
    pub leave_within: Span,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            beat_every: Span::secs(3),
            lease: Span::secs(8),
            hold: Span::secs(10),
            retry: Span::millis(500),
            ready_within: Span::secs(10),
            leave_within: Span::secs(22),
        }
    }
}

/// Who a node is. `run` is drawn anew at each start, so that a node that came back is not taken for
/// the one that it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    pub id: String,
    pub run: u64,
    pub address: String,
    pub version: String,
    /// Its share of the partitions, as against those of others.
    pub weight: u32,
}

/// A heart-beat. Of one run the greatest counter is the last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Heartbeat {
    pub node: Identity,
    pub counter: u64,
    /// Partitions that are open here, with their epochs.
    pub owned: BTreeMap<u32, u64>,
    /// Partitions that were closed here with all that was committed shipped, with their epochs:
    /// they may be opened at once.
    pub released: BTreeMap<u32, u64>,
    /// Partitions of others that are copied here, so that opening them is quick.
    pub ready: BTreeSet<u32>,
    /// The last order that all partitions here have obeyed.
    pub obeyed: u64,
    /// It goes, and wants nothing any more.
    pub is_leaving: bool,
    /// It is gone and comes back within this: its partitions wait for it.
    pub returns_within: Option<Span>,
}

impl Heartbeat {
    /// The epochs of a partition that it tells of.
    pub fn epochs_of(&self, partition: u32) -> impl Iterator<Item = u64> {
        [&self.owned, &self.released]
            .into_iter()
            .filter_map(move |map| map.get(&partition).copied())
    }
}
