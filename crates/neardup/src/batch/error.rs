//! Errors of a batch: its temporary files could not be written or read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Coarse on purpose: each kind is something a caller would do differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// No space (or quota, or file size) left where temporary files go.
    Full,
    /// Any other failure of the file system.
    Io,
    /// More documents than a batch can number, or more to count than memory holds.
    TooMany,
}

/// Why a batch did not come to its end.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    place: PathBuf,
    what: String,
}

impl Error {
    /// What a caller would do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(super) fn io(place: &Path, doing: &str, error: &io::Error) -> Error {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let full = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        let kind = if full { ErrorKind::Full } else { ErrorKind::Io };
        Error { kind, place: place.into(), what: format!("cannot {doing} temporary data: {error}") }
    }

    pub(super) fn too_many(what: &str) -> Error {
        let what = format!("too many {what}");
        Error { kind: ErrorKind::TooMany, place: PathBuf::new(), what }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.as_os_str().is_empty() {
            write!(f, "{}: ", self.place.display())?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
