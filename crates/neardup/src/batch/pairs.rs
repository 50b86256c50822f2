//! All pairs of near-duplicate texts, each once, verified exactly.
//!
//! The keys of all bands, sorted, put texts that agree in a band next to each other: a bucket. Of
//! two texts that meet in several buckets, the one of their first band compares them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compare::Comparer;
use super::corpus::{BandKey, Corpus, TextId, number};
use super::difference::Differences;
use super::error::BatchError;
use super::runs::{Merge, PARTS, SortRecord, Sorted, Sorter};
use super::steps::{PairStep, Parts, Tally};
use super::workers::share;
use crate::bands::Bands;
use crate::resemblance::Overlap;

/// Two near-duplicate texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Match {
    /// Less than b.
    pub a: TextId,
    /// The other text, with the greater number.
    pub b: TextId,
    pub(super) both: u32,
    pub(super) either: u32,
}

impl Match {
    /// What the two sets share.
    pub fn overlap(&self) -> Overlap {
        Overlap { both: self.both, either: self.either }
    }

    /// Shared shingles divided by all.
    pub fn resemblance(&self) -> f64 {
        self.overlap().resemblance()
    }
}

/// All pairs, in the order of their texts.
pub struct Matches {
    sorted: Sorted<Match>,
    /// Pairs compared exactly to find them.
    pub compared: u64,
}

impl Matches {
    /// Hands over all pairs, once.
    pub fn each<E: From<BatchError>>(
        self,
        mut take: impl FnMut(Match) -> Result<(), E>,
    ) -> Result<(), E> {
        for part in 0..PARTS {
            let mut merge = self.sorted.part(part)?;
            let mut last = None;
            while let Some(found) = merge.next()? {
                // A part that an earlier process began may have been done again.
                if last.replace(found) != Some(found) {
                    take(found)?;
                }
            }
        }
        Ok(())
    }

    /// Bytes that went through the disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.sorted.spilled_bytes()
    }
}

impl Corpus {
    /// Finds all pairs of near-duplicate texts. Copies of one text are one text: see
    /// [`Corpus::copies`].
    ///
    /// # Panics
    ///
    /// If pairs or links were asked for before: the keys are used up by it.
    pub fn matches(&mut self) -> Result<Matches, BatchError> {
        self.matches_after(std::iter::empty(), |_| Ok(()))
    }

    /// As [`Corpus::matches`], after what an earlier process with the same documents and settings
    /// has found; `keep` is handed every further step.
    ///
    /// # Panics
    ///
    /// If pairs or links were asked for before, or the steps are those of other documents.
    pub fn matches_after<E: From<BatchError> + Send>(
        &mut self,
        known: impl Iterator<Item = Result<PairStep, E>>,
        keep: impl Fn(&PairStep) -> Result<(), E> + Sync,
    ) -> Result<Matches, E> {
        let keys = self.take_keys();
        let memory = self.settings.memory_bytes / 4;
        let part = |found: &Match, texts: u32| {
            (u64::from(found.a) * PARTS as u64 / u64::from(texts)) as usize
        };
        let texts = self.texts().max(1) as u32;
        let mut sorter = Sorter::new(&self.settings.dir, memory, part, texts);
        let parts = Parts::after(known, |pairs| {
            Ok(pairs.into_iter().try_for_each(|pair| sorter.push(pair))?)
        })?;
        let (sorter, compared) = (Mutex::new(sorter), AtomicU64::new(parts.tally.compared));
        let hand_over = |step: PairStep| -> Result<(), E> {
            keep(&step)?;
            let mut sorter = sorter.lock().expect("no thread panicked");
            Ok(step.pairs.into_iter().try_for_each(|pair| sorter.push(pair))?)
        };
        self.progress.begin(PARTS);
        share::<E>(self.settings.threads, PARTS, |part| {
            if !parts.has(part) {
                let mut comparer = Comparer::new(self);
                let mut bucket = Bucket::default();
                each_bucket(keys.part(part)?, |band, texts| {
                    bucket.pairs(&mut comparer, band, texts, |pairs| {
                        hand_over(PairStep::new(part, pairs, None))
                    })
                })?;
                let tally = Tally { compared: comparer.compared, cut_short: 0 };
                compared.fetch_add(tally.compared, Ordering::Relaxed);
                hand_over(PairStep::new(part, bucket.found, Some(tally)))?;
            }
            self.progress.step();
            Ok(())
        })?;
        let sorted = sorter.into_inner().expect("no thread panicked").finish();
        Ok(Matches { sorted, compared: compared.into_inner() })
    }
}

/// Pairs that a thread gathers before it asks for the lock.
const HANDED_OVER: usize = 4096;

/// Pairs of a text in one bucket from which on it pays to learn how it differs from the hub: that
/// costs as much as three comparisons.
const DIFFERENCE_PAYS: usize = 6;

/// What a thread keeps from bucket to bucket.
#[derive(Default)]
struct Bucket {
    differences: Differences,
    /// Places of the texts that one text is to be compared with.
    others: Vec<usize>,
    /// Pairs that were not yet handed over: of the latest text, and few more.
    found: Vec<Match>,
}

impl Bucket {
    fn pairs<E: From<BatchError>>(
        &mut self,
        comparer: &mut Comparer<'_>,
        band: usize,
        texts: &[TextId],
        hand_over: impl Fn(Vec<Match>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Bucket { differences, others, found } = self;
        differences.begin(texts.len());
        for (at, &a) in texts.iter().enumerate() {
            let worth = |other: &usize| comparer.worth_comparing_in(band, a, texts[*other]);
            others.clear();
            others.extend((at + 1..texts.len()).filter(worth));
            let by_difference = others.len() >= DIFFERENCE_PAYS;
            for &other in &*others {
                let b = texts[other];
                let overlap = if by_difference {
                    comparer.compare_by(differences, texts, [at, other])?
                } else {
                    comparer.compare(a, b)?
                };
                if let Some(Overlap { both, either }) = overlap {
                    found.push(Match { a, b, both, either });
                }
            }
            // Not only at the end: all pairs of a crowded bucket may be more than memory holds.
            if found.len() >= HANDED_OVER {
                hand_over(std::mem::take(found))?;
            }
        }
        Ok(())
    }
}

/// Hands over every bucket of two texts or more, the texts ascending.
pub(super) fn each_bucket<E: From<BatchError>>(
    mut keys: Merge<'_, BandKey>,
    mut take: impl FnMut(usize, &[TextId]) -> Result<(), E>,
) -> Result<(), E> {
    let mut texts = Vec::new();
    let mut current = None;
    while let Some(BandKey { key, text }) = keys.next()? {
        if current != Some(key) {
            if let (Some(key), 2..) = (current, texts.len()) {
                take(Bands::band_of(key), &texts)?;
            }
            current = Some(key);
            texts.clear();
        }
        texts.push(text);
    }
    match (current, texts.len()) {
        (Some(key), 2..) => take(Bands::band_of(key), &texts),
        _ => Ok(()),
    }
}

impl SortRecord for Match {
    const BYTES: usize = 16;

    fn write(&self, bytes: &mut Vec<u8>) {
        for field in [self.a, self.b, self.both, self.either] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
    }

    fn read(bytes: &[u8]) -> Match {
        let field = |at: usize| number(&bytes[4 * at..4 * at + 4]) as u32;
        Match { a: field(0), b: field(1), both: field(2), either: field(3) }
    }
}
