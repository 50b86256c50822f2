//! How fast, on this machine? Everything is measured side by side in one run, in rounds that take
//! turns, so that what else the machine does falls on all alike; medians are told.
//!
//! The crawl runs as a process of its own (this very program, started again), so that its CPU time
//! and its memory are its own; the server runs in threads of this one, accounted apart.
//!
//! - [`crawl`]: the whole crawl beside the plain client, GNU wget2 and wrk.
//! - [`memory`]: what a known URL costs, and how long a resume takes; `lists` is its web.
//! - [`hostile`]: one crawl over the hostile web.
//! - [`soak`]: a crawl that goes on for hours, and whether anything grows.
//! - `process`: one child process and what the kernel counted. `rival`: the other programs.

pub mod crawl;
pub mod hostile;
mod lists;
pub mod memory;
mod process;
mod rival;
mod scratch;
pub mod soak;

pub use process::children_cpu_us;

use std::io;

use rhumb_engine::error::{Error, ErrorKind};

/// The middle one; of an even number, the lower of the two. 0 if there is none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len().saturating_sub(1) / 2;
    values.get(middle).copied().unwrap_or(0.0)
}

fn trouble(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{what}: {error}"))
}

fn failed(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.0);
        assert_eq!(median(Vec::new()), 0.0);
    }
}
