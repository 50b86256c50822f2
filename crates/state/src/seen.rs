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
//! Memory: 13 bytes per slot, 15 to 30 per URL, and a cache of fixed size.

use hashbrown::HashTable;
use rhumb_engine::record::UrlId;
use rhumb_page::url::UrlKey;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Slots of the exact cache, 8 bytes each. A power of two.
pub const CACHE_SLOTS: usize = 1 << 20;

const DEPTH_BITS: u32 = 8;
const DEPTH_MASK: u64 = (1 << DEPTH_BITS) - 1;

pub struct Seen {
    seed: u64,
    fingerprints: HashTable<Slot>,
    /// The other half of the hash of URLs that the store confirmed; 0 is empty.
    confirmed: Vec<u64>,
}

/// 56 bits of fingerprint, 8 bits of depth, in halves; and the URL's number.
#[derive(Clone, Copy)]
struct Slot([u32; 2], u32);

/// In place of a number: several URLs, or one beyond all numbers.
const UNNUMBERED: u32 = u32::MAX;

impl Slot {
    fn new(value: u64, id: u32) -> Slot {
        Slot([value as u32, (value >> 32) as u32], id)
    }

    fn value(self) -> u64 {
        u64::from(self.0[0]) | u64::from(self.0[1]) << 32
    }

    fn tag(self) -> u64 {
        self.value() & !DEPTH_MASK
    }

    fn number(self) -> Option<u32> {
        (self.1 != UNNUMBERED).then_some(self.1)
    }
}

/// All 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u128);

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

impl Seen {
    pub fn new(seed: u64) -> Seen {
        Seen { seed, fingerprints: HashTable::new(), confirmed: vec![0; CACHE_SLOTS] }
    }

    pub fn fingerprint(&self, key: &UrlKey) -> Fingerprint {
        self.fingerprint_bytes(key.as_bytes())
    }

    pub fn fingerprint_bytes(&self, key: &[u8]) -> Fingerprint {
        Fingerprint(xxh3_128_with_seed(key, self.seed))
    }

    pub fn look(&self, fingerprint: Fingerprint, depth: u16) -> Sighting {
        let (tag, rest) = fingerprint.halves();
        let Some(slot) = self.fingerprints.find(scatter(tag), |slot| slot.tag() == tag) else {
            return Sighting::New;
        };
        let id = slot.number();
        if capped(depth) < (slot.value() & DEPTH_MASK) {
            Sighting::Ask { rises: true, id }
        } else if self.confirmed[place(rest)] == rest {
            Sighting::Known(id)
        } else {
            Sighting::Ask { rises: false, id }
        }
    }

    /// The store has it.
    pub fn confirm(&mut self, fingerprint: Fingerprint) {
        let (_, rest) = fingerprint.halves();
        self.confirmed[place(rest)] = rest;
    }

    /// Committed, with this depth and number.
    pub fn insert(&mut self, fingerprint: Fingerprint, depth: u16, id: UrlId) {
        let (tag, rest) = fingerprint.halves();
        let value = tag | capped(depth);
        let id = u32::try_from(id.0).unwrap_or(UNNUMBERED);
        match self.fingerprints.find_mut(scatter(tag), |slot| slot.tag() == tag) {
            Some(slot) if slot.1 == id => *slot = Slot::new(value, id),
            Some(slot) => *slot = Slot::new(value, UNNUMBERED),
            None => {
                let slot = Slot::new(value, id);
                self.fingerprints.insert_unique(scatter(tag), slot, |slot| scatter(slot.tag()));
            }
        }
        self.confirmed[place(rest)] = rest;
    }

    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    pub fn reserve(&mut self, more: usize) {
        self.fingerprints.reserve(more, |slot| scatter(slot.tag()));
    }
}

impl Fingerprint {
    /// The tag in the table (its low byte left free) and the half that confirms it (never 0).
    fn halves(self) -> (u64, u64) {
        ((self.0 as u64) & !DEPTH_MASK, ((self.0 >> 64) as u64).max(1))
    }
}

/// The table takes its buckets from the low bits, which in a tag are left free.
fn scatter(tag: u64) -> u64 {
    tag ^ (tag >> 29)
}

fn capped(depth: u16) -> u64 {
    u64::from(depth).min(DEPTH_MASK)
}

fn place(rest: u64) -> usize {
    (rest as usize) & (CACHE_SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_page::url::Url;

    #[test]
    fn a_url_is_new_once_and_asked_about_again_only_by_a_shorter_way() {
        let mut seen = Seen::new(1);
        let key = Url::parse("http://a.test/x").unwrap().key();
        let fingerprint = seen.fingerprint(&key);
        assert_eq!(seen.look(fingerprint, 3), Sighting::New);
        seen.insert(fingerprint, 3, UrlId(7));
        assert_eq!(seen.look(fingerprint, 3), Sighting::Known(Some(7)));
        assert_eq!(seen.look(fingerprint, 2), Sighting::Ask { rises: true, id: Some(7) });
        seen.insert(fingerprint, 3, UrlId(8));
        assert_eq!(seen.look(fingerprint, 3), Sighting::Known(None), "two URLs, one fingerprint");
    }

    #[test]
    fn what_falls_out_of_the_cache_is_asked_of_the_store() {
        let mut seen = Seen::new(1);
        let prints: Vec<Fingerprint> =
            (0..3 * CACHE_SLOTS as u64).map(|n| seen.fingerprint_bytes(&n.to_be_bytes())).collect();
        prints.iter().zip(0..).for_each(|(&p, n)| seen.insert(p, 0, UrlId(n)));
        assert_eq!(seen.len(), prints.len());
        assert_eq!(seen.look(prints[5], 0), Sighting::Ask { rises: false, id: Some(5) });
        seen.confirm(prints[5]);
        assert_eq!(seen.look(prints[5], 0), Sighting::Known(Some(5)));
    }
}
