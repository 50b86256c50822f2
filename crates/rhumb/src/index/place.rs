//! An index that is made beside its place, and moved there when it is whole.
//!
//! It is made in `.NAME.new`, and the index that it replaces is `.NAME.old` for a moment. What a
//! killed run left there is removed; anything else that is called so is refused, and stays.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rhumb_search::{SearchError, check_place, clear_index, remove_index};

/// An index that is being made.
pub struct UnfinishedIndex {
    out: PathBuf,
    new: PathBuf,
    /// Locked as long as this is at work.
    _held: File,
}

impl UnfinishedIndex {
    pub fn begin(out: &Path) -> Result<UnfinishedIndex, String> {
        check_place(out).map_err(told)?;
        let new = named(out, ".new")?;
        check_place(&named(out, ".old")?).map_err(told)?;
        let failed = |error: io::Error| format!("{}: {error}", new.display());
        fs::create_dir_all(&new).map_err(failed)?;
        let held = File::open(&new).map_err(failed)?;
        let other = || format!("{}: another process is making this index", out.display());
        match held.try_lock() {
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) => return Err(other()),
            Ok(()) => {}
        }
        // Who held it may have moved it to its place meanwhile.
        let is_same = fs::metadata(&new).is_ok_and(|there| {
            held.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
        });
        if !is_same {
            return Err(other());
        }
        check_place(&new).map_err(told)?;
        clear_index(&new).map_err(told)?;
        Ok(UnfinishedIndex { out: out.to_owned(), new, _held: held })
    }

    /// Where it is made.
    pub fn dir(&self) -> &Path {
        &self.new
    }

    /// Puts it in its place, and removes the one that was there.
    pub fn finish(self) -> Result<(), String> {
        let old = named(&self.out, ".old")?;
        remove_index(&old).map_err(told)?;
        let failed = |error: io::Error| format!("{}: {error}", self.out.display());
        if self.out.exists() {
            fs::rename(&self.out, &old).map_err(failed)?;
        }
        fs::rename(&self.new, &self.out).map_err(failed)?;
        remove_index(&old).map_err(told)
    }
}

/// `.index.new` beside `index`.
fn named(out: &Path, ending: &str) -> Result<PathBuf, String> {
    let Some(name) = out.file_name() else {
        return Err(format!("{}: no name for an index", out.display()));
    };
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(ending);
    Ok(out.with_file_name(hidden))
}

fn told(error: SearchError) -> String {
    error.to_string()
}
