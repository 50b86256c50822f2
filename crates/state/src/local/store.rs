//! All rows, wherever they are: in memory, and in fjall's tables.

use super::follow::Follow;
use super::memtable::{Generation, Memtable};
use super::merged::{Merged, StoredRow};
use super::read::{LocalSnapshot, bounds};
use super::table::{Keyspaces, StateTable};
use super::{file_error, lock};
use fjall::Database;
use rhumb_engine::error::Error;
use serde::de::DeserializeOwned;
use std::fs;
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::sync::{Condvar, Mutex};

pub struct LocalStore {
    pub database: Database,
    pub keyspaces: Keyspaces,
    pub memtable: Mutex<Memtable>,
    /// Who copies the journal elsewhere, if anybody does.
    followed: Option<Follow>,
    /// Why rows could not be flushed, for the next who commits.
    failed: Mutex<Option<Error>>,
    /// Told whenever a generation has left, or cannot.
    left: (Mutex<()>, Condvar),
}

impl LocalStore {
    /// All rows up to this commit are in fjall's tables, or among these.
    pub fn new(
        database: Database,
        keyspaces: Keyspaces,
        rows: Generation,
        commit: u64,
    ) -> LocalStore {
        LocalStore {
            database,
            keyspaces,
            memtable: Mutex::new(Memtable::of(rows, commit)),
            followed: None,
            failed: Mutex::default(),
            left: (Mutex::default(), Condvar::new()),
        }
    }

    pub fn followed_by(self, follow: Option<Follow>) -> LocalStore {
        LocalStore { followed: follow, ..self }
    }

    /// The tables have all rows of this file of the journal: nobody needs it, but for who follows.
    pub fn done_with(&self, journal: &Path) -> Result<(), Error> {
        match &self.followed {
            Some(follow) => follow.flushed(journal),
            None => fs::remove_file(journal).map_err(|e| file_error(journal, e)),
        }
    }

    pub fn get<T: DeserializeOwned>(
        &self,
        table: StateTable,
        what: &str,
        key: &[u8],
    ) -> Result<Option<T>, Error> {
        LocalSnapshot::take(self).get(table, what, key)
    }

    /// All rows of a table as they are now, in the order of keys.
    pub fn all(&self, table: StateTable) -> impl Iterator<Item = StoredRow> + use<> {
        self.prefix(table, &[])
    }

    /// All rows of a table whose keys begin so.
    pub fn prefix(
        &self,
        table: StateTable,
        prefix: &[u8],
    ) -> impl Iterator<Item = StoredRow> + use<> {
        self.prefix_after(table, prefix, None)
    }

    /// The same, behind a key.
    pub fn prefix_after(
        &self,
        table: StateTable,
        prefix: &[u8],
        after: Option<&[u8]>,
    ) -> impl Iterator<Item = StoredRow> + use<> {
        let snapshot = LocalSnapshot::take(self);
        let (first, end) = bounds(prefix);
        let start = after.map_or(first, |key| Bound::Excluded(key.to_vec()));
        let within = (start.clone(), end.clone());
        let memtable = snapshot.view.sorted(table).filter(move |(key, _)| {
            RangeBounds::<[u8]>::contains(&(bytes_of(&within.0), bytes_of(&within.1)), &**key)
        });
        Merged::new(memtable, snapshot.stored(table, start, end))
    }

    pub fn check(&self) -> Result<(), Error> {
        match lock(&self.failed).clone() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    pub fn is_stowing(&self) -> bool {
        lock(&self.memtable).leaving.is_some()
    }

    /// Waits until no generation is on its way.
    pub fn wait(&self) -> Result<(), Error> {
        let (mutex, told) = &self.left;
        let mut guard = lock(mutex);
        while self.is_stowing() {
            self.check()?;
            guard = told.wait(guard).unwrap_or_else(|e| e.into_inner());
        }
        Ok(())
    }

    /// A generation has left, or cannot.
    pub fn has_flushed(&self, done: Result<(), Error>) {
        *lock(&self.failed) = done.err();
        let (mutex, told) = &self.left;
        let _guard = lock(mutex);
        told.notify_all();
    }
}

fn bytes_of(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
