//! Reading the store on disk, from a snapshot.

use super::codec::{decode, decode_leader};
use super::{Keyspaces, keys, post, store_error};
use crate::snapshot::Snapshot;
use fjall::{Readable, Snapshot as Moment};
use rhumb_engine::discovery::Chunk;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::Rows;
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

pub struct LocalSnapshot<'a> {
    pub(super) moment: Moment,
    pub(super) keyspaces: &'a Keyspaces,
}

impl LocalSnapshot<'_> {
    fn get<T: DeserializeOwned>(
        &self,
        keyspace: &fjall::Keyspace,
        what: &str,
        key: &[u8],
    ) -> Result<Option<T>, Error> {
        match self.moment.get(keyspace, key).map_err(store_error)? {
            Some(bytes) => decode(what, &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Rows of `keyspace` under a prefix, after a key or from the prefix on.
    fn scan(
        &self,
        keyspace: &fjall::Keyspace,
        prefix: &[u8],
        after: Option<Vec<u8>>,
    ) -> impl Iterator<Item = Result<(fjall::UserKey, fjall::UserValue), Error>> {
        let start = match after {
            Some(key) => Bound::Excluded(key),
            None => Bound::Included(prefix.to_vec()),
        };
        let end = match successor(prefix) {
            Some(key) => Bound::Excluded(key),
            None => Bound::Unbounded,
        };
        let rows = self.moment.range::<Vec<u8>, _>(keyspace, (start, end));
        rows.map(|guard| guard.into_inner().map_err(store_error))
    }

    fn sleepers_after(
        &self,
        prefix: &[u8],
        after: Option<&Sleeper>,
    ) -> impl Iterator<Item = Result<Sleeper, Error>> {
        let after = after.map(|s| keys::sleep(&s.place));
        self.scan(&self.keyspaces.sleep, prefix, after).map(|row| {
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

impl Snapshot for LocalSnapshot<'_> {
    fn url(&self, key: &UrlKey) -> Result<Option<UrlRecord>, Error> {
        self.get(&self.keyspaces.url, "url", key.as_bytes())
    }

    fn has_url(&self, key: &UrlKey) -> Result<bool, Error> {
        self.moment.contains_key(&self.keyspaces.url, key.as_bytes()).map_err(store_error)
    }

    fn host(&self, key: &HostKey) -> Result<Option<HostRecord>, Error> {
        self.get(&self.keyspaces.host, "host", key.as_str().as_bytes())
    }

    fn robots(&self, key: &HostKey) -> Result<Option<Box<Robots>>, Error> {
        self.get(&self.keyspaces.robots, "robots", key.as_str().as_bytes())
    }

    fn queue(
        &self,
        host: &HostKey,
        section: Section,
        after: Option<&Place>,
        max: usize,
    ) -> Result<Rows, Error> {
        let prefix = keys::queue_prefix(host, section);
        let after = after.map(|place| keys::queue(host, place));
        let mut found = self.scan(&self.keyspaces.queue, &prefix, after);
        let mut rows = Vec::with_capacity(max);
        for row in found.by_ref().take(max) {
            let (key, value) = row?;
            let place = keys::place(&key, prefix.len())
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "queue key cannot be read"))?;
            rows.push((place, decode("queue", &value)?));
        }
        let all = rows.len() < max || found.next().transpose()?.is_none();
        Ok(Rows { rows, all })
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

    fn outbox(&self, from: u64, max: usize) -> Result<Vec<(u64, Chunk)>, Error> {
        let after = from.checked_sub(1).map(|n| n.to_be_bytes().to_vec());
        let mut chunks = Vec::new();
        for row in self.scan(&self.keyspaces.outbox, &[], after).take(max) {
            let (key, value) = row?;
            let number = keys::be(&key, 0)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "outbox key cannot be read"))?;
            chunks.push((number, decode("outbox", &value)?));
        }
        Ok(chunks)
    }

    fn twin(&self, digest: &ContentDigest) -> Result<Option<Twin>, Error> {
        self.get(&self.keyspaces.content, "content", digest)
    }

    fn foreign(&self, node: u32) -> Result<Option<Url>, Error> {
        self.get(&self.keyspaces.exchange, "foreign", &post::foreign_key(node))
    }

    fn leader(&self, id: LeaderId) -> Result<Option<Leader>, Error> {
        let row = self.moment.get(&self.keyspaces.leader, id.to_be_bytes()).map_err(store_error)?;
        row.map(|bytes| decode_leader(&bytes)).transpose()
    }
}
