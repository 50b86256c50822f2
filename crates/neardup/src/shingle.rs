//! w-shingles: every w words in a row, each as a 64-bit fingerprint.
//!
//! A. Broder, S. Glassman, M. Manasse, G. Zweig, "Syntactic Clustering of the Web", 1997, section
//! 2: S(D, w). Fewer than w words make one shingle of all of them; no words make none.
//!
//! Deviation: no Rabin fingerprint (see [`crate::reference::rabin`]) but a polynomial in the
//! hashes of the words, rolled from shingle to shingle and scrambled by one folded multiplication.
//! Two different shingles agree with a chance of 2^-64; what is counted over fingerprints is called
//! exact here.

use crate::words::{fold, hash_words};

/// Words in a shingle, unless said otherwise.
pub const WORDS_DEFAULT: usize = 4;
/// More words than this in a shingle is no use to anybody.
pub const WORDS_MAX: usize = 64;

const BASE: u64 = 0x5851_f42d_4c95_7f2d;
const SCRAMBLE: [u64; 2] = [0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3];

/// Appends the fingerprint of every shingle of `w` words, in order, repeats included.
///
/// ```
/// use rhumb_neardup::shingle::fingerprints;
/// let mut five = Vec::new();
/// fingerprints("a rose is a rose is a rose", 4, &mut five);
/// assert_eq!(five.len(), 5);
/// five.sort_unstable();
/// five.dedup();
/// assert_eq!(five.len(), 3, "three of them are different");
/// ```
///
/// # Panics
///
/// If `w` is 0 or more than [`WORDS_MAX`].
pub fn fingerprints(text: &str, w: usize, prints: &mut Vec<u64>) {
    assert!((1..=WORDS_MAX).contains(&w), "a shingle of {w} words");
    let start = prints.len();
    hash_words(text, prints);
    let shingles = roll(&mut prints[start..], w);
    prints.truncate(start + shingles);
}

/// Turns the hashes of words into fingerprints of shingles, in place; how many there are.
fn roll(words: &mut [u64], w: usize) -> usize {
    if words.is_empty() {
        return 0;
    }
    let whole = w.min(words.len());
    // What a word weighs when it leaves the window.
    let leaving = (0..w).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let first = &words[..whole - 1];
    let mut sum = first.iter().fold(0u64, |sum, word| sum.wrapping_mul(BASE).wrapping_add(*word));
    let mut left = 0u64;
    for at in 0..words.len() + 1 - whole {
        sum = sum
            .wrapping_mul(BASE)
            .wrapping_add(words[at + whole - 1])
            .wrapping_sub(left.wrapping_mul(leaving));
        left = words[at];
        words[at] = fold(sum ^ SCRAMBLE[0], SCRAMBLE[1]);
    }
    words.len() + 1 - whole
}

/// A 128-bit hash of a sequence of fingerprints: equal for texts of the same words in the same
/// order, and for no others.
pub fn exact_hash(prints: &[u64]) -> u128 {
    let mut a = SCRAMBLE[0] ^ prints.len() as u64;
    let mut b = SCRAMBLE[1];
    let (pairs, rest) = prints.as_chunks::<2>();
    for [first, second] in pairs {
        a = fold(a ^ first, second ^ BASE);
        b = fold(b ^ second, first.rotate_left(32) ^ SCRAMBLE[0]);
    }
    for last in rest {
        a = fold(a ^ last, BASE);
        b = fold(b ^ last, SCRAMBLE[0]);
    }
    u128::from(a) << 64 | u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, w: usize) -> Vec<u64> {
        let mut prints = Vec::new();
        fingerprints(text, w, &mut prints);
        prints
    }

    #[test]
    fn a_rolled_fingerprint_is_that_of_its_words_alone() {
        let text: Vec<String> = (0..50).map(|n| format!("word{n}")).collect();
        for w in [1, 2, 4, 9] {
            let alone: Vec<u64> = text.windows(w).map(|words| of(&words.join(" "), w)[0]).collect();
            assert_eq!(of(&text.join(", "), w), alone, "w = {w}");
        }
    }

    #[test]
    fn few_words_are_one_shingle_and_none_are_none() {
        assert_eq!(of("", 4).len(), 0);
        assert_eq!(of("...", 4).len(), 0);
        for text in ["one", "one two", "one two three", "one two three four"] {
            assert_eq!(of(text, 4).len(), 1, "{text}");
        }
        assert_ne!(of("one two", 4), of("two one", 4));
        assert_eq!(of("one two three four five", 4).len(), 2);
    }

    #[test]
    fn the_exact_hash_knows_order_and_length() {
        let all = [vec![], vec![1], vec![2], vec![1, 2], vec![2, 1], vec![1, 2, 0], vec![0]];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(exact_hash(a) == exact_hash(b), i == j, "{a:?} {b:?}");
            }
        }
    }
}
