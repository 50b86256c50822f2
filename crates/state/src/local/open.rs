//! Opening the store: which commits count, the filter built again, and what
//! the engine starts from.

use super::codec::{decode, decode_leader, encode_into};
use super::flush::Flusher;
use super::follow::Follow;
use super::format::{Home, in_use};
use super::journal::{self, Batch, Journal, JournalReading};
use super::mark::StateMark;
use super::memtable::Generation;
use super::merging::UNMERGED_MAX;
use super::parts::partitions_in;
use super::store::LocalStore;
use super::table::{Keyspaces, StateTable};
use super::{
    COMMITS, COUNTERS, COUNTERS_BESIDE, HANDS, LINK_MODEL, LocalReader, LocalState, MEMTABLE_BYTES,
    REQUISITES, RULES, SCHEDULER, Shared, file_error, keys, lock, outbound, read, store_error,
};
use crate::leaders::LeaderRows;
use crate::seen::SeenFilter;
use crate::snapshot::StateSnapshot;
use fjall::compaction::Leveled;
use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use rhumb_engine::counters::Counters;
use rhumb_engine::engine::Opening;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::hands::HandLine;
use rhumb_engine::host::HostRecord;
use rhumb_engine::mass::{Mass, SettledRow};
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::refresh::scheduler::Scheduler;
use rhumb_engine::requisites::RequisiteCounters;
use rhumb_engine::time::Span;
use rhumb_engine::turn::ArchivePosition;
use rhumb_page::url::{HostKey, Url, UrlKey};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// fjall's own journal, which hardly anything is written to: the least that it takes.
const FJALL_JOURNAL_BYTES_MAX: u64 = 64 << 20;
const CACHE_BYTES: u64 = 32 << 20;
const MEMTABLE_BYTES_MAX: u64 = 12 << 20;
/// Tables that come straight from memory before they are merged, and, with the size of a table, how
/// large the first level may be. What is flushed at once is little, to save memory; merging it more
/// often would cost more than look-ups gain.
const UNMERGED_MANY: u8 = 8;
const _: () = assert!((UNMERGED_MANY as usize) < UNMERGED_MAX, "merging begins before we wait");
/// Whoever writes a table holds a hash of each of its keys and its whole index until it is done.
const TABLE_BYTES: u64 = 16 << 20;

/// A hand that is told to all partitions is logged by each within this time.
const SAME_HAND_WITHIN: Span = Span::secs(5);

const SEED: &[u8] = b"filter seed";

impl LocalState {
    /// Opens a store. `seed` keys the filter of a new one. The archive ends at `archive_end`, is
    /// whole up to there, and synced: commits that speak of more are not believed.
    pub fn open(
        home: Home,
        seed: u64,
        archive_end: ArchivePosition,
    ) -> Result<(LocalState, Opening), Error> {
        LocalState::open_with(home, seed, archive_end, None)
    }

    /// The same for who copies commits elsewhere: the journal stays until it is released, also
    /// what is there of earlier runs.
    pub fn open_followed(
        home: Home,
        seed: u64,
        archive_end: ArchivePosition,
    ) -> Result<(LocalState, Opening, Follow), Error> {
        let follow = Follow::default();
        let opened = LocalState::open_with(home, seed, archive_end, Some(follow.clone()));
        opened.map(|(state, opening)| (state, opening, follow))
    }

