//! Who copies commits elsewhere follows the journal: its files stay until both the tables and the
//! follower have their rows.
//!
//! The follower reads the files themselves, as far as [`Follow::files`] says that they are written:
//! so what is not yet copied costs no memory, and after a restart it is where it was.

use super::journal::{self, Frame};
use super::table::StateTable;
use super::{COMMITS, file_error, lock};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::turn::ArchivePosition;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// A file of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFile {
    pub number: u64,
    pub path: PathBuf,
    /// So much of it is written.
    pub bytes: u64,
    /// Nothing more will be written.
    pub is_full: bool,
}

/// How far the journal reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The last commit.
    pub commit: u64,
    /// The end of the archive that it speaks of.
    pub archived: ArchivePosition,
    /// Bytes in all files of this run, also of those that are gone.
    pub bytes: u64,
}

struct Kept {
    file: JournalFile,
    is_flushed: bool,
    is_released: bool,
}

#[derive(Default)]
struct Journal {
    files: VecDeque<Kept>,
    committed: Committed,
}

type Told = Box<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Shared {
    journal: Mutex<Journal>,
    told: OnceLock<Told>,
}

/// The journal as its follower sees it.
#[derive(Clone, Default)]
pub struct Follow(Arc<Shared>);

impl Follow {
    /// Calls this after every commit, on the thread that commits: it must be quick.
    pub fn on_commit(&self, told: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.told.set(Box::new(told));
    }

    pub fn committed(&self) -> Committed {
        lock(&self.0.journal).committed
    }

    /// The files that are there, oldest first.
    pub fn files(&self) -> Vec<JournalFile> {
        lock(&self.0.journal).files.iter().map(|kept| kept.file.clone()).collect()
    }

    /// The follower has all rows of this file and those before it: they go when the tables have
    /// them, too.
    pub fn release(&self, number: u64) -> Result<(), Error> {
        let mut journal = lock(&self.0.journal);
        for kept in journal.files.iter_mut().filter(|kept| kept.file.number <= number) {
            kept.is_released = true;
        }
        journal.remove()
    }

    /// A file that was there at an opening: its rows are in the tables.
    pub(super) fn found(&self, number: u64, path: PathBuf, bytes: u64) {
        let file = JournalFile { number, path, bytes, is_full: true };
        let mut journal = lock(&self.0.journal);
        journal.committed.bytes += bytes;
        journal.files.push_back(Kept { file, is_flushed: true, is_released: false });
    }

    pub(super) fn begun(&self, number: u64, path: &Path) {
        let file = JournalFile { number, path: path.into(), bytes: 0, is_full: false };
        let mut journal = lock(&self.0.journal);
        if let Some(last) = journal.files.back_mut() {
            last.file.is_full = true;
        }
        journal.files.push_back(Kept { file, is_flushed: false, is_released: false });
    }

    pub(super) fn opened_at(&self, commit: u64, archived: ArchivePosition) {
        let mut journal = lock(&self.0.journal);
        (journal.committed.commit, journal.committed.archived) = (commit, archived);
    }

    pub(super) fn appended(&self, bytes: u64, commit: u64, archived: ArchivePosition) {
        {
            let mut journal = lock(&self.0.journal);
            let all = journal.committed.bytes + bytes;
            journal.committed = Committed { commit, archived, bytes: all };
            let last = journal.files.back_mut().expect("a file was begun");
            last.file.bytes += bytes;
        }
        if let Some(told) = self.0.told.get() {
            told();
        }
    }

    /// The tables have the rows of this file.
    pub(super) fn flushed(&self, path: &Path) -> Result<(), Error> {
        let mut journal = lock(&self.0.journal);
        for kept in journal.files.iter_mut().filter(|kept| kept.file.path == path) {
            kept.is_flushed = true;
        }
        journal.remove()
    }
}

impl Journal {
    /// Removes what nobody needs any more, in order: a later opening reads the rest as one.
    fn remove(&mut self) -> Result<(), Error> {
        let is_done = |kept: &Kept| kept.is_flushed && kept.is_released;
        while self.files.front().is_some_and(is_done) {
            let path = &self.files[0].file.path;
            fs::remove_file(path).map_err(|e| file_error(path, e))?;
            self.files.pop_front();
        }
        Ok(())
    }
}

/// A commit as it stands in a journal.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    pub number: u64,
    pub archived: ArchivePosition,
    /// All of it, with its checksum.
    pub bytes: &'a [u8],
}

/// The whole commits that these bytes begin with.
pub fn commits_in(bytes: &[u8]) -> impl Iterator<Item = Commit<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (Frame { number, archived, .. }, after) = journal::take_frame(rest)?;
        let bytes = &rest[..rest.len() - after.len()];
        rest = after;
        Some(Commit { number, archived, bytes })
    })
}

/// A table's number, a key, and a value; none takes the row away.
pub type MergedRow<'a> = (u8, &'a [u8], Option<&'a [u8]>);

/// What commits behind this one have made of the rows, each once, in the order of tables and keys.
/// The number of commits in the tables is left out: it is said of each store apart.
pub fn merged_rows(bytes: &[u8], after: u64) -> Result<Vec<MergedRow<'_>>, Error> {
    let mut rows = BTreeMap::new();
    let mut rest = bytes;
    while let Some((frame, behind)) = journal::take_frame(rest) {
        rest = behind;
        if frame.number <= after {
            continue;
        }
        let parsed = journal::parse(frame.rows).ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, format!("commit {} cannot be read", frame.number))
        })?;
        for (table, key, value) in parsed {
            if (table, key) != (StateTable::Meta, COMMITS) {
                rows.insert((table as u8, key), value);
            }
        }
    }
    Ok(rows.into_iter().map(|((table, key), value)| (table, key, value)).collect())
}

/// A commit in the journal of a store at rest.
pub fn find_commit(store: &Path, number: u64) -> Result<Option<(ArchivePosition, Vec<u8>)>, Error> {
    for (_, path) in journal::files(&super::open::journal_dir(store))? {
        let bytes = fs::read(&path).map_err(|e| file_error(&path, e))?;
        if let Some(commit) = commits_in(&bytes).find(|commit| commit.number == number) {
            return Ok(Some((commit.archived, commit.bytes.to_vec())));
        }
    }
    Ok(None)
}
