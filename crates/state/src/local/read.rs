//! Reading the rows: memory first, then fjall's tables.

use super::codec::{decode, decode_leader};
use super::memtable::MemtableView;
use super::merged::{Merged, StoredRow};
use super::store::LocalStore;
use super::table::StateTable;
use super::{keys, lock, outbound, store_error};
use crate::snapshot::{StateSnapshot, UrlPage};
use fjall::{Readable, Snapshot as Moment, UserKey, UserValue};
use rhumb_engine::discovery::Chunk;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::QueueRows;
use rhumb_engine::host::HostRecord;
use rhumb_engine::near::{Leader, LeaderId};
use rhumb_engine::outcome::ContentDigest;
use rhumb_engine::queue::{Place, Section, SleepPlace, Sleeper};
use rhumb_engine::record::{Twin, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url, UrlKey};
use serde::de::DeserializeOwned;
use std::ops::Bound;

/// The rows at one moment.
pub struct LocalSnapshot<'a> {
    pub(super) view: MemtableView,
    moment: Moment,
    store: &'a LocalStore,
}

impl Drop for LocalSnapshot<'_> {
    fn drop(&mut self) {
        lock(&self.store.memtable).leave(&self.view);
    }
}

impl<'a> LocalSnapshot<'a> {
    pub(super) fn take(store: &'a LocalStore) -> LocalSnapshot<'a> {
        // At once: what leaves memory meanwhile must be in one of the two.
        let mut memtable = lock(&store.memtable);
        LocalSnapshot { view: memtable.enter(), moment: store.database.snapshot(), store }
    }

    /// The rows in fjall's tables alone.
    pub(super) fn stored(
        &self,
        table: StateTable,
        start: Bound<Vec<u8>>,
        end: Bound<Vec<u8>>,
    ) -> impl Iterator<Item = StoredRow> + use<> {
        let keyspace = self.store.keyspaces.of(table);
        let rows = keyspace.map(|k| self.moment.range::<Vec<u8>, _>(k, (start, end)));
        rows.into_iter().flatten().map(|guard| guard.into_inner().map_err(store_error))
    }

    fn bytes(&self, table: StateTable, key: &[u8]) -> Result<Option<UserValue>, Error> {
        match (self.view.get(table, key), self.store.keyspaces.of(table)) {
            (Some(row), _) => Ok(row),
            (None, Some(keyspace)) => self.moment.get(keyspace, key).map_err(store_error),
            (None, None) => Ok(None),
        }
    }

    pub(super) fn get<T: DeserializeOwned>(
        &self,
        table: StateTable,
        what: &str,
        key: &[u8],
    ) -> Result<Option<T>, Error> {
        self.bytes(table, key)?.map(|bytes| decode(what, &bytes)).transpose()
    }

    /// Rows of a table under a prefix, after a key or from the prefix on.
    fn scan(
        &self,
        table: StateTable,
        prefix: &[u8],
        after: Option<Vec<u8>>,
    ) -> impl Iterator<Item = StoredRow> {
        let (first, end) = bounds(prefix);
        let start = after.map_or(first, Bound::Excluded);
        let memtable = self.view.range(table, &start, &end);
        Merged::new(memtable, self.stored(table, start, end))
    }

    /// The first `rows_max` rows after a key, of a table that is not walked over. Of the rows in
    /// memory only those are sorted that lie among as many of fjall's.
    fn page(
        &self,
        table: StateTable,
        after: Option<&[u8]>,
        rows_max: usize,
    ) -> Result<Vec<(UserKey, UserValue)>, Error> {
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.to_vec()));
        let stored = self.stored(table, start.clone(), Bound::Unbounded).take(rows_max);
        let stored: Vec<_> = stored.collect::<Result<_, _>>()?;
        let last = stored.last().filter(|_| stored.len() == rows_max);
        let end = last.map_or(Bound::Unbounded, |(key, _)| Bound::Included(key.to_vec()));
        let memtable = self.view.sorted_within(table, (start, end));
        Merged::new(memtable, stored.into_iter().map(Ok)).take(rows_max).collect()
    }

    fn sleepers_after(
        &self,
        prefix: &[u8],
        after: Option<&Sleeper>,
    ) -> impl Iterator<Item = Result<Sleeper, Error>> {
        let after = after.map(|s| keys::sleep(&s.place));
        self.scan(StateTable::Sleep, prefix, after).map(|row| {
            let (key, value) = row?;
            sleeper(&key, &value)
        })
    }
}

pub(super) fn sleeper(key: &[u8], value: &[u8]) -> Result<Sleeper, Error> {
    let place = keys::sleep_place(key);
    let host = std::str::from_utf8(value).ok().and_then(HostKey::from_text);
    match (place, host) {
        (Some(place), Some(host)) => Ok(Sleeper { place, host }),
        _ => Err(Error::new(ErrorKind::Corrupt, "sleep row cannot be read")),
    }
}

pub(super) fn url_key(bytes: &[u8]) -> Result<UrlKey, Error> {
    let key = UrlKey::from_bytes(bytes);
    key.ok_or_else(|| Error::new(ErrorKind::Corrupt, "url key cannot be read"))
}