    fn open_with(
        home: Home,
        seed: u64,
        archive_end: ArchivePosition,
        follow: Option<Follow>,
    ) -> Result<(LocalState, Opening), Error> {
        let believed = Believed { archive_end: Some(archive_end), take: journal::take_frame };
        let rows = read_rows(&home.store, believed)?;
        let commits = rows.commits;
        let (database, keyspaces) = match &follow {
            Some(follow) => {
                follow.opened_at(commits, archive_end);
                rows.into_followed_tables(follow)?
            }
            None => rows.into_tables()?,
        };
        let store = LocalStore::new(database, keyspaces, Generation::default(), commits);
        let store = Arc::new(store.followed_by(follow.clone()));
        let seed = filter_seed(&store, seed)?;
        let mut mass = Mass::default();
        let seen = rebuild_filter(&store, seed, &mut mass)?;
        read_mass(&store, &mut mass)?;
        let mut opening = opening(&store)?;
        opening.outbound.unacknowledged.iter().for_each(|(_, back)| mass.owe(*back));
        opening.mass = mass;
        let journal = Journal::begin(&journal_dir(&home.store), follow)?;
        let flusher = Flusher::start(Arc::clone(&store))?;
        let shared = Arc::new(Shared::new(store, seen, home));
        let state = LocalState {
            flusher,
            shared,
            journal,
            batch: Batch::default(),
            memtable_bytes: MEMTABLE_BYTES,
            bytes: 0,
            mark: StateMark { commits, archived: archive_end },
        };
        Ok((state, opening))
    }

    /// From now on pages are compared with leaders; also with those that the rows have.
    pub fn compare_texts(&mut self, threshold: f64) -> Result<(), Error> {
        let mut leaders = LeaderRows::new(threshold);
        for row in self.shared.store.all(StateTable::Leader) {
            let (key, value) = row?;
            leaders.add(keys::leader_id(&key)?, &decode_leader(&value)?.sketch);
        }
        *lock(&self.shared.leaders) = Some(leaders);
        Ok(())
    }
}

impl LocalReader {
    /// Opens the store of a crawl at rest to look at it, and keeps a crawl from starting meanwhile.
    /// Nothing is moved or thrown away: which commits count is for the next run to say, which knows
    /// the archive. The filter of known URLs is not built, which is nearly all that opening costs:
    /// sifting is for those who crawl.
    pub fn open(dir: &Path) -> Result<LocalReader, Error> {
        if let Some(count) = partitions_in(dir)?.filter(|count| *count > 1) {
            return LocalReader::open_parts(dir, count);
        }
        let home = Home::open(dir)?;
        let believed = Believed { archive_end: None, take: journal::take_frame };
        let Rows { database, keyspaces, journal, commits, .. } = read_rows(&home.store, believed)?;
        let store = Arc::new(LocalStore::new(database, keyspaces, journal, commits));
        let shared = Shared::new(store, SeenFilter::new(0), home);
        Ok(LocalReader::of(Arc::new(shared)))
    }

    /// Every URL and its record, in the order of keys, partition after partition.
    pub fn urls(&self) -> impl Iterator<Item = Result<(UrlKey, UrlRecord), Error>> {
        self.parts().into_iter().flat_map(|part| {
            let rows = part.shared.store.all(StateTable::Url).map(|row| {
                let (key, value) = row?;
                Ok((read::url_key(&key)?, decode("url", &value)?))
            });
            // What is another's is told by its owner.
            let is_divided = part.partition.is_divided();
            rows.filter(move |row: &Result<(UrlKey, UrlRecord), Error>| {
                !is_divided || !row.as_ref().is_ok_and(|(_, r)| r.status == RecordStatus::Foreign)
            })
        })
    }

