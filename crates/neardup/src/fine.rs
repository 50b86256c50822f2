//! The fine part of a sketch: 1,024 bins of half a byte, by which a resemblance is told.
//!
//! P. Li, A. Owen, C.-H. Zhang, "One Permutation Hashing", NIPS 2012, section 3: fingerprints fall
//! into bins by their first bits, the least of each bin is kept, and a bin may stay empty. Of the
//! bins that either text fills, the share in which both have the same minimum is an unbiased
//! estimate of the resemblance. It errs less than as many independent minima would: the fewer
//! shingles two texts have, the more of them have a bin of their own.
//!
//! Deviation: of a minimum one of fifteen values is kept, and zero stands for an empty bin. Of the
//! bins that both texts fill and that differ one in fifteen agrees by chance, which is corrected
//! (P. Li, C. König, "b-Bit Minwise Hashing", WWW 2010).

use crate::sketch::EMPTY;

/// Bins.
pub const BINS: usize = 1024;
/// Two bins to a byte.
pub const FINE_BYTES: usize = BINS / 2;

/// Values of a bin that is not empty.
const VALUES: u64 = 15;
/// A bit for each bin of a word.
const LOWEST: u64 = 0x1111_1111_1111_1111;

/// Four bits of the least element of each bin: finer than a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fine(pub [u8; FINE_BYTES]);

/// How the bins of two texts compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bins {
    /// Filled by both, with the same value.
    pub same: u32,
    /// Filled by both.
    pub both: u32,
    /// Filled by either.
    pub either: u32,
}

impl Fine {
    /// Of the least fingerprint of each bin; [`EMPTY`] for a bin without any.
    pub(crate) fn of(minima: &[u64; BINS]) -> Fine {
        // The first bits say which bin it is; the last ones are anybody's.
        let value = |least: u64| {
            let value = 1 + ((u64::from(least as u32) * VALUES) >> u32::BITS) as u8;
            if least == EMPTY { 0 } else { value }
        };
        // First all values, then pairs of them: both loops are free of branches.
        let values = minima.map(value);
        let (pairs, _) = values.as_chunks::<2>();
        Fine(std::array::from_fn(|at| pairs[at][0] | pairs[at][1] << 4))
    }

    /// In how many bins two sets agree.
    pub fn compare(&self, other: &Fine) -> Bins {
        compare_bytes(&self.0, &other.0)
    }
}

fn compare_bytes(one: &[u8], other: &[u8]) -> Bins {
    let mut bins = Bins::default();
    let (words, others) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    for (a, b) in words.iter().zip(others) {
        let (a, b) = (u64::from_le_bytes(*a), u64::from_le_bytes(*b));
        let (in_a, in_b, differ) = (any(a), any(b), any(a ^ b));
        bins.same += (in_a & in_b & !differ).count_ones();
        bins.both += (in_a & in_b).count_ones();
        bins.either += (in_a | in_b).count_ones();
    }
    bins
}

/// The lowest bit of every group of four that has any.
fn any(word: u64) -> u64 {
    let pairs = word | word >> 1;
    (pairs | pairs >> 2) & LOWEST
}

impl Bins {
    /// An estimate of the resemblance, from 0 to 1.
    ///
    /// ```
    /// use rhumb_neardup::fine::Bins;
    /// let bins = Bins { same: 800, both: 950, either: 1000 };
    /// assert_eq!(format!("{:.3} ± {:.3}", bins.resemblance(), bins.error()), "0.789 ± 0.013");
    /// ```
    pub fn resemblance(self) -> f64 {
        let values = VALUES as f64;
        let shared = (f64::from(self.same) * values - f64::from(self.both)) / (values - 1.0);
        (shared / f64::from(self.either.max(1))).clamp(0.0, 1.0)
    }

    /// One standard error, if the texts have many more shingles than there are bins; less if not.
    pub fn error(self) -> f64 {
        let (resemblance, chance) = (self.resemblance(), 1.0 / VALUES as f64);
        ((resemblance + chance) * (1.0 - resemblance) / f64::from(self.either.max(1))).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Sketch;
    use crate::words::fold;

    fn prints(range: std::ops::Range<u64>) -> Vec<u64> {
        let scrambled = |n| fold(fold(n, 0x9e37_79b9_7f4a_7c15) ^ n, 0xd6e8_feb8_6659_fd93);
        range.map(scrambled).collect()
    }

    #[test]
    fn bins_are_counted_as_one_by_one() {
        let [a, b] = [prints(0..700), prints(300..1500)].map(|p| Sketch::of(&p).expect("some"));
        let halves = |fine: &Fine| -> Vec<u8> {
            fine.0.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect()
        };
        let mut counted = Bins::default();
        for (a, b) in halves(&a.fine).into_iter().zip(halves(&b.fine)) {
            counted.same += u32::from(a == b && a != 0);
            counted.both += u32::from(a != 0 && b != 0);
            counted.either += u32::from(a != 0 || b != 0);
        }
        assert_eq!(a.fine.compare(&b.fine), counted);
        assert!(counted.same > 100 && counted.either < 1024, "{counted:?}");
    }

    #[test]
    fn the_estimate_is_unbiased_and_within_its_stated_error() {
        for size in [30u64, 300, 3000, 30_000] {
            for percent in [50u64, 80, 95] {
                let trials = 100;
                let (mut bias, mut square) = (0.0, 0.0);
                for trial in 0..trials {
                    let base = trial << 32;
                    let shared = size * 2 * percent / (100 + percent);
                    let a = prints(base..base + size);
                    let b = prints(base + size - shared..base + 2 * size - shared);
                    let truth = shared as f64 / (2 * size - shared) as f64;
                    let [a, b] = [a, b].map(|prints| Sketch::of(&prints).expect("some"));
                    let bins = a.fine.compare(&b.fine);
                    let error = (bins.resemblance() - truth) / bins.error().max(1e-9);
                    (bias, square) = (bias + error, square + error * error);
                }
                let (bias, square) = (bias / trials as f64, square / trials as f64);
                assert!(bias.abs() < 0.35, "{size} shingles, {percent} %: bias {bias}");
                assert!(square < 1.5, "{size} shingles, {percent} %: variance {square}");
            }
        }
    }
}
