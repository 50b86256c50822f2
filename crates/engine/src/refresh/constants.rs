//! The policy's constants that trials chose, in one place, so that the laboratory can choose them
//! again on other sets than those they are judged on. Crawls have [`RefreshConstants::default`];
//! they are no settings, and no row keeps them.

/// What trials on histories chose: docs/decisions/0040-in-turn.md.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefreshConstants {
    /// The doubt before anything was seen: waits within a factor of e to this are the same.
    pub doubt_first: f64,
    /// So many changes seen divide it by the root of two.
    pub changes_halving: f64,
    /// The shape of the prior that is believed before anything was predicted. Pages are taken to be
    /// alike until they were seen to differ: where they do, that is soon seen; where they do not,
    /// visits that follow differences of chance lose to uniform ones.
    pub shape_first: f64,
    /// A visit to a page of which little is known is worth more than what it finds.
    pub exploration: f64,
}

impl Default for RefreshConstants {
    fn default() -> RefreshConstants {
        RefreshConstants {
            doubt_first: 0.2,
            changes_halving: 500.0,
            shape_first: 4.0,
            exploration: 0.05,
        }
    }
}
