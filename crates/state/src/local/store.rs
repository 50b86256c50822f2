//! All rows, wherever they are: in memory, and in fjall's tables.

use super::fresh::Fresh;
use super::lock;
use super::merged::{Merged, StoredRow};
use super::read::{LocalSnapshot, bounds};
use super::table::{Keyspaces, Table};
use fjall::Database;
use rhumb_engine::error::Error;
use serde::de::DeserializeOwned;
use std::sync::{Condvar, Mutex};

pub struct Store {
    pub database: Database,
    pub keyspaces: Keyspaces,
    pub fresh: Mutex<Fresh>,
    /// Why rows could not be stowed, for the next who commits.
    failed: Mutex<Option<Error>>,
    /// Told whenever a generation has left, or cannot.
    left: (Mutex<()>, Condvar),
}

impl Store {
    /// All rows up to this commit are in fjall's tables.
    pub fn new(database: Database, keyspaces: Keyspaces, commit: u64) -> Store {
        Store {
            database,
            keyspaces,
            fresh: Mutex::new(Fresh::after(commit)),
            failed: Mutex::default(),
            left: (Mutex::default(), Condvar::new()),
        }
    }

    pub fn get<T: DeserializeOwned>(
        &self,
        table: Table,
        what: &str,
        key: &[u8],
    ) -> Result<Option<T>, Error> {
        LocalSnapshot::take(self).get(table, what, key)
    }

    /// All rows of a table as they are now, in the order of keys.
    pub fn all(&self, table: Table) -> impl Iterator<Item = StoredRow> + use<> {
        self.prefix(table, &[])
    }

    /// All rows of a table whose keys begin so.
    pub fn prefix(&self, table: Table, prefix: &[u8]) -> impl Iterator<Item = StoredRow> + use<> {
        let snapshot = LocalSnapshot::take(self);
        let begin = prefix.to_vec();
        let fresh = snapshot.view.sorted(table).filter(move |(key, _)| key.starts_with(&begin));
        let (start, end) = bounds(prefix);
        Merged::new(fresh, snapshot.stored(table, start, end))
    }

    pub fn check(&self) -> Result<(), Error> {
        match lock(&self.failed).clone() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    pub fn is_stowing(&self) -> bool {
        lock(&self.fresh).leaving.is_some()
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
    pub fn has_stowed(&self, done: Result<(), Error>) {
        *lock(&self.failed) = done.err();
        let (mutex, told) = &self.left;
        let _guard = lock(mutex);
        told.notify_all();
    }
}
