//! Importance as a fixed-point number, and the arithmetic of a push, always rounded down.
//!
//! A proof in floating point is none: sums of millions of shares drift. Here the whole mass is
//! `ONE`, every share is rounded towards minus infinity, and what rounding drops is lost to all
//! books. So a bound made of these numbers can only be too low.

/// The whole mass.
pub const ONE: i64 = 1 << 60;

/// d = 17/20: the share that follows links (Brin and Page's 0.85).
const FOLLOWED: i64 = 17;
/// 1 - d, in twentieths.
pub const JUMPED: i64 = 3;
pub const PARTS: i64 = 20;

/// Levels of mass, one per octave; smaller is heavier.
pub const LEVELS: usize = 64;
/// Of no mass at all, or of less than none.
pub const LEVEL_NONE: u8 = 63;

/// d·x, rounded down, also for negative x.
pub fn followed(x: i64) -> i64 {
    x.div_euclid(PARTS) * FOLLOWED + (x.rem_euclid(PARTS) * FOLLOWED).div_euclid(PARTS)
}

/// (1-d)·x, rounded down: what a trusted page begins with.
pub fn jumped(x: i64) -> i64 {
    x.div_euclid(PARTS) * JUMPED + (x.rem_euclid(PARTS) * JUMPED).div_euclid(PARTS)
}

/// d·x/c for one of c links, rounded down.
pub fn share(x: i64, links: usize) -> i64 {
    followed(x).div_euclid(links as i64)
}

/// At least what pushes of x in all have given to one of c links, however it came in parts.
pub fn share_at_most(x: i64, links: usize) -> i64 {
    share(x, links).saturating_add(1)
}

/// The octave of a mass: 0 for the whole, 1 for a half of it, and so on.
pub fn level(x: i64) -> u8 {
    // Comparing as unsigned: a negative mass has no leading zeros and belongs to nobody's octave.
    let zeros = x.leading_zeros() as u8;
    if x > 0 { zeros.saturating_sub(3).min(LEVEL_NONE - 1) } else { LEVEL_NONE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_add_up_to_more_than_was_pushed_in_one_part_or_in_many() {
        for total in [1, 19, 20, 21, 1_000_003, ONE / 7, ONE, -1, -19, -20, -21, -ONE / 3] {
            for links in [1usize, 2, 3, 7, 1_000] {
                let exact = i128::from(total) * i128::from(FOLLOWED);
                let given = i128::from(share(total, links)) * links as i128 * i128::from(PARTS);
                assert!(given <= exact, "{total} over {links}");
                let parts = [total / 3, total / 5, total - total / 3 - total / 5];
                let in_parts: i64 = parts.iter().map(|&x| share(x, links)).sum();
                assert!(in_parts <= share_at_most(total, links), "{total} over {links}");
            }
        }
        assert_eq!(jumped(ONE), ONE / 20 * 3 + (ONE % 20 * 3) / 20);
    }

    #[test]
    fn a_level_is_an_octave() {
        assert_eq!(level(ONE), 0);
        assert_eq!(level(ONE - 1), 1);
        assert_eq!(level(ONE / 2), 1);
        assert_eq!(level(1), 60);
        assert_eq!(level(0), LEVEL_NONE);
        assert_eq!(level(-5), LEVEL_NONE);
    }
}
