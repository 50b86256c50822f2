//! How do others read it? A crawl's directory as WACZ for archivists, as Parquet tables for queries
//! and corpora, and as WET or JSON lines for pipelines.
//!
//! Everything here is derived from the WARC files, their index and the state, in one walk over the
//! index in the order of SURTs: [`source`] opens the directory and says what is missing from it,
//! [`lanes`] reads captures on several threads and gives them back in order, [`capture`] says what
//! a capture holds and [`known`] what the crawl knows of its URL. [`wacz`], [`parquet`] and
//! [`text`] write. Memory does not grow with the crawl, but for the books of importance.
//!
//! An output appears under its name when it is whole, or not at all ([`output`]). This room never
//! writes into the crawl's directory, and decides nothing about a crawl.

pub mod capture;
pub mod every;
pub mod known;
pub mod lanes;
pub mod output;
pub mod parquet;
pub mod source;
pub mod text;
pub mod wacz;
pub mod walk;

mod host_parts;
mod mime;

use std::fmt;
use std::io;
use std::path::Path;

/// Why an export did not come to its end.
#[derive(Debug)]
pub enum ExportFailure {
    /// Nothing was begun: something else is to be asked for.
    Usage(String),
    Failed(String),
}

impl ExportFailure {
    pub(crate) fn file(path: &Path, doing: &str, error: &io::Error) -> ExportFailure {
        let full =
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let hint = if full { "; free some space and run again" } else { "" };
        ExportFailure::Failed(format!("{}: cannot {doing}: {error}{hint}", path.display()))
    }
}

impl fmt::Display for ExportFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportFailure::Usage(what) | ExportFailure::Failed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ExportFailure {}

impl From<rhumb_archive::ArchiveError> for ExportFailure {
    fn from(error: rhumb_archive::ArchiveError) -> ExportFailure {
        ExportFailure::Failed(error.to_string())
    }
}

impl From<rhumb_engine::error::Error> for ExportFailure {
    fn from(error: rhumb_engine::error::Error) -> ExportFailure {
        ExportFailure::Failed(error.what)
    }
}
