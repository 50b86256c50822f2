//! A fixed random sample of the pages: what the price is solved on.
//!
//! The pages with the smallest hashes of their numbers, so that a page is in it or not whatever
//! the order of arrival, and after a restart the same ones are.

use super::belief::Belief;
use super::scheduler::HostStanding;
use super::tuning::Rivals;
use crate::rng::mix;
use serde::{Deserialize, Serialize};

/// Enough for the demand of all to be known within 3 %; the lag of the calendar does the rest.
pub const SAMPLE_MAX: usize = 1024;

/// So that the sample has nothing to do with anybody else's use of the hash.
const SALT: u64 = 0x7265_6672_6573_6821;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledPage {
    hash: u64,
    pub belief: Belief,
    pub host: HostStanding,
    pub weight: f32,
    pub days_max: f32,
    /// The day of its last visit.
    pub visited: f64,
    /// What it would be believed to be if more or less were forgotten.
    pub rivals: Rivals,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageSample {
    /// By hash.
    pages: Vec<SampledPage>,
}

impl PageSample {
    pub fn pages(&self) -> &[SampledPage] {
        &self.pages
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The page's entry, if the sample wants it.
    pub fn entry(&mut self, page: u64) -> Option<&mut SampledPage> {
        let hash = mix(page ^ SALT);
        let is_full = self.pages.len() >= SAMPLE_MAX;
        if is_full && self.pages.last().is_some_and(|last| hash > last.hash) {
            return None;
        }
        let at = self.pages.partition_point(|known| known.hash < hash);
        if self.pages.get(at).is_none_or(|known| known.hash != hash) {
            self.pages.truncate(SAMPLE_MAX - 1);
            self.pages.insert(at, SampledPage::new(hash));
        }
        self.pages.get_mut(at)
    }

    /// A page that is visited no more.
    pub fn forget(&mut self, page: u64) {
        let hash = mix(page ^ SALT);
        self.pages.retain(|known| known.hash != hash);
    }
}

impl SampledPage {
    fn new(hash: u64) -> SampledPage {
        SampledPage {
            hash,
            belief: Belief::default(),
            host: HostStanding::default(),
            weight: 1.0,
            days_max: f32::MAX,
            visited: 0.0,
            rivals: Rivals::default(),
        }
    }
}
