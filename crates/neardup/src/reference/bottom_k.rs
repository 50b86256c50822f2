//! The bottom-k sketch, with Broder's estimator r'.
//!
//! A. Broder, "On the Resemblance and Containment of Documents", 1997, section 2: M(A) =
//! MIN_s(π(A)), the s least elements under one permutation, and r' = |MIN_s(M(A) ∪ M(B)) ∩ M(A) ∩
//! M(B)| / |MIN_s(M(A) ∪ M(B))|, which is unbiased: the s least of the union are a random sample of
//! it, and all members of it are found in M(A) or M(B).
//!
//! Fingerprints are random already, so the permutation is left out.

/// The s least fingerprints of a set, ascending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BottomK {
    s: usize,
    least: Vec<u64>,
}

impl BottomK {
    /// The `s` smallest hashes of a set.
    pub fn of(set: &[u64], s: usize) -> BottomK {
        let mut least = set.to_vec();
        least.sort_unstable();
        least.dedup();
        least.truncate(s);
        BottomK { s, least }
    }

    /// r'; 0 for two empty sets. Its standard error is at most sqrt(r (1 - r) / s).
    ///
    /// ```
    /// use rhumb_neardup::reference::bottom_k::BottomK;
    /// let a = BottomK::of(&[1, 2, 3, 5, 8, 9], 4);
    /// let b = BottomK::of(&[2, 3, 4, 8, 9], 4);
    /// // The four least of the union are 1, 2, 3, 4; of them 2 and 3 are in both.
    /// assert_eq!(a.resemblance(&b), 0.5);
    /// ```
    pub fn resemblance(&self, other: &BottomK) -> f64 {
        let s = self.s.min(other.s);
        let mut union = [&self.least[..], &other.least[..]].concat();
        union.sort_unstable();
        union.dedup();
        union.truncate(s);
        let in_both = |print: &&u64| {
            self.least.binary_search(print).is_ok() && other.least.binary_search(print).is_ok()
        };
        let both = union.iter().filter(in_both).count();
        both as f64 / union.len().max(1) as f64
    }
}
