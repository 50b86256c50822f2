//! Errors of reading, making and writing graphs.

use std::fmt;
use std::io;
use std::path::Path;

/// Would the caller act differently?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The disk or the pipe failed.
    Io,
    /// The bytes are no graph, or not a whole one.
    Broken,
    /// The graph is whole, but larger than a stated limit.
    TooLarge,
}

/// Why a graph could not be read, made or written.
#[derive(Clone, Debug)]
pub struct Error {
    /// What a caller would do about it.
    pub kind: ErrorKind,
    /// What happened, for people.
    pub what: String,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The bytes are not what they should be.
    pub fn broken(what: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Broken, what: what.into() }
    }

    /// More than the limits of this crate allow.
    pub fn too_large(what: impl Into<String>) -> Error {
        Error { kind: ErrorKind::TooLarge, what: what.into() }
    }

    /// Says which file it was.
    pub fn of(self, path: &Path) -> Error {
        Error { kind: self.kind, what: format!("{}: {}", path.display(), self.what) }
    }
}

/// Decoders report a torn stream as an error of reading: for us it is the file that is broken.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Error::broken("the file ends too early"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                Error::broken(error.to_string())
            }
            _ => Error { kind: ErrorKind::Io, what: error.to_string() },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Error {}
