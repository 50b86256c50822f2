//! What moves all pages at once: mass edits, seasons, a day on which everybody publishes.
//!
//! A page that changed while nearly all others did has told little about itself; one that stayed
//! as it was has told more than on a calm day. So a visit after t days counts as evidence over
//! t times the *level*: the changes that the last visits found, of all pages together, for each
//! that was expected of them. It is a shared frailty (Vaupel, Manton and Stallard, Demography 16,
//! 1979) that changes with time, and two numbers for the whole collection.

use super::belief::VisitFinding;
use serde::{Deserialize, Serialize};

/// How many visits are remembered: this share of a round, and not fewer than some.
const MEMORY_ROUNDS: f64 = 1.0 / 8.0;
const MEMORY_VISITS_MIN: f64 = 32.0;
/// A level of 1 weighs as much as so many expected changes.
const STRENGTH: f64 = 8.0;
/// Beyond this all pages are not like themselves, and no factor would help.
const LEVEL_MAX: f64 = 8.0;

/// Changes of the last visits, found and expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tide {
    found: f64,
    expected: f64,
}

impl Tide {
    /// Changes found for each that was expected.
    pub fn level(&self) -> f64 {
        let level = (self.found + STRENGTH) / (self.expected + STRENGTH);
        level.clamp(1.0 / LEVEL_MAX, LEVEL_MAX)
    }

    /// A visit to one of so many pages, which was expected to find a change with this chance.
    pub fn hear(&mut self, chance: f64, seen: VisitFinding, pages: u64) {
        let kept = 1.0 - 1.0 / (pages as f64 * MEMORY_ROUNDS).max(MEMORY_VISITS_MIN);
        let changed = f64::from(u8::from(seen != VisitFinding::Unchanged));
        self.found = self.found * kept + changed;
        self.expected = self.expected * kept + chance.clamp(0.0, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(visits: u32, found_of_ten: u32, chance: f64) -> f64 {
        let mut tide = Tide::default();
        for visit in 0..visits {
            let changed = visit % 10 < found_of_ten;
            let seen = if changed { VisitFinding::Changed } else { VisitFinding::Unchanged };
            tide.hear(chance, seen, 2_000);
        }
        tide.level()
    }

    #[test]
    fn the_level_is_what_was_found_for_what_was_expected_and_one_visit_does_not_move_it() {
        assert_eq!(Tide::default().level(), 1.0);
        assert!((after(5_000, 3, 0.3) - 1.0).abs() < 0.05, "{}", after(5_000, 3, 0.3));
        assert!(after(5_000, 9, 0.3) > 2.5, "{}", after(5_000, 9, 0.3));
        assert!(after(5_000, 1, 0.5) < 0.35, "{}", after(5_000, 1, 0.5));
        assert!((after(1, 10, 0.0) - 1.0).abs() < 0.15, "{}", after(1, 10, 0.0));
    }
}