    /// Every host and its record, in the order of keys, partition after partition.
    pub fn hosts(&self) -> impl Iterator<Item = Result<(HostKey, HostRecord), Error>> {
        let rows =
            self.parts().into_iter().flat_map(|part| part.shared.store.all(StateTable::Host));
        rows.map(|row| {
            let (key, value) = row?;
            let key = std::str::from_utf8(&key)
                .ok()
                .and_then(HostKey::from_text)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "host key cannot be read"))?;
            Ok((key, decode("host", &value)?))
        })
    }

    /// The URLs that the owner named, and the trust in each.
    pub fn seeds(&self) -> Result<Vec<(Url, f64)>, Error> {
        let mut seeds = Vec::new();
        for row in self.shared.store.all(StateTable::Seed) {
            let (key, value) = row?;
            let text = String::from_utf8_lossy(&key).into_owned();
            let weight = decode("seed", &value)?;
            seeds.extend(Url::from_canonical(text.into_boxed_str()).map(|url| (url, weight)));
        }
        Ok(seeds)
    }

    /// Requisites in numbers.
    pub fn requisites(&self) -> Result<RequisiteCounters, Error> {
        requisites(&self.shared.store)
    }

    /// What all pages of a crawl that goes on share, when that was last written.
    pub fn scheduler(&self) -> Result<Option<Scheduler>, Error> {
        self.shared.store.get(StateTable::Meta, "scheduler", SCHEDULER)
    }

    /// What the owner asked of the crawl by hand, the latest last.
    pub fn hands(&self) -> Result<Vec<HandLine>, Error> {
        let mut lines: Vec<HandLine> = Vec::new();
        for part in self.parts() {
            // Most were told to all of them, at nearly the same time.
            let told = hands(&part.shared.store)?;
            let is_same = |a: &HandLine, b: &HandLine| {
                a.what == b.what && a.at.since(b.at).max(b.at.since(a.at)) < SAME_HAND_WITHIN
            };
            let new = |line: &HandLine| !lines.iter().any(|known| is_same(known, line));
            let new: Vec<HandLine> = told.into_iter().filter(new).collect();
            lines.extend(new);
        }
        lines.sort_by_key(|line| line.at);
        Ok(lines)
    }

    /// What was settled on a page when that was last written.
    pub fn settled(&self, id: UrlId) -> Result<Option<i64>, Error> {
        for row in self.shared.store.all(StateTable::Settled) {
            let (_, value) = row?;
            let row: SettledRow = decode("settled", &value)?;
            if let Some((_, s)) = row.settled.iter().find(|(node, _)| u64::from(*node) == id.0) {
                return Ok(Some(*s));
            }
        }
        Ok(None)
    }

    /// The books of importance of one store as the rows have them now, with all seeds that are
    /// known.
    pub fn mass(&self) -> Result<Mass, Error> {
        let mut mass = Mass::default();
        for row in self.shared.store.all(StateTable::Url) {
            mass.restore_url(&decode("url", &row?.1)?);
        }
        read_mass(&self.shared.store, &mut mass)?;
        let unacknowledged = outbound::opening(&self.shared.store)?.unacknowledged;
        unacknowledged.iter().for_each(|(_, back)| mass.owe(*back));
        let (seeds, others): (Vec<_>, Vec<_>) =
            self.seeds()?.into_iter().partition(|(url, _)| self.partition.owns(url));
        others.iter().for_each(|(_, weight)| mass.trusted_elsewhere(*weight));
        mass.seeded(seeds.iter().cloned());
        for (url, _) in &seeds {
            if let Some(record) = self.snapshot().url(&url.key())? {
                mass.seed_is(url, record.id);
            }
        }
        mass.refresh();
        Ok(mass)
    }

    pub fn counters(&self) -> Result<Counters, Error> {
        let mut sum: Option<Counters> = None;
        for part in self.parts() {
            let one = counters(&part.shared.store)?;
            sum = Some(sum.map_or_else(|| one.clone(), |sum| sum.plus(&one)));
        }
        Ok(sum.unwrap_or_default())
    }
}

impl Shared {
    fn new(store: Arc<LocalStore>, seen: SeenFilter, home: Home) -> Shared {
        let seed = seen.seed();
        let (seen, leaders) = (Mutex::new(seen), Mutex::new(None));
        Shared { store, seed, seen, leaders, dir: home.store, _lock: home.lock }
    }
}

pub(super) fn journal_dir(dir: &Path) -> PathBuf {
    dir.join("journal")
}

pub(super) fn journal_bytes(dir: &Path) -> u64 {
    let files = journal::files(&journal_dir(dir)).unwrap_or_default();
    files.iter().filter_map(|(_, path)| Some(fs::metadata(path).ok()?.len())).sum()
}

/// Makes an empty store in an empty directory.
pub(super) fn create(store: &Path) -> Result<(Database, Keyspaces), Error> {
    let journal = journal_dir(store);
    fs::create_dir(&journal).map_err(|e| file_error(&journal, e))?;
    open_tables(store)
}

/// What of a journal is to be believed, and how it is written.
#[derive(Clone, Copy)]
pub(super) struct Believed {
    /// None: all of it.
    pub archive_end: Option<ArchivePosition>,
    pub take: journal::TakeFrame,
}

