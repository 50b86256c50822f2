//! Are two texts that met in a bucket near-duplicates? The cheap questions first, the exact answer
//! last.

use super::corpus::{Corpus, TextId};
use super::difference::Differences;
use super::error::BatchError;
use super::sets::Room;
use super::wide::FirstBand;
use crate::estimate::SlotBits;
use crate::resemblance::{Overlap, overlap};

/// A pair whose estimate is so many standard errors below the threshold is not looked at: one in
/// 40,000 pairs exactly at the threshold.
const ERRORS_FORGIVEN: f64 = 4.07;
/// Lengths of texts, in steps of 16 shingles, that have a bound of their own: longer ones fill the
/// slots of their sketches.
const SHORT_STEPS: usize = 32;
const SHORT_STEP: u32 = 16;

pub struct Comparer<'a> {
    corpus: &'a Corpus,
    /// Slots that must agree, by the length of the shorter text.
    agreeing_min: [u32; SHORT_STEPS + 1],
    first_band: FirstBand,
    left: Room,
    /// The set of this text is in `left`.
    left_is: Option<TextId>,
    right: Room,
    hub: Room,
    /// The set of this text is in `hub`.
    hub_is: Option<TextId>,
    /// Pairs compared exactly.
    pub compared: u64,
}

impl<'a> Comparer<'a> {
    pub fn new(corpus: &'a Corpus) -> Comparer<'a> {
        let threshold = corpus.settings.threshold;
        let agreeing_min = std::array::from_fn(|step| {
            let shingles = u64::from(SHORT_STEP) * step as u64;
            SlotBits::PAIRS_OF_BYTES.agreeing_min(threshold, ERRORS_FORGIVEN, shingles)
        });
        Comparer {
            corpus,
            agreeing_min,
            first_band: FirstBand::new(corpus.bands),
            left: Room::default(),
            left_is: None,
            right: Room::default(),
            hub: Room::default(),
            hub_is: None,
            compared: 0,
        }
    }

    /// May they be near-duplicates? Asked in every band where they meet, answered in the first.
    pub fn worth_comparing_in(&self, band: usize, a: TextId, b: TextId) -> bool {
        if !self.sizes_allow(a, b) {
            return false;
        }
        let agreement = self.agreement(a, b);
        self.estimate_allows(a, b, agreement) && self.first_band.of(agreement) == Some(band)
    }

    /// May they be near-duplicates?
    pub fn worth_comparing(&self, a: TextId, b: TextId) -> bool {
        self.sizes_allow(a, b) && self.estimate_allows(a, b, self.agreement(a, b))
    }

    /// Their overlap, if they are near-duplicates.
    pub fn compare(&mut self, a: TextId, b: TextId) -> Result<Option<Overlap>, BatchError> {
        let Corpus { sets, places, settings, .. } = self.corpus;
        self.compared += 1;
        // Pairs come in order of their first text: its set is read once.
        if self.left_is != Some(a) {
            self.left_is = None;
            sets.get(places[a as usize], &mut self.left)?;
            self.left_is = Some(a);
        }
        let left = sets.again(places[a as usize], &self.left);
        let right = sets.get(places[b as usize], &mut self.right)?;
        let found = overlap(left, right);
        Ok((found.resemblance() >= settings.threshold).then_some(found))
    }

    /// As [`Comparer::compare`], of the texts at two places of a bucket, by their differences to
    /// its first text.
    pub fn compare_by(
        &mut self,
        differences: &mut Differences,
        texts: &[TextId],
        [a, b]: [usize; 2],
    ) -> Result<Option<Overlap>, BatchError> {
        self.learn(differences, texts, a)?;
        self.learn(differences, texts, b)?;
        let Corpus { places, settings, .. } = self.corpus;
        let len = |place: usize| places[texts[place] as usize].len;
        let Some(both) = differences.both(len(0) as usize, a, b) else {
            return self.compare(texts[a], texts[b]);
        };
        self.compared += 1;
        let both = both as u32;
        let found = Overlap { both, either: len(a) + len(b) - both };
        Ok((found.resemblance() >= settings.threshold).then_some(found))
    }

    fn learn(
        &mut self,
        differences: &mut Differences,
        texts: &[TextId],
        place: usize,
    ) -> Result<(), BatchError> {
        if differences.knows(place) {
            return Ok(());
        }
        let Corpus { sets, places, .. } = self.corpus;
        let hub_place = places[texts[0] as usize];
        if self.hub_is != Some(texts[0]) {
            self.hub_is = None;
            sets.get(hub_place, &mut self.hub)?;
            self.hub_is = Some(texts[0]);
        }
        let hub = sets.again(hub_place, &self.hub);
        let set = sets.get(places[texts[place] as usize], &mut self.right)?;
        differences.learn(place, hub, set);
        Ok(())
    }

    /// The smaller set is at most the overlap, the larger one at least the union.
    fn sizes_allow(&self, a: TextId, b: TextId) -> bool {
        let [a, b] = [a, b].map(|text| self.corpus.places[text as usize].len);
        f64::from(a.min(b)) >= self.corpus.settings.threshold * f64::from(a.max(b))
    }

    /// Slots of their sketches that agree.
    pub fn agreeing(&self, a: TextId, b: TextId) -> u32 {
        self.agreement(a, b).count_ones()
    }

    fn agreement(&self, a: TextId, b: TextId) -> u128 {
        let sketches = &self.corpus.sketches;
        sketches[a as usize].agreement(&sketches[b as usize])
    }

    fn estimate_allows(&self, a: TextId, b: TextId, agreement: u128) -> bool {
        let [a, b] = [a, b].map(|text| self.corpus.places[text as usize].len);
        let step = (a.min(b) / SHORT_STEP) as usize;
        agreement.count_ones() >= self.agreeing_min[step.min(SHORT_STEPS)]
    }
}
