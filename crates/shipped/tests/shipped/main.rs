//! The copy against what it is a copy of, through take-overs, losses and two owners at once.

#[allow(dead_code, reason = "nodes, in crates/rhumb/tests/crawl/cluster, need more of it")]
mod bucket;
mod killed;
mod objects;
mod partition;
mod s3;
mod taking;

#[allow(dead_code, reason = "questions are asked by the tests of the stores alone")]
#[path = "../../../state/tests/stores/chance.rs"]
mod chance;