/// The rows of a store: those in its tables, and newer ones in its journal.
pub(super) struct Rows {
    database: Database,
    keyspaces: Keyspaces,
    journal: Generation,
    files: Vec<(u64, PathBuf)>,
    /// So many bytes of each file hold what counts; of those that are missing here none.
    read: Vec<u64>,
    /// The number of commits in both.
    pub commits: u64,
}

impl Rows {
    /// Moves all rows into the tables. The archive was synced before, as far as they speak of it.
    pub fn into_tables(self) -> Result<(Database, Keyspaces), Error> {
        let Rows { database, keyspaces, journal, files, .. } = self;
        keyspaces.flush(&database, |table| journal.rows(table, 0))?;
        for (_, path) in &files {
            fs::remove_file(path).map_err(|e| file_error(path, e))?;
        }
        Ok((database, keyspaces))
    }

    /// The same, and leaves the journal to who follows: as far as it was believed, once and for
    /// all, since the archive goes on from here.
    fn into_followed_tables(self, follow: &Follow) -> Result<(Database, Keyspaces), Error> {
        let Rows { database, keyspaces, journal, files, read, .. } = self;
        keyspaces.flush(&database, |table| journal.rows(table, 0))?;
        let read = read.into_iter().chain(std::iter::repeat(0));
        for ((number, path), bytes) in files.into_iter().zip(read) {
            let io = |e| file_error(&path, e);
            if bytes == 0 {
                fs::remove_file(&path).map_err(io)?;
                continue;
            }
            let file = fs::File::options().write(true).open(&path).map_err(io)?;
            file.set_len(bytes).and_then(|()| file.sync_all()).map_err(io)?;
            follow.found(number, path, bytes);
        }
        Ok((database, keyspaces))
    }
}

/// The rows, checked to be all there. Nothing is changed: what is refused stays as it is.
pub(super) fn read_rows(store: &Path, believed: Believed) -> Result<Rows, Error> {
    let (database, keyspaces) = open_tables(store)?;
    let mark = StateMark::read(store)?;
    let files = journal::files(&journal_dir(store))?;
    let meta = keyspaces.of(StateTable::Meta);
    let flushed = meta.map(|meta| meta.get(COMMITS)).transpose().map_err(store_error)?.flatten();
    let flushed: u64 = flushed.map_or(Ok(0), |bytes| decode("commits", &bytes))?;
    let Believed { archive_end, take } = believed;
    let reading = JournalReading { flushed, promised: mark.commits, archive_end, take };
    let (journal, last, read) = read_journal(&files, reading)?;
    let commits = last.unwrap_or(flushed).max(flushed);
    mark.check(store, commits)?;
    Ok(Rows { database, keyspaces, journal, files, read, commits })
}

pub(super) fn open_tables(store: &Path) -> Result<(Database, Keyspaces), Error> {
    let database = Database::builder(store.join("fjall"))
        .cache_size(CACHE_BYTES)
        .max_journaling_size(FJALL_JOURNAL_BYTES_MAX)
        // Of two, the one that is kept free for memtables hands every task to itself again and
        // again while the other merges; and there is nothing in the memtables.
        .worker_threads(1)
        .open()
        .map_err(|e| opening_error(store, e))?;
    let keyspaces = Keyspaces::open(&database)?;
    Ok((database, keyspaces))
}

/// What the journal holds beyond the tables, the number of its last commit, and how much of each
/// file counts.
fn read_journal(
    files: &[(u64, PathBuf)],
    reading: JournalReading,
) -> Result<(Generation, Option<u64>, Vec<u64>), Error> {
    let mut bytes = Vec::new();
    let mut rows = Generation::default();
    let mut last = None;
    for (_, path) in files {
        let read = journal::read(path, last, reading, |table, key, value| {
            rows.put((table, key, value), 0, None);
        })?;
        last = read.last;
        bytes.push(read.bytes);
        if !read.is_whole {
            break;
        }
    }
    Ok((rows, last, bytes))
}

