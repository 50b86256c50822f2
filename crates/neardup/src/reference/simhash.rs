//! Simhash: 64 bits, each the sign of a sum over all shingles.
//!
//! M. Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002; G. Manku,
//! A. Jain, A. Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007: near-duplicates
//! differ in at most k = 3 of 64 bits. It measures an angle, not the resemblance of sets: at a
//! resemblance of 0.8 most pairs differ in more bits than that.

/// Of fingerprints, repeats counting again.
///
/// ```
/// use rhumb_neardup::{reference::simhash::{distance, simhash}, shingle::fingerprints};
/// let hash = |words: std::ops::Range<u32>| {
///     let text: Vec<String> = words.map(|n| n.to_string()).collect();
///     let mut prints = Vec::new();
///     fingerprints(&text.join(" "), 4, &mut prints);
///     simhash(&prints)
/// };
/// assert!(distance(hash(0..2000), hash(5..2000)) < 8, "nearly the same");
/// assert!(distance(hash(0..2000), hash(5000..7000)) > 16, "nothing in common");
/// ```
pub fn simhash(prints: &[u64]) -> u64 {
    let mut sums = [0i64; 64];
    for print in prints {
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += if print >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    sums.iter().enumerate().fold(0, |hash, (bit, sum)| hash | u64::from(*sum > 0) << bit)
}

/// Bits that differ.
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}
