//! Errors of reading, making and writing graphs.

use std::fmt;
use std::io;
use std::path::Path;

/// Would the caller act differently?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphErrorKind {
    /// The disk or the pipe failed.
    Io,
    /// The bytes are no graph, or not a whole one.
    Broken,
    /// The graph is whole, but larger than a stated limit.
    TooLarge,
}

/// Why a graph could not be read, made or written.
#[derive(Clone, Debug)]
pub struct GraphError {
    /// What a caller would do about it.
    pub kind: GraphErrorKind,
    /// What happened, for people.
    pub what: String,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, GraphError>;

impl GraphError {
    /// The bytes are not what they should be.
    pub fn broken(what: impl Into<String>) -> GraphError {
        GraphError { kind: GraphErrorKind::Broken, what: what.into() }
    }

    /// More than the limits of this crate allow.
    pub fn too_large(what: impl Into<String>) -> GraphError {
        GraphError { kind: GraphErrorKind::TooLarge, what: what.into() }
    }

    /// Says which file it was.
    pub fn of(self, path: &Path) -> GraphError {
        GraphError { kind: self.kind, what: format!("{}: {}", path.display(), self.what) }
    }
}

/// Decoders report a torn stream as an error of reading: for us it is the file that is broken.
impl From<io::Error> for GraphError {
    fn from(error: io::Error) -> GraphError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => GraphError::broken("the file ends too early"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                GraphError::broken(error.to_string())
            }
            _ => GraphError { kind: GraphErrorKind::Io, what: error.to_string() },
        }
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for GraphError {}
