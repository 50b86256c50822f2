//! Texts of a bucket compared by what each has and lacks beside one of them, the hub.
//!
//! In a bucket of many texts that are all alike, merging whole sets for every pair counts the same
//! shingles over and over. With L(a) = hub \ a and A(a) = a \ hub, both short,
//!
//! |a ∩ b| = |hub| - |L(a)| - |L(b)| + |L(a) ∩ L(b)| + |A(a) ∩ A(b)|.

use crate::resemblance::overlap;

/// Fingerprints kept for a bucket: 4 MB. Texts that find no room are compared as a whole.
const PRINTS_MAX: usize = 1 << 19;

/// What the texts of a bucket, by their place in it, lack and add.
#[derive(Default)]
pub struct Differences {
    prints: Vec<u64>,
    of: Vec<Option<Bounds>>,
}

#[derive(Clone, Copy)]
struct Bounds {
    start: usize,
    /// Where what it lacks ends and what it adds begins.
    middle: usize,
    end: usize,
}

impl Differences {
    /// For a new bucket of so many texts.
    pub fn begin(&mut self, texts: usize) {
        self.prints.clear();
        self.of.clear();
        self.of.resize(texts, None);
    }

    pub fn knows(&self, place: usize) -> bool {
        self.of[place].is_some()
    }

    /// Notes how a text differs from the hub, if there is room.
    pub fn learn(&mut self, place: usize, hub: &[u64], set: &[u64]) {
        let start = self.prints.len();
        if start + hub.len() + set.len() > PRINTS_MAX {
            return;
        }
        append_less(hub, set, &mut self.prints);
        let middle = self.prints.len();
        append_less(set, hub, &mut self.prints);
        self.of[place] = Some(Bounds { start, middle, end: self.prints.len() });
    }

    /// Shingles that two texts share, if both are known.
    pub fn both(&self, hub_len: usize, a: usize, b: usize) -> Option<usize> {
        let [lacks_a, lacks_b] = [self.lacks(a)?, self.lacks(b)?];
        let [adds_a, adds_b] = [self.adds(a)?, self.adds(b)?];
        let again = overlap(lacks_a, lacks_b).both + overlap(adds_a, adds_b).both;
        Some(hub_len + again as usize - lacks_a.len() - lacks_b.len())
    }

    fn lacks(&self, place: usize) -> Option<&[u64]> {
        self.of[place].map(|bounds| &self.prints[bounds.start..bounds.middle])
    }

    fn adds(&self, place: usize) -> Option<&[u64]> {
        self.of[place].map(|bounds| &self.prints[bounds.middle..bounds.end])
    }
}

/// Appends what is in `from` and not in `other`; both ascending without repeats.
fn append_less(from: &[u64], other: &[u64], out: &mut Vec<u64>) {
    let start = out.len();
    out.resize(start + from.len(), 0);
    let room = &mut out[start..];
    let (mut at, mut beside, mut kept) = (0, 0, 0);
    while at < from.len() && beside < other.len() {
        let (x, y) = (from[at], other[beside]);
        // Written in any case, kept if it is less: no branch to guess.
        room[kept] = x;
        kept += usize::from(x < y);
        at += usize::from(x <= y);
        beside += usize::from(y <= x);
    }
    let rest = &from[at..];
    room[kept..kept + rest.len()].copy_from_slice(rest);
    out.truncate(start + kept + rest.len());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn differences_to_a_hub_give_the_overlap_of_the_sets(
            sets in prop::collection::vec(prop::collection::btree_set(0..40u64, 0..30), 3),
        ) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|set: BTreeSet<u64>| {
                set.into_iter().map(|number| number << 58 | number).collect::<BTreeSet<_>>()
            }).map(|set| set.into_iter().collect()).collect();
            let mut differences = Differences::default();
            differences.begin(3);
            (0..3).for_each(|place| differences.learn(place, &sets[0], &sets[place]));
            for a in 0..3 {
                for b in 0..3 {
                    let whole = overlap(&sets[a], &sets[b]).both as usize;
                    prop_assert_eq!(differences.both(sets[0].len(), a, b), Some(whole));
                }
            }
        }
    }
}
