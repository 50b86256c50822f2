//! Near-duplicates: leaders, and the pages that nearly repeat them.
//!
//! A page whose text resembles no leader's becomes a leader; one that does is its member. Only
//! leaders are compared with, so every member resembles its leader, and a chain of small changes
//! does not join what has nothing in common. Texts are compared by their sketches alone.

use rhumb_neardup::Sketch;
use rhumb_neardup::estimate::Slots;
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};

pub use rhumb_neardup::online::LeaderId;

use crate::record::Twin;

/// A sketch errs by a few per cent. A page at the threshold is missed once in six times if one
/// standard error is forgiven, and every second time if none is.
const ERRORS_FORGIVEN: f64 = 1.0;
/// Shingles of a text whose sketch has no empty slots to speak of.
const SHINGLES_MANY: u64 = 1_000;

/// A page that others may nearly repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    pub url: Url,
    pub sketch: Box<Sketch>,
}

/// What a page nearly repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    /// Its leader.
    pub url: Url,
    /// Slots of the two sketches that agree.
    pub agreeing: u8,
}

impl Near {
    /// As far as sketches tell, from 0 to 1.
    pub fn resemblance(&self) -> f64 {
        Slots::BYTES.estimate(u32::from(self.agreeing)).resemblance
    }
}

/// What the state knows of a page's bytes and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    New,
    /// The bytes are known; nobody has looked at the text.
    Same(Twin),
    Near(Near),
}

/// The least number of agreeing slots of near-duplicates.
pub fn agreeing_min(threshold: f64) -> u32 {
    Slots::BYTES.agreeing_min(threshold, ERRORS_FORGIVEN, SHINGLES_MANY)
}

/// The most alike of these leaders, if any is alike enough; of equals, the first.
pub fn nearest<'a>(
    sketch: &Sketch,
    leaders: impl IntoIterator<Item = &'a Leader>,
    agreeing_min: u32,
) -> Option<Near> {
    let mut nearest: Option<(u32, &Leader)> = None;
    for leader in leaders {
        let agreeing = sketch.agreeing(&leader.sketch);
        if agreeing >= agreeing_min && nearest.is_none_or(|(most, _)| agreeing > most) {
            nearest = Some((agreeing, leader));
        }
    }
    nearest.map(|(agreeing, leader)| Near { url: leader.url.clone(), agreeing: agreeing as u8 })
}