pub(super) fn keyspace_options() -> KeyspaceCreateOptions {
    let leveled =
        Leveled::default().with_table_target_size(TABLE_BYTES).with_l0_threshold(UNMERGED_MANY);
    KeyspaceCreateOptions::default()
        .max_memtable_size(MEMTABLE_BYTES_MAX)
        .compaction_strategy(Arc::new(leveled))
}

fn filter_seed(store: &LocalStore, new: u64) -> Result<u64, Error> {
    match store.get(StateTable::Meta, "filter seed", SEED)? {
        Some(seed) => Ok(seed),
        None => {
            let meta = store.keyspaces.made(&store.database, StateTable::Meta)?;
            meta.insert(SEED, encode_into(&new)(Vec::new())).map_err(store_error)?;
            store.database.persist(PersistMode::SyncAll).map_err(store_error)?;
            store.keyspaces.sync_names()?;
            Ok(new)
        }
    }
}

/// One walk over all URLs, for the filter and for the books of importance.
fn rebuild_filter(store: &LocalStore, seed: u64, mass: &mut Mass) -> Result<SeenFilter, Error> {
    let mut seen = SeenFilter::new(seed);
    seen.reserve(counters(store)?.known as usize);
    for row in store.all(StateTable::Url) {
        let (key, value) = row?;
        let record: UrlRecord = decode("url", &value)?;
        let fingerprint = seen.fingerprint_key(&key);
        seen.insert(fingerprint, record.depth, record.id);
        mass.restore_url(&record);
    }
    Ok(seen)
}

/// Links, and what was settled by them: after the URLs, whose standing they rest on.
fn read_mass(store: &LocalStore, mass: &mut Mass) -> Result<(), Error> {
    for row in store.all(StateTable::Links) {
        let (key, value) = row?;
        let (page, part) = keys::link_part(&key)
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, "link key cannot be read"))?;
        mass.restore_links(page, part, &decode("links", &value)?);
    }
    for row in store.all(StateTable::Settled) {
        let (_, value) = row?;
        mass.restore_settled(&decode("settled", &value)?);
    }
    outbound::read_moved(store, mass)?;
    mass.restored();
    Ok(())
}

fn counters(store: &LocalStore) -> Result<Counters, Error> {
    let counters: Counters = store.get(StateTable::Meta, "counters", COUNTERS)?.unwrap_or_default();
    let beside: Option<Vec<(String, u64)>> =
        store.get(StateTable::Meta, "counters of later rules", COUNTERS_BESIDE)?;
    Ok(counters.with_beside(&beside.unwrap_or_default()))
}

fn hands(store: &LocalStore) -> Result<Vec<HandLine>, Error> {
    Ok(store.get(StateTable::Meta, "hands", HANDS)?.unwrap_or_default())
}

fn requisites(store: &LocalStore) -> Result<RequisiteCounters, Error> {
    Ok(store.get(StateTable::Meta, "requisites", REQUISITES)?.unwrap_or_default())
}

fn opening(store: &LocalStore) -> Result<Opening, Error> {
    let mut sleepers = Vec::new();
    for row in store.all(StateTable::Sleep) {
        let (key, value) = row?;
        sleepers.push(read::sleeper(&key, &value)?.place);
    }
    let counters = counters(store)?;
    let scheduler = store.get(StateTable::Meta, "scheduler", SCHEDULER)?;
    let link_model = store.get(StateTable::Meta, "link model", LINK_MODEL)?;
    let requisites = requisites(store)?;
    let outbound = outbound::opening(store)?;
    let rules_fingerprint = store.get(StateTable::Meta, "rules", RULES)?;
    let hands = hands(store)?;
    let mass = Mass::default();
    Ok(Opening {
        counters,
        sleepers,
        mass,
        scheduler,
        outbound,
        rules_fingerprint,
        hands,
        link_model,
        requisites,
        is_taken_over: false,
    })
}

fn opening_error(dir: &Path, error: fjall::Error) -> Error {
    if matches!(error, fjall::Error::Locked) {
        return in_use(dir);
    }
    let Error { kind, what } = store_error(error);
    Error::new(kind, format!("the store in {} cannot be opened: {what}", dir.display()))
}
