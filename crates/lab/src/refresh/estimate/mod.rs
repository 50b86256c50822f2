//! How often a page changes, from what its visits found: one estimator a file. What the scheduler
//! believes is in [`rhumb_engine::refresh::belief`]; these are its rivals, and what it is measured
//! against.

pub mod improved;
pub mod irregular;
pub mod naive;
