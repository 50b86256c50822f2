//! The tables that rows stand in, and what fjall keeps of each.

use super::open::keyspace_options;
use super::{file_error, store_error};
use fjall::{Database, Keyspace};
use rhumb_disk::sync_dir;
use rhumb_engine::error::Error;
use std::sync::OnceLock;

/// Numbers are part of the journal's format: new tables go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTable {
    Meta,
    Url,
    Queue,
    Host,
    Robots,
    Sleep,
    Outbox,
    Content,
    Leader,
    Seed,
    Links,
    Settled,
    Exchange,
}

pub const TABLES: usize = 13;

impl StateTable {
    pub const ALL: [StateTable; TABLES] = [
        StateTable::Meta,
        StateTable::Url,
        StateTable::Queue,
        StateTable::Host,
        StateTable::Robots,
        StateTable::Sleep,
        StateTable::Outbox,
        StateTable::Content,
        StateTable::Leader,
        StateTable::Seed,
        StateTable::Links,
        StateTable::Settled,
        StateTable::Exchange,
    ];

    pub fn name(self) -> &'static str {
        match self {
            StateTable::Meta => "meta",
            StateTable::Url => "url",
            StateTable::Queue => "queue",
            StateTable::Host => "host",
            StateTable::Robots => "robots",
            StateTable::Sleep => "sleep",
            StateTable::Outbox => "outbox",
            StateTable::Content => "content",
            StateTable::Leader => "leader",
            StateTable::Seed => "seed",
            StateTable::Links => "links",
            StateTable::Settled => "settled",
            StateTable::Exchange => "exchange",
        }
    }

    /// Questions walk over some of its rows in order; of other tables they ask for one row by its
    /// key, and only people and an opening walk over all of them.
    pub fn is_walked(self) -> bool {
        matches!(self, StateTable::Queue | StateTable::Sleep | StateTable::Outbox)
    }
}

/// Making one takes fjall some twenty syncs of the disk, so a table gets its keyspace when the
/// first rows are moved into it, beside a crawl that goes on, and one that is never needed gets
/// none.
pub struct Keyspaces([OnceLock<Keyspace>; TABLES]);

impl Keyspaces {
    /// Those that the database has.
    pub fn open(database: &Database) -> Result<Keyspaces, Error> {
        let keyspaces = Keyspaces(Default::default());
        for table in StateTable::ALL {
            if database.keyspace_exists(table.name()) {
                keyspaces.made(database, table)?;
            }
        }
        Ok(keyspaces)
    }

    /// None while no rows of the table were moved out of memory.
    pub fn of(&self, table: StateTable) -> Option<&Keyspace> {
        self.0[table as usize].get()
    }

    pub fn count(&self) -> usize {
        self.0.iter().filter(|place| place.get().is_some()).count()
    }

    /// Makes their names survive the death of the machine: fjall syncs what is in them.
    pub fn sync_names(&self) -> Result<(), Error> {
        let some = self.0.iter().find_map(OnceLock::get);
        let Some(dir) = some.and_then(|keyspace| keyspace.path().parent()) else { return Ok(()) };
        sync_dir(dir).map_err(|e| file_error(dir, e))
    }

    pub fn made(&self, database: &Database, table: StateTable) -> Result<&Keyspace, Error> {
        let place = &self.0[table as usize];
        if place.get().is_none() {
            let keyspace = database.keyspace(table.name(), keyspace_options);
            // Whoever made it meanwhile was given the same one.
            let _ = place.set(keyspace.map_err(store_error)?);
        }
        Ok(place.get().expect("made above"))
    }
}
