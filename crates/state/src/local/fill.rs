//! A store made of rows and commits that come from elsewhere: of a copy that outlived the machine.

use super::codec::encode_into;
use super::format;
use super::journal;
use super::mark::StateMark;
use super::table::StateTable;
use super::{COMMITS, file_error, open, store_error};
use rhumb_disk::sync_dir;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::turn::ArchivePosition;
use std::fs::File;
use std::io::Write;
use std::iter::Peekable;
use std::path::Path;

/// Table, key and value.
pub type CopiedRow = (u8, Vec<u8>, Vec<u8>);

/// Makes the store in `dir`, which has none, of rows in the order of tables and keys, which hold
/// all up to the commit `mark`, and of the commits behind it up to `last`, each chunk a few in a
/// row. All of them are believed, whatever archive there is. Cut short, there is no store.
pub fn fill(
    dir: &Path,
    rows: impl Iterator<Item = Result<CopiedRow, Error>>,
    mark: u64,
    chunks: impl Iterator<Item = Result<Vec<u8>, Error>>,
    last: u64,
) -> Result<(), Error> {
    std::fs::create_dir_all(dir).map_err(|e| file_error(dir, e))?;
    let _lock = format::lock(dir)?;
    let store = format::unfinished(dir)?;
    put_rows(&store, rows, mark)?;
    put_chunks(&store, chunks)?;
    StateMark { commits: last, archived: ArchivePosition::default() }.write(&store)?;
    format::finish(dir, &dir.join(format::STORE_DIR))
}

fn put_rows(
    store: &Path,
    rows: impl Iterator<Item = Result<CopiedRow, Error>>,
    mark: u64,
) -> Result<(), Error> {
    let (database, keyspaces) = open::create(store)?;
    let mut rows = rows.peekable();
    // They come first, and say how many commits the others hold: they are written last.
    let mut meta: Vec<CopiedRow> = Vec::new();
    while let Some(row) = of_table(&mut rows, StateTable::Meta as u8) {
        meta.push(row?);
    }
    let commits = encode_into(&mark)(Vec::new());
    meta.push((StateTable::Meta as u8, COMMITS.to_vec(), commits));
    meta.sort();
    while let Some(row) = rows.peek() {
        let table = row.as_ref().map_err(Error::clone)?.0;
        let Some(named) = StateTable::ALL.get(usize::from(table)) else {
            return Err(unknown(table));
        };
        let keyspace = keyspaces.made(&database, *named)?;
        let mut ingestion = keyspace.start_ingestion().map_err(store_error)?;
        while let Some(row) = of_table(&mut rows, table) {
            let (_, key, value) = row?;
            ingestion.write(key, value).map_err(store_error)?;
        }
        ingestion.finish().map_err(store_error)?;
    }
    let keyspace = keyspaces.made(&database, StateTable::Meta)?;
    let mut ingestion = keyspace.start_ingestion().map_err(store_error)?;
    for (_, key, value) in meta {
        ingestion.write(key, value).map_err(store_error)?;
    }
    ingestion.finish().map_err(store_error)?;
    keyspaces.sync_names()
}

/// The next row, if it is one of this table.
fn of_table(
    rows: &mut Peekable<impl Iterator<Item = Result<CopiedRow, Error>>>,
    table: u8,
) -> Option<Result<CopiedRow, Error>> {
    rows.next_if(|row| row.as_ref().is_ok_and(|row| row.0 == table))
}

fn put_chunks(
    store: &Path,
    chunks: impl Iterator<Item = Result<Vec<u8>, Error>>,
) -> Result<(), Error> {
    let dir = open::journal_dir(store);
    let path = journal::file_path(&dir, 0);
    let io = |e| file_error(&path, e);
    let mut file = File::create_new(&path).map_err(io)?;
    for chunk in chunks {
        file.write_all(&chunk?).map_err(io)?;
    }
    file.sync_all().map_err(io)?;
    sync_dir(&dir).map_err(io)
}

fn unknown(table: u8) -> Error {
    let what = format!("a row belongs to table {table}, which this version does not know");
    Error::new(ErrorKind::Invalid, what)
}
