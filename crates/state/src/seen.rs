//! Which URLs are known: a filter in memory before the store.
//!
//! Three answers are possible without reading the store: *new* (no fingerprint), *known* (the
//! exact cache has all 128 bits of the URL's hash), and *ask* (a fingerprint is there, but this
//! URL was not confirmed lately, or it came by a shorter way). So the store is exact and is asked
//! at most once in a while for each URL. The fingerprints are keyed with the crawl's own seed, so
//! nobody outside can make two URLs collide.
//!
//! Memory: 9 bytes per slot, 10 to 20 per URL, and a cache of fixed size.

use hashbrown::HashTable;
use rhumb_page::url::UrlKey;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Slots of the exact cache, 8 bytes each. A power of two.
pub const CACHE_SLOTS: usize = 1 << 20;

const DEPTH_BITS: u32 = 8;
const DEPTH_MASK: u64 = (1 << DEPTH_BITS) - 1;

pub struct Seen {
    seed: u64,
    /// 56 bits of fingerprint, 8 bits of depth.
    fingerprints: HashTable<u64>,
    /// The other half of the hash of URLs that the store confirmed; 0 is empty.
    confirmed: Vec<u64>,
}

/// All 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u128);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    New,
    Known,
    /// The store must be asked; `rises` if the URL came by a shorter way than before.
    Ask {
        rises: bool,
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
        match self.fingerprints.find(scatter(tag), |&slot| slot & !DEPTH_MASK == tag) {
            None => Sighting::New,
            Some(slot) if capped(depth) < (slot & DEPTH_MASK) => Sighting::Ask { rises: true },
            Some(_) if self.confirmed[place(rest)] == rest => Sighting::Known,
            Some(_) => Sighting::Ask { rises: false },
        }
    }

    /// The store has it.
    pub fn confirm(&mut self, fingerprint: Fingerprint) {
        let (_, rest) = fingerprint.halves();
        self.confirmed[place(rest)] = rest;
    }

    /// Committed, with this depth.
    pub fn insert(&mut self, fingerprint: Fingerprint, depth: u16) {
        let (tag, rest) = fingerprint.halves();
        let value = tag | capped(depth);
        match self.fingerprints.find_mut(scatter(tag), |&slot| slot & !DEPTH_MASK == tag) {
            Some(slot) => *slot = value,
            None => {
                self.fingerprints
                    .insert_unique(scatter(tag), value, |&slot| scatter(slot & !DEPTH_MASK));
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
        self.fingerprints.reserve(more, |&slot| scatter(slot & !DEPTH_MASK));
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
        seen.insert(fingerprint, 3);
        assert_eq!(seen.look(fingerprint, 3), Sighting::Known);
        assert_eq!(seen.look(fingerprint, 2), Sighting::Ask { rises: true });
    }

    #[test]
    fn what_falls_out_of_the_cache_is_asked_of_the_store() {
        let mut seen = Seen::new(1);
        let prints: Vec<Fingerprint> =
            (0..3 * CACHE_SLOTS as u64).map(|n| seen.fingerprint_bytes(&n.to_be_bytes())).collect();
        prints.iter().for_each(|&p| seen.insert(p, 0));
        assert_eq!(seen.len(), prints.len());
        assert_eq!(seen.look(prints[5], 0), Sighting::Ask { rises: false });
        seen.confirm(prints[5]);
        assert_eq!(seen.look(prints[5], 0), Sighting::Known);
    }
}
