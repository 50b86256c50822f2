//! Near-duplicates: leaders, and the pages that nearly repeat them.
//!
//! A page whose text resembles no leader's becomes a leader; one that does is its member. A member
//! that is far from its leader leads as well, for those on its other side; what it leads is named
//! after it, so a page always resembles the page that it is said to repeat. Only leaders are
//! compared with, by their sketches alone.

use rhumb_neardup::Sketch;
use rhumb_neardup::threshold::Threshold;
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use rhumb_neardup::online::LeaderId;

use crate::record::Twin;

/// A page that resembles so many leaders does not become one: pages near it are found through
/// those.
const LEADERS_OF_A_LEADER_MAX: usize = 2;

/// A text with fewer shingles has no sketch: two short notices are alike by chance too often.
pub const SHINGLES_MIN: usize = 24;

/// A page that others may nearly repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leader {
    pub url: Url,
    pub sketch: Arc<Sketch>,
}

/// What a page nearly repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    /// Its leader.
    pub url: Url,
    /// As far as sketches tell, in thousandths.
    pub permille: u16,
}

impl Near {
    /// As far as sketches tell, from 0 to 1.
    pub fn resemblance(&self) -> f64 {
        f64::from(self.permille) / 1000.0
    }
}

/// What the state knows of a page's bytes and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Likeness {
    New,
    /// The bytes are known; nobody has looked at the text.
    Same(Twin),
    Near(Nearest),
}

/// The most alike of all leaders that are alike enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    pub near: Near,
    /// Leaders that are alike enough.
    pub leaders: usize,
}

impl Nearest {
    /// Whether the page should lead although it is a member: of few leaders, and far from them.
    pub fn leads_too(&self, threshold: f64) -> bool {
        self.leaders <= LEADERS_OF_A_LEADER_MAX && self.is_far(threshold)
    }

    /// Less alike to the nearest than halfway from the threshold to the same text.
    pub fn is_far(&self, threshold: f64) -> bool {
        self.near.resemblance() < (1.0 + threshold) / 2.0
    }
}

/// The most alike of these leaders, if any is alike enough; of equals, the first.
pub fn nearest<'a>(
    sketch: &Sketch,
    leaders: impl IntoIterator<Item = &'a Leader>,
    threshold: f64,
) -> Option<Nearest> {
    let mut nearest: Option<(f64, &Leader)> = None;
    let mut alike = 0;
    let threshold = Threshold::new(threshold, SHINGLES_MIN as u64);
    for leader in leaders {
        let Some(resemblance) = threshold.resemblance(sketch, &leader.sketch) else { continue };
        alike += 1;
        if nearest.is_none_or(|(most, _)| resemblance > most) {
            nearest = Some((resemblance, leader));
        }
    }
    nearest.map(|(resemblance, leader)| {
        let near = Near { url: leader.url.clone(), permille: (resemblance * 1000.0) as u16 };
        Nearest { near, leaders: alike }
    })
}
