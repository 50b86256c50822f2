//! Words for people, on standard error.

use std::fmt::Display;
use std::io::{self, Write};

/// One line. That nobody can read it, as where standard error is a pipe whose reader left or a file
/// on a full disk, must not end a crawl: `eprintln!` would panic.
pub fn notice(what: impl Display) {
    let _ = writeln!(io::stderr(), "{what}");
}
