//! Finds which texts are connected by near-duplicate pairs, without finding all pairs.
//!
//! A bucket of n near-identical texts has n²/2 pairs, and n - 1 of them connect it. So a text is
//! compared only with clusters of its bucket that it is not joined with yet, and with a few members
//! of each.

use std::sync::atomic::{AtomicU64, Ordering};

use super::compare::Comparer;
use super::corpus::{Corpus, TextId};
use super::error::BatchError;
use super::pairs::{Match, each_bucket};
use super::runs::PARTS;
use super::steps::{PairStep, Parts, Tally};
use super::union::Union;
use super::workers::share;
use crate::resemblance::Overlap;

/// Members of a cluster that a text is compared with in one bucket. A text may fail with one end of
/// a chain and fit the other; beyond this many it has to meet its like in another bucket.
const HUBS_MAX: usize = 64;
/// Clusters of a bucket that a text is compared with.
const CLUSTERS_MAX: usize = 1024;

/// What is connected.
pub struct PairLinks {
    /// Which texts are connected.
    pub union: Union,
    /// How often a text was not compared with all of a cluster of its bucket, or with all clusters,
    /// because they were too many: links that may be missing, unless found in another bucket.
    pub cut_short: u64,
}

impl Corpus {
    /// Joins all texts that are connected by pairs of near-duplicates. Linear in the number of
    /// texts even if all of them are alike.
    ///
    /// # Panics
    ///
    /// If pairs or links were asked for before: the keys are used up by it.
    pub fn links(&mut self) -> Result<PairLinks, BatchError> {
        self.links_after(std::iter::empty(), |_| Ok(()))
    }

    /// As [`Corpus::links`], after what an earlier process with the same documents and settings has
    /// found; `keep` is handed every further step.
    ///
    /// # Panics
    ///
    /// If pairs or links were asked for before, or the steps are those of other documents.
    pub fn links_after<E: From<BatchError> + Send>(
        &mut self,
        known: impl Iterator<Item = Result<PairStep, E>>,
        keep: impl Fn(&PairStep) -> Result<(), E> + Sync,
    ) -> Result<PairLinks, E> {
        let keys = self.take_keys();
        let union = Union::new(self.texts());
        let parts = Parts::after(known, |pairs| {
            pairs.iter().for_each(|pair| union.join(pair.a, pair.b));
            Ok(())
        })?;
        let cut_short = AtomicU64::new(parts.tally.cut_short);
        self.progress.begin(PARTS);
        share::<E>(self.settings.threads, PARTS, |part| {
            if !parts.has(part) {
                let mut linker =
                    Linker { comparer: Comparer::new(self), union: &union, joined: Vec::new() };
                let mut tally = Tally::default();
                each_bucket(keys.part(part)?, |_, texts| {
                    tally.cut_short += linker.bucket(texts)?;
                    Ok::<(), E>(())
                })?;
                cut_short.fetch_add(tally.cut_short, Ordering::Relaxed);
                keep(&PairStep::new(part, linker.joined, Some(tally)))?;
            }
            self.progress.step();
            Ok(())
        })?;
        Ok(PairLinks { union, cut_short: cut_short.into_inner() })
    }
}

/// A cluster met in a bucket: those of its members to compare with, and whether it has more.
struct Met {
    hubs: Vec<TextId>,
    has_more: bool,
}

/// What a thread joins texts with.
struct Linker<'a> {
    comparer: Comparer<'a>,
    union: &'a Union,
    /// Pairs that joined what was apart: fewer than there are texts.
    joined: Vec<Match>,
}

impl Linker<'_> {
    /// How often a comparison was cut short.
    fn bucket(&mut self, texts: &[TextId]) -> Result<u64, BatchError> {
        let mut clusters: Vec<Met> = Vec::new();
        let mut cut_short = 0;
        let mut too_many = false;
        for &text in texts {
            let mut home = None;
            for (at, Met { hubs, has_more }) in clusters.iter().enumerate() {
                if self.union.joined(text, hubs[0]) || self.fits(text, hubs)? {
                    home.get_or_insert(at);
                } else {
                    cut_short += u64::from(*has_more);
                }
            }
            cut_short += u64::from(too_many);
            match home {
                Some(at) if clusters[at].hubs.len() < HUBS_MAX => clusters[at].hubs.push(text),
                Some(at) => clusters[at].has_more = true,
                None if clusters.len() < CLUSTERS_MAX => {
                    clusters.push(Met { hubs: vec![text], has_more: false });
                }
                None => too_many = true,
            }
        }
        Ok(cut_short)
    }

    /// Joins a text with a cluster if it is a near-duplicate of one of its hubs.
    fn fits(&mut self, text: TextId, hubs: &[TextId]) -> Result<bool, BatchError> {
        for &hub in hubs {
            if self.comparer.worth_comparing(text, hub)
                && let Some(Overlap { both, either }) = self.comparer.compare(text, hub)?
            {
                self.union.join(text, hub);
                self.joined.push(Match { a: hub, b: text, both, either });
                return Ok(true);
            }
        }
        Ok(false)
    }
}
