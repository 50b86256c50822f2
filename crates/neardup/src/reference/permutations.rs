//! Min-hash with one permutation per value: the least fingerprint of a set under each of 200 random
//! permutations.
//!
//! A. Broder, "On the Resemblance and Containment of Documents", 1997; A. Broder, M. Charikar,
//! A. Frieze, M. Mitzenmacher, "Min-Wise Independent Permutations", 1998: the chance that two sets
//! have the same least element under a random permutation is their resemblance.
//!
//! Deviation: a permutation is x → a x + b over 64 bits with odd a, scrambled; linear permutations
//! are not min-wise independent, but close enough in practice (section 5 of the latter).

use crate::words::fold;

/// Permutations that the notes use.
pub const PERMUTATIONS: usize = 200;

/// The least value of the set under each permutation; none for an empty set.
pub fn min_hash(set: &[u64]) -> Option<[u64; PERMUTATIONS]> {
    let least = |number: usize| set.iter().map(|print| permuted(*print, number)).min();
    let mut minima = [0; PERMUTATIONS];
    for (number, minimum) in minima.iter_mut().enumerate() {
        *minimum = least(number)?;
    }
    Some(minima)
}

/// Share of the permutations that agree: an estimate with standard error sqrt(r (1 - r) / 200).
///
/// ```
/// use rhumb_neardup::reference::permutations::{min_hash, resemblance};
/// let a: Vec<u64> = (0..1000).collect();
/// let b: Vec<u64> = (100..1000).collect();
/// let [a, b] = [a, b].map(|set| min_hash(&set).expect("not empty"));
/// let estimate = resemblance(&a, &b);
/// assert!((estimate - 0.9).abs() < 0.07);
/// ```
pub fn resemblance(a: &[u64; PERMUTATIONS], b: &[u64; PERMUTATIONS]) -> f64 {
    let agreeing = a.iter().zip(b).filter(|(a, b)| a == b).count();
    agreeing as f64 / PERMUTATIONS as f64
}

/// A fingerprint under the permutation of this number.
pub fn permuted(print: u64, number: usize) -> u64 {
    let a = fold(number as u64 + 1, 0x9e37_79b9_7f4a_7c15) | 1;
    let b = fold(number as u64 + 1, 0xd6e8_feb8_6659_fd93);
    let linear = print.wrapping_mul(a).wrapping_add(b);
    // Both steps can be undone: still a permutation.
    let mixed = (linear ^ linear >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 29
}
