//! Outputs that appear whole or not at all: written beside their name and renamed in the end.
//!
//! What exists is never replaced. An output is made in a directory of our own beside its name
//! ([`OwnDir`]): a file in it says whose it is, and is locked while somebody is at work. What a
//! killed run left is removed by the next, and nothing else is.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rhumb_disk::{sync_dir, sync_tree};

use crate::ExportFailure;

/// The file that says whose a directory is.
const MARK_FILE: &str = "rhumb-unfinished";
/// What is being written, within the directory.
const WITHIN: &str = "out";

/// A directory that nobody else writes into, removed in the end.
pub struct OwnDir {
    path: PathBuf,
    /// Its mark, locked.
    _mark: File,
}

impl OwnDir {
    /// Begins `path`; what a killed run left there is removed.
    pub fn begin(path: &Path) -> Result<OwnDir, ExportFailure> {
        let failed = |error: &io::Error| ExportFailure::file(path, "create", error);
        let mark_path = path.join(MARK_FILE);
        let refused = |why: &str| Err(ExportFailure::Usage(format!("{}: {why}", path.display())));
        match fs::create_dir(path) {
            Ok(()) => {}
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(&error));
            }
            Err(_) => {
                let is_ours = path.symlink_metadata().is_ok_and(|about| about.is_dir())
                    && mark_path.symlink_metadata().is_ok_and(|about| about.is_file());
                let is_empty = || fs::read_dir(path).is_ok_and(|mut names| names.next().is_none());
                if !is_ours && !is_empty() {
                    let why = "is in the way, and no unfinished output; remove it, or name another \
                               output";
                    return refused(why);
                }
            }
        }
        let mark = OpenOptions::new().create(true).append(true).open(&mark_path);
        let mark = mark.map_err(|error| failed(&error))?;
        match mark.try_lock() {
            Err(TryLockError::WouldBlock) => return refused("is being written by another rhumb"),
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
            Ok(()) => {}
        }
        let own = OwnDir { path: path.to_owned(), _mark: mark };
        own.clear().map_err(|error| failed(&error))?;
        Ok(own)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes all but the mark.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name() == MARK_FILE {
                continue;
            }
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }
}

impl Drop for OwnDir {
    fn drop(&mut self) {
        // The mark goes last: what cannot be removed stays ours, and the next run removes it.
        let cleared = self.clear().and_then(|()| fs::remove_file(self.path.join(MARK_FILE)));
        let _ = cleared.and_then(|()| fs::remove_dir(&self.path));
    }
}

/// A file or a directory that is being written.
pub struct Unfinished {
    path: PathBuf,
    part: PathBuf,
    _own: OwnDir,
}

impl Unfinished {
    /// Begins a file.
    pub fn file(path: &Path) -> Result<Unfinished, ExportFailure> {
        let unfinished = Unfinished::begin(path)?;
        unfinished.made(File::create_new(&unfinished.part).map(drop))?;
        Ok(unfinished)
    }

    /// Begins a directory.
    pub fn directory(path: &Path) -> Result<Unfinished, ExportFailure> {
        let unfinished = Unfinished::begin(path)?;
        unfinished.made(fs::create_dir(&unfinished.part))?;
        Ok(unfinished)
    }

    fn begin(path: &Path) -> Result<Unfinished, ExportFailure> {
        if path.symlink_metadata().is_ok() {
            let what = "exists already; name another output, or remove it first";
            return Err(ExportFailure::Usage(format!("{}: {what}", path.display())));
        }
        let Some(name) = path.file_name() else {
            return Err(ExportFailure::Usage(format!("{}: no name for an output", path.display())));
        };
        let mut dir = OsString::from(name);
        dir.push(".part");
        let own = OwnDir::begin(&path.with_file_name(dir))?;
        Ok(Unfinished { path: path.to_owned(), part: own.path().join(WITHIN), _own: own })
    }

    fn made(&self, made: io::Result<()>) -> Result<(), ExportFailure> {
        made.map_err(|error| ExportFailure::file(&self.path, "create", &error))
    }

    /// Where it is written.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Gives it its name, once it is on the disk.
    pub fn finish(self) -> Result<(), ExportFailure> {
        let failed = |error| ExportFailure::file(&self.path, "finish", &error);
        sync_tree(&self.part).map_err(failed)?;
        // A file would be replaced by the rename without a word.
        if self.path.symlink_metadata().is_ok() {
            let what = "was made by somebody else meanwhile";
            return Err(ExportFailure::Failed(format!("{}: {what}", self.path.display())));
        }
        fs::rename(&self.part, &self.path).map_err(failed)?;
        let parent = self.path.parent().filter(|dir| !dir.as_os_str().is_empty());
        sync_dir(parent.unwrap_or(Path::new("."))).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_has_its_name_when_it_is_finished_and_leaves_nothing_if_it_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out");
        let names = || fs::read_dir(dir.path()).expect("a directory").count();
        drop(Unfinished::file(&path).expect("begun"));
        assert_eq!(names(), 0);
        drop(Unfinished::directory(&path).expect("begun"));
        assert_eq!(names(), 0);
        let output = Unfinished::file(&path).expect("begun");
        fs::write(output.part(), "whole").expect("written");
        assert!(!path.exists());
        output.finish().expect("finished");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "whole");
        assert_eq!(names(), 1);
        assert!(matches!(Unfinished::file(&path), Err(ExportFailure::Usage(_))));
        assert!(matches!(Unfinished::directory(&path), Err(ExportFailure::Usage(_))));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "whole");
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_what_others_called_so_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, part) = (dir.path().join("out"), dir.path().join("out.part"));
        let refused = || match Unfinished::directory(&path) {
            Err(ExportFailure::Usage(what)) => what,
            _ => panic!("it is refused"),
        };
        // As a kill leaves it: the mark is there, and nobody holds it.
        fs::create_dir_all(part.join(WITHIN)).expect("made");
        fs::write(part.join(MARK_FILE), "").expect("written");
        fs::write(part.join(WITHIN).join("half"), "half").expect("written");
        let output = Unfinished::directory(&path).expect("begun");
        assert_eq!(fs::read_dir(output.part()).expect("listed").count(), 0);
        assert!(refused().contains("is being written by another rhumb"), "at the same time");
        drop(output);
        assert!(!part.exists());
        fs::write(&part, "mine").expect("written");
        assert!(refused().contains("is in the way"));
        assert_eq!(fs::read_to_string(&part).expect("kept"), "mine");
        fs::remove_file(&part).expect("removed");
        fs::create_dir(&part).expect("made");
        fs::write(part.join("mine"), "mine").expect("written");
        assert!(refused().contains("is in the way"));
        assert_eq!(fs::read_to_string(part.join("mine")).expect("kept"), "mine");
    }
}
