//! From a score to a place: a class for each octave below the whole, and the score itself within.

use super::{CLASS_LAST, CLASS_USUAL, Rank};
use crate::mass::{ONE, level};

/// Nobody but a seed has more than an eighth of the whole: its octaves share the first class.
const LEVEL_FIRST: u8 = 3;

/// The place of a URL with this share of `ONE`.
pub fn rank(score: i64) -> Rank {
    Rank { class: class_of_level(level(score)), rank: u64::MAX - score.max(0) as u64 }
}

/// The class of an octave.
pub fn class_of_level(level: u8) -> u8 {
    (CLASS_USUAL + level.saturating_sub(LEVEL_FIRST)).min(CLASS_LAST - 1)
}

/// The same of a share between 0 and 1.
pub fn rank_of_share(share: f32) -> Rank {
    rank((f64::from(share) * ONE as f64) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_score_is_one_class_up_and_more_of_it_comes_first_within_a_class() {
        let small = rank(ONE >> 10);
        assert_eq!(rank(ONE >> 9).class, small.class - 1);
        let more = rank((ONE >> 10) + 5);
        assert_eq!(more.class, small.class);
        assert!(more.rank < small.rank);
        assert_eq!(rank(ONE).class, CLASS_USUAL);
        assert_eq!(rank(0).class, CLASS_LAST - 1);
        assert_eq!(rank(-7).rank, u64::MAX);
    }
}
