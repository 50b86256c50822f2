//! What can people say? The command line: words in, and answers that people and scripts read.

pub mod cli;
pub mod dedup;
