//! All URLs, one after the other: for people who list them, not for the engine.

use super::LocalReader;
use super::codec::decode;
use super::table::StateTable;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_page::url::{Url, UrlKey};
use std::collections::{HashMap, HashSet};

/// A row of the table of URLs; its key is read when it is asked for.
pub struct UrlRow {
    pub record: UrlRecord,
    key: fjall::UserKey,
}

impl UrlRow {
    pub fn key_bytes(&self) -> &[u8] {
        &self.key
    }

    pub fn url(&self) -> Result<Url, Error> {
        Ok(key_of(&self.key)?.url())
    }
}

impl LocalReader {
    /// URLs in the order of keys, of all keys that begin with `prefix` and come after `after`;
    /// partition after partition.
    pub fn url_rows(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
    ) -> impl Iterator<Item = Result<UrlRow, Error>> + use<> {
        let parts = self.parts().into_iter();
        let all: Vec<_> = parts
            .map(|part| {
                let is_divided = part.partition.is_divided();
                let rows =
                    part.shared.store.prefix_after(StateTable::Url, prefix, after).map(|row| {
                        let (key, value) = row?;
                        Ok(UrlRow { record: decode("url", &value)?, key })
                    });
                // What is another's is told by its owner.
                rows.filter(move |row: &Result<UrlRow, Error>| {
                    let is_foreign = |row: &UrlRow| row.record.status == RecordStatus::Foreign;
                    !is_divided || !row.as_ref().is_ok_and(is_foreign)
                })
            })
            .collect();
        all.into_iter().flatten()
    }

    /// The URLs that have these numbers in one store: a walk over all URLs, in the memory of those
    /// asked for.
    pub fn urls_numbered(&self, wanted: &HashSet<UrlId>) -> Result<HashMap<UrlId, Url>, Error> {
        let mut found = HashMap::with_capacity(wanted.len());
        let mut rows = self.shared.store.all(StateTable::Url);
        while found.len() < wanted.len()
            && let Some(row) = rows.next()
        {
            let (key, value) = row?;
            // A record begins with its number: the rest need not be read.
            let id: UrlId = decode("url", &value)?;
            if wanted.contains(&id) {
                found.insert(id, key_of(&key)?.url());
            }
        }
        Ok(found)
    }
}

fn key_of(key: &[u8]) -> Result<UrlKey, Error> {
    UrlKey::from_bytes(key).ok_or_else(|| Error::new(ErrorKind::Corrupt, "url key cannot be read"))
}
