//! What partitions exchange, in one keyspace: messages that wait to be carried, the URLs of others
//! by number, and the mass that came or went. A crawl of one part has none of it.

use super::codec::{decode, encode_into};
use super::journal::Batch;
use super::store::LocalStore;
use super::table::StateTable;
use super::{LocalReader, NUMBERS, keys};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::mass::Mass;
use rhumb_engine::outbound::{Message, OutboundOpening, taken_back};
use std::collections::VecDeque;
use std::sync::Arc;

const MESSAGE: u8 = 0;
const FOREIGN: u8 = 1;
const MOVED: u8 = 2;

fn message_key(to: u32, number: u64) -> Vec<u8> {
    [&[MESSAGE][..], &to.to_be_bytes(), &number.to_be_bytes()].concat()
}

pub fn foreign_key(node: u32) -> Vec<u8> {
    [&[FOREIGN][..], &node.to_be_bytes()].concat()
}

fn moved_key(node: u32) -> Vec<u8> {
    [&[MOVED][..], &node.to_be_bytes()].concat()
}

pub fn put_message(batch: &mut Batch, (to, number): (u32, u64), message: Option<&Message>) {
    let key = message_key(to, number);
    match message {
        Some(message) => batch.put(StateTable::Exchange, &key, encode_into(message)),
        None => batch.remove(StateTable::Exchange, &key),
    }
}

pub fn put_moved(batch: &mut Batch, node: u32, mass: i64) {
    batch.put(StateTable::Exchange, &moved_key(node), encode_into(&mass));
}

/// What the engine's outbound starts from.
pub fn opening(store: &LocalStore) -> Result<OutboundOpening, Error> {
    let numbers = store.get(StateTable::Meta, "numbers", NUMBERS)?.unwrap_or_default();
    let mut unacknowledged = Vec::new();
    for row in store.prefix(StateTable::Exchange, &[MESSAGE]) {
        let (key, value) = row?;
        let message: Message = decode("message", &value)?;
        unacknowledged.push((node(&key)?, taken_back(&message)));
    }
    Ok(OutboundOpening { numbers, unacknowledged })
}

/// What came and went, into books that know all links.
pub fn read_moved(store: &LocalStore, mass: &mut Mass) -> Result<(), Error> {
    for row in store.prefix(StateTable::Exchange, &[MOVED]) {
        let (key, value) = row?;
        mass.restore_moved(node(&key)?, decode("moved", &value)?);
    }
    Ok(())
}

/// The partition or the URL that a key names.
fn node(key: &[u8]) -> Result<u32, Error> {
    keys::be_short(key, 1)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "key of an exchange cannot be read"))
}

/// Messages of one addressee that wait: its first and last number.
pub type Waiting = (u32, u64, u64);

impl LocalReader {
    /// What was sent and not acknowledged, by addressee.
    pub fn messages_waiting(&self) -> Result<Vec<Waiting>, Error> {
        let mut waiting: Vec<Waiting> = Vec::new();
        for row in self.shared.store.prefix(StateTable::Exchange, &[MESSAGE]) {
            let (key, _) = row?;
            let (to, number) = (node(&key)?, number(&key)?);
            match waiting.last_mut() {
                Some((last, _, end)) if *last == to => *end = number,
                _ => waiting.push((to, number, number)),
            }
        }
        Ok(waiting)
    }

    /// The items of each message to one addressee, from a number on.
    pub fn message_lengths(&self, to: u32, from: u64) -> Result<VecDeque<u32>, Error> {
        let prefix = [&[MESSAGE][..], &to.to_be_bytes()].concat();
        let after = message_key(to, from.saturating_sub(1));
        let rows = self.shared.store.prefix_after(StateTable::Exchange, &prefix, Some(&after));
        let lengths = rows.map(|row| {
            let message: Message = decode("message", &row?.1)?;
            Ok(message.len() as u32)
        });
        lengths.collect()
    }

    /// Messages to one addressee, from a number on, at most so many.
    pub fn messages(
        &self,
        to: u32,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Arc<Message>)>, Error> {
        let prefix = [&[MESSAGE][..], &to.to_be_bytes()].concat();
        let after = message_key(to, from.saturating_sub(1));
        let rows = self.shared.store.prefix_after(StateTable::Exchange, &prefix, Some(&after));
        let messages = rows.take(max).map(|row| {
            let (key, value) = row?;
            Ok((number(&key)?, Arc::new(decode("message", &value)?)))
        });
        messages.collect()
    }
}

fn number(key: &[u8]) -> Result<u64, Error> {
    keys::be(key, 5)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "key of an exchange cannot be read"))
}
