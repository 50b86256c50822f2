//! A node's directory: whose it is, and that one process has it.

use rhumb_disk::{Durable, replace};
use rhumb_engine::error::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io::Write;
use std::path::{Path, PathBuf};

const FILE: &str = "node.toml";
const LOCK: &str = "lock";

/// What a directory was used for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    id: String,
    store: String,
    crawl: String,
}

/// A directory that is ours until this is dropped.
pub struct NodeHome {
    pub dir: PathBuf,
    pub id: String,
    /// Earlier runs of this id were here, and none of them lives.
    pub is_own: bool,
    _lock: File,
}

fn at(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}

impl NodeHome {
    /// Takes a directory for a node of this crawl. Without an id, it has the one of its directory,
    /// or a new one.
    pub fn take(
        dir: &Path,
        id: Option<&str>,
        (store, crawl): (&str, &str),
    ) -> Result<NodeHome, Error> {
        let invalid = |what: String| Error::new(ErrorKind::Invalid, what);
        fs::create_dir_all(dir).map_err(|e| at(dir, &e))?;
        let dir = dir.canonicalize().map_err(|e| at(dir, &e))?;
        let lock = dir.join(LOCK);
        let file = File::create(&lock).map_err(|e| at(&lock, &e))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let what = format!("{} is in use by another node: give another --dir", dir.display());
            return Err(invalid(what));
        }
        let path = dir.join(FILE);
        let kept: Option<Kept> = match fs::read_to_string(&path) {
            Ok(text) => Some(toml::from_str(&text).map_err(|error| {
                let what = format!("{}: {}; give another --dir", path.display(), error.message());
                invalid(what)
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(at(&path, &error)),
        };
        if let Some(kept) = &kept {
            if (kept.store.as_str(), kept.crawl.as_str()) != (store, crawl) {
                let what = format!(
                    "{} belongs to crawl {} in {}: give another --dir",
                    dir.display(),
                    kept.crawl,
                    kept.store
                );
                return Err(invalid(what));
            }
            if id.is_some_and(|id| id != kept.id) {
                let what = format!(
                    "{} belongs to node {}: give another --dir, or no --id",
                    dir.display(),
                    kept.id
                );
                return Err(invalid(what));
            }
        }
        let is_own = kept.is_some();
        let drawn = || format!("{:016x}", std::hash::RandomState::new().hash_one(0));
        let id = kept.map(|kept| kept.id).or(id.map(str::to_owned)).unwrap_or_else(drawn);
        let kept = Kept { id: id.clone(), store: store.to_owned(), crawl: crawl.to_owned() };
        let text = toml::to_string(&kept).expect("plain data always encodes");
        let written = replace(&path, Durable::Name, |file| file.write_all(text.as_bytes()));
        written.map_err(|e| at(&path, &e))?;
        Ok(NodeHome { dir, id, is_own, _lock: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_one_nodes_of_one_crawl() {
        let dir = tempfile::tempdir().unwrap();
        let crawl = ("file:///a", "c");
        let first = NodeHome::take(dir.path(), None, crawl).unwrap();
        assert!(!first.is_own);
        let refused = |id, crawl| NodeHome::take(dir.path(), id, crawl).err().unwrap().what;
        assert!(refused(None, crawl).contains("in use"));
        let id = first.id.clone();
        drop(first);
        assert!(refused(Some("other"), crawl).contains("--id"));
        assert!(refused(None, ("file:///a", "d")).contains("belongs to crawl c"));
        let again = NodeHome::take(dir.path(), Some(&id), crawl).unwrap();
        assert_eq!((again.id, again.is_own), (id, true));
    }
}
