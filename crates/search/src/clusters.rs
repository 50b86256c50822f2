//! Clusters of pages whose texts are nearly the same, found while they are indexed.
//!
//! As in a crawl (docs/decisions/0010-leaders.md): a page that resembles a leader by
//! [`RESEMBLANCE_MIN`] or more is a member of its cluster, any other page with words leads one of
//! its own. Candidates come from bands of slots in memory, and each is verified on the sets of
//! shingles. Leaders take 95 bytes of memory each; of more than [`LEADERS_MAX`] the oldest are
//! forgotten. A member resembles its leader; two members may differ by twice as much.

use rhumb_neardup::fine::{FINE_BYTES, Fine};
use rhumb_neardup::online::{LEADERS_MAX, LeaderIndex};
use rhumb_neardup::resemblance::{append_set, overlap};
use rhumb_neardup::shingle::{WORDS_DEFAULT, fingerprints};
use rhumb_neardup::sketch::Sketch;

use crate::beside::SLOTS;

/// Texts that resemble each other as much as this are nearly the same.
pub const RESEMBLANCE_MIN: f64 = 0.8;
/// Candidates that are verified of one page.
const CANDIDATES_MAX: usize = 8;

/// Shingles of a text, ascending, each once.
pub fn shingles(text: &str) -> Vec<u64> {
    let mut prints = Vec::new();
    fingerprints(text, WORDS_DEFAULT, &mut prints);
    let (mut set, mut ends) = (Vec::new(), Vec::new());
    append_set(&mut prints, &mut set, &mut ends);
    set
}

/// How alike two texts are, from their shingles.
pub fn resemblance(a: &[u64], b: &[u64]) -> f64 {
    overlap(a, b).resemblance()
}

/// Clusters so far.
pub struct TextClusters {
    leaders: LeaderIndex,
}

/// Where a page belongs.
pub struct ClusterPlace {
    /// None if it leads.
    pub leader: Option<u32>,
    pub slots: [u8; SLOTS],
}

impl Default for TextClusters {
    fn default() -> TextClusters {
        TextClusters { leaders: LeaderIndex::new(LEADERS_MAX, RESEMBLANCE_MIN) }
    }
}

impl TextClusters {
    /// Finds the cluster of a text. `text_of` reads that of a leader.
    pub fn place<E>(
        &self,
        text: &str,
        mut text_of: impl FnMut(u32) -> Result<String, E>,
    ) -> Result<ClusterPlace, E> {
        let mut prints = Vec::new();
        fingerprints(text, WORDS_DEFAULT, &mut prints);
        let Some(sketch) = Sketch::of(&prints) else {
            return Ok(ClusterPlace { leader: None, slots: [0; SLOTS] });
        };
        let slots = sketch.slots;
        let candidates = self.leaders.candidates(&sketch);
        if candidates.is_empty() {
            return Ok(ClusterPlace { leader: None, slots });
        }
        let (mut set, mut ends) = (Vec::new(), Vec::new());
        append_set(&mut prints, &mut set, &mut ends);
        for candidate in candidates.iter().take(CANDIDATES_MAX) {
            let theirs = shingles(&text_of(candidate.leader)?);
            if resemblance(&set, &theirs) >= RESEMBLANCE_MIN {
                return Ok(ClusterPlace { leader: Some(candidate.leader), slots });
            }
        }
        Ok(ClusterPlace { leader: None, slots })
    }

    /// Takes a page that leads.
    pub fn lead(&mut self, number: u32, slots: &[u8; SLOTS]) {
        if slots.iter().any(|slot| *slot != 0) {
            // Leaders are met by their slots alone.
            self.leaders.add(number, &Sketch { slots: *slots, fine: Fine([0; FINE_BYTES]) });
        }
    }
}
