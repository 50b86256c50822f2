//! Traps: what keeps a site from getting more than its share, by rules with names
//! (docs/lab/traps.md).
//!
//! - [`grown`]: URLs that grow without end, by their text alone.
//! - [`junk`]: views of pages that say nothing new, by what well-known software calls them; those
//!   of repositories in `repository`.
//! - [`shape`] and [`learnt`]: patterns of a host, and how much that is new each has brought so
//!   far. One that brings little comes last; one that brings nothing is held back (`weighing`).
//!
//! All but the last are pure functions of a URL, and part of admission. Whatever a rule refuses is
//! a URL with that rule's name as its cause: counted, listed, explained, and readmitted when the
//! owner lifts the rule.

pub mod grown;
pub mod junk;
pub mod learnt;
mod repository;
pub mod shape;
mod weighing;

pub(crate) use weighing::{Worth, listed};
