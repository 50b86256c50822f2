//! Which URLs are known: a filter in memory before the store.
//!
//! Three answers are possible without reading the store: *new* (no fingerprint), *known* (the
//! exact cache has all 128 bits of the URL's hash), and *ask* (a fingerprint is there, but this
//! URL was not confirmed lately, or it came by a shorter way). So the store is exact and is asked
//! at most once in a while for each URL. The fingerprints are keyed with the crawl's own seed, so
//! nobody outside can make two URLs collide.
//!
//! Each fingerprint carries the number of its URL, so that a link to a known URL is a number
//! without reading the store. Should two URLs ever share a fingerprint, the number says so instead.
//!
//! Memory: 14.4 to 18 bytes per URL (see `slots`), and a cache of fixed size.

use crate::slots::{ASIDE_MASK, FilterSlots, Slot};
use rhumb_engine::record::UrlId;
use rhumb_page::url::{Url, UrlKey};

/// Slots of the exact cache, 8 bytes each. A power of two.
pub const CACHE_SLOTS: usize = 1 << 20;
/// Slots that a URL may be in: as many as come from memory at once. With one for each, URLs drove
/// each other out while most slots were empty, and two pages of five had a link to such a one.
const CACHE_WAYS: usize = 8;

/// In place of a number: several URLs, or one beyond all numbers.
const UNNUMBERED: u32 = u32::MAX;

pub struct SeenFilter {
    seed: u64,
    /// By fingerprint: the least depth, and the URL's number.
    fingerprints: FilterSlots,
    /// The other half of the hash of URLs that the store confirmed, the latest first; 0 is empty.
    confirmed: Vec<[u64; CACHE_WAYS]>,
}

/// All 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UrlFingerprint(u128);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    New,
    /// With its number, unless only the store can tell.
    Known(Option<u32>),
    /// The store must be asked; `rises` if the URL came by a shorter way than before. The number is
    /// good if the store has the URL.
    Ask {
        rises: bool,
        id: Option<u32>,
    },
}

impl SeenFilter {
    pub fn new(seed: u64) -> SeenFilter {
        SeenFilter {
            seed,
            fingerprints: FilterSlots::new(),
            confirmed: vec![[0; CACHE_WAYS]; CACHE_SLOTS / CACHE_WAYS],
        }
    }

    /// Of a URL's own text: those who read pages have it at hand, and ask most often.
    pub fn fingerprint(&self, url: &Url) -> UrlFingerprint {
        UrlFingerprint::of(url, self.seed)
    }

    /// Of the URL with this key.
    pub fn fingerprint_key(&self, key: &[u8]) -> UrlFingerprint {
        UrlFingerprint::of_key(key, self.seed)
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn look(&self, fingerprint: UrlFingerprint, depth: u16) -> Sighting {
        let (tag, rest) = fingerprint.halves();
        let Some(slot) = self.fingerprints.get(tag) else { return Sighting::New };
        let id = (slot.number != UNNUMBERED).then_some(slot.number);
        if capped(depth) < slot.aside() {
            Sighting::Ask { rises: true, id }
        } else if self.confirmed[set(rest)].contains(&rest) {
            Sighting::Known(id)
        } else {
            Sighting::Ask { rises: false, id }
        }
    }

    /// The store has it.
    pub fn confirm(&mut self, fingerprint: UrlFingerprint) {
        let (_, rest) = fingerprint.halves();
        let set = &mut self.confirmed[set(rest)];
        if !set.contains(&rest) {
            set.rotate_right(1);
            set[0] = rest;
        }
    }

    /// Committed, with this depth and number.
    pub fn insert(&mut self, fingerprint: UrlFingerprint, depth: u16, id: UrlId) {
        let (tag, _) = fingerprint.halves();
        let id = u32::try_from(id.0).unwrap_or(UNNUMBERED);
        let number = match self.fingerprints.get(tag) {
            Some(slot) if slot.number != id => UNNUMBERED,
            _ => id,
        };
        self.fingerprints.put(Slot::new(tag, capped(depth), number));
        self.confirm(fingerprint);
    }

    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fingerprints.len() == 0
    }

    pub fn reserve(&mut self, more: usize) {
        self.fingerprints.reserve(more);
    }
}

impl UrlFingerprint {
    /// Of a URL, in a filter with this seed.
    pub fn of(url: &Url, seed: u64) -> UrlFingerprint {
        UrlFingerprint(url.fingerprint(seed))
    }

    /// Of the URL with this key.
    pub fn of_key(key: &[u8], seed: u64) -> UrlFingerprint {
        UrlFingerprint(UrlKey::fingerprint(key, seed))
    }

    /// The tag in the table (not 0, its low byte left free) and the half that confirms it (not 0).
    fn halves(self) -> (u64, u64) {
        let tag = (self.0 as u64) & !ASIDE_MASK;
        (tag.max(ASIDE_MASK + 1), ((self.0 >> 64) as u64).max(1))
    }
}

fn capped(depth: u16) -> u8 {
    u8::try_from(depth).unwrap_or(u8::MAX)
}

/// The slots of a URL.
fn set(rest: u64) -> usize {
    (rest as usize) % (CACHE_SLOTS / CACHE_WAYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_128;

    #[test]
    fn a_url_is_new_once_and_asked_about_again_only_by_a_shorter_way() {
        let mut seen = SeenFilter::new(1);
        let url = Url::parse("http://a.test:81/x?y").unwrap();
        let fingerprint = seen.fingerprint(&url);
        assert_eq!(seen.fingerprint_key(url.key().as_bytes()), fingerprint);
        assert_eq!(seen.look(fingerprint, 3), Sighting::New);
        seen.insert(fingerprint, 3, UrlId(7));
        assert_eq!(seen.look(fingerprint, 3), Sighting::Known(Some(7)));
        assert_eq!(seen.look(fingerprint, 2), Sighting::Ask { rises: true, id: Some(7) });
        seen.insert(fingerprint, 3, UrlId(8));
        assert_eq!(seen.look(fingerprint, 3), Sighting::Known(None), "two URLs, one fingerprint");
    }

    #[test]
    fn what_falls_out_of_the_cache_is_asked_of_the_store() {
        let mut seen = SeenFilter::new(1);
        let prints: Vec<UrlFingerprint> = (0..3 * CACHE_SLOTS as u64)
            .map(|n| UrlFingerprint(xxh3_128(&n.to_be_bytes())))
            .collect();
        prints.iter().zip(0..).for_each(|(&p, n)| seen.insert(p, 0, UrlId(n)));
        assert_eq!(seen.len(), prints.len());
        assert_eq!(seen.look(prints[5], 0), Sighting::Ask { rises: false, id: Some(5) });
        seen.confirm(prints[5]);
        assert_eq!(seen.look(prints[5], 0), Sighting::Known(Some(5)));
    }
}
