//! A text in 640 bytes: 128 slots by which texts meet, and a fine part by which they are compared.
//!
//! The slots are one-permutation min-hash with optimal densification.
//!
//! P. Li, A. Owen, C.-H. Zhang, "One Permutation Hashing", NIPS 2012: the fingerprints are divided
//! into K bins by their first bits, and the least of each bin is kept; one pass instead of K.
//! A. Shrivastava, "Optimal Densification for Fast and Accurate Minwise Hashing", ICML 2017,
//! algorithm 1: an empty bin takes the value of another, chosen by a hash of its own number and of
//! how often it has asked, which depends on nothing but which bins are empty.
//!
//! Deviation: of each minimum only the last 8 bits are kept (P. Li, C. König, "b-Bit Minwise
//! Hashing", WWW 2010); 1 in 256 agrees by chance, and the estimate is corrected for it.
//!
//! Every text has 128 slots however short it is, so they can be banded; what they say of two texts
//! errs by .035 at a resemblance of .8. The [`Fine`] part cannot be banded and errs by a third of
//! that.

use crate::fine::{BINS, FINE_BYTES, Fine};
use crate::words::fold;

/// Slots of a sketch.
pub const K: usize = 128;
const _: () = assert!(K.is_multiple_of(16), "slots are compared sixteen at a time");
/// Bytes of a sketch.
pub const SKETCH_BYTES: usize = K + FINE_BYTES;

/// Bits of a fingerprint that say which bin is its.
const BIN_BITS: u32 = K.trailing_zeros();
/// No fingerprint that matters is this one: a bin that holds it counts as empty.
pub(crate) const EMPTY: u64 = u64::MAX;

/// The least fingerprint of each bin, whole; sketches are made of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Minima(pub [u64; K]);

/// What is stored of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sketch {
    /// Eight bits of each minimum.
    pub slots: [u8; K],
    /// What tells sets apart that nearly resemble each other enough.
    pub fine: Fine,
}

impl Minima {
    /// Of a text's fingerprints, in any order, repeats or not. A text without any has no sketch.
    pub fn of(prints: &[u64]) -> Option<Minima> {
        let mut minima = [EMPTY; K];
        for &print in prints {
            let slot = &mut minima[(print >> (u64::BITS - BIN_BITS)) as usize];
            *slot = print.min(*slot);
        }
        densify(&mut minima).then_some(Minima(minima))
    }

    /// Of fingerprints in ascending order.
    pub fn of_set(set: &[u64]) -> Option<Minima> {
        let mut minima = [EMPTY; K];
        // From the last to the first: what stays in a bin is its least, without looking.
        for &print in set.iter().rev() {
            minima[(print >> (u64::BITS - BIN_BITS)) as usize] = print;
        }
        densify(&mut minima).then_some(Minima(minima))
    }

    /// Eight bits of each.
    pub fn slots(&self) -> [u8; K] {
        self.0.map(|minimum| minimum as u8)
    }
}

/// Bins of the fine part that make one of the slots.
const BINS_PER_SLOT: usize = BINS / K;

impl Sketch {
    /// Of a text's fingerprints, in any order, repeats or not; none if there are none.
    pub fn of(prints: &[u64]) -> Option<Sketch> {
        let mut fine = [EMPTY; BINS];
        for &print in prints {
            let bin = &mut fine[(print >> (u64::BITS - BINS.trailing_zeros())) as usize];
            *bin = print.min(*bin);
        }
        let (bins, _) = fine.as_chunks::<BINS_PER_SLOT>();
        let least = |slot: usize| bins[slot].iter().copied().min().unwrap_or(EMPTY);
        let mut minima = std::array::from_fn(least);
        densify(&mut minima)
            .then(|| Sketch { slots: Minima(minima).slots(), fine: Fine::of(&fine) })
    }

    /// Slots that agree.
    #[inline]
    pub fn agreeing(&self, other: &Sketch) -> u32 {
        // Counted in bytes, sixteen at a time, which the compiler makes a few instructions of.
        let mut lanes = [0u8; 16];
        let (ours, theirs) = (self.slots.as_chunks::<16>().0, other.slots.as_chunks::<16>().0);
        for (ours, theirs) in ours.iter().zip(theirs) {
            (0..16).for_each(|at| lanes[at] += u8::from(ours[at] == theirs[at]));
        }
        lanes.iter().map(|&lane| u32::from(lane)).sum()
    }

