//! Exact resemblance of two texts, from their sets of fingerprints.

/// How much two sets share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overlap {
    pub both: u32,
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

/// Room to sort in, used again and again.
#[derive(Default)]
pub struct Scratch {
    ends: Vec<u32>,
    sorted: Vec<u64>,
}

/// Sorts fingerprints and drops repeats: a set, as [`overlap`] wants it.
pub fn into_set(prints: &mut Vec<u64>, scratch: &mut Scratch) {
    sort(prints, scratch);
    prints.dedup();
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

/// Fingerprints are spread evenly, so one scatter by the first bits almost sorts them.
fn sort(prints: &mut Vec<u64>, scratch: &mut Scratch) {
    if !(SCATTER_MIN..=SCATTER_MAX).contains(&prints.len()) {
        prints.sort_unstable();
        return;
    }
    // About one fingerprint to a bucket: hardly any is left in the wrong place.
    let bits = prints.len().ilog2() + 1;
    let bucket = |print: u64| (print >> (u64::BITS - bits)) as usize;
    let ends = &mut scratch.ends;
    ends.clear();
    ends.resize(1 << bits, 0u32);
    for print in prints.iter() {
        ends[bucket(*print)] += 1;
    }
    let mut sum = 0;
    for end in ends.iter_mut() {
        sum += std::mem::replace(end, sum);
    }
    let sorted = &mut scratch.sorted;
    sorted.resize(prints.len(), 0);
    for print in prints.iter() {
        let at = &mut ends[bucket(*print)];
        sorted[*at as usize] = *print;
        *at += 1;
    }
    insertion_sort(sorted);
    std::mem::swap(prints, sorted);
}

fn insertion_sort(prints: &mut [u64]) {
    for at in 1..prints.len() {
        let print = prints[at];
        let mut hole = at;
        while hole > 0 && prints[hole - 1] > print {
            prints[hole] = prints[hole - 1];
            hole -= 1;
        }
        prints[hole] = print;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set_of(prints: &[u64]) -> Vec<u64> {
        let mut set = prints.to_vec();
        into_set(&mut set, &mut Scratch::default());
        set
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
    }
}
