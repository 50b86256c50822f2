//! The rows on disk, in fjall: one atomic batch per commit.
//!
//! `commit` is durable against the death of the process; `sync` against the death of the machine.
//! After each sync a small file beside the store says how many commits it must hold: a store that
//! opens with fewer has lost something that we promised, and is refused.

mod codec;
mod keys;
mod open;
mod ordered;
mod post;
mod read;

use crate::answer;
use crate::leaders::Leaders;
use crate::seen::Seen;
use codec::{encode, encode_leader};
use fjall::{Database, Keyspace, PersistMode};
use ordered::Ordered;
use rhumb_engine::discovery::Found;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Answer, Question, Row};
use rhumb_engine::turn::State;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub use read::LocalSnapshot;

/// The layout of the directory; another one is refused.
pub const FORMAT: &str = "rhumb state 4";

const COMMITS: &[u8] = b"commits";
const COUNTERS: &[u8] = b"counters";
const SCHEDULER: &[u8] = b"scheduler";
const NUMBERS: &[u8] = b"numbers of letters";

/// The store as the loop holds it: it alone writes.
pub struct LocalState {
    shared: Arc<Shared>,
    commits: u64,
}

/// The store as others may hold it: they only read.
#[derive(Clone)]
pub struct LocalReader {
    shared: Arc<Shared>,
}

struct Shared {
    database: Database,
    keyspaces: Keyspaces,
    seen: Mutex<Seen>,
    /// None until texts are to be compared.
    leaders: Mutex<Option<Leaders>>,
    dir: PathBuf,
}

pub struct Keyspaces {
    meta: Keyspace,
    url: Keyspace,
    queue: Keyspace,
    host: Keyspace,
    robots: Keyspace,
    sleep: Keyspace,
    outbox: Keyspace,
    content: Keyspace,
    leader: Keyspace,
    seed: Keyspace,
    links: Keyspace,
    settled: Keyspace,
    exchange: Keyspace,
}

impl LocalState {
    pub fn reader(&self) -> LocalReader {
        LocalReader { shared: Arc::clone(&self.shared) }
    }

    /// Makes all commits so far survive the death of the machine.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.shared.database.persist(PersistMode::SyncAll).map_err(store_error)?;
        open::write_mark(&self.shared.dir, self.commits)
    }

    pub fn commits(&self) -> u64 {
        self.commits
    }
}

impl State for LocalState {
    fn commit(&mut self, rows: &mut Vec<Row>) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let shared = &*self.shared;
        let mut writes = Ordered::with_capacity(rows.len() + 1);
        rows.iter().for_each(|row| put(&mut writes, &shared.keyspaces, row));
        self.commits += 1;
        writes.insert(&shared.keyspaces.meta, COMMITS, encode(&self.commits));
        let mut batch = shared.database.batch();
        writes.into_batch(&mut batch);
        batch.commit().map_err(store_error)?;
        let mut seen = shared.seen.lock().unwrap_or_else(|e| e.into_inner());
        let mut leaders = shared.leaders.lock().unwrap_or_else(|e| e.into_inner());
        for row in rows.drain(..) {
            match row {
                Row::Url { key, record } => {
                    let fingerprint = seen.fingerprint(&key);
                    seen.insert(fingerprint, record.depth, record.id);
                }
                Row::Leader { id, leader } => {
                    leaders.iter_mut().for_each(|leaders| leaders.add(id, &leader.sketch));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn put<'a>(batch: &mut Ordered<'a>, keyspaces: &'a Keyspaces, row: &Row) {
    match row {
        Row::Url { key, record } => batch.insert(&keyspaces.url, key.as_bytes(), encode(record)),
        Row::Queue { host, place, entry: Some(entry) } => {
            batch.insert(&keyspaces.queue, keys::queue(host, place), encode(entry));
        }
        Row::Queue { host, place, entry: None } => {
            batch.remove(&keyspaces.queue, keys::queue(host, place));
        }
        Row::Host { key, record } => {
            batch.insert(&keyspaces.host, key.as_str().as_bytes(), encode(record));
        }
        Row::Robots { host, robots } => {
            batch.insert(&keyspaces.robots, host.as_str().as_bytes(), encode(robots));
        }
        Row::Sleep { host, place, asleep: true } => {
            batch.insert(&keyspaces.sleep, keys::sleep(place), host.as_str().as_bytes());
        }
        Row::Sleep { place, asleep: false, .. } => {
            batch.remove(&keyspaces.sleep, keys::sleep(place));
        }
        Row::Outbox { number, chunk: Some(chunk) } => {
            batch.insert(&keyspaces.outbox, number.to_be_bytes(), encode(&**chunk));
        }
        Row::Outbox { number, chunk: None } => {
            batch.remove(&keyspaces.outbox, number.to_be_bytes());
        }
        Row::Content { digest, twin } => {
            batch.insert(&keyspaces.content, digest.as_slice(), encode(twin));
        }
        Row::Leader { id, leader } => {
            batch.insert(&keyspaces.leader, id.to_be_bytes(), encode_leader(leader));
        }
        Row::Seed { url, weight } => {
            batch.insert(&keyspaces.seed, url.as_str().as_bytes(), encode(weight));
        }
        Row::Links { page, part, links } => {
            batch.insert(&keyspaces.links, keys::links(*page, *part), encode(links));
        }
        Row::Settled { number, row } => {
            batch.insert(&keyspaces.settled, number.to_be_bytes(), encode(row));
        }
        Row::Letter { to, number, letter } => {
            post::put_letter(batch, &keyspaces.exchange, (*to, *number), letter.as_deref());
        }
        Row::Numbers(numbers) => batch.insert(&keyspaces.meta, NUMBERS, encode(&**numbers)),
        Row::Foreign { node, url } => {
            batch.insert(&keyspaces.exchange, post::foreign_key(*node), encode(url));
        }
        Row::Moved { node, mass } => post::put_moved(batch, &keyspaces.exchange, *node, *mass),
        Row::Refresh(scheduler) => {
            batch.insert(&keyspaces.meta, SCHEDULER, encode(&**scheduler));
        }
        Row::Counters(counters) => {
            batch.insert(&keyspaces.meta, COUNTERS, encode(&**counters));
        }
    }
}

impl LocalReader {
    pub fn snapshot(&self) -> LocalSnapshot<'_> {
        LocalSnapshot { moment: self.shared.database.snapshot(), keyspaces: &self.shared.keyspaces }
    }

    pub fn answer(&self, question: Question) -> Result<Answer, Error> {
        let Shared { seen, leaders, .. } = &*self.shared;
        answer::answer(&self.snapshot(), seen, leaders, question)
    }

    /// Writes the numbers of those URLs that are known for certain: see [`answer::number_known`].
    pub fn number_known(&self, found: &mut [Found], page_depth: u16) {
        answer::number_known(&self.shared.seen, found, page_depth);
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.shared.database.disk_space().unwrap_or(0)
    }
}

/// What the store says when it fails, with what to do about it where we know.
fn store_error(error: fjall::Error) -> Error {
    match &error {
        fjall::Error::Io(io) if io.kind() == std::io::ErrorKind::StorageFull => Error::new(
            ErrorKind::Retry,
            "state: no space left on the disk; free some and run the same command again: what \
             was acknowledged is kept",
        ),
        fjall::Error::Io(io) => Error::new(ErrorKind::Retry, format!("state: {io}")),
        _ => Error::new(ErrorKind::Corrupt, format!("state: {error}")),
    }
}
