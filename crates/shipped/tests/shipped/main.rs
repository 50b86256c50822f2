//! The copy against what it is a copy of, through take-overs, losses and two owners at once.

mod bucket;
mod objects;
mod partition;
mod s3;
mod taking;

#[path = "../../../state/tests/stores/chance.rs"]
mod chance;
