//! How does a file reach the disk whole? It is written beside its name, synced, and renamed.
//!
//! This crate never interprets what it writes, and never removes a file that it did not make.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 64 << 10;

/// What of a new file is certain when [`replace`] returns. After a crash of the process alone, the
/// old file or the whole new one is there in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// Nothing survives a power cut for certain: for files that are written again soon.
    No,
    /// A power cut leaves the old file or the whole new one.
    Content,
    /// A power cut leaves the whole new one.
    Name,
}

/// Where [`replace`] writes a file before it has its name: `report.json.new` beside `report.json`.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".new");
    PathBuf::from(name)
}

/// Replaces `path` by what `write` writes, whole or not at all. If anything fails, the old file
/// stays, and the unfinished one is removed.
pub fn replace<T>(
    path: &Path,
    durable: Durable,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
) -> io::Result<T> {
    let new = beside(path);
    let written = write_and_rename(path, &new, durable, write);
    if written.is_err() {
        // The first failure is the one to report; a file that stays is written over next time.
        let _ = fs::remove_file(&new);
    }
    written
}

fn write_and_rename<T>(
    path: &Path,
    new: &Path,
    durable: Durable,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
) -> io::Result<T> {
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create(new)?);
    let value = write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Else the name may reach the disk before the content: an empty file after a power cut.
    if durable != Durable::No {
        file.sync_all()?;
    }
    fs::rename(new, path)?;
    if durable == Durable::Name {
        sync_dir(parent(path))?;
    }
    Ok(value)
}

/// As [`replace`], of bytes at hand.
pub fn replace_with(path: &Path, durable: Durable, bytes: &[u8]) -> io::Result<()> {
    replace(path, durable, |file| file.write_all(bytes))
}

/// Makes the names in a directory survive a power cut.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Makes a file survive a power cut, or a directory with all that is in it.
pub fn sync_tree(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            sync_tree(&entry?.path())?;
        }
    }
    File::open(path)?.sync_all()
}

/// The directory that holds a path: `.` for a bare name.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_a_failure_leaves_the_old_one_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("a.json");
        for durable in [Durable::No, Durable::Content, Durable::Name] {
            replace_with(&path, durable, b"old").expect("written");
            let large = vec![b'x'; 3 * BUFFER_BYTES];
            let failed = replace(&path, durable, |file| {
                file.write_all(&large)?;
                Err::<(), _>(io::Error::other("no more"))
            });
            assert_eq!(failed.expect_err("it failed").to_string(), "no more");
            assert_eq!(fs::read(&path).expect("read"), b"old");
            assert!(!beside(&path).exists(), "the unfinished file is removed");
            replace_with(&path, durable, &large).expect("written");
            assert_eq!(fs::read(&path).expect("read"), large);
        }
        sync_tree(dir.path()).expect("synced");
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
    }

    #[test]
    fn a_file_whose_name_is_taken_by_a_directory_is_not_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("taken");
        fs::create_dir_all(path.join("within")).expect("made");
        assert!(replace_with(&path, Durable::Name, b"text").is_err());
        assert!(path.join("within").is_dir() && !beside(&path).exists());
    }

    #[test]
    fn a_bare_name_lies_in_the_current_directory() {
        assert_eq!(parent(Path::new("crawl.toml")), Path::new("."));
        assert_eq!(parent(Path::new("/crawl/crawl.toml")), Path::new("/crawl"));
    }
}
