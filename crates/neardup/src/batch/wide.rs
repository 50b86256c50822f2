//! Sketches as the batch compares them: sixteen bits of each minimum, so that even short bands
//! seldom agree by chance.

use crate::bands::Bands;
use crate::sketch::{K, Minima};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wide(pub [u16; K]);

impl Wide {
    pub fn of(minima: &Minima) -> Wide {
        Wide(minima.0.map(|minimum| minimum as u16))
    }

    /// Bit i: slot i agrees.
    #[inline]
    pub fn agreement(&self, other: &Wide) -> u128 {
        let mut marks = [0u8; K];
        for (mark, (a, b)) in marks.iter_mut().zip(self.0.iter().zip(&other.0)) {
            *mark = u8::from(a == b);
        }
        let (lanes, _) = marks.as_chunks::<8>();
        let mut bits = 0;
        for (at, lane) in lanes.iter().enumerate() {
            let gathered = u64::from_le_bytes(*lane).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits |= u128::from(gathered) << (8 * at);
        }
        bits
    }
}

/// Tells the first band in which all slots agree. Two documents meet in every such band, and are
/// compared in the first only.
pub struct FirstBand {
    rows: usize,
    /// A bit for the first slot of each band.
    starts: u128,
}

impl FirstBand {
    pub fn new(bands: Bands) -> FirstBand {
        let rows = bands.rows();
        FirstBand { rows, starts: (0..bands.count()).fold(0, |all, band| all | 1 << (band * rows)) }
    }

    #[inline]
    pub fn of(&self, agreement: u128) -> Option<usize> {
        let whole = (1..self.rows).fold(agreement, |whole, row| whole & (agreement >> row));
        let bands = whole & self.starts;
        (bands != 0).then(|| bands.trailing_zeros() as usize / self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_agreeing_band_is_the_first_with_equal_keys() {
        let bands = Bands::new(21, 6);
        let a = Wide(std::array::from_fn(|slot| (slot as u16).wrapping_mul(999)));
        for wrong in [&[0][..], &[5, 6], &[0, 6, 12, 18], &[127], &[125], &[]] {
            let mut b = a;
            wrong.iter().for_each(|slot| b.0[*slot] ^= 0x100);
            let by_keys = bands.keys_of(&a.0).zip(bands.keys_of(&b.0)).position(|(a, b)| a == b);
            assert_eq!(FirstBand::new(bands).of(a.agreement(&b)), by_keys, "{wrong:?}");
            assert_eq!(a.agreement(&b).count_zeros() as usize, wrong.len());
        }
        assert_eq!(FirstBand::new(bands).of(0), None);
    }
}
