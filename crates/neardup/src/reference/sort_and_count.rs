//! All pairs by sorting ⟨shingle, document⟩, as in the lecture notes.
//!
//! A. Broder, S. Glassman, M. Manasse, G. Zweig, "Syntactic Clustering of the Web", 1997, section
//! 4: divide, compute, merge. Documents that share a shingle stand next to each other once all
//! pairs ⟨shingle, document⟩ are sorted; the pairs of documents are counted. Shingles in more than
//! `documents_max` documents are left out, or else a shingle in n documents makes n²/2 pairs; what
//! is left out changes the resemblance.
//!
//! GENPAIRS is the same with min-hash: for each permutation, documents with the same least value
//! stand next to each other, and the number of permutations in which a pair does so estimates its
//! resemblance (T. Haveliwala, A. Gionis, P. Indyk, "Scalable Techniques for Clustering the Web",
//! WebDB 2000).

use std::collections::BTreeMap;

use super::permutations::{PERMUTATIONS, min_hash};

/// Pairs of documents with the shingles they share, of sets without repeats; and how many shingles
/// were left out for being in too many documents.
///
/// ```
/// use rhumb_neardup::reference::sort_and_count::shared;
/// let (pairs, left_out) = shared(&[vec![1, 2, 3], vec![2, 3, 4], vec![9]], 10);
/// assert_eq!(pairs.into_iter().collect::<Vec<_>>(), [((0, 1), 2)]);
/// assert_eq!(left_out, 0);
/// ```
pub fn shared(sets: &[Vec<u64>], documents_max: usize) -> (BTreeMap<(u32, u32), u32>, usize) {
    let mut entries = Vec::new();
    for (document, set) in sets.iter().enumerate() {
        entries.extend(set.iter().map(|print| (*print, document as u32)));
    }
    entries.sort_unstable();
    let mut counts = BTreeMap::new();
    let mut left_out = 0;
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        if same.len() > documents_max {
            left_out += 1;
            continue;
        }
        count_pairs(same, &mut counts);
    }
    (counts, left_out)
}

/// Pairs of documents with the number of permutations, of 200, under which they have the same least
/// shingle.
pub fn gen_pairs(sets: &[Vec<u64>]) -> BTreeMap<(u32, u32), u32> {
    let sketches: Vec<_> = sets.iter().map(|set| min_hash(set)).collect();
    let mut counts = BTreeMap::new();
    for permutation in 0..PERMUTATIONS {
        let least = sketches.iter().enumerate();
        let mut entries: Vec<(u64, u32)> = least
            .filter_map(|(document, minima)| Some((minima.as_ref()?[permutation], document as u32)))
            .collect();
        entries.sort_unstable();
        entries.chunk_by(|a, b| a.0 == b.0).for_each(|same| count_pairs(same, &mut counts));
    }
    counts
}

fn count_pairs(same: &[(u64, u32)], counts: &mut BTreeMap<(u32, u32), u32>) {
    for (at, (_, a)) in same.iter().enumerate() {
        for (_, b) in &same[at + 1..] {
            *counts.entry((*a, *b)).or_insert(0) += 1;
        }
    }
}
