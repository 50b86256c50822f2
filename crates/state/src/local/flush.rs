//! Moving rows from memory into fjall's tables, on a thread of its own.
//!
//! Rows go in sorted, so that they become tables of fjall at once, past its own journal and
//! memtables. While that lasts they stay readable where they were; if it is cut short they are
//! still in our journal, and are moved again by the next opening.

use super::memtable::{MemtableRow, SharedGeneration, in_order};
use super::merging::wait_for_merging;
use super::store::LocalStore;
use super::table::{Keyspaces, StateTable};
use super::{lock, store_error};
use fjall::{Database, PersistMode};
use rhumb_engine::error::{Error, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

impl Keyspaces {
    /// Moves rows into fjall. The last table tells how many commits the tables hold: when it says
    /// so, the others hold them.
    pub fn flush(
        &self,
        database: &Database,
        rows: impl Fn(StateTable) -> Vec<MemtableRow>,
    ) -> Result<(), Error> {
        let others = StateTable::ALL.into_iter().filter(|table| *table != StateTable::Meta);
        let count = self.count();
        for table in others {
            self.flush_table(database, table, in_order(rows(table)))?;
        }
        // Before anything says that rows are there: where they are must be known for good.
        if self.count() > count {
            self.sync_names()?;
        }
        self.flush_table(database, StateTable::Meta, in_order(rows(StateTable::Meta)))?;
        is_working(database)
    }

    fn flush_table(
        &self,
        database: &Database,
        table: StateTable,
        rows: Vec<MemtableRow>,
    ) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let keyspace = self.made(database, table)?;
        wait_for_merging(database, keyspace, table)?;
        let mut ingestion = keyspace.start_ingestion().map_err(store_error)?;
        for (key, value) in rows {
            match value {
                Some(value) => ingestion.write(key, value),
                None => ingestion.write_tombstone(key),
            }
            .map_err(store_error)?;
        }
        ingestion.finish().map_err(store_error)
    }
}

/// Whoever merges tables may have failed, which only those who write to fjall's journal are told.
pub(super) fn is_working(database: &Database) -> Result<(), Error> {
    database.persist(PersistMode::Buffer).map_err(store_error)
}

/// The thread that flushes; it ends when this is dropped.
pub struct Flusher {
    work: Option<SyncSender<(SharedGeneration, PathBuf)>>,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    pub fn start(store: Arc<LocalStore>) -> Result<Flusher, Error> {
        let (work, todo) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("rhumb-flusher".into())
            .spawn(move || run(&store, &todo))
            .map_err(|e| Error::new(ErrorKind::Retry, format!("no thread for the state: {e}")))?;
        Ok(Flusher { work: Some(work), thread: Some(thread) })
    }

    /// Flushes a generation whose rows are in this file of the journal.
    pub fn flush(&self, generation: SharedGeneration, journal: PathBuf) {
        // Nobody takes it if the thread has ended: it has said why.
        let _ = self.work.as_ref().expect("until it is dropped").send((generation, journal));
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(store: &LocalStore, todo: &Receiver<(SharedGeneration, PathBuf)>) {
    while let Ok((generation, journal)) = todo.recv() {
        // A panic in there must not leave those who commit waiting.
        let work = || flush(store, &generation, &journal);
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Corrupt, "state: rows could not be moved into tables"))
        });
        let is_done = done.is_ok();
        store.has_flushed(done);
        if !is_done {
            return;
        }
    }
}

fn flush(store: &LocalStore, generation: &SharedGeneration, journal: &Path) -> Result<(), Error> {
    store.keyspaces.flush(&store.database, |table| generation.read().rows(table, u64::MAX))?;
    lock(&store.memtable).leaving = None;
    store.done_with(journal)
}
