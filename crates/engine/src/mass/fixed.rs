//! Importance as a fixed-point number, and the arithmetic of a push, always rounded down.
//!
//! A proof in floating point is none: sums of millions of shares drift. Here the whole mass is
//! `ONE`, every share is rounded towards minus infinity, and what rounding drops is lost to all
//! books. So a bound made of these numbers can only be too low.

use super::surfer::Surfer;

/// The whole mass.
pub const ONE: i64 = 1 << 60;

/// d = 17/20: the share that follows links (Brin and Page's 0.85). In so many parts that the shares
/// of a biased surfer ([`super::surfer`]) are whole.
pub const FOLLOWED: i64 = 5_100;
/// 1 - d.
pub const JUMPED: i64 = 900;
pub const PARTS: i64 = 6_000;

/// Levels of mass, one per octave; smaller is heavier.
pub const LEVELS: usize = 64;
/// Of no mass at all, or of less than none.
pub const LEVEL_NONE: u8 = 63;

/// x times so many parts, rounded down, also for negative x.
fn part(x: i64, of: i64) -> i64 {
    x.div_euclid(PARTS) * of + (x.rem_euclid(PARTS) * of).div_euclid(PARTS)
}

/// (1-d)·x, rounded down: what a trusted page begins with.
pub fn jumped(x: i64) -> i64 {
    part(x, JUMPED)
}

/// What one unit of weight gets of x that is settled where all links weigh `total`, rounded down.
pub fn unit(x: i64, total: i64, surfer: Surfer) -> i64 {
    part(x, surfer.followed()).div_euclid(total)
}

/// At least what pushes of x in all have given to a unit of weight, however it came in parts.
pub fn unit_at_most(x: i64, total: i64, surfer: Surfer) -> i64 {
    unit(x, total, surfer).saturating_add(1)
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
        for x in [1, 19, 20, 21, 1_000_003, ONE / 7, ONE, -1, -19, -20, -21, -ONE / 3] {
            for (weight, surfer) in Surfer::all().enumerate().map(|(n, s)| (1 + 13 * n as i64, s)) {
                let exact = i128::from(x) * i128::from(surfer.followed());
                let given = i128::from(unit(x, weight, surfer) * weight) * i128::from(PARTS);
                assert!(given <= exact, "{x} over {weight}");
                let parts = [x / 3, x / 5, x - x / 3 - x / 5];
                let in_parts: i64 = parts.iter().map(|&x| unit(x, weight, surfer)).sum();
                assert!(in_parts <= unit_at_most(x, weight, surfer), "{x} over {weight}");
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
