//! Is this text a near-duplicate of one we hold? Leaders and their bands in bounded memory.
//!
//! A text that resembles no leader becomes one; a text that does is its member and is not indexed.
//! Of each leader the index keeps its number, four bits of 64 slots of its sketch, and an entry for
//! each of ten bands in a table that has one bucket of twelve for every leader: 96 bytes in all
//! ([`BYTES_PER_LEADER`]). It is made in its full size and never grows. When it is full, the oldest
//! leader gives way to the newest, and the oldest entry of a bucket to the newest.
//!
//! Candidates are what memory can tell; the whole sketch of a leader, in the caller's store, tells
//! how near it is. Nothing here reads or writes: after a restart the index is built again by adding
//! stored sketches.
//!
//! ```
//! use rhumb_neardup::{Sketch, online::Leaders, shingle::fingerprints};
//! let sketch = |text: &str| {
//!     let mut prints = Vec::new();
//!     fingerprints(text, 4, &mut prints);
//!     Sketch::of(&prints).expect("a text with words")
//! };
//! let mut leaders = Leaders::new(1000, 0.8);
//! leaders.add(7, &sketch("to be or not to be that is the question"));
//! let again = sketch("To be, or not to be: that is the question.");
//! assert_eq!(leaders.candidates(&again)[0].leader, 7);
//! assert!(leaders.candidates(&sketch("whether tis nobler in the mind")).is_empty());
//! ```

use crate::bands::ONLINE;
use crate::sketch::Sketch;

/// Number of a leader; what it stands for the caller knows.
pub type LeaderId = u32;

/// Slots of a sketch that are kept, by four bits each. They are not those of the bands: that two
/// texts meet says nothing of these.
const KEPT_FROM: usize = 40;
const KEPT: usize = 64;
/// Bits of a slot that agree by chance.
const CHANCE: f64 = 1.0 / 16.0;
/// A near-duplicate is missed by what is kept once in 700 times at the threshold.
const ERRORS_FORGIVEN: f64 = 3.0;
/// Entries of a bucket.
const WAYS: usize = 12;

/// What a leader costs.
pub const BYTES_PER_LEADER: usize = size_of::<Kept>() + size_of::<LeaderId>() + size_of::<Bucket>();

pub struct Leaders {
    kept: Vec<Kept>,
    numbers: Vec<LeaderId>,
    /// Where the next leader goes, whether or not one is there.
    next: usize,
    leaders_max: usize,
    buckets: Vec<Bucket>,
    agreeing_min: u32,
}

/// Four bits a slot, sixteen slots a word.
type Kept = [u64; KEPT / 16];

/// The latest entries first; a place in `kept`, and eight bits of the key.
#[derive(Clone, Copy)]
struct Bucket {
    places: [u32; WAYS],
    tags: [u8; WAYS],
}

const NOWHERE: u32 = u32::MAX;

/// A leader that the text may be a near-duplicate of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    pub leader: LeaderId,
    /// Of the 64 slots in memory, those that agree.
    pub agreeing: u32,
}

impl Leaders {
    /// An index of at most so many leaders, for near-duplicates of this resemblance.
    ///
    /// # Panics
    ///
    /// If there is no room for any leader, or for more than can be numbered.
    pub fn new(leaders_max: usize, threshold: f64) -> Leaders {
        assert!(leaders_max > 0 && leaders_max < NOWHERE as usize, "{leaders_max} leaders");
        let share = threshold + (1.0 - threshold) * CHANCE;
        let error = (share * (1.0 - share) / KEPT as f64).sqrt();
        Leaders {
            kept: Vec::with_capacity(leaders_max),
            numbers: Vec::with_capacity(leaders_max),
            next: 0,
            leaders_max,
            buckets: vec![Bucket { places: [NOWHERE; WAYS], tags: [0; WAYS] }; leaders_max],
            agreeing_min: ((share - ERRORS_FORGIVEN * error) * KEPT as f64).max(0.0) as u32,
        }
    }

