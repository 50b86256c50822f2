//! The index of leaders in memory: which pages a text may be a near-duplicate of.
//!
//! The index ([`rhumb_neardup::online`]) names candidates; the whole sketch of a candidate, in the
//! store, gives the resemblance. A leader costs less than 100 bytes at any time.
//!
//! At [`LEADERS_MAX`] the index stops growing and forgets the oldest leaders. A forgotten text may
//! become a leader again when it is fetched again; the store keeps all of them.

use rhumb_engine::near::LeaderId;
use rhumb_neardup::Sketch;
use rhumb_neardup::online;

/// Leaders in memory: 400 MB of them.
pub const LEADERS_MAX: usize = online::LEADERS_MAX;

pub struct LeaderRows {
    threshold: f64,
    index: online::LeaderIndex,
}

impl LeaderRows {
    /// For near-duplicates of this resemblance.
    pub fn new(threshold: f64) -> LeaderRows {
        LeaderRows { threshold, index: online::LeaderIndex::new(LEADERS_MAX, threshold) }
    }

    /// The least resemblance of near-duplicates.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Committed, with this number.
    pub fn add(&mut self, id: LeaderId, sketch: &Sketch) {
        self.index.add(id, sketch);
    }

    /// Those that may be near, the most promising first.
    pub fn candidates(&self, sketch: &Sketch) -> Vec<LeaderId> {
        self.index.candidates(sketch).into_iter().map(|candidate| candidate.leader).collect()
    }
}