    /// How alike the texts are, as far as sketches tell, from 0 to 1.
    pub fn resemblance(&self, other: &Sketch) -> f64 {
        self.fine.compare(&other.fine).resemblance()
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> [u8; SKETCH_BYTES] {
        let mut bytes = [0; SKETCH_BYTES];
        bytes[..K].copy_from_slice(&self.slots);
        bytes[K..].copy_from_slice(&self.fine.0);
        bytes
    }

    /// Of what was stored; none if that has another length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Sketch> {
        let (slots, fine) = bytes.split_first_chunk::<K>()?;
        Some(Sketch { slots: *slots, fine: Fine(fine.try_into().ok()?) })
    }
}

/// Fills the empty bins; false if all are empty.
fn densify(minima: &mut [u64; K]) -> bool {
    let full = *minima;
    if full.iter().all(|minimum| *minimum == EMPTY) {
        return false;
    }
    for (bin, minimum) in minima.iter_mut().enumerate() {
        let mut attempt = 0;
        while *minimum == EMPTY {
            attempt += 1;
            *minimum = full[donor(bin as u64, attempt)];
        }
    }
    true
}

/// The bin that this one asks at its n-th attempt. Ends soon: the hash is over all bins, so even a
/// single full one among 128 is met after 128 attempts on average.
fn donor(bin: u64, attempt: u64) -> usize {
    (fold((attempt << 32 | bin) ^ 0x2545_f491_4f6c_dd1d, 0x9e6c_63d0_876a_3f6b) >> 32) as usize % K
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::SlotBits;

    fn prints(range: std::ops::Range<u64>) -> Vec<u64> {
        let scrambled = |n| fold(fold(n, 0x9e37_79b9_7f4a_7c15) ^ n, 0xd6e8_feb8_6659_fd93);
        range.map(scrambled).collect()
    }

    #[test]
    fn the_minimum_of_each_bin_is_kept_and_order_and_repeats_do_not_matter() {
        let mut some = prints(0..5000);
        let minima = Minima::of(&some).expect("some");
        for (bin, minimum) in minima.0.iter().enumerate() {
            let least = some.iter().filter(|print| (*print >> 57) as usize == bin).min();
            assert_eq!(Some(minimum), least, "bin {bin}");
        }
        let mut set = some.clone();
        set.sort_unstable();
        assert_eq!(Minima::of_set(&set).as_ref(), Some(&minima));
        some.reverse();
        some.extend_from_within(..99);
        assert_eq!(Minima::of(&some), Some(minima.clone()));
        let sketch = Sketch::of(&some).expect("some");
        assert_eq!(sketch.slots, minima.slots());
        assert_eq!(Sketch::from_bytes(&sketch.to_bytes()), Some(sketch));
        assert_eq!(Sketch::from_bytes(&sketch.to_bytes()[1..]), None);
        assert_eq!(Minima::of(&[]), None);
    }

    #[test]
    fn few_fingerprints_fill_every_slot() {
        for count in [1, 2, 3, 10, 60] {
            let some = prints(0..count);
            let minima = Minima::of(&some).expect("some");
            assert!(minima.0.iter().all(|minimum| some.contains(minimum)), "{count} prints");
        }
    }

    #[test]
    fn the_estimate_is_within_its_stated_error_for_long_and_short_texts() {
        for size in [40u64, 400, 4000] {
            for percent in [20u64, 50, 80, 95] {
                let trials = 200;
                let mut errors = Vec::new();
                for trial in 0..trials {
                    let base = trial << 32;
                    // Two sets of `size` with `shared` in common.
                    let shared = size * 2 * percent / (100 + percent);
                    let a = prints(base..base + size);
                    let b = prints(base + size - shared..base + 2 * size - shared);
                    let truth = shared as f64 / (2 * size - shared) as f64;
                    let (a, b) = (Sketch::of(&a).expect("a"), Sketch::of(&b).expect("b"));
                    let estimate = SlotBits::BYTES.estimate(a.agreeing(&b));
                    errors.push((estimate.resemblance - truth) / estimate.error_at(truth, size));
                }
                let mean = errors.iter().sum::<f64>() / trials as f64;
                let square = errors.iter().map(|e| e * e).sum::<f64>() / trials as f64;
                assert!(mean.abs() < 0.3, "size {size}, {percent} %: bias {mean}");
                assert!(square < 1.4, "size {size}, {percent} %: variance {square}");
            }
        }
    }
}
