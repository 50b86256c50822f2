//! How far an engine that is one of several may go: what it is told by whoever divides the limits
//! of the crawl, watches the lease of the partition and counts what is not shipped.
//!
//! They are ceilings of this partition's own books, counted from the crawl's birth. At a
//! ceiling the engine waits, unlike at the limits of its configuration, where it stops: there may
//! be more to come. It ends with the run; an engine that was told nothing may do all.

/// Ceilings of the books, and whether anything may be begun at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ceilings {
    /// No request may be begun now: the lease has run out, or too much is not shipped.
    pub is_held: bool,
    /// Exact: each request in flight and each page that is compared counts as one.
    pub pages: u64,
    /// Overshot by the requests in flight at most.
    pub bytes: u64,
    pub requests: u64,
    /// Of the sender; snapshots say which were heard last. All events before are heard, too.
    pub number: u64,
}

impl Default for Ceilings {
    fn default() -> Ceilings {
        Ceilings { is_held: false, pages: u64::MAX, bytes: u64::MAX, requests: u64::MAX, number: 0 }
    }
}
