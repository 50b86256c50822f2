//! Is this text a near-duplicate of one we hold? Leaders and their bands in bounded memory.
//!
//! A text that resembles no leader becomes one; a text that does is its member. Of each leader the
//! index keeps its number, four bits of 64 slots of its sketch, and an entry for each of ten bands:
//! at most 95 bytes in all ([`BYTES_PER_LEADER`]). It grows with its leaders by small steps and
//! never has much more room than it needs. When it holds as many as it may, the oldest leaders give
//! way, a sixty-fourth of all at a time.
//!
//! Candidates are what memory can tell; the whole sketch of a leader, in the caller's store, tells
//! how near it is. Nothing here reads or writes: after a restart the index is built again by adding
//! stored sketches.
//!
//! ```
//! use rhumb_neardup::{Sketch, online::LeaderIndex, shingle::fingerprints};
//! let sketch = |text: &str| {
//!     let mut prints = Vec::new();
//!     fingerprints(text, 4, &mut prints);
//!     Sketch::of(&prints).expect("a text with words")
//! };
//! let mut leaders = LeaderIndex::new(1000, 0.8);
//! leaders.add(7, &sketch("to be or not to be that is the question"));
//! let again = sketch("To be, or not to be: that is the question.");
//! assert_eq!(leaders.candidates(&again)[0].leader, 7);
//! assert!(leaders.candidates(&sketch("whether tis nobler in the mind")).is_empty());
//! ```

mod places;

use crate::bands::ONLINE;
use crate::sketch::Sketch;
use places::{BYTES_PER_ENTRY, Places};

pub use places::PLACES_MAX as LEADERS_MAX;

/// Number of a leader; what it stands for the caller knows.
pub type LeaderId = u32;

/// Slots of a sketch that are kept, by four bits each. They are not those of the bands: that two
/// texts meet says nothing of these.
const KEPT_FROM: usize = 40;
const KEPT: usize = 64;
/// Slots in a word.
const SLOTS_PER_WORD: usize = 8;
/// Bits of a slot that agree by chance.
const CHANCE: f64 = 1.0 / 16.0;
/// A near-duplicate is missed by what is kept once in 700 times at the threshold.
const ERRORS_FORGIVEN: f64 = 3.0;
/// Leaders that room is made for at a time.
const SEGMENT: usize = 1024;

/// Leaders are forgotten by this share of all that may be held.
const SHARES: usize = 64;

/// What a leader costs at most.
pub const BYTES_PER_LEADER: usize =
    size_of::<Held>() + (ONLINE.count() as f64 * BYTES_PER_ENTRY) as usize + 1;
/// What an index costs besides: room that is made ahead, and lists of what there is.
pub const BYTES_BESIDES: usize = places::EMPTY_BYTES + 2 * SEGMENT * size_of::<Held>();

/// The index of leaders in memory.
pub struct LeaderIndex {
    /// In segments, all of them full but the last.
    held: Vec<Vec<Held>>,
    len: usize,
    /// Where the next leader goes, whether or not one was there.
    next: usize,
    /// Places before this one are free of what they once held.
    cleared: usize,
    leaders_max: usize,
    places: Places,
    agreeing_min: u32,
}

/// Four bits a slot.
type Kept = [u32; KEPT / SLOTS_PER_WORD];

#[derive(Clone, Copy)]
struct Held {
    kept: Kept,
    leader: LeaderId,
}

/// A leader that the text may be a near-duplicate of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeaderCandidate {
    /// The leader's number.
    pub leader: LeaderId,
    /// Of the 64 slots in memory, those that agree.
    pub agreeing: u32,
}

impl LeaderIndex {
    /// An index of at most so many leaders, for near-duplicates of this resemblance.
    ///
    /// # Panics
    ///
    /// If there is no room for any leader, or for more than [`LEADERS_MAX`].
    pub fn new(leaders_max: usize, threshold: f64) -> LeaderIndex {
        assert!((1..=LEADERS_MAX).contains(&leaders_max), "{leaders_max} leaders");
        let share = threshold + (1.0 - threshold) * CHANCE;
        let error = (share * (1.0 - share) / KEPT as f64).sqrt();
        LeaderIndex {
            held: Vec::new(),
            len: 0,
            next: 0,
            cleared: 0,
            leaders_max,
            places: Places::new(),
            agreeing_min: ((share - ERRORS_FORGIVEN * error) * KEPT as f64).max(0.0) as u32,
        }
    }

