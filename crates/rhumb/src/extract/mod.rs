//! Extraction outside of a crawl: pages from files, many at a time.
//!
//! `row`: what is written of a page. `corpus`: JSON lines in, JSON lines out, in order, on several
//! threads. `contained`: documents that are read in a process of their own.

pub mod contained;
mod corpus;
mod row;

pub use corpus::{Done, Wish, run as run_corpus};
pub use row::{Row, thread_cpu_us};
