//! What the disk or the network does to us. What the web does is data (`Outcome`); what we did
//! wrong is a panic.

use std::fmt;

#[derive(Clone, Debug)]
pub struct Error {
    pub kind: ErrorKind,
    pub what: String,
}

/// As coarse as what the caller would do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing is broken; try again later (disk full, for example).
    Retry,
    /// What is on disk is not what was written.
    Corrupt,
    /// What was asked for makes no sense here (another version, for example).
    Invalid,
    /// Somebody else owns what was written to: nothing that we do counts any more.
    Fenced,
    /// The process is to end here: the simulator's crash, or a second Ctrl-C.
    Crash,
}

impl Error {
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Error {
        Error { kind, what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
