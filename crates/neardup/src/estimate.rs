//! How alike are two texts, by the slots of their sketches that agree, and how sure is that?
//!
//! Of K slots m agree. A slot agrees if its minimum is shared, which has the chance J, or else by
//! chance c = 2^-bits, since only so many bits of a minimum are kept. So J' = (m/K - c) / (1 - c).
//! Its standard error is sqrt((J + c)(1 - J) / K) for texts that fill the bins; of a text of n
//! shingles only about K (1 - e^(-n/K)) slots say something of their own, and that number takes the
//! place of K.

use crate::sketch::K;

/// What a slot keeps of its minimum.
#[derive(Clone, Copy, Debug)]
pub struct SlotBits {
    bits: i32,
}

/// An estimated resemblance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResemblanceEstimate {
    /// From 0 to 1.
    pub resemblance: f64,
    /// One standard error, for texts of some 300 shingles or more.
    pub error: f64,
    chance: f64,
}

impl SlotBits {
    /// As in a [`crate::Sketch`].
    pub const BYTES: SlotBits = SlotBits { bits: 8 };
    /// As in the sketches that the batch works on.
    pub const PAIRS_OF_BYTES: SlotBits = SlotBits { bits: 16 };

    /// ```
    /// use rhumb_neardup::estimate::SlotBits;
    /// let estimate = SlotBits::BYTES.estimate(103);
    /// assert_eq!(format!("{:.3} ± {:.3}", estimate.resemblance, estimate.error), "0.804 ± 0.035");
    /// ```
    pub fn estimate(self, agreeing: u32) -> ResemblanceEstimate {
        let chance = self.chance();
        let share = f64::from(agreeing) / K as f64;
        let resemblance = ((share - chance) / (1.0 - chance)).clamp(0.0, 1.0);
        let error = standard_error(resemblance, chance, K as f64);
        ResemblanceEstimate { resemblance, error, chance }
    }

    /// The least number of agreeing slots that speaks for a resemblance of `threshold`, if
    /// `errors` standard errors are forgiven, of texts of at least so many shingles.
    pub fn agreeing_min(self, threshold: f64, errors: f64, shingles: u64) -> u32 {
        let chance = self.chance();
        let least = threshold - errors * standard_error(threshold, chance, filled(shingles));
        let share = least.max(0.0) * (1.0 - chance) + chance;
        (share * K as f64).floor() as u32
    }

    fn chance(self) -> f64 {
        2f64.powi(-self.bits)
    }
}

impl ResemblanceEstimate {
    /// The standard error if the truth is `resemblance` and the texts have some `shingles` each.
    pub fn error_at(&self, resemblance: f64, shingles: u64) -> f64 {
        standard_error(resemblance, self.chance, filled(shingles))
    }
}

/// Slots that a text fills by itself.
fn filled(shingles: u64) -> f64 {
    (K as f64 * (1.0 - (-(shingles as f64) / K as f64).exp())).max(1.0)
}

fn standard_error(resemblance: f64, chance: f64, slots: f64) -> f64 {
    ((resemblance + chance) * (1.0 - resemblance) / slots).sqrt()
}
