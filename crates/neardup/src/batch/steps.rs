//! The results of a comparison, step by step: a later process that has the steps goes on from them.
//!
//! The order of all keys is divided into parts, and parts are compared in any order. A part that
//! was not finished is compared again; its results so far do no harm: pairs are a set, and joining
//! two texts twice is joining them once.

use super::corpus::number;
use super::pairs::Match;
use super::runs::{PARTS, SortRecord};

/// Pairs found in a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairStep {
    part: usize,
    pub(super) pairs: Vec<Match>,
    /// What the whole part came to, if this was the last of it.
    pub(super) finished: Option<Tally>,
}

/// Of one part, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub compared: u64,
    pub cut_short: u64,
}

const HEAD_BYTES: usize = 18;

impl PairStep {
    pub(super) fn new(part: usize, pairs: Vec<Match>, finished: Option<Tally>) -> PairStep {
        PairStep { part, pairs, finished }
    }

    /// Appends what [`PairStep::from_bytes`] makes the same step of.
    pub fn to_bytes(&self, bytes: &mut Vec<u8>) {
        let Tally { compared, cut_short } = self.finished.unwrap_or_default();
        bytes.extend_from_slice(&[self.part as u8, u8::from(self.finished.is_some())]);
        bytes.extend_from_slice(&compared.to_le_bytes());
        bytes.extend_from_slice(&cut_short.to_le_bytes());
        self.pairs.iter().for_each(|pair| pair.write(bytes));
    }

    /// None if these are not the bytes of a step.
    pub fn from_bytes(bytes: &[u8]) -> Option<PairStep> {
        let ([part, finished, tally @ ..], pairs) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let (compared, cut_short) = tally.split_at(8);
        let tally = Tally { compared: number(compared), cut_short: number(cut_short) };
        let (pairs, rest) = pairs.as_chunks::<{ Match::BYTES }>();
        let pairs = pairs.iter().map(|pair| Match::read(pair)).collect();
        let part = usize::from(*part);
        let step = PairStep { part, pairs, finished: (*finished != 0).then_some(tally) };
        (part < PARTS && rest.is_empty()).then_some(step)
    }
}

/// Which parts are finished, and what they came to.
pub(super) struct Parts {
    finished: [bool; PARTS],
    pub tally: Tally,
}

impl Parts {
    /// By the steps of an earlier process; `take` has what they found.
    pub fn after<E>(
        steps: impl Iterator<Item = Result<PairStep, E>>,
        mut take: impl FnMut(Vec<Match>) -> Result<(), E>,
    ) -> Result<Parts, E> {
        let mut parts = Parts { finished: [false; PARTS], tally: Tally::default() };
        for step in steps {
            let PairStep { part, pairs, finished } = step?;
            if let Some(Tally { compared, cut_short }) = finished {
                parts.finished[part] = true;
                parts.tally.compared += compared;
                parts.tally.cut_short += cut_short;
            }
            take(pairs)?;
        }
        Ok(parts)
    }

    pub fn has(&self, part: usize) -> bool {
        self.finished[part]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::{BatchError, BatchSettings, Corpus, DocumentBlock, DocumentSigner};
    use super::*;

    /// Forty families of ten texts that differ by a word or two.
    fn corpus() -> Corpus {
        let (mut block, mut signer) = (DocumentBlock::default(), DocumentSigner::new(4));
        for text in 0..400 {
            let own = |n: usize| if n == 7 * (text % 10) { text } else { 0 };
            let words = (0..80).map(|n| format!("f{}w{n}o{} ", text / 10, own(n)));
            signer.sign(&words.collect::<String>(), &mut block);
        }
        let mut corpus = Corpus::new(BatchSettings::default());
        corpus.add(block).expect("room");
        corpus
    }

    fn known(steps: &[Vec<u8>]) -> impl Iterator<Item = Result<PairStep, BatchError>> + '_ {
        steps.iter().map(|bytes| Ok(PairStep::from_bytes(bytes).expect("a step")))
    }

    #[test]
    fn whatever_is_known_of_a_comparison_its_end_is_the_same() {
        let steps = Mutex::new(Vec::new());
        let keep = |step: &PairStep| {
            let mut bytes = Vec::new();
            step.to_bytes(&mut bytes);
            assert_eq!(PairStep::from_bytes(&bytes).as_ref(), Some(step));
            assert_eq!(PairStep::from_bytes(&bytes[1..]), None);
            steps.lock().expect("no panic").push(bytes);
            Ok::<(), BatchError>(())
        };
        let pairs =
            |known: &[Vec<u8>], keep: &(dyn Fn(&PairStep) -> Result<(), BatchError> + Sync)| {
                let found = corpus().matches_after(self::known(known), keep).expect("room");
                let (compared, mut pairs) = (found.compared, Vec::new());
                let each = found.each(|pair| {
                    pairs.push(pair);
                    Ok::<(), BatchError>(())
                });
                each.expect("room");
                (compared, pairs)
            };
        let whole = pairs(&[], &keep);
        assert!(whole.1.len() > 1780, "{} of 1,800 pairs", whole.1.len());
        let mut kept = std::mem::take(&mut *steps.lock().expect("no panic"));
        for count in [0, 1, 20, kept.len()] {
            assert_eq!(pairs(&kept[..count], &|_| Ok(())), whole, "after {count} steps");
        }
        // A part that was begun and not finished.
        let mut step = PairStep::from_bytes(&kept[20]).expect("a step");
        assert!(step.pairs.len() > 1);
        step.finished = None;
        kept[20].clear();
        step.to_bytes(&mut kept[20]);
        assert_eq!(pairs(&kept[..21], &|_| Ok(())), whole);

        corpus().links_after(std::iter::empty(), keep).expect("room");
        let kept = steps.into_inner().expect("no panic");
        for count in [0, 1, 20, kept.len()] {
            let again = |_: &PairStep| Ok(());
            let links = corpus().links_after(known(&kept[..count]), again).expect("room");
            assert!((0..400).all(|text| links.union.root(text) == text / 10 * 10), "{count}");
        }
    }
}
