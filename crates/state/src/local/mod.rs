//! The rows on disk: a journal of our own, rows in memory, and fjall.
//!
//! A commit is appended to the journal, which the death of the process does not undo, and put into
//! memory ([`memtable`]). When that has grown, a thread moves it into fjall's tables ([`flush`])
//! and the journal begins anew. Readers see memory before tables. `sync` makes commits survive a
//! power cut. Of later ones an opening believes those that the archive bears out ([`journal`]).

mod codec;
mod fill;
mod flush;
mod follow;
mod format;
mod journal;
mod keys;
mod mark;
mod memtable;
mod merged;
mod merging;
mod migrate;
mod open;
mod outbound;
mod parts;
mod read;
mod store;
mod table;
mod urls;

use crate::answer;
use crate::leaders::LeaderRows;
use crate::lock;
use crate::seen::{SeenFilter, UrlFingerprint};
use codec::{encode_into, encode_leader_into};
use flush::Flusher;
use journal::{Batch, Journal};
use mark::StateMark;
use memtable::Generation;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Answer, Question, Row};
use rhumb_engine::outcome::PageContent;
use rhumb_engine::partition::Partition;
use rhumb_engine::turn::{ArchivePosition, State};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use store::LocalStore;
use table::StateTable;

pub use fill::{CopiedRow, fill};
pub use follow::{Commit, Committed, Follow, JournalFile, MergedRow, commits_in, merged_rows};
pub use format::{FORMAT, Home};
pub use journal::{commit_of, rows_in};
pub use parts::{PARTITIONS_MAX, check_partitions, part_dir, partitions_in, write_partitions};
pub use read::LocalSnapshot;
pub use urls::UrlRow;

const COMMITS: &[u8] = b"commits";
const COUNTERS: &[u8] = b"counters";
const COUNTERS_BESIDE: &[u8] = b"counters of later rules";
const SCHEDULER: &[u8] = b"scheduler";
const LINK_MODEL: &[u8] = b"link_model";
const NUMBERS: &[u8] = b"numbers of messages";
const RULES: &[u8] = b"rules";
const REQUISITES: &[u8] = b"requisites";
const HANDS: &[u8] = b"hands";

/// Bytes of the memtable at which it is flushed.
const MEMTABLE_BYTES: usize = 12 << 20;
/// A commit blocks while the memtable exceeds so many quarters of that and the one before it is
/// still being flushed; the loop is told to sync. This bounds the memory of both.
const MEMTABLE_QUARTERS_MAX: usize = 5;
/// So many times as much in the journal is worth it, too: some rows are written again and again.
const JOURNAL_MAX: u64 = 4;

/// The store as the loop holds it: it alone writes.
pub struct LocalState {
    /// Ends first: fjall is not to be closed while something is moved into it.
    flusher: Flusher,
    shared: Arc<Shared>,
    journal: Journal,
    /// Used again from commit to commit.
    batch: Batch,
    memtable_bytes: usize,
    /// Bytes of rows in memory that nobody flushes yet.
    bytes: usize,
    /// What the next sync promises.
    mark: StateMark,
}

/// The store as others may hold it: they only read.
#[derive(Clone)]
pub struct LocalReader {
    shared: Arc<Shared>,
    partition: Partition,
    /// All partitions, if it reads several stores as one; it is the first of them then.
    parts: Arc<[LocalReader]>,
}

struct Shared {
    store: Arc<LocalStore>,
    /// The crawl's own: nobody outside knows it.
    seed: u64,
    seen: Mutex<SeenFilter>,
    /// None until texts are to be compared.
    leaders: Mutex<Option<LeaderRows>>,
    dir: PathBuf,
    /// Goes last.
    _lock: File,
}

impl LocalState {
    pub fn reader(&self) -> LocalReader {
        LocalReader::of(Arc::clone(&self.shared))
    }

    /// Has rows flushed when so many bytes of them are in memory; 12 MiB unless said otherwise.
    pub fn with_fresh_bytes(self, memtable_bytes: usize) -> LocalState {
        LocalState { memtable_bytes, ..self }
    }

    pub fn commits(&self) -> u64 {
        self.mark.commits
    }

    /// The crawl's own: what is hashed with it nobody outside can make collide.
    pub fn seed(&self) -> u64 {
        self.shared.seed
    }

