//! Exact resemblance of two texts, from their sets of fingerprints.

/// How much two sets share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overlap {
    /// Elements that are in both sets.
    pub both: u32,
    /// Elements that are in one set at least.
    pub either: u32,
}

impl Overlap {
    /// |A ∩ B| / |A ∪ B|; two empty sets resemble nothing.
    pub fn resemblance(self) -> f64 {
        f64::from(self.both) / f64::from(self.either.max(1))
    }

    /// |A ∩ B| / |A|: how much of A, which has `size` shingles, is in B.
    pub fn containment(self, size: usize) -> f64 {
        f64::from(self.both) / (size.max(1) as f64)
    }
}

/// Appends the set of these fingerprints, ascending and without repeats, as [`overlap`] wants it;
/// how many they are. The order of `prints` is lost; `ends` is room to work in.
pub fn append_set(prints: &mut [u64], sets: &mut Vec<u64>, ends: &mut Vec<u32>) -> usize {
    let start = sets.len();
    if (SCATTER_MIN..=SCATTER_MAX).contains(&prints.len()) && scatter(prints, sets, ends) {
        let kept = insert_in_order(&mut sets[start..]);
        sets.truncate(start + kept);
    } else {
        prints.sort_unstable();
        sets.reserve(prints.len());
        sets.extend(prints.chunk_by(|a, b| a == b).map(|same| same[0]));
    }
    sets.len() - start
}

/// Of two sets, each ascending without repeats.
///
/// Four merges run side by side, one for each quarter of all fingerprints: a step of a merge waits
/// for the one before it, but not for those of its neighbours.
///
/// ```
/// use rhumb_neardup::resemblance::overlap;
/// assert_eq!(overlap(&[1, 2, 3, 4], &[2, 3, 4, 5]).resemblance(), 3.0 / 5.0);
/// ```
pub fn overlap(a: &[u64], b: &[u64]) -> Overlap {
    let both = quarters(a).zip_merge(quarters(b));
    Overlap { both: both as u32, either: (a.len() + b.len() - both) as u32 }
}

struct Quarters<'a>([&'a [u64]; 4]);

fn quarters(set: &[u64]) -> Quarters<'_> {
    let below = |limit: u64| set.partition_point(|print| *print < limit);
    let [one, two, three] = [below(1 << 62), below(1 << 63), below(3 << 62)];
    Quarters([&set[..one], &set[one..two], &set[two..three], &set[three..]])
}

impl Quarters<'_> {
    fn zip_merge(self, other: Quarters<'_>) -> usize {
        let mut merges = [0, 1, 2, 3].map(|at| Merge { a: self.0[at], b: other.0[at], both: 0 });
        loop {
            // As many steps as surely no merge is at its end before.
            let steps = merges.iter().map(Merge::steps_left_min).min().unwrap_or(0);
            if steps == 0 {
                break;
            }
            let [m0, m1, m2, m3] = &mut merges;
            for _ in 0..steps {
                m0.step();
                m1.step();
                m2.step();
                m3.step();
            }
        }
        merges.into_iter().map(Merge::finish).sum()
    }
}

struct Merge<'a> {
    a: &'a [u64],
    b: &'a [u64],
    both: usize,
}

impl Merge<'_> {
    /// A step takes at most one of each side.
    fn steps_left_min(&self) -> usize {
        self.a.len().min(self.b.len())
    }

    #[inline(always)]
    fn step(&mut self) {
        let (x, y) = (self.a[0], self.b[0]);
        self.both += usize::from(x == y);
        self.a = &self.a[usize::from(x <= y)..];
        self.b = &self.b[usize::from(y <= x)..];
    }

    fn finish(mut self) -> usize {
        while !self.a.is_empty() && !self.b.is_empty() {
            self.step();
        }
        self.both
    }
}

/// Sets up to this size are scattered by their first bits; larger ones are left to the library.
const SCATTER_MAX: usize = 1 << 15;
/// Below this size there is nothing to gain.
const SCATTER_MIN: usize = 64;

/// Fingerprints of a bucket for which it still pays to put each in its place: one text in which a
/// shingle is repeated more often, or one that was made to fill a bucket, is left to the library.
const CROWDED: u32 = 256;

/// Fingerprints are spread evenly, so one scatter by the first bits almost sorts them. False, and
/// nothing is done, if they are not.
fn scatter(prints: &[u64], sets: &mut Vec<u64>, ends: &mut Vec<u32>) -> bool {
    // About one fingerprint to a bucket: hardly any is left in the wrong place.
    let bits = prints.len().ilog2() + 1;
    let bucket = |print: u64| (print >> (u64::BITS - bits)) as usize;
    ends.clear();
    ends.resize(1 << bits, 0);
    for print in prints {
        ends[bucket(*print)] += 1;
    }
    if ends.iter().any(|count| *count > CROWDED) {
        return false;
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        sum += std::mem::replace(end, sum);
    }
    let start = sets.len();
    sets.resize(start + prints.len(), 0);
    let sorted = &mut sets[start..];
    for print in prints {
        let at = &mut ends[bucket(*print)];
        sorted[*at as usize] = *print;
        *at += 1;
    }
    true
}

/// Sorts what is almost sorted and drops repeats; how many are left.
fn insert_in_order(prints: &mut [u64]) -> usize {
    let mut kept = 0;
    for at in 0..prints.len() {
        let print = prints[at];
        let mut place = kept;
        while place > 0 && prints[place - 1] > print {
            place -= 1;
        }
        if place > 0 && prints[place - 1] == print {
            continue;
        }
        if place < kept {
            prints.copy_within(place..kept, place + 1);
        }
        prints[place] = print;
        kept += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set_of(prints: &[u64]) -> Vec<u64> {
        let mut sets = vec![9, 9];
        assert_eq!(append_set(&mut prints.to_vec(), &mut sets, &mut vec![1]), sets.len() - 2);
        sets.split_off(2)
    }

    proptest! {
        #[test]
        fn overlap_is_what_sets_of_the_library_say(
            shared in prop::collection::vec(any::<u64>(), 0..400),
            a in prop::collection::vec(prop_oneof![any::<u64>(), 0..9u64], 0..300),
            b in prop::collection::vec(prop_oneof![any::<u64>(), 0..9u64], 0..300),
        ) {
            let (a, b) = ([&a[..], &shared[..]].concat(), [&b[..], &shared[..]].concat());
            let (one, two): (BTreeSet<u64>, BTreeSet<u64>) =
                (a.iter().copied().collect(), b.iter().copied().collect());
            let (a, b) = (set_of(&a), set_of(&b));
            prop_assert!(a.iter().eq(one.iter()) && b.iter().eq(two.iter()));
            let both = one.intersection(&two).count() as u32;
            let either = one.union(&two).count() as u32;
            prop_assert_eq!(overlap(&a, &b), Overlap { both, either });
        }
    }

    #[test]
    fn many_equal_fingerprints_are_one() {
        assert_eq!(set_of(&[7; 5000]), [7]);
        assert_eq!(set_of(&[]), [0u64; 0]);
        // All in one bucket, the wrong way round: sorted in one go, not one by one.
        let crowded: Vec<u64> = (0..30_000).rev().collect();
        assert!(!scatter(&crowded, &mut Vec::new(), &mut Vec::new()));
        assert!(set_of(&crowded).iter().copied().eq(0..30_000));
    }
}
