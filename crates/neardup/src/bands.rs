//! Bands: texts that agree in all slots of any band meet in a bucket; others never meet.
//!
//! A. Rajaraman, J. Ullman, "Mining of Massive Datasets", section 3.4: with b bands of r slots, two
//! texts of resemblance s meet with the chance 1 - (1 - s^r)^b, which is steep around (1/b)^(1/r).

use crate::sketch::{K, Sketch};
use crate::words::fold;

/// How a signature is cut into bands: texts that share a band are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bands {
    bands: usize,
    rows: usize,
}

/// Bands for [`Sketch`]es while they arrive: few enough to keep them all in memory.
pub const ONLINE: Bands = Bands { bands: 10, rows: 4 };

/// Bits of a key that hold the number of its band.
pub const BAND_BITS: u32 = 7;

impl Bands {
    /// # Panics
    ///
    /// If there are no bands, no rows, or more of both than a sketch has slots.
    pub fn new(bands: usize, rows: usize) -> Bands {
        assert!(bands > 0 && rows > 0 && bands * rows <= K, "{bands} bands of {rows}");
        Bands { bands, rows }
    }

    /// The longest bands by which pairs at the threshold still meet with a chance of `recall`.
    ///
    /// ```
    /// use rhumb_neardup::bands::Bands;
    /// assert_eq!(Bands::for_threshold(0.8, 0.998), Bands::new(21, 6));
    /// ```
    pub fn for_threshold(threshold: f64, recall: f64) -> Bands {
        let fitting = (1..=8).rev().map(|rows| Bands::new(K / rows, rows));
        let mut enough = fitting.filter(|bands| bands.chance_of_meeting(threshold) >= recall);
        enough.next().unwrap_or(Bands { bands: K, rows: 1 })
    }

    /// How many bands there are.
    pub const fn count(self) -> usize {
        self.bands
    }

    /// How many minima make a band.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Of two texts of this resemblance.
    pub fn chance_of_meeting(self, resemblance: f64) -> f64 {
        1.0 - (1.0 - resemblance.powi(self.rows as i32)).powi(self.bands as i32)
    }

    /// One key for each band. Keys of different bands are never equal.
    pub fn keys(self, sketch: &Sketch) -> impl Iterator<Item = u64> + '_ {
        self.keys_of(&sketch.slots)
    }

    /// As [`Bands::keys`], of slots of any width.
    pub fn keys_of<T: Copy + Into<u64>>(self, slots: &[T; K]) -> impl Iterator<Item = u64> + '_ {
        slots.chunks_exact(self.rows).take(self.bands).enumerate().map(|(band, rows)| {
            let hash = rows.iter().fold(band as u64 ^ 0x3c79_ac49_2ba7_b653, |hash, slot| {
                fold(hash ^ (*slot).into(), 0x1c69_b3f7_4ac4_ae35)
            });
            hash & (u64::MAX << BAND_BITS) | band as u64
        })
    }

    /// The band that a key is of.
    pub fn band_of(key: u64) -> usize {
        (key & !(u64::MAX << BAND_BITS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_agree_in_exactly_the_bands_whose_slots_agree() {
        let a: [u8; K] = std::array::from_fn(|slot| slot as u8);
        let mut b = a;
        b[5] ^= 1;
        b[39] ^= 1;
        let keys = ONLINE.keys_of(&a).zip(ONLINE.keys_of(&b));
        let same: Vec<bool> = keys.map(|(a, b)| a == b).collect();
        let expected: Vec<bool> = (0..10).map(|band| band != 1 && band != 9).collect();
        assert_eq!(same, expected);
        let bands: Vec<usize> = ONLINE.keys_of(&a).map(Bands::band_of).collect();
        assert_eq!(bands, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn bands_get_shorter_as_the_threshold_falls() {
        for (threshold, rows) in [(1.0, 8), (0.9, 8), (0.8, 6), (0.7, 4), (0.5, 2), (0.1, 1)] {
            assert_eq!(Bands::for_threshold(threshold, 0.998).rows(), rows, "{threshold}");
        }
    }
}
