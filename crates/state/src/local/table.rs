//! The tables that rows stand in, and what fjall keeps of each.

use super::open::keyspace_options;
use super::store_error;
use fjall::{Database, Keyspace};
use rhumb_engine::error::Error;

/// Numbers are part of the journal's format: new tables go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
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

impl Table {
    pub const ALL: [Table; TABLES] = [
        Table::Meta,
        Table::Url,
        Table::Queue,
        Table::Host,
        Table::Robots,
        Table::Sleep,
        Table::Outbox,
        Table::Content,
        Table::Leader,
        Table::Seed,
        Table::Links,
        Table::Settled,
        Table::Exchange,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Table::Meta => "meta",
            Table::Url => "url",
            Table::Queue => "queue",
            Table::Host => "host",
            Table::Robots => "robots",
            Table::Sleep => "sleep",
            Table::Outbox => "outbox",
            Table::Content => "content",
            Table::Leader => "leader",
            Table::Seed => "seed",
            Table::Links => "links",
            Table::Settled => "settled",
            Table::Exchange => "exchange",
        }
    }

    /// Questions walk over some of its rows in order; of other tables they ask for one row by its
    /// key, and only people and an opening walk over all of them.
    pub fn is_walked(self) -> bool {
        matches!(self, Table::Queue | Table::Sleep | Table::Outbox)
    }
}

pub struct Keyspaces([Keyspace; TABLES]);

impl Keyspaces {
    pub fn open(database: &Database) -> Result<Keyspaces, Error> {
        let mut all = Vec::with_capacity(TABLES);
        for table in Table::ALL {
            all.push(database.keyspace(table.name(), keyspace_options).map_err(store_error)?);
        }
        Ok(Keyspaces(all.try_into().unwrap_or_else(|_| unreachable!("one for each table"))))
    }

    pub fn of(&self, table: Table) -> &Keyspace {
        &self.0[table as usize]
    }
}
