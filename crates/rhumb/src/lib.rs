//! What can people say? The command line: words in, and answers that people and scripts read.

// They panic where nobody reads, as on a full disk: see `cli::notice`.
#![deny(clippy::print_stderr, clippy::print_stdout)]

pub mod cli;
pub mod dedup;
pub mod index;

/// The examples of the guide's page on the crates, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
mod library_guide {}
