//! Format 10: where its store lies, and what becomes of each of its rows.
//!
//! Rules of robots.txt are not carried over: they are fetched again and read as this version reads
//! them. Frames of its journal are written as today's (`journal::take_frame`).

mod shapes;

use super::super::COUNTERS;
use super::super::table::Table;
use super::{anew, chunk};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::{counters, host, queue, record};
use shapes::{Counters, Entry, HostRecord, Lead, UrlRecord};

pub const FORMAT: &str = "rhumb state 10";

/// The directory of its store.
pub const STORE_DIR: &str = "format-10";

/// A row as this format writes it; none if it has no such row. No key has changed.
pub fn converted(table: Table, key: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let value = match table {
        Table::Url => anew::<UrlRecord, record::UrlRecord>("url", value)?,
        Table::Queue => anew::<Entry, queue::Entry>("queue", value)?,
        Table::Host => anew::<HostRecord, host::HostRecord>("host", value)?,
        Table::Robots => return Ok(None),
        Table::Outbox => chunk::<Lead>(value)?,
        Table::Meta if key == COUNTERS => anew::<Counters, counters::Counters>("counters", value)?,
        // Numbers, texts and types that are as they were.
        Table::Meta
        | Table::Sleep
        | Table::Content
        | Table::Leader
        | Table::Seed
        | Table::Links
        | Table::Settled => value.to_vec(),
        Table::Exchange => {
            let what = "state: a store of several partitions cannot be migrated from format 10";
            return Err(Error::new(ErrorKind::Invalid, what));
        }
    };
    Ok(Some(value))
}
