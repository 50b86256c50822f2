//! What documents are called and where they come from, by their number.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rhumb_neardup::batch::{CollectionId, DocumentId};
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

#[derive(Default)]
pub struct RowTable {
    ids: Texts,
    /// Only if mirrors are asked for.
    urls: Texts,
    hosts: Vec<Option<CollectionId>>,
    host_names: Vec<String>,
    host_ids: HashMap<u64, CollectionId>,
    /// Hashes of the identifiers, and where each was first.
    seen: HashMap<u128, LineNumber>,
    /// Hashes of payloads, and of the texts that stand in them.
    payloads: HashMap<u128, u128>,
    keeps_urls: bool,
}

/// A line of the input, or zero where there are none.
pub type LineNumber = u64;

/// What a document is called.
#[derive(Default, Serialize, Deserialize)]
pub struct Name {
    pub id: String,
    pub url: Option<String>,
    pub place: LineNumber,
    /// A hash of the payload's digest, of a record in a WARC file.
    #[serde(default)]
    pub payload: Option<u128>,
    /// The payload stands in an earlier record.
    #[serde(default)]
    pub is_copy: bool,
}

impl RowTable {
    pub fn new(keeps_urls: bool) -> RowTable {
        RowTable { keeps_urls, ..RowTable::default() }
    }

    /// Where this identifier was before, if it was; else it is taken from now on.
    pub fn known(&mut self, name: &Name) -> Option<LineNumber> {
        match self.seen.entry(xxh3_128(name.id.as_bytes())) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(free) => {
                free.insert(name.place);
                None
            }
        }
    }

    /// The hash of the text in a payload that was read before.
    pub fn text_in(&self, payload: Option<u128>) -> Option<u128> {
        self.payloads.get(&payload?).copied()
    }

    /// A payload was read, and this is the hash of its text.
    pub fn read(&mut self, payload: u128, exact: u128) {
        self.payloads.entry(payload).or_insert(exact);
    }

    pub fn push(&mut self, name: &Name) {
        self.ids.push(&name.id);
        if self.keeps_urls {
            let url = name.url.as_deref().and_then(|url| Url::parse(url).ok());
            self.urls.push(url.as_ref().map_or("", Url::path));
            let host = url.map(|url| self.host(url.host()));
            self.hosts.push(host);
        }
    }

    fn host(&mut self, name: &str) -> CollectionId {
        *self.host_ids.entry(xxh3_64(name.as_bytes())).or_insert_with(|| {
            self.host_names.push(name.to_owned());
            self.host_names.len() as CollectionId - 1
        })
    }

    pub fn id(&self, document: DocumentId) -> &str {
        self.ids.get(document)
    }

    /// The path of its URL; empty if it has none.
    pub fn path(&self, document: DocumentId) -> &str {
        self.urls.get(document)
    }

    pub fn hosts(&self) -> &[Option<CollectionId>] {
        &self.hosts
    }

    pub fn host_name(&self, host: CollectionId) -> &str {
        &self.host_names[host as usize]
    }

    /// Frees what only reading needs.
    pub fn close(&mut self) {
        self.seen = HashMap::new();
        self.payloads = HashMap::new();
        self.host_ids = HashMap::new();
    }
}

/// Many short texts in one piece of memory.
#[derive(Default)]
struct Texts {
    all: String,
    ends: Vec<u64>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len() as u64);
    }

    fn get(&self, number: u32) -> &str {
        let end = self.ends[number as usize] as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before as usize] as usize);
        &self.all[start..end]
    }
}
