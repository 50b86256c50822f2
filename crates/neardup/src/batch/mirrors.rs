//! Mirrors: pairs of collections of which one holds much of the other's texts.
//!
//! K. Bharat, A. Broder, "Mirror, Mirror on the Web", WWW 1999: pairs of near-duplicates are joined
//! on the pair of their collections. The caller names the collection of each document, such as its
//! host.

use std::collections::{BTreeMap, HashSet};

use super::corpus::{DocumentId, TextCopies, TextId};

/// A number that stands for a host, or for whatever documents come from.
pub type CollectionId = u32;

/// Two collections of which one is in good part found in the other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mirror {
    /// One collection.
    pub a: CollectionId,
    /// The other, with the greater number.
    pub b: CollectionId,
    /// Documents of the smaller one with a near-duplicate in the other, divided by all of its.
    pub share: f64,
}

/// A text that is in more collections than this says nothing of two of them: what servers say when
/// they have no page, for example.
const COLLECTIONS_MAX: usize = 256;

/// Finds collections that hold nearly the same texts.
pub struct Mirrors {
    /// The collection of each document.
    of: Vec<Option<CollectionId>>,
    sizes: BTreeMap<CollectionId, u32>,
    /// This document has a near-duplicate in that collection.
    seen: HashSet<(DocumentId, CollectionId)>,
    /// Documents of the first that have a near-duplicate in the second.
    matched: BTreeMap<(CollectionId, CollectionId), u32>,
}

impl Mirrors {
    /// Takes the collection of each document, by number.
    pub fn new(of: Vec<Option<CollectionId>>) -> Mirrors {
        let mut sizes = BTreeMap::new();
        of.iter().flatten().for_each(|collection| *sizes.entry(*collection).or_insert(0) += 1);
        Mirrors { of, sizes, seen: HashSet::new(), matched: BTreeMap::new() }
    }

    /// Two texts are near-duplicates, or are the same one. `fresh` hears of every first pair of a
    /// document with another collection.
    pub fn pair(
        &mut self,
        copies: &TextCopies,
        a: TextId,
        b: TextId,
        mut fresh: impl FnMut(DocumentId, DocumentId),
    ) {
        self.one_way(copies.of_text(a), copies.of_text(b), &mut fresh);
        if a != b {
            self.one_way(copies.of_text(b), copies.of_text(a), &mut fresh);
        }
    }

    fn one_way(
        &mut self,
        from: &[DocumentId],
        to: &[DocumentId],
        fresh: &mut impl FnMut(DocumentId, DocumentId),
    ) {
        // Many copies come from few collections: one document speaks for each.
        let mut speakers: Vec<(CollectionId, DocumentId)> =
            to.iter().filter_map(|to| Some((self.of[*to as usize]?, *to))).collect();
        speakers.sort_unstable();
        speakers.dedup_by_key(|(collection, _)| *collection);
        if speakers.len() > COLLECTIONS_MAX {
            return;
        }
        for &document in from {
            let Some(home) = self.of[document as usize] else { continue };
            for &(there, other) in speakers.iter().filter(|(there, _)| *there != home) {
                if self.seen.insert((document, there)) {
                    *self.matched.entry((home, there)).or_insert(0) += 1;
                    fresh(document, other);
                }
            }
        }
    }

    /// Pairs of collections with at least so many documents each and at least such a share, the
    /// lesser number first.
    pub fn found(&self, documents_min: u32, share_min: f64) -> Vec<Mirror> {
        let pairs = self.matched.keys().map(|(a, b)| (*a.min(b), *a.max(b)));
        let pairs: std::collections::BTreeSet<_> = pairs.collect();
        let mirrors = pairs.into_iter().filter_map(|(a, b)| {
            let [size_a, size_b] = [self.sizes[&a], self.sizes[&b]];
            let share = |from, to, size| {
                f64::from(self.matched.get(&(from, to)).copied().unwrap_or(0)) / f64::from(size)
            };
            let share = match size_a.cmp(&size_b) {
                std::cmp::Ordering::Less => share(a, b, size_a),
                std::cmp::Ordering::Greater => share(b, a, size_b),
                std::cmp::Ordering::Equal => share(a, b, size_a).max(share(b, a, size_b)),
            };
            let counts = size_a.min(size_b) >= documents_min && share >= share_min;
            counts.then_some(Mirror { a, b, share })
        });
        mirrors.collect()
    }
}
