//! Errors of a batch: its temporary files could not be written or read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Coarse on purpose: each kind is something a caller would do differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchErrorKind {
    /// No space (or quota, or file size) left where temporary files go.
    Full,
    /// Any other failure of the file system.
    Io,
    /// More documents than a batch can number, or more to count than memory holds.
    TooMany,
}

/// Why a batch did not come to its end.
#[derive(Debug)]
pub struct BatchError {
    kind: BatchErrorKind,
    place: PathBuf,
    what: String,
}

impl BatchError {
    /// What a caller would do about it.
    pub fn kind(&self) -> BatchErrorKind {
        self.kind
    }

    pub(super) fn io(place: &Path, doing: &str, error: &io::Error) -> BatchError {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let full = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        let kind = if full { BatchErrorKind::Full } else { BatchErrorKind::Io };
        BatchError {
            kind,
            place: place.into(),
            what: format!("cannot {doing} temporary data: {error}"),
        }
    }

    pub(super) fn too_many(what: &str) -> BatchError {
        let what = format!("too many {what}");
        BatchError { kind: BatchErrorKind::TooMany, place: PathBuf::new(), what }
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.as_os_str().is_empty() {
            write!(f, "{}: ", self.place.display())?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for BatchError {}
