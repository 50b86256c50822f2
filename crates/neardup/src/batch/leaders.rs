//! Leader clustering: a text joins an earlier leader that it is a near-duplicate of, or becomes
//! one.
//!
//! J. Hartigan, "Clustering Algorithms", 1975, chapter 3. Every member is a near-duplicate of its
//! leader, so any two members resemble each other by 2t - 1 at least: no chains. One pass in order
//! of appearance, since who leads depends on who came first.

use std::collections::HashMap;

use super::compare::Comparer;
use super::corpus::{Corpus, TextId};
use super::error::BatchError;

/// Leaders of a bucket that a text looks at, the latest first.
const LOOKED_AT_MAX: usize = 64;
/// Leaders that a text is compared with exactly, the most promising first.
const COMPARED_MAX: usize = 64;

/// Who leads whom.
pub struct Led {
    /// The leader of each text; a leader is its own.
    pub leaders: Vec<TextId>,
    /// Texts that became leaders though not all that could have led them were looked at.
    pub cut_short: u64,
}

impl Corpus {
    /// Chooses leaders: each text leads or resembles a leader.
    pub fn leaders(&self) -> Result<Led, BatchError> {
        let mut comparer = Comparer::new(self);
        let mut buckets = Buckets { latest: HashMap::new(), before: Vec::new() };
        let mut leaders: Vec<TextId> = Vec::with_capacity(self.texts());
        let mut found = Vec::new();
        let mut cut_short = 0;
        self.progress.begin(self.texts());
        for text in 0..self.texts() as TextId {
            let keys: Vec<u64> = self.bands.keys_of(&self.sketches[text as usize].0).collect();
            found.clear();
            let cut = keys.iter().fold(false, |cut, key| buckets.look(*key, &mut found) | cut);
            found.sort_unstable();
            found.dedup();
            let (leader, cut_again) = first_that_fits(&mut comparer, text, &found)?;
            if leader.is_none() {
                cut_short += u64::from(cut || cut_again);
                keys.iter().for_each(|key| buckets.add(*key, text));
            }
            leaders.push(leader.unwrap_or(text));
            self.progress.step();
        }
        Ok(Led { leaders, cut_short })
    }
}

/// The leader, if any fits; and whether there were more than could be compared.
fn first_that_fits(
    comparer: &mut Comparer<'_>,
    text: TextId,
    found: &[TextId],
) -> Result<(Option<TextId>, bool), BatchError> {
    let mut promising: Vec<(u32, TextId)> = found
        .iter()
        .filter(|leader| comparer.worth_comparing(text, **leader))
        .map(|leader| (comparer.agreeing(text, *leader), *leader))
        .collect();
    promising.sort_unstable_by_key(|(agreeing, leader)| (u32::MAX - agreeing, *leader));
    let cut = promising.len() > COMPARED_MAX;
    for (_, leader) in promising.into_iter().take(COMPARED_MAX) {
        if comparer.compare(text, leader)?.is_some() {
            return Ok((Some(leader), cut));
        }
    }
    Ok((None, cut))
}

/// The leaders of each bucket, as lists that lead from the latest to the one before it.
struct Buckets {
    latest: HashMap<u64, u32>,
    before: Vec<(TextId, u32)>,
}

/// The end of a list.
const NONE: u32 = u32::MAX;

impl Buckets {
    /// True if there are more of them than are looked at.
    fn look(&self, key: u64, found: &mut Vec<TextId>) -> bool {
        let mut at = self.latest.get(&key).copied().unwrap_or(NONE);
        for _ in 0..LOOKED_AT_MAX {
            let Some((leader, before)) = self.before.get(at as usize) else { return false };
            found.push(*leader);
            at = *before;
        }
        at != NONE
    }

    fn add(&mut self, key: u64, leader: TextId) {
        let before = self.latest.insert(key, self.before.len() as u32).unwrap_or(NONE);
        self.before.push((leader, before));
    }
}
