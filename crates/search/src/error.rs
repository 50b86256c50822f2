//! What can go wrong with an index.

use std::fmt;
use std::io;
use std::path::Path;

/// Why an index cannot be read or written. The text says what to do about it.
#[derive(Debug)]
pub enum SearchError {
    /// The directory holds no index.
    Absent(String),
    /// The index was made by another version of the format.
    Version(String),
    /// Files are missing, short or not what they were.
    Damaged(String),
    /// The directory holds something else, or the index of something else.
    Taken(String),
    /// The disk, or another process that writes.
    Io(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (SearchError::Absent(what)
        | SearchError::Version(what)
        | SearchError::Damaged(what)
        | SearchError::Taken(what)
        | SearchError::Io(what)) = self;
        f.write_str(what)
    }
}

impl std::error::Error for SearchError {}

impl From<tantivy::TantivyError> for SearchError {
    fn from(error: tantivy::TantivyError) -> SearchError {
        use tantivy::TantivyError as T;
        match error {
            T::DataCorruption(_) | T::OpenReadError(_) | T::IncompatibleIndex(_) => {
                SearchError::damaged_terms(&error.to_string())
            }
            T::LockFailure(..) => {
                SearchError::Io("another process writes the search index".to_owned())
            }
            _ => SearchError::Io(format!("search index: {error}")),
        }
    }
}

impl SearchError {
    pub(crate) fn at(path: &Path, error: &io::Error) -> SearchError {
        SearchError::Io(format!("{}: {error}", path.display()))
    }

    pub(crate) fn damaged_terms(what: &str) -> SearchError {
        SearchError::Damaged(format!(
            "the search index is damaged: {what}; delete it and run \"rhumb index\" again"
        ))
    }

    pub(crate) fn damaged(path: &Path, what: &str) -> SearchError {
        let path = path.display();
        SearchError::Damaged(format!(
            "{path}: {what}; delete the index and run \"rhumb index\" again"
        ))
    }
}
