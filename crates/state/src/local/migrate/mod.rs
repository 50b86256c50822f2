//! From the format before this one: every row is read in its old shape and written in its new one,
//! into a store beside the old one, which is left as it is until the new one counts.
//!
//! The rule (docs/decisions/0019-migration.md): each version migrates the format before its own, on
//! its own, when a store is opened. A migration that is cut short anywhere begins again at the next
//! opening. The next format gets a module beside [`v9`], which then goes.

pub mod v9;

use super::fresh::Generation;
use super::mark::Mark;
use super::open::{self, Believed};
use super::table::{Keyspaces, Table};
use super::{FORMAT, FRESH_BYTES};
use fjall::Database;
use rhumb_engine::error::Error;
use rhumb_engine::turn::Position;
use std::path::Path;

/// Writes the store of format 9 in `dir` as one of this format into the directory `to`, and syncs
/// it. What was written so far is removed if that fails, so that a full disk is not left full.
pub fn migrate(dir: &Path, to: &Path) -> Result<(), Error> {
    let dir_shown = dir.display();
    tracing::warn!(dir = %dir_shown, from = v9::FORMAT, to = FORMAT, "migrating the state");
    let migrated = copy(dir, to);
    match &migrated {
        Ok(rows) => tracing::info!(dir = %dir_shown, rows, "migrated the state"),
        // The next opening removes it as well.
        Err(_) => drop(std::fs::remove_dir_all(to)),
    }
    migrated.map(drop)
}

/// The number of rows written.
fn copy(from: &Path, to: &Path) -> Result<u64, Error> {
    let believed = Believed { archive_end: None, take: v9::take_frame };
    let old = open::read_rows(from, believed)?;
    let mark = Mark { commits: old.commits, archived: Position::default() };
    let (_old_database, old) = old.into_tables()?;
    let (database, keyspaces) = open::create(to)?;
    let mut rows = Writing { database, keyspaces, memtable: Generation::default(), count: 0 };
    // Meta tells how many commits the tables hold: when it says so, the others hold them.
    let others = Table::ALL.into_iter().filter(|table| *table != Table::Meta);
    for table in others.chain([Table::Meta]) {
        let Some(keyspace) = old.of(table) else { continue };
        for row in keyspace.iter() {
            let (key, value) = row.into_inner().map_err(super::store_error)?;
            if let Some(value) = v9::converted(table, &key, &value)? {
                rows.put(table, &key, &value)?;
            }
        }
    }
    let count = rows.finish()?;
    mark.write(to)?;
    Ok(count)
}

/// Rows on their way into tables, a memtable at a time.
struct Writing {
    database: Database,
    keyspaces: Keyspaces,
    memtable: Generation,
    count: u64,
}

impl Writing {
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), Error> {
        self.memtable.put((table, key, Some(value)), 0, None);
        self.count += 1;
        if self.memtable.bytes() >= FRESH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let memtable = std::mem::take(&mut self.memtable);
        self.keyspaces.stow(&self.database, |table| memtable.rows(table, 0))
    }

    fn finish(mut self) -> Result<u64, Error> {
        self.flush()?;
        Ok(self.count)
    }
}
