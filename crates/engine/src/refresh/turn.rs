//! In turn, until there is a reason: how far a page must differ before it is visited out of turn.
//!
//! Uniform revisiting, every page once a round, is what a learner must not lose to. Where pages
//! are alike, or little was seen, what is believed of them differs by chance alone. To follow such
//! differences gains nothing and costs twice: uneven waits see less than even ones, and a page
//! visited shortly before an edit of everything, instead of shortly after, is stale for a round.
//! So a page whose wait would be near the round waits for the round exactly, and keeps its place
//! behind who was before it; further out the wait goes over into the page's own, without a jump:
//!
//! ```text
//! ln(settled/round)   0 within ± doubt, then steeper than 1, and the page's own from 3 doubts
//! ```
//!
//! The doubt shrinks with the root of the changes that were seen of all pages (firm thresholding:
//! Gao and Bruce, "WaveShrink with firm shrinkage", Statistica Sinica 7, 1997).

use super::constants::RefreshConstants;
use super::index::Wait;

/// Beyond so many doubts a page's own wait holds.
const DOUBTS_MAX: f64 = 3.0;

/// How far waits must be from the round, in logarithms, to be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubt(f64);

impl Doubt {
    pub fn after(changes_seen: f64, constants: &RefreshConstants) -> Doubt {
        let RefreshConstants { doubt_first, changes_halving, .. } = *constants;
        Doubt(doubt_first * (changes_halving / (changes_halving + changes_seen)).sqrt())
    }

    /// What becomes of a page's own wait.
    pub fn turn_wait(self, own: Wait, round: f64) -> Wait {
        let off = (own.days / round).ln();
        // Far out, or nothing to compare with.
        let is_near = off.abs() < self.0 * DOUBTS_MAX;
        if !is_near {
            return own;
        }
        let steep = DOUBTS_MAX / (DOUBTS_MAX - 1.0);
        let settled = (off.abs() - self.0).max(0.0) * steep;
        let elasticity = if settled > 0.0 { own.elasticity * steep } else { 0.0 };
        Wait { days: round * settled.copysign(off).exp(), elasticity }
    }

    /// The longest wait of a page's own that becomes `days` or sooner: the inverse of
    /// [`Doubt::turn_wait`].
    pub fn own_wait(self, days: f64, round: f64) -> f64 {
        let off = (days / round).ln();
        let is_near = off.abs() < self.0 * DOUBTS_MAX;
        if !is_near {
            return days;
        }
        let gentle = (DOUBTS_MAX - 1.0) / DOUBTS_MAX;
        let own = if off < 0.0 { off * gentle - self.0 } else { off * gentle + self.0 };
        round * own.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(changes_seen: f64) -> Doubt {
        Doubt::after(changes_seen, &RefreshConstants::default())
    }

    fn settled(doubt: Doubt, days: f64) -> f64 {
        doubt.turn_wait(Wait { days, elasticity: 0.5 }, 10.0).days
    }

    #[test]
    fn near_the_round_is_the_round_far_from_it_is_far_and_nothing_jumps_or_turns_back() {
        let doubt = after(0.0);
        assert_eq!(settled(doubt, 9.0), 10.0);
        assert_eq!(settled(doubt, 12.0), 10.0);
        assert_eq!(settled(doubt, 4.0), 4.0);
        assert_eq!(settled(doubt, 40.0), 40.0);
        let mut last = 1.0;
        for step in 0..4_000 {
            let days = (f64::from(step) / 1_000.0).exp();
            let now = settled(doubt, days);
            assert!(now >= last && now - last < 0.0016 * now, "{days}: {last} to {now}");
            last = now;
        }
    }

    #[test]
    fn a_page_is_due_exactly_when_its_settled_wait_is_over() {
        let doubt = after(200.0);
        for days in [2.0, 5.5, 7.0, 8.9, 9.99, 10.01, 11.5, 14.0, 25.0] {
            for own in [3.0, 6.0, 8.0, 9.5, 10.5, 12.0, 13.5, 20.0] {
                let is_over = settled(doubt, own) <= days;
                assert_eq!(own <= doubt.own_wait(days, 10.0), is_over, "{own} after {days}");
            }
        }
    }

    #[test]
    fn what_was_seen_takes_the_doubt_away() {
        assert!(settled(after(0.0), 12.0) < settled(after(2_000.0), 12.0));
        assert!((settled(after(1e6), 12.0) - 12.0).abs() < 1e-9);
        assert!(after(0.0).turn_wait(Wait { days: 5.0, elasticity: 0.0 }, 0.0).days == 5.0);
    }
}
