//! What other crawlers do with the interval of a page after a visit: one crawler a file.
//!
//! None of them has a budget; here all intervals are scaled together so that they cost what we
//! have, which is our addition. Their bounds on intervals are left out for that reason.

pub mod heritrix;
pub mod nutch;
pub mod stormcrawler;

/// The interval in days after one that ended with or without a change.
pub type Adapt = fn(days: f64, changed: bool) -> f64;
