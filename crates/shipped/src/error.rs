//! What an object store or a database says when it fails, with what to do about it.

use rhumb_engine::error::{Error, ErrorKind};

/// What went wrong with an object.
pub fn of_store(location: &str, error: object_store::Error) -> Error {
    use object_store::Error as Store;
    let told = told(&error);
    match error {
        Store::NotFound { .. } => {
            let what = format!(
                "{location} is not there; check the bucket's name and the crawl's, and that \
                 nobody removes objects under its prefix: {told}"
            );
            Error::new(ErrorKind::Corrupt, what)
        }
        Store::PermissionDenied { .. } | Store::Unauthenticated { .. } => {
            let what = format!(
                "{location} may not be accessed; give these credentials the rights to get, put, \
                 list and delete objects under the prefix: {told}"
            );
            Error::new(ErrorKind::Invalid, what)
        }
        Store::InvalidPath { .. } | Store::UnknownConfigurationKey { .. } => {
            Error::new(ErrorKind::Invalid, format!("{location}: {told}"))
        }
        Store::NotImplemented { .. } | Store::NotSupported { .. } => {
            let what = format!(
                "{location}: the store lacks an operation that a crawl needs; use one with \
                 conditional puts: {told}"
            );
            Error::new(ErrorKind::Invalid, what)
        }
        _ => Error::new(ErrorKind::Retry, format!("{location}: {told}")),
    }
}

/// What went wrong with the database of a partition.
pub fn of_database(partition: u32, error: slatedb::Error) -> Error {
    use slatedb::{CloseReason, ErrorKind as Kind};
    let told = told(&error);
    match error.kind() {
        Kind::Closed(CloseReason::Fenced) => fenced(partition),
        Kind::Closed(CloseReason::Clean) => {
            Error::new(ErrorKind::Retry, format!("partition {partition} was closed"))
        }
        Kind::Data => {
            let what = format!(
                "the database of partition {partition} cannot be read; restore a backup, or run \
                 the version of rhumb that wrote it: {told}"
            );
            Error::new(ErrorKind::Corrupt, what)
        }
        Kind::Invalid => {
            Error::new(ErrorKind::Invalid, format!("database of partition {partition}: {told}"))
        }
        _ => Error::new(ErrorKind::Retry, format!("database of partition {partition}: {told}")),
    }
}

/// Somebody else has opened the partition.
pub fn fenced(partition: u32) -> Error {
    let what = format!(
        "another node has taken over partition {partition}: nothing that this one writes counts"
    );
    Error::new(ErrorKind::Fenced, what)
}

/// An error with its causes, each once: their messages often hold the next one's.
fn told(error: &(dyn std::error::Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
        cause = error.source();
    }
    told
}

/// What is in the store was written by another version.
pub fn format_error(what: &str) -> Error {
    let what = format!(
        "{what}, which this version of rhumb cannot read: run the version that the crawl's other \
         nodes run"
    );
    Error::new(ErrorKind::Invalid, what)
}
