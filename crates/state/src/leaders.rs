//! Which pages may be nearly repeated: an index in memory before the store.
//!
//! The index ([`rhumb_neardup::online`]) names candidates; the whole sketch of a candidate, in the
//! store, tells how near it is. A part of the index has a fixed size, so it is made of parts: a
//! small one first, and whenever all are full another as large as all together. A leader costs 96
//! bytes in a full index; just after it has grown, 156.
//!
//! At [`LEADERS_MAX`] it grows no more: the latest part forgets its oldest leaders then, the other
//! parts keep theirs. What was forgotten may lead again when it is met again; the store keeps all.

use rhumb_engine::near::{LeaderId, agreeing_min};
use rhumb_neardup::Sketch;
use rhumb_neardup::online::{Candidate, Leaders as Part};
use std::cmp::Reverse;

/// Leaders in memory: 400 MB of them.
pub const LEADERS_MAX: usize = 1 << 22;
/// Leaders of the first part. A power of two.
const PART_MIN: usize = 1 << 13;

pub struct Leaders {
    threshold: f64,
    agreeing_min: u32,
    parts: Vec<Part>,
    capacity: usize,
    leaders_max: usize,
}

impl Leaders {
    /// For near-duplicates of this resemblance.
    pub fn new(threshold: f64) -> Leaders {
        Leaders::with_max(threshold, LEADERS_MAX)
    }

    fn with_max(threshold: f64, leaders_max: usize) -> Leaders {
        let agreeing_min = agreeing_min(threshold);
        Leaders { threshold, agreeing_min, parts: Vec::new(), capacity: 0, leaders_max }
    }

    /// Slots that must agree for two texts to be near-duplicates.
    pub fn agreeing_min(&self) -> u32 {
        self.agreeing_min
    }

    /// Leaders that are held.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Committed, with this number.
    pub fn add(&mut self, id: LeaderId, sketch: &Sketch) {
        if self.len() == self.capacity && self.capacity < self.leaders_max {
            let size = self.capacity.max(PART_MIN).min(self.leaders_max - self.capacity);
            self.parts.push(Part::new(size, self.threshold));
            self.capacity += size;
        }
        self.parts.last_mut().expect("a part was made").add(id, sketch);
    }

    /// Those that may be near, the most promising first.
    pub fn candidates(&self, sketch: &Sketch) -> Vec<LeaderId> {
        let found = self.parts.iter().flat_map(|part| part.candidates(sketch));
        let mut found: Vec<Candidate> = found.collect();
        found.sort_unstable_by_key(|candidate| (Reverse(candidate.agreeing), candidate.leader));
        found.into_iter().map(|candidate| candidate.leader).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::rng::mix;

    fn sketch(n: u64) -> Sketch {
        let prints: Vec<u64> = (0..200).map(|at| mix(n << 20 | at)).collect();
        Sketch::of(&prints).expect("shingles")
    }

    #[test]
    fn the_index_grows_by_parts_to_its_bound_and_then_forgets_the_oldest_of_the_last_part() {
        let max = 4 * PART_MIN;
        let mut leaders = Leaders::with_max(0.8, max);
        let count = max as u64 + 100;
        (0..count).for_each(|n| leaders.add(n as LeaderId, &sketch(n)));
        assert_eq!((leaders.len(), leaders.parts.len()), (max, 3));
        let held = |n: u64| leaders.candidates(&sketch(n)) == [n as LeaderId];
        let half = max as u64 / 2;
        assert!((0..half).all(held), "the first parts keep theirs");
        assert!((half..half + 100).all(|n| !held(n)), "forgotten");
        assert!((half + 100..count).all(held), "the latest are there");
    }
}