    /// Writes the batch to the journal, then to memory.
    fn write(&mut self, mark: StateMark) -> Result<(), Error> {
        let store = &*self.shared.store;
        store.check()?;
        self.journal.append(&mut self.batch, mark.commits, mark.archived)?;
        self.mark = mark;
        {
            let mut memtable = lock(&store.memtable);
            memtable.commit = mark.commits;
            let (readers, mut now) = (memtable.readers(), memtable.now.write());
            for row in self.batch.rows() {
                now.put(row, mark.commits, readers);
            }
            self.bytes = now.bytes();
        }
        if self.bytes >= MEMTABLE_QUARTERS_MAX * (self.memtable_bytes / 4) {
            store.wait()?;
        }
        Ok(())
    }

    /// Has what is in memory flushed: nothing else is, at this moment.
    fn turn_over(&mut self) -> Result<(), Error> {
        let store = &*self.shared.store;
        let path = self.journal.turn_over()?;
        let mut memtable = lock(&store.memtable);
        let next = Generation::after(&memtable.now.read());
        let leaving = std::mem::replace(&mut memtable.now, next.into());
        memtable.leaving = Some(leaving.clone());
        drop(memtable);
        self.bytes = 0;
        self.flusher.flush(leaving, path);
        Ok(())
    }
}

impl State for LocalState {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: ArchivePosition) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        self.batch.clear();
        rows.iter().for_each(|row| put(&mut self.batch, row));
        let commits = self.mark.commits + 1;
        tracing::trace!(commits, rows = rows.len(), "commit");
        self.batch.put(StateTable::Meta, COMMITS, encode_into(&commits));
        self.write(StateMark { commits, archived })?;
        self.shared.note_urls(rows);
        self.shared.note_leaders(rows);
        rows.clear();
        Ok(())
    }

    /// If much has gathered, begins to flush it. That must come after the sync: tables may only
    /// hold rows of the synced journal, which speak of the synced archive.
    fn sync(&mut self) -> Result<(), Error> {
        self.journal.sync()?;
        self.mark.write(&self.shared.dir)?;
        tracing::trace!(commits = self.mark.commits, "sync");
        if self.wants_sync() { self.turn_over() } else { Ok(()) }
    }

    /// Rows have gathered that can be flushed after a sync.
    fn wants_sync(&self) -> bool {
        let is_much = self.bytes >= self.memtable_bytes
            || self.journal.bytes() >= JOURNAL_MAX * self.memtable_bytes as u64;
        is_much && !self.shared.store.is_stowing()
    }
}

impl Shared {
    /// Whoever reads pages looks into the filter: it is held no longer than it takes to write.
    fn note_urls(&self, rows: &[Row]) {
        let urls = rows.iter().filter_map(|row| match row {
            Row::Url { key, record } => Some((key.as_bytes(), record.depth, record.id)),
            _ => None,
        });
        let noted: Vec<_> = urls
            .map(|(key, depth, id)| (UrlFingerprint::of_key(key, self.seed), depth, id))
            .collect();
        let mut seen = lock(&self.seen);
        noted.into_iter().for_each(|(print, depth, id)| seen.insert(print, depth, id));
    }

    fn note_leaders(&self, rows: &[Row]) {
        let mut leaders = lock(&self.leaders);
        let Some(leaders) = &mut *leaders else { return };
        for row in rows {
            if let Row::Leader { id, leader } = row {
                leaders.add(*id, &leader.sketch);
            }
        }
    }
}

