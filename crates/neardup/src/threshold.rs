//! Which texts resemble each other enough: of most pairs their slots tell at a glance that they do
//! not, and the fine parts of their sketches need not be compared.

use crate::estimate::SlotBits;
use crate::sketch::Sketch;

/// Standard errors below the threshold that no pair of texts makes good.
const HOPELESS_ERRORS: f64 = 8.0;

/// A least resemblance.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    least: f64,
    agreeing_min: u32,
}

impl Threshold {
    /// For texts of at least so many shingles: the slots of shorter ones tell less.
    pub fn new(least: f64, shingles_min: u64) -> Threshold {
        let agreeing_min = SlotBits::BYTES.agreeing_min(least, HOPELESS_ERRORS, shingles_min);
        Threshold { least, agreeing_min }
    }

    /// How alike two texts are, if they are alike enough.
    pub fn resemblance(&self, one: &Sketch, other: &Sketch) -> Option<f64> {
        if one.agreeing(other) < self.agreeing_min {
            return None;
        }
        Some(one.resemblance(other)).filter(|&resemblance| resemblance >= self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold;

    fn sketch(range: std::ops::Range<u64>) -> Sketch {
        let scrambled = |n| fold(fold(n, 0x9e37_79b9_7f4a_7c15) ^ n, 0xd6e8_feb8_6659_fd93);
        Sketch::of(&range.map(scrambled).collect::<Vec<_>>()).expect("some")
    }

    #[test]
    fn a_look_at_the_slots_loses_no_pair_that_is_alike() {
        for size in [24u64, 100, 1000, 20_000] {
            for trial in 0..200 {
                let (base, shared) = (trial << 32, size * trial / 200);
                let a = sketch(base..base + size);
                let b = sketch(base + size - shared..base + 2 * size - shared);
                let whole = a.fine.compare(&b.fine).resemblance();
                for least in [0.5, 0.8, 0.9] {
                    let told = Threshold::new(least, 24).resemblance(&a, &b);
                    assert_eq!(told, Some(whole).filter(|r| *r >= least), "{size} {trial} {least}");
                }
            }
        }
    }
}