    /// Leaders that are held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no leaders.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory that is taken.
    pub fn bytes(&self) -> usize {
        let segment = |segment: &Vec<Held>| segment.capacity() * size_of::<Held>();
        let lists = self.held.capacity() * size_of::<Vec<Held>>();
        lists + self.held.iter().map(segment).sum::<usize>() + self.places.bytes()
    }

    /// Makes a leader known.
    pub fn add(&mut self, leader: LeaderId, sketch: &Sketch) {
        let place = self.next;
        self.next = (self.next + 1) % self.leaders_max;
        let held = Held { kept: kept_of(sketch), leader };
        if place < self.len {
            self.make_room(place);
            self.held[place / SEGMENT][place % SEGMENT] = held;
        } else {
            if place.is_multiple_of(SEGMENT) {
                self.held.push(Vec::with_capacity(SEGMENT.min(self.leaders_max - place)));
            }
            self.held[place / SEGMENT].push(held);
            self.len += 1;
        }
        ONLINE.keys(sketch).for_each(|key| self.places.insert(key, place as u32));
    }

    /// Forgets the leaders of this place and of those that follow it.
    fn make_room(&mut self, place: usize) {
        if place == 0 {
            self.cleared = 0;
        }
        if place < self.cleared {
            return;
        }
        let end = (place + self.leaders_max.div_ceil(SHARES)).min(self.leaders_max);
        (0..Places::PARTS).for_each(|part| self.places.forget(part, place as u32..end as u32));
        self.cleared = end;
    }

    /// Leaders that may be near-duplicates, the most promising first.
    pub fn candidates(&self, sketch: &Sketch) -> Vec<LeaderCandidate> {
        let kept = kept_of(sketch);
        let mut places = Vec::new();
        ONLINE.keys(sketch).for_each(|key| self.places.find(key, |place| places.push(place)));
        places.sort_unstable();
        places.dedup();
        let candidate = |place: u32| {
            let held = &self.held[place as usize / SEGMENT][place as usize % SEGMENT];
            LeaderCandidate { leader: held.leader, agreeing: agreeing(&kept, &held.kept) }
        };
        let mut candidates: Vec<LeaderCandidate> = places.into_iter().map(candidate).collect();
        candidates.retain(|candidate| candidate.agreeing >= self.agreeing_min);
        candidates.sort_unstable_by_key(|found| (u32::MAX - found.agreeing, found.leader));
        candidates
    }
}

fn kept_of(sketch: &Sketch) -> Kept {
    let mut kept = [0; KEPT / SLOTS_PER_WORD];
    for (at, slot) in sketch.slots[KEPT_FROM..KEPT_FROM + KEPT].iter().enumerate() {
        kept[at / SLOTS_PER_WORD] |= u32::from(slot & 15) << (at % SLOTS_PER_WORD * 4);
    }
    kept
}

/// Groups of four bits that are equal.
fn agreeing(a: &Kept, b: &Kept) -> u32 {
    const LOWEST: u32 = 0x1111_1111;
    let differing = |(a, b): (&u32, &u32)| {
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
        let mut leaders = LeaderIndex::new(5000, 0.8);
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
    fn memory_is_at_most_100_bytes_a_leader_at_every_size_and_the_oldest_gives_way() {
        const { assert!(BYTES_PER_LEADER <= 96) };
        let few = |n: u64| {
            let print =
                |at| fold(fold(n << 8 | at, 0x9e37_79b9_7f4a_7c15) ^ at, 0xd6e8_feb8_6659_fd93);
            Sketch::of(&(0..20).map(print).collect::<Vec<u64>>()).expect("shingles")
        };
        let mut leaders = LeaderIndex::new(40_000, 0.8);
        for n in 0..45_000 {
            leaders.add(n, &few(u64::from(n)));
            let (bytes, len) = (leaders.bytes(), leaders.len());
            assert!(bytes <= BYTES_PER_LEADER * len + BYTES_BESIDES, "{bytes} bytes for {len}");
        }
        assert_eq!(leaders.len(), 40_000);
        assert!(leaders.bytes() <= 100 * 40_000, "{}", leaders.bytes());
        let held = |n: u64| leaders.candidates(&few(n)).iter().any(|c| u64::from(c.leader) == n);
        assert!((0..5_000).all(|n| !held(n)) && (5_000 + 40_000 / 64..45_000).all(held));
    }
}