fn put(batch: &mut Batch, row: &Row) {
    use StateTable::*;
    match row {
        Row::Url { key, record } => batch.put(Url, key.as_bytes(), encode_into(record)),
        Row::Queue { host, place, entry: Some(entry) } => {
            batch.put(Queue, &keys::queue(host, place), encode_into(entry));
        }
        Row::Queue { host, place, entry: None } => {
            batch.remove(Queue, &keys::queue(host, place));
        }
        Row::Host { key, record } => {
            batch.put(Host, key.as_str().as_bytes(), encode_into(record));
        }
        Row::Robots { host, robots } => {
            batch.put(Robots, host.as_str().as_bytes(), encode_into(robots));
        }
        Row::Sleep { host, place, asleep: true } => {
            let host = host.as_str().as_bytes();
            batch.put(Sleep, &keys::sleep(place), |mut bytes| {
                bytes.extend_from_slice(host);
                bytes
            });
        }
        Row::Sleep { place, asleep: false, .. } => {
            batch.remove(Sleep, &keys::sleep(place));
        }
        Row::Outbox { number, chunk: Some(chunk) } => {
            batch.put(Outbox, &number.to_be_bytes(), encode_into(&**chunk));
        }
        Row::Outbox { number, chunk: None } => {
            batch.remove(Outbox, &number.to_be_bytes());
        }
        Row::Content { digest, twin } => {
            batch.put(Content, digest.as_slice(), encode_into(twin));
        }
        Row::Leader { id, leader } => {
            batch.put(Leader, &id.to_be_bytes(), encode_leader_into(leader));
        }
        Row::ContentGone { digest } => batch.remove(Content, digest.as_slice()),
        Row::LeaderGone { id } => batch.remove(Leader, &id.to_be_bytes()),
        Row::Seed { url, weight } => {
            batch.put(Seed, url.as_str().as_bytes(), encode_into(weight));
        }
        Row::Links { page, part, links } => {
            batch.put(Links, &keys::links(*page, *part), encode_into(links));
        }
        Row::Settled { number, row } => {
            batch.put(Settled, &number.to_be_bytes(), encode_into(row));
        }
        Row::Message { to, number, message } => {
            outbound::put_message(batch, (*to, *number), message.as_deref());
        }
        Row::SequenceNumbers(numbers) => batch.put(Meta, NUMBERS, encode_into(&**numbers)),
        Row::Foreign { node, url } => {
            batch.put(Exchange, &outbound::foreign_key(*node), encode_into(url));
        }
        Row::Moved { node, mass } => outbound::put_moved(batch, *node, *mass),
        Row::Rules(rules) => batch.put(Meta, RULES, encode_into(rules)),
        Row::Hands(lines) => batch.put(Meta, HANDS, encode_into(lines)),
        Row::Refresh(scheduler) => batch.put(Meta, SCHEDULER, encode_into(&**scheduler)),
        Row::Requisites(counters) => batch.put(Meta, REQUISITES, encode_into(&counters)),
        Row::LinkModel(model) => batch.put(Meta, LINK_MODEL, encode_into(&**model)),
        Row::Counters(counters) => {
            batch.put(Meta, COUNTERS, encode_into(&**counters));
            batch.put(Meta, COUNTERS_BESIDE, encode_into(&counters.beside()));
        }
    }
}

impl LocalReader {
    fn of(shared: Arc<Shared>) -> LocalReader {
        LocalReader { shared, partition: Partition::WHOLE, parts: Arc::new([]) }
    }

    /// The rows as they are now, of one store. What is overwritten while it is held stays in memory
    /// for it.
    pub fn snapshot(&self) -> LocalSnapshot<'_> {
        LocalSnapshot::take(&self.shared.store)
    }

    pub fn answer(&self, question: Question) -> Result<Answer, Error> {
        let Shared { seen, leaders, .. } = &*self.shared;
        answer::answer(&self.snapshot(), seen, leaders, question)
    }

    /// Sets those links apart that are known for certain: see [`answer::set_known_apart`].
    pub fn set_known_apart(&self, page: &mut PageContent, depth: u16, with_addresses: bool) {
        let Shared { seed, seen, .. } = &*self.shared;
        answer::set_known_apart((*seed, seen), page, depth, with_addresses);
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        if self.is_divided() {
            return self.parts.iter().map(LocalReader::disk_bytes).sum();
        }
        let Shared { store, dir, .. } = &*self.shared;
        store.database.disk_space().unwrap_or(0) + open::journal_bytes(dir)
    }
}

const DISK_FULL: &str = "state: no space left on the disk; free some and run the same command \
                         again: what was acknowledged is kept";

/// What the store says when it fails, with what to do about it where we know.
fn store_error(error: fjall::Error) -> Error {
    match &error {
        _ if is_disk_full(&error) => Error::new(ErrorKind::Retry, DISK_FULL),
        fjall::Error::Io(io) => Error::new(ErrorKind::Retry, format!("state: {io}")),
        _ => Error::new(ErrorKind::Corrupt, format!("state: {error}")),
    }
}

/// Whether a full disk is at the bottom of an error, however deep.
fn is_disk_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::StorageFull)
        || error.source().is_some_and(is_disk_full)
}

fn file_error(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::StorageFull => Error::new(ErrorKind::Retry, DISK_FULL),
        _ => Error::new(ErrorKind::Retry, format!("{}: {error}", path.display())),
    }
}