/// All keys that begin with `prefix`.
pub(super) fn bounds(prefix: &[u8]) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let end = successor(prefix).map_or(Bound::Unbounded, Bound::Excluded);
    (Bound::Included(prefix.to_vec()), end)
}

/// The least key beyond all keys that begin with `prefix`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut next = prefix.to_vec();
    while let Some(last) = next.pop() {
        if last < u8::MAX {
            next.push(last + 1);
            return Some(next);
        }
    }
    None
}

impl StateSnapshot for LocalSnapshot<'_> {
    fn url(&self, key: &UrlKey) -> Result<Option<UrlRecord>, Error> {
        self.get(StateTable::Url, "url", key.as_bytes())
    }

    fn has_url(&self, key: &UrlKey) -> Result<bool, Error> {
        let key = key.as_bytes();
        match (self.view.get(StateTable::Url, key), self.store.keyspaces.of(StateTable::Url)) {
            (Some(row), _) => Ok(row.is_some()),
            (None, Some(urls)) => self.moment.contains_key(urls, key).map_err(store_error),
            (None, None) => Ok(false),
        }
    }

    fn host(&self, key: &HostKey) -> Result<Option<HostRecord>, Error> {
        self.get(StateTable::Host, "host", key.as_str().as_bytes())
    }

    fn robots(&self, key: &HostKey) -> Result<Option<Box<Robots>>, Error> {
        self.get(StateTable::Robots, "robots", key.as_str().as_bytes())
    }

    fn queue(
        &self,
        host: &HostKey,
        section: Section,
        after: Option<&Place>,
        max: usize,
    ) -> Result<QueueRows, Error> {
        let prefix = keys::queue_prefix(host, section);
        let after = after.map(|place| keys::queue(host, place));
        let mut found = self.scan(StateTable::Queue, &prefix, after);
        let mut rows = Vec::new();
        for row in found.by_ref().take(max) {
            let (key, value) = row?;
            let place = keys::place(&key, prefix.len())
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "queue key cannot be read"))?;
            rows.push((place, decode("queue", &value)?));
        }
        let all = rows.len() < max || found.next().transpose()?.is_none();
        Ok(QueueRows { rows, all })
    }

    fn sleepers(
        &self,
        class: u8,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<Vec<Sleeper>, Error> {
        self.sleepers_after(&keys::sleep_prefix_class(class), after).take(max).collect()
    }

    fn sleepers_due(
        &self,
        until: Time,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<(Vec<Sleeper>, Option<Time>), Error> {
        let mut due = Vec::new();
        for sleeper in self.sleepers_after(&keys::SLEEP_PREFIX_LATER, after) {
            let sleeper = sleeper?;
            let SleepPlace::Later { due: at, .. } = sleeper.place else { break };
            if at > until || due.len() >= max {
                return Ok((due, Some(at)));
            }
            due.push(sleeper);
        }
        Ok((due, None))
    }

    fn sleepers_resting(
        &self,
        run: u32,
        until: Time,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<(Vec<Sleeper>, Option<Time>), Error> {
        let mut due = Vec::new();
        for sleeper in self.sleepers_after(&keys::SLEEP_PREFIX_RESTING, after) {
            let sleeper = sleeper?;
            let SleepPlace::Resting { run: of, due: at, .. } = sleeper.place else { break };
            let at = if of < run { Time::ZERO } else { at };
            if at > until || due.len() >= max {
                return Ok((due, Some(at)));
            }
            due.push(sleeper);
        }
        Ok((due, None))
    }

    fn outbox(&self, from: u64, max: usize) -> Result<Vec<(u64, Chunk)>, Error> {
        let after = from.checked_sub(1).map(|n| n.to_be_bytes().to_vec());
        let mut chunks = Vec::new();
        for row in self.scan(StateTable::Outbox, &[], after).take(max) {
            let (key, value) = row?;
            let number = keys::be(&key, 0)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "outbox key cannot be read"))?;
            chunks.push((number, decode("outbox", &value)?));
        }
        Ok(chunks)
    }

    fn twin(&self, digest: &ContentDigest) -> Result<Option<Twin>, Error> {
        self.get(StateTable::Content, "content", digest)
    }

    fn foreign(&self, node: u32) -> Result<Option<Url>, Error> {
        self.get(StateTable::Exchange, "foreign", &outbound::foreign_key(node))
    }

    fn leader(&self, id: LeaderId) -> Result<Option<Leader>, Error> {
        let row = self.bytes(StateTable::Leader, &id.to_be_bytes())?;
        row.map(|bytes| decode_leader(&bytes)).transpose()
    }

    fn urls(
        &self,
        after: Option<&UrlKey>,
        rows_max: usize,
        is_wanted: impl Fn(&UrlRecord) -> bool,
    ) -> Result<UrlPage, Error> {
        let rows = self.page(StateTable::Url, after.map(UrlKey::as_bytes), rows_max)?;
        let next = rows.last().filter(|_| rows.len() == rows_max);
        let next = next.map(|(key, _)| url_key(key)).transpose()?;
        let mut wanted = Vec::new();
        for (key, value) in &rows {
            let record = decode("url", value)?;
            if is_wanted(&record) {
                wanted.push((url_key(key)?, record));
            }
        }
        Ok((wanted, next))
    }
}
