//! From an earlier format: every row is read in its old shape and written in its new one, into a
//! store beside the old one, which is left as it is until the new one counts.
//!
//! The rule (docs/decisions/0019-migration.md): each version migrates the format before its own, on
//! its own, when a store is opened. A migration that is cut short anywhere begins again at the next
//! opening. Format 9 is still migrated as well: its shapes become today's at once.

pub mod v10;
pub mod v9;

use super::codec::{decode, encode_into};
use super::journal::{self, Batch, Journal};
use super::mark::StateMark;
use super::memtable::Generation;
use super::open::{self, Believed};
use super::table::{Keyspaces, StateTable};
use super::{FORMAT, MEMTABLE_BYTES};
use fjall::Database;
use rhumb_engine::discovery;
use rhumb_engine::error::Error;
use rhumb_engine::turn::ArchivePosition;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The formats that this version migrates.
#[derive(Clone, Copy)]
pub enum Former {
    V9,
    V10,
}

impl Former {
    fn format(self) -> &'static str {
        match self {
            Former::V9 => v9::FORMAT,
            Former::V10 => v10::FORMAT,
        }
    }
}

/// Writes the store of an earlier format in `from` as one of this format into the directory `to`,
/// and syncs it. What was written so far is removed if that fails, so that a full disk is not left
/// full.
pub fn migrate(former: Former, from: &Path, to: &Path) -> Result<(), Error> {
    let dir_shown = from.display();
    tracing::warn!(dir = %dir_shown, from = former.format(), to = FORMAT, "migrating the state");
    let migrated = match former {
        Former::V9 => copy_v9(from, to),
        Former::V10 => copy_v10(from, to),
    };
    match &migrated {
        Ok(rows) => tracing::info!(dir = %dir_shown, rows, "migrated the state"),
        // The next opening removes it as well.
        Err(_) => drop(std::fs::remove_dir_all(to)),
    }
    migrated.map(drop)
}

/// What a format makes of one row.
type Convert = fn(StateTable, &[u8], &[u8]) -> Result<Option<Vec<u8>>, Error>;

/// The number of rows written. The journal of format 9 does not say how far the archive reached:
/// all of it is believed, and goes into the tables.
fn copy_v9(from: &Path, to: &Path) -> Result<u64, Error> {
    let believed = Believed { archive_end: None, take: v9::take_frame };
    let old = open::read_rows(from, believed)?;
    let mark = StateMark { commits: old.commits, archived: ArchivePosition::default() };
    let (_old_database, old) = old.into_tables()?;
    let count = copy_tables(&old, to, v9::converted)?;
    mark.write(to)?;
    Ok(count)
}

/// The number of rows written. Commits of the journal stay commits, for the opening to say which
/// of them the archive bears out.
fn copy_v10(from: &Path, to: &Path) -> Result<u64, Error> {
    let (_old_database, old) = open::open_tables(from)?;
    let mut count = copy_tables(&old, to, v10::converted)?;
    let mut journal = Journal::begin(&open::journal_dir(to), None)?;
    let mut batch = Batch::default();
    for (_, path) in journal::files(&open::journal_dir(from))? {
        journal::read_frames(&path, |number, archived, rows| {
            batch.clear();
            for (table, key, value) in rows {
                match value.map(|value| v10::converted(table, key, value)).transpose()? {
                    Some(Some(value)) => batch.put(table, key, |mut bytes| {
                        bytes.extend_from_slice(&value);
                        bytes
                    }),
                    // Removed, or of a kind that this format does not carry over.
                    _ => batch.remove(table, key),
                }
                count += 1;
            }
            journal.append(&mut batch, number, archived)
        })?;
    }
    journal.sync()?;
    StateMark::read(from)?.write(to)?;
    Ok(count)
}

fn copy_tables(old: &Keyspaces, to: &Path, convert: Convert) -> Result<u64, Error> {
    let (database, keyspaces) = open::create(to)?;
    let mut rows = Writing { database, keyspaces, memtable: Generation::default(), count: 0 };
    // Meta tells how many commits the tables hold: when it says so, the others hold them.
    let others = StateTable::ALL.into_iter().filter(|table| *table != StateTable::Meta);
    for table in others.chain([StateTable::Meta]) {
        let Some(keyspace) = old.of(table) else { continue };
        for row in keyspace.iter() {
            let (key, value) = row.into_inner().map_err(super::store_error)?;
            if let Some(value) = convert(table, &key, &value)? {
                rows.put(table, &key, &value)?;
            }
        }
    }
    rows.finish()
}

fn anew<Old: DeserializeOwned, New: From<Old> + Serialize>(
    what: &str,
    value: &[u8],
) -> Result<Vec<u8>, Error> {
    let old: Old = decode(what, value)?;
    Ok(encode_into(&New::from(old))(Vec::new()))
}

fn chunk<Lead: DeserializeOwned + Into<discovery::Lead>>(value: &[u8]) -> Result<Vec<u8>, Error> {
    let old: Vec<Lead> = decode("outbox", value)?;
    let new: discovery::Chunk = old.into_iter().map(Into::into).collect();
    Ok(encode_into(&new)(Vec::new()))
}

/// Rows on their way into tables, a memtable at a time.
struct Writing {
    database: Database,
    keyspaces: Keyspaces,
    memtable: Generation,
    count: u64,
}

impl Writing {
    fn put(&mut self, table: StateTable, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.memtable.put((table, key, Some(value)), 0, None);
        self.count += 1;
        if self.memtable.bytes() >= MEMTABLE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let memtable = std::mem::take(&mut self.memtable);
        self.keyspaces.flush(&self.database, |table| memtable.rows(table, 0))
    }

    fn finish(mut self) -> Result<u64, Error> {
        self.flush()?;
        Ok(self.count)
    }
}
