//! What visits left behind in a URL's record.
//!
//! Nearly all URLs that wait were never visited: those carry one pointer for all of this, in
//! memory, and one byte in the store.

use crate::marks::Marks;
use crate::near::Near;
use crate::outcome::ContentDigest;
use crate::refresh::detect::LearntChange;
use crate::time::Time;
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Read as the visits it has, none to begin with; the first thing written makes room for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Past(Option<Box<Visits>>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visits {
    /// Answers received in all, 304 included.
    pub visits: u32,
    /// The last visit that was answered.
    pub visited: Option<Time>,
    /// The last visit that brought other bytes than the one before.
    pub changed: Option<Time>,
    pub content: Option<ContentDigest>,
    pub etag: Option<Box<str>>,
    pub last_modified: Option<Box<str>>,
    pub duplicate_of: Option<Url>,
    /// What visits taught, in a crawl that goes on.
    pub learnt: Option<LearntChange>,
    /// The page whose text this one nearly repeats.
    pub near: Option<Near>,
    /// Of the last page that came.
    pub marks: Marks,
}

static NO_VISITS: Visits = Visits {
    visits: 0,
    visited: None,
    changed: None,
    content: None,
    etag: None,
    last_modified: None,
    duplicate_of: None,
    learnt: None,
    near: None,
    marks: Marks::NONE,
};

impl Deref for Past {
    type Target = Visits;

    fn deref(&self) -> &Visits {
        self.0.as_deref().unwrap_or(&NO_VISITS)
    }
}

impl DerefMut for Past {
    fn deref_mut(&mut self) -> &mut Visits {
        self.0.get_or_insert_default()
    }
}

impl PartialEq for Past {
    fn eq(&self, other: &Past) -> bool {
        **self == **other
    }
}

impl Eq for Past {}
