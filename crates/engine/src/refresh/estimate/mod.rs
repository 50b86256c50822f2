//! How often a page changes, from what its visits found: one estimator a file. The belief that the
//! scheduler keeps is [`super::belief`]; these are its rivals, and what it is measured against.

pub mod improved;
pub mod irregular;
pub mod last_modified;
pub mod naive;
