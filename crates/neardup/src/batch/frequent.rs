//! Leaves out common shingles: those in more than a given share of all texts, such as licences and
//! the text that a site repeats on every page.
//!
//! A. Broder, S. Glassman, M. Manasse, G. Zweig, "Syntactic Clustering of the Web", 1997, section
//! 4: common shingles cost the most and tell the least. Resemblance is then that of the sets
//! without them, so the number of shingles left out is reported.
//!
//! A sieve of counters, several shingles to each, finds the candidates; these are counted exactly.
//! Copies of one text count once.

use std::collections::{HashMap, HashSet};

use super::corpus::{BandKey, Corpus, TextId};
use super::error::BatchError;
use super::sets::Room;
use super::wide::Wide;
use crate::sketch::Minima;

/// Counters of the sieve, at least; more if there are more shingles and memory allows it.
const COUNTERS_MIN: usize = 1 << 16;
/// Bytes that a shingle takes while it is counted exactly.
const COUNTED_BYTES: usize = 32;

/// What was left out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Common {
    /// Different shingles that are common.
    pub shingles: usize,
    /// How often they stood in a set.
    pub occurrences: u64,
    /// Texts that have no other shingles: they resemble nothing from now on.
    pub emptied: usize,
}

impl Corpus {
    /// Leaves out all shingles that are in more than this share of the texts, and in two at least.
    /// To be called when all documents were added.
    ///
    /// # Panics
    ///
    /// If pairs or links were asked for before.
    pub fn leave_out_common(&mut self, share: f64) -> Result<Common, BatchError> {
        let common = self.common(share)?;
        self.renew_keys();
        let mut out = Common { shingles: common.shingles.len(), occurrences: 0, emptied: 0 };
        let mut room = Room::default();
        for text in 0..self.texts() {
            let before = self.places[text].len;
            let kept = |print| !common.has(print);
            self.sets.retain(&mut self.places[text], &mut room, kept)?;
            let place = self.places[text];
            out.occurrences += u64::from(before - place.len);
            match Minima::of_set(self.sets.get(place, &mut room)?) {
                Some(minima) => self.sketches[text] = Wide::of(&minima),
                None => out.emptied += 1,
            }
            if place.len > 0 {
                self.push_keys(text as TextId)?;
            }
            self.progress.step();
        }
        Ok(out)
    }

    fn common(&self, share: f64) -> Result<Shingles, BatchError> {
        self.progress.begin(3 * self.texts());
        let total: usize = self.places.iter().map(|place| place.len as usize).sum();
        let memory = self.settings.memory_bytes / 4;
        let counters_max = (memory / size_of::<u32>()).max(COUNTERS_MIN);
        let counters = (total / 4).clamp(COUNTERS_MIN, counters_max).next_power_of_two();
        let limit = (share * self.texts() as f64).max(1.0);
        let sieve = Sieve { limit, counters: vec![0; counters] };
        let mut found = Shingles { sieve, shingles: HashSet::new() };
        self.each_set(|set| {
            set.iter().for_each(|print| found.sieve.count(*print));
            Ok(())
        })?;
        let counted_max = memory.max(1 << 20) / COUNTED_BYTES;
        let mut counts: HashMap<u64, u32> = HashMap::new();
        self.each_set(|set| {
            for print in set.iter().filter(|print| found.sieve.passes(**print)) {
                *counts.entry(*print).or_insert(0) += 1;
            }
            match counts.len() > counted_max {
                true => {
                    Err(BatchError::too_many("shingles to count: raise the share or the memory"))
                }
                false => Ok(()),
            }
        })?;
        counts.retain(|_, count| f64::from(*count) > limit);
        found.shingles = counts.into_keys().collect();
        Ok(found)
    }

    fn each_set(
        &self,
        mut take: impl FnMut(&[u64]) -> Result<(), BatchError>,
    ) -> Result<(), BatchError> {
        let mut room = Room::default();
        for place in &self.places {
            take(self.sets.get(*place, &mut room)?)?;
            self.progress.step();
        }
        Ok(())
    }
}

impl Corpus {
    /// Puts a text into the buckets of its sketch.
    pub(super) fn push_keys(&mut self, text: TextId) -> Result<(), BatchError> {
        let keys = self.keys.as_mut().expect("documents come before questions");
        let of_text = self.bands.keys_of(&self.sketches[text as usize].0);
        of_text.map(|key| BandKey { key, text }).try_for_each(|key| keys.push(key))
    }
}

/// The common shingles; the sieve answers most questions without a look-up.
struct Shingles {
    sieve: Sieve,
    shingles: HashSet<u64>,
}

impl Shingles {
    fn has(&self, print: u64) -> bool {
        self.sieve.passes(print) && self.shingles.contains(&print)
    }
}

struct Sieve {
    limit: f64,
    counters: Vec<u32>,
}

impl Sieve {
    fn at(&self, print: u64) -> usize {
        // Not the first bits: sets are sorted by them, and neighbours must not share a counter.
        print as usize & (self.counters.len() - 1)
    }

    fn count(&mut self, print: u64) {
        let at = self.at(print);
        self.counters[at] = self.counters[at].saturating_add(1);
    }

    fn passes(&self, print: u64) -> bool {
        f64::from(self.counters[self.at(print)]) > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BatchSettings, DocumentBlock, DocumentSigner};
    use super::*;

    #[test]
    fn texts_that_share_only_a_common_frame_are_no_longer_alike() {
        let frame: String = (0..60).map(|n| format!("frame{n} ")).collect();
        let own = |text: usize, version: usize| -> String {
            (0..10).map(|n| format!("own{text}x{} ", n + 100 * (n / 9 * version))).collect()
        };
        let dir = tempfile::tempdir().expect("a directory");
        for memory_bytes in [1 << 30, 0] {
            let dir = dir.path().to_owned();
            let settings =
                BatchSettings { memory_bytes, dir, threshold: 0.7, ..BatchSettings::default() };
            let mut signer = DocumentSigner::new(settings.words);
            let pairs = |leaves_out: bool, signer: &mut DocumentSigner| {
                let mut block = DocumentBlock::default();
                // Ten texts within one frame; the last two differ in one word of their own.
                for (text, version) in (0..9).map(|text| (text, 0)).chain([(8, 1)]) {
                    signer.sign(&format!("{frame}{}", own(text, version)), &mut block);
                }
                signer.sign(&frame, &mut block);
                let mut corpus = Corpus::new(settings.clone());
                corpus.add(block).expect("room");
                let common = leaves_out.then(|| corpus.leave_out_common(0.5).expect("room"));
                let mut pairs = Vec::new();
                let found = corpus.matches().expect("room").each(|found| {
                    pairs.push((found.a, found.b));
                    Ok::<(), BatchError>(())
                });
                found.expect("room");
                (common, pairs)
            };
            assert!(pairs(false, &mut signer).1.len() > 20, "the frame makes them alike");
            let (common, pairs) = pairs(true, &mut signer);
            let expected = Common { shingles: 57, occurrences: 11 * 57, emptied: 1 };
            assert_eq!(common, Some(expected), "{memory_bytes}");
            assert_eq!(pairs, [(8, 9)], "{memory_bytes}");
        }
    }
}
