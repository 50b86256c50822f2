//! Crawls on many machines, by real processes over a store of files, and over S3.

#[allow(dead_code, reason = "the stores below the nodes are tried with more faults")]
#[path = "../../../../shipped/tests/shipped/bucket.rs"]
mod bucket;
mod crawled;
mod figures;
mod kills;
mod lost;
mod nodes;
mod refused;
mod s3;