    /// Leaders that are held.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub fn add(&mut self, leader: LeaderId, sketch: &Sketch) {
        let place = self.next;
        self.next = (self.next + 1) % self.leaders_max;
        if place < self.kept.len() {
            (self.kept[place], self.numbers[place]) = (kept_of(sketch), leader);
        } else {
            self.kept.push(kept_of(sketch));
            self.numbers.push(leader);
        }
        for key in ONLINE.keys(sketch) {
            let (bucket, tag) = self.bucket_of(key);
            let Bucket { places, tags } = &mut self.buckets[bucket];
            places.copy_within(..WAYS - 1, 1);
            tags.copy_within(..WAYS - 1, 1);
            (places[0], tags[0]) = (place as u32, tag);
        }
    }

    /// Leaders that may be near-duplicates, the most promising first.
    pub fn candidates(&self, sketch: &Sketch) -> Vec<Candidate> {
        let kept = kept_of(sketch);
        let mut places = Vec::new();
        for key in ONLINE.keys(sketch) {
            let (bucket, tag) = self.bucket_of(key);
            let Bucket { places: here, tags } = &self.buckets[bucket];
            let same = here.iter().zip(tags).filter(|(_, other)| **other == tag);
            places.extend(same.map(|(place, _)| *place).filter(|place| *place != NOWHERE));
        }
        places.sort_unstable();
        places.dedup();
        let mut candidates: Vec<Candidate> = places
            .into_iter()
            .map(|place| Candidate {
                leader: self.numbers[place as usize],
                agreeing: agreeing(&kept, &self.kept[place as usize]),
            })
            .filter(|candidate| candidate.agreeing >= self.agreeing_min)
            .collect();
        candidates.sort_unstable_by_key(|found| (u32::MAX - found.agreeing, found.leader));
        candidates
    }

    fn bucket_of(&self, key: u64) -> (usize, u8) {
        let bucket = (u128::from(key) * self.buckets.len() as u128) >> 64;
        (bucket as usize, (key >> 16) as u8)
    }
}

fn kept_of(sketch: &Sketch) -> Kept {
    let mut kept = [0; KEPT / 16];
    for (at, slot) in sketch.0[KEPT_FROM..KEPT_FROM + KEPT].iter().enumerate() {
        kept[at / 16] |= u64::from(slot & 15) << (at % 16 * 4);
    }
    kept
}

/// Groups of four bits that are equal.
fn agreeing(a: &Kept, b: &Kept) -> u32 {
    const LOWEST: u64 = 0x1111_1111_1111_1111;
    let differing = |(a, b): (&u64, &u64)| {
        let bits = a ^ b;
        let any = (bits | bits >> 1 | bits >> 2 | bits >> 3) & LOWEST;
        any.count_ones()
    };
    KEPT as u32 - a.iter().zip(b).map(differing).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold;

    /// A text of 1,000 shingles, of which the first `changed` are its own.
    fn text(base: u64, changed: u64, own: u64) -> Sketch {
        let scrambled = |n: u64| fold(fold(n, 0x9e37_79b9_7f4a_7c15) ^ n, 0xd6e8_feb8_6659_fd93);
        let prints = (0..1000).map(|n| match n < changed {
            true => scrambled(1 << 60 | own << 20 | n),
            false => scrambled(base << 20 | n),
        });
        Sketch::of(&prints.collect::<Vec<_>>()).expect("shingles")
    }

    #[test]
    fn members_find_their_leader_and_strangers_find_none() {
        let mut leaders = Leaders::new(5000, 0.8);
        (0..5000).for_each(|n| leaders.add(n, &text(u64::from(n), 0, 0)));
        let finds = |n: u32, changed: u64| {
            let found = leaders.candidates(&text(u64::from(n), changed, u64::from(n)));
            found.iter().any(|candidate| candidate.leader == n)
        };
        // 50 of 1,000 changed: resemblance 0.905; 400 changed: 0.43.
        let near = (0..1000).filter(|n| finds(*n, 50)).count();
        let far = (0..1000).filter(|n| finds(*n, 400)).count();
        assert!(near >= 985, "{near} of 1,000 near-duplicates found");
        assert!(far <= 20, "{far} of 1,000 unlike texts found");
        let strangers = (0..1000).filter(|n| !leaders.candidates(&text(n + 9999, 0, 0)).is_empty());
        assert_eq!(strangers.count(), 0);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_leader_gives_way() {
        const { assert!(BYTES_PER_LEADER <= 100) };
        let mut leaders = Leaders::new(100, 0.8);
        (0..250).for_each(|n| leaders.add(n, &text(u64::from(n), 0, 0)));
        assert_eq!((leaders.len(), leaders.kept.capacity()), (100, 100));
        let held = |n: u64| !leaders.candidates(&text(n, 0, 0)).is_empty();
        assert!((0..150).all(|n| !held(n)) && (150..250).all(held));
    }
}
