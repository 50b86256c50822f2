//! Format 9: where its store lies, and what becomes of each of its rows.
//!
//! Rules of robots.txt are not carried over: they are fetched again and read as this version reads
//! them.

mod shapes;

use super::super::codec::{decode, encode_into};
use super::super::table::Table;
use super::super::{COUNTERS, SCHEDULER};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::refresh::scheduler::Scheduler;
use rhumb_engine::{counters, discovery, host, mass, queue, record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shapes::{Counters, Entry, HostRecord, Lead, LinkPart, SettledRow, Twin, UrlRecord};

pub const FORMAT: &str = "rhumb state 9";

/// The files and directories of a store of format 9, beside its FORMAT file.
pub const FJALL_DIR: &str = "fjall";
pub const JOURNAL_DIR: &str = "journal";
pub const MARK_FILE: &str = "MARK";

/// A row as this format writes it; none if it has no such row. No key has changed.
pub fn converted(table: Table, key: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let value = match table {
        Table::Url => anew::<UrlRecord, record::UrlRecord>("url", value)?,
        Table::Queue => anew::<Entry, queue::Entry>("queue", value)?,
        Table::Host => anew::<HostRecord, host::HostRecord>("host", value)?,
        Table::Robots => return Ok(None),
        Table::Outbox => chunk(value)?,
        Table::Content => anew::<Twin, record::Twin>("content", value)?,
        Table::Links => anew::<LinkPart, mass::LinkPart>("links", value)?,
        Table::Settled => anew::<SettledRow, mass::SettledRow>("settled", value)?,
        Table::Meta if key == COUNTERS => anew::<Counters, counters::Counters>("counters", value)?,
        Table::Meta if key == SCHEDULER => anew::<Scheduler, Scheduler>("scheduler", value)?,
        // Numbers, texts and sketches.
        Table::Meta | Table::Sleep | Table::Leader | Table::Seed => value.to_vec(),
        Table::Exchange => {
            let what = "state: a store of several partitions cannot be migrated from format 9";
            return Err(Error::new(ErrorKind::Invalid, what));
        }
    };
    Ok(Some(value))
}

fn anew<Old: DeserializeOwned, New: From<Old> + Serialize>(
    what: &str,
    value: &[u8],
) -> Result<Vec<u8>, Error> {
    let old: Old = decode(what, value)?;
    Ok(encode_into(&New::from(old))(Vec::new()))
}

fn chunk(value: &[u8]) -> Result<Vec<u8>, Error> {
    let old: Vec<Lead> = decode("outbox", value)?;
    let new: discovery::Chunk = old.into_iter().map(Into::into).collect();
    Ok(encode_into(&new)(Vec::new()))
}
