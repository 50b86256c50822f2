//! Rows in memory by key, with a hash that has no secret.
//!
//! For keys that no stranger can choose: those of a simulation, and fingerprints that contain a
//! secret already. The map has no order; callers that need one sort.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A map that hashes quickly, and on every run alike.
pub type PlainMap<K, V> = HashMap<K, V, BuildHasherDefault<PlainHasher>>;
pub type PlainSet<K> = HashSet<K, BuildHasherDefault<PlainHasher>>;

/// Odd, and no pattern in its bits: the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Default)]
pub struct PlainHasher(u64);

impl Hasher for PlainHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(SPREAD);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    /// A fingerprint, as good as any hash.
    fn write_u128(&mut self, value: u128) {
        self.0 ^= value as u64;
    }

    /// The low bits of a product know the least, and tables look at them first.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// Rows that come and are replaced, and seldom go.
#[derive(Clone, Debug)]
pub struct PlainTable<K, V>(PlainMap<K, V>);

impl<K, V> Default for PlainTable<K, V> {
    fn default() -> PlainTable<K, V> {
        PlainTable(PlainMap::default())
    }
}

impl<K: Hash + Ord, V> PlainTable<K, V> {
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    pub fn contains_key(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    pub fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, value);
    }

    pub fn remove(&mut self, key: &K) {
        self.0.remove(key);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In no order: for counts and sums.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// In no order: for counts and sums.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.values()
    }

    /// In the order of their keys.
    pub fn sorted(&self) -> Vec<(&K, &V)> {
        let mut all: Vec<(&K, &V)> = self.0.iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    #[test]
    fn numbers_and_texts_that_differ_little_are_far_apart_in_the_table() {
        let hasher = BuildHasherDefault::<PlainHasher>::default();
        let low = |hash: u64| hash & 0xfff;
        let numbers: HashSet<u64> = (0..4_096u64).map(|n| low(hasher.hash_one(n << 20))).collect();
        let texts: HashSet<u64> =
            (0..4_096).map(|n| low(hasher.hash_one(format!("http://a.test/{n}")))).collect();
        // Chance would leave 63 of 100 places taken.
        assert!(numbers.len() > 2_000 && texts.len() > 2_000, "{} {}", numbers.len(), texts.len());
    }

    #[test]
    fn rows_are_replaced_and_sorted_when_asked() {
        let mut table = PlainTable::default();
        [3, 1, 2, 1].iter().zip(0..).for_each(|(key, value)| table.insert(*key, value));
        assert_eq!((table.len(), table.get(&1)), (3, Some(&3)));
        assert_eq!(table.sorted(), [(&1, &3), (&2, &2), (&3, &0)]);
    }
}
