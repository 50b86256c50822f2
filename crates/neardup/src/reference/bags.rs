//! Shingles as bags: a shingle that occurs twice counts twice.
//!
//! A. Broder, "On the Resemblance and Containment of Documents", 1997, section 2: the n-th
//! occurrence of a shingle becomes an element (shingle, n), so that bags are sets again.

use std::collections::HashMap;

use crate::words::fold;

/// The elements of a bag as fingerprints, from all shingles of a text in any order.
///
/// ```
/// use rhumb_neardup::reference::bags::elements;
/// let bag = elements(&[7, 8, 7]);
/// assert_eq!(bag.len(), 3);
/// assert_eq!(bag[0], elements(&[7])[0], "the first occurrence is the same in every text");
/// assert_ne!(bag[0], bag[2]);
/// ```
pub fn elements(prints: &[u64]) -> Vec<u64> {
    let mut occurrences = HashMap::new();
    let element = |print: &u64| {
        let n = occurrences.entry(*print).and_modify(|n| *n += 1).or_insert(0u64);
        fold(print ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0xa076_1d64_78bd_642f)
    };
    prints.iter().map(element).collect()
}
