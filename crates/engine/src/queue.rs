//! Places: where a URL waits within its host, and where a host sleeps. Their order is the order
//! of service, in memory and in the store alike.

use crate::record::{UrlId, UrlRecord};
use crate::time::Time;
use rhumb_page::url::{HostKey, Url};
use serde::{Deserialize, Serialize};

/// A URL's place in its host's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// To be fetched when its turn comes.
    Now { class: u8, rank: u64, id: u64 },
    /// Not before `due`: a retry or a revisit.
    Later { due: Time, id: u64 },
}

/// Which of a host's two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Now,
    Later,
}

impl Place {
    pub fn section(&self) -> Section {
        match self {
            Place::Now { .. } => Section::Now,
            Place::Later { .. } => Section::Later,
        }
    }

    /// Whose place it is.
    pub fn id(&self) -> UrlId {
        let (Place::Now { id, .. } | Place::Later { id, .. }) = *self;
        UrlId(id)
    }

    /// The last place before this one: where reading begins that is to find this one first.
    pub fn before(&self) -> Option<Place> {
        const LAST: u64 = u64::MAX;
        Some(match *self {
            Place::Now { class, rank, id: id @ 1.. } => Place::Now { class, rank, id: id - 1 },
            Place::Now { class, rank: rank @ 1.., .. } => {
                Place::Now { class, rank: rank - 1, id: LAST }
            }
            Place::Now { class: class @ 1.., .. } => {
                Place::Now { class: class - 1, rank: LAST, id: LAST }
            }
            Place::Later { due, id: id @ 1.. } => Place::Later { due, id: id - 1 },
            Place::Later { due: Time(due @ 1..), .. } => {
                Place::Later { due: Time(due - 1), id: LAST }
            }
            _ => return None,
        })
    }
}

/// What waits at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub url: Url,
    pub record: UrlRecord,
}

/// Where a host sleeps. Ranks only grow, so a cursor per class never has to step back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SleepPlace {
    Ready {
        class: u8,
        rank: u64,
    },
    Later {
        due: Time,
        rank: u64,
    },
    /// It fails and has work: tried again at `due`, or at once by a run later than `run`. It keeps
    /// no run alive.
    Resting {
        run: u32,
        due: Time,
        rank: u64,
    },
}

/// A sleeping host in the index, in the order of waking.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sleeper {
    pub place: SleepPlace,
    pub host: HostKey,
}
