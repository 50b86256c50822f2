//! The directory of a crawl's state, and which store in it counts.
//!
//! A store lies in a directory named after its format; the file FORMAT says which one counts. A new
//! store is made under another name, and gets its own when it is whole and synced; then FORMAT
//! names it, by one rename. So whenever the process or the machine dies, FORMAT names a whole store
//! or none, and everything else in the directory can be thrown away.
//!
//! Each version of the program reads the format before its own by migrating it ([`super::migrate`],
//! docs/decisions/0019-migration.md), for now the one before that as well, and refuses all others.

use super::mark::StateMark;
use super::migrate::{self, Former, v9, v10};
use super::{file_error, follow, open};
use rhumb_disk::{Durable, replace, sync_dir, sync_tree};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::turn::ArchivePosition;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What this program writes. It migrates the two formats before; older ones are refused.
pub const FORMAT: &str = "rhumb state 11";

pub(super) const STORE_DIR: &str = "format-11";
/// A store that is being made.
const UNFINISHED_DIR: &str = "format-11.new";
const FORMAT_FILE: &str = "FORMAT";
const LOCK_FILE: &str = "LOCK";

/// How often, and how long, we wait for whoever is just closing the store.
const LOCK_TRIES_MAX: usize = 4;
const LOCK_WAIT: Duration = Duration::from_millis(100);

/// A store of this format that nobody else has.
pub struct Home {
    pub(super) store: PathBuf,
    /// Nobody else opens the store while this is open.
    pub(super) lock: File,
}

impl Home {
    /// Makes the store in `dir` if there is none, and migrates it if it is of the format before.
    pub fn open(dir: &Path) -> Result<Home, Error> {
        fs::create_dir_all(dir).map_err(|e| file_error(dir, e))?;
        let lock = lock(dir)?;
        let store = dir.join(STORE_DIR);
        let is_of_v9 = dir.join(v9::FJALL_DIR).exists();
        let v10_store = dir.join(v10::STORE_DIR);
        match &*written_format(dir)? {
            FORMAT if store.exists() => remove_former(dir)?,
            FORMAT => return Err(gone(&store)),
            v9::FORMAT if is_of_v9 => take_over(dir, (Former::V9, dir), &store)?,
            v10::FORMAT if v10_store.exists() => take_over(dir, (Former::V10, &v10_store), &store)?,
            v10::FORMAT => return Err(gone(&v10_store)),
            // Cut short when it was made, before FORMAT was written: it is whole.
            "" if store.exists() => write_format(dir)?,
            // As said, but by the version before.
            "" if v10_store.exists() => take_over(dir, (Former::V10, &v10_store), &store)?,
            "" if is_of_v9 => return Err(no_format(dir)),
            // As said above, also of the version before: nothing was ever stored here.
            "" | v9::FORMAT => {
                open::create(&unfinished(dir)?)?;
                finish(dir, &store)?;
            }
            other => return Err(unknown(dir, other)),
        }
        Ok(Home { store, lock })
    }

    /// A commit that the journal still has, and the end of the archive that it speaks of.
    pub fn find_commit(&self, number: u64) -> Result<Option<(ArchivePosition, Vec<u8>)>, Error> {
        follow::find_commit(&self.store, number)
    }

    /// The last commit that an opening must find: it survived a power cut.
    pub fn promised(&self) -> Result<u64, Error> {
        Ok(StateMark::read(&self.store)?.commits)
    }

    /// How far the archive was synced before the last sync of the store, if that is known: what
    /// lies beyond was never promised to anybody.
    pub fn archived(&self) -> Result<Option<ArchivePosition>, Error> {
        let StateMark { commits, archived } = StateMark::read(&self.store)?;
        // Format 9 did not say, nor does a run that kept nothing.
        let is_known = commits == 0 || archived > ArchivePosition::default();
        Ok(is_known.then_some(archived))
    }
}

pub(super) fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join(LOCK_FILE);
    let file = File::options().create(true).append(true).open(&path);
    let file = file.map_err(|e| file_error(&path, e))?;
    for _ in 0..LOCK_TRIES_MAX {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(e)) => return Err(file_error(&path, e)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
        }
    }
    Err(in_use(dir))
}

pub fn in_use(dir: &Path) -> Error {
    Error::new(ErrorKind::Invalid, format!("{} is in use by another rhumb", dir.display()))
}

/// What FORMAT says; nothing if it was cut short, or is not there.
fn written_format(dir: &Path) -> Result<String, Error> {
    let path = dir.join(FORMAT_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(file_error(&path, e)),
    }
}

/// Where a store can be made: what an earlier attempt left there is removed.
pub(super) fn unfinished(dir: &Path) -> Result<PathBuf, Error> {
    let path = dir.join(UNFINISHED_DIR);
    for stale in [&path, &dir.join(STORE_DIR)] {
        remove(stale)?;
    }
    fs::create_dir(&path).map_err(|e| file_error(&path, e))?;
    Ok(path)
}

/// The store that was made is whole, and counts from now on.
pub(super) fn finish(dir: &Path, store: &Path) -> Result<(), Error> {
    let unfinished = dir.join(UNFINISHED_DIR);
    let rename = || -> io::Result<()> {
        sync_tree(&unfinished)?;
        fs::rename(&unfinished, store)?;
        sync_dir(dir)
    };
    rename().map_err(|e| file_error(store, e))?;
    write_format(dir)
}

fn write_format(dir: &Path) -> Result<(), Error> {
    let path = dir.join(FORMAT_FILE);
    let written = replace(&path, Durable::Name, |file| writeln!(file, "{FORMAT}"));
    written.map_err(|e| file_error(&path, e))
}

/// Migrates the store of an earlier format in `from`, and removes it.
fn take_over(dir: &Path, (former, from): (Former, &Path), store: &Path) -> Result<(), Error> {
    migrate::migrate(former, from, &unfinished(dir)?)?;
    finish(dir, store)?;
    remove_former(dir)
}

/// Removes the store that this one was migrated from.
fn remove_former(dir: &Path) -> Result<(), Error> {
    let names = [v9::FJALL_DIR, v9::JOURNAL_DIR, v9::MARK_FILE, v10::STORE_DIR];
    names.iter().try_for_each(|name| remove(&dir.join(name)))
}

fn remove(path: &Path) -> Result<(), Error> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(file_error(path, e)),
        _ => Ok(()),
    }
}

fn gone(store: &Path) -> Error {
    let what = format!("the store {} is gone: begin anew in another --dir", store.display());
    Error::new(ErrorKind::Corrupt, what)
}

fn no_format(dir: &Path) -> Error {
    let what = format!("{} holds a store without a FORMAT file", dir.display());
    Error::new(ErrorKind::Invalid, what)
}

fn unknown(dir: &Path, format: &str) -> Error {
    let what = format!(
        "cannot open the state in {}: it is of format {format:?}, this program reads {FORMAT:?} \
         and migrates {:?} and {:?}; use the version that made it, or one between, or another \
         --dir",
        dir.display(),
        v10::FORMAT,
        v9::FORMAT,
    );
    Error::new(ErrorKind::Invalid, what)
}
