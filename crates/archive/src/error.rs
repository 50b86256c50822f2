//! Errors of the archive: the file, the offset where there is one, and what failed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Coarse on purpose: each kind is something a caller would do differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArchiveErrorKind {
    /// No space (or quota, or file size) left: free some and try again, nothing is lost.
    Full,
    /// The bytes on disk are not what a WARC or index file holds.
    Corrupt,
    /// Any other failure of the file system.
    Io,
}

#[derive(Debug)]
pub struct ArchiveError {
    kind: ArchiveErrorKind,
    file: PathBuf,
    offset: Option<u64>,
    what: String,
}

impl ArchiveError {
    pub fn kind(&self) -> ArchiveErrorKind {
        self.kind
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where in the file the first bad record begins.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    pub(crate) fn corrupt(file: &Path, offset: u64, what: impl Into<String>) -> ArchiveError {
        ArchiveError {
            kind: ArchiveErrorKind::Corrupt,
            file: file.into(),
            offset: Some(offset),
            what: what.into(),
        }
    }

    pub(crate) fn io(file: &Path, doing: &str, error: io::Error) -> ArchiveError {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let full = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        let kind = if full { ArchiveErrorKind::Full } else { ArchiveErrorKind::Io };
        ArchiveError {
            kind,
            file: file.into(),
            offset: None,
            what: format!("cannot {doing}: {error}"),
        }
    }
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset}")?;
        }
        write!(f, ": {}", self.what)?;
        if self.kind == ArchiveErrorKind::Full {
            write!(f, " (free some space and run again; whole records are kept)")?;
        }
        Ok(())
    }
}

impl std::error::Error for ArchiveError {}
