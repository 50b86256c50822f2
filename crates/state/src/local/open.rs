//! Opening the store: versions, the mark of what must be there, the filter built again, and what
//! the engine starts from.

use super::codec::{decode, decode_leader, encode};
use super::{
    COMMITS, COUNTERS, FORMAT, Keyspaces, LocalReader, LocalState, SCHEDULER, Shared, keys, post,
    read, store_error,
};
use crate::leaders::Leaders;
use crate::seen::Seen;
use crate::snapshot::Snapshot;
use fjall::compaction::Leveled;
use fjall::{Database, KeyspaceCreateOptions, PersistMode, Readable};
use rhumb_engine::counters::Counters;
use rhumb_engine::engine::Opening;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::host::HostRecord;
use rhumb_engine::mass::{Mass, SettledRow};
use rhumb_engine::record::{Status, UrlId, UrlRecord};
use rhumb_engine::refresh::scheduler::Scheduler;
use rhumb_page::url::{HostKey, Url, UrlKey};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Journals above this are flushed, which bounds the time to open after a crash.
const JOURNAL_BYTES_MAX: u64 = 128 << 20;
const CACHE_BYTES: u64 = 32 << 20;
const MEMTABLE_BYTES_MAX: u64 = 12 << 20;
/// Whoever writes a table holds a hash of each of its keys and its whole index until it is done.
const TABLE_BYTES: u64 = 16 << 20;

const SEED: &[u8] = b"filter seed";
const FORMAT_FILE: &str = "FORMAT";
const MARK_FILE: &str = "MARK";

impl LocalState {
    /// Opens or makes the store in `dir`. `seed` keys the filter of a new one.
    pub fn open(dir: &Path, seed: u64) -> Result<(LocalState, Opening), Error> {
        let (database, keyspaces, commits) = open_rows(dir)?;
        let seed = filter_seed(&database, &keyspaces, seed)?;
        let mut mass = Mass::default();
        let seen = rebuild_filter(&database, &keyspaces, seed, &mut mass)?;
        read_mass(&database, &keyspaces, &mut mass)?;
        let mut opening = opening(&database, &keyspaces)?;
        opening.post.unacknowledged.iter().for_each(|(_, back)| mass.owe(*back));
        opening.mass = mass;
        let shared = Shared::new(database, keyspaces, seen, dir);
        Ok((LocalState { shared: Arc::new(shared), commits }, opening))
    }

    /// From now on pages are compared with leaders; also with those that the rows have.
    pub fn compare_texts(&mut self, threshold: f64) -> Result<(), Error> {
        let mut leaders = Leaders::new(threshold);
        let Shared { database, keyspaces, .. } = &*self.shared;
        for guard in database.snapshot().iter(&keyspaces.leader) {
            let (key, value) = guard.into_inner().map_err(store_error)?;
            leaders.add(keys::leader_id(&key)?, &decode_leader(&value)?.sketch);
        }
        *self.shared.leaders.lock().unwrap_or_else(|e| e.into_inner()) = Some(leaders);
        Ok(())
    }
}

impl LocalReader {
    /// Opens the store of a crawl at rest to look at it, and keeps a crawl from starting meanwhile.
    /// The filter of known URLs is not built, which is nearly all that opening costs: sifting is
    /// for those who crawl.
    pub fn open(dir: &Path) -> Result<LocalReader, Error> {
        let (database, keyspaces, _) = open_rows(dir)?;
        let shared = Shared::new(database, keyspaces, Seen::new(0), dir);
        Ok(LocalReader { shared: Arc::new(shared) })
    }

    /// Every URL and its record, in the order of keys.
    pub fn urls(&self) -> impl Iterator<Item = Result<(UrlKey, UrlRecord), Error>> {
        let snapshot = self.shared.database.snapshot();
        snapshot.iter(&self.shared.keyspaces.url).map(|guard| {
            let (key, value) = guard.into_inner().map_err(store_error)?;
            let key = UrlKey::from_bytes(&key)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "url key cannot be read"))?;
            Ok((key, decode("url", &value)?))
        })
    }

    /// URLs that a rule refused: to be judged again when rules change.
    pub fn refused(&self) -> impl Iterator<Item = Result<(UrlKey, UrlRecord), Error>> {
        self.urls().filter(|row| {
            row.as_ref().map_or(true, |(_, record)| matches!(record.status, Status::Refused(_)))
        })
    }

    /// Every host and its record, in the order of keys.
    pub fn hosts(&self) -> impl Iterator<Item = Result<(HostKey, HostRecord), Error>> {
        let snapshot = self.shared.database.snapshot();
        snapshot.iter(&self.shared.keyspaces.host).map(|guard| {
            let (key, value) = guard.into_inner().map_err(store_error)?;
            let key = std::str::from_utf8(&key)
                .ok()
                .and_then(HostKey::from_text)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "host key cannot be read"))?;
            Ok((key, decode("host", &value)?))
        })
    }

    /// The URLs that the owner named, and the trust in each.
    pub fn seeds(&self) -> Result<Vec<(Url, f64)>, Error> {
        let snapshot = self.shared.database.snapshot();
        let mut seeds = Vec::new();
        for guard in snapshot.iter(&self.shared.keyspaces.seed) {
            let (key, value) = guard.into_inner().map_err(store_error)?;
            let text = String::from_utf8_lossy(&key).into_owned();
            let weight = decode("seed", &value)?;
            seeds.extend(Url::from_canonical(text.into_boxed_str()).map(|url| (url, weight)));
        }
        Ok(seeds)
    }

    /// What all pages of a crawl that goes on share, when that was last written.
    pub fn scheduler(&self) -> Result<Option<Scheduler>, Error> {
        let snapshot = self.shared.database.snapshot();
        let row = snapshot.get(&self.shared.keyspaces.meta, SCHEDULER).map_err(store_error)?;
        row.map(|bytes| decode("scheduler", &bytes)).transpose()
    }

    /// What was settled on a page when that was last written.
    pub fn settled(&self, id: UrlId) -> Result<Option<i64>, Error> {
        let snapshot = self.shared.database.snapshot();
        for guard in snapshot.iter(&self.shared.keyspaces.settled) {
            let (_, value) = guard.into_inner().map_err(store_error)?;
            let row: SettledRow = decode("settled", &value)?;
            if let Some((_, s)) = row.settled.iter().find(|(node, _)| u64::from(*node) == id.0) {
                return Ok(Some(*s));
            }
        }
        Ok(None)
    }

    /// The books of importance as the rows have them now, with all seeds that are known.
    pub fn mass(&self) -> Result<Mass, Error> {
        let mut mass = Mass::default();
        for row in self.urls() {
            mass.restore_url(&row?.1);
        }
        let Shared { database, keyspaces, .. } = &*self.shared;
        read_mass(database, keyspaces, &mut mass)?;
        let seeds = self.seeds()?;
        mass.seeded(seeds.iter().cloned());
        let snapshot = self.snapshot();
        for (url, _) in &seeds {
            if let Some(record) = snapshot.url(&url.key())? {
                mass.seed_is(url, record.id);
            }
        }
        mass.refresh();
        Ok(mass)
    }

    pub fn counters(&self) -> Result<Counters, Error> {
        counters(&self.shared.database, &self.shared.keyspaces)
    }
}

impl Shared {
    fn new(database: Database, keyspaces: Keyspaces, seen: Seen, dir: &Path) -> Shared {
        let (seen, leaders) = (Mutex::new(seen), Mutex::new(None));
        Shared { database, keyspaces, seen, leaders, dir: dir.to_owned() }
    }
}

/// The rows, checked to be of our version and all there, and the number of commits they hold.
fn open_rows(dir: &Path) -> Result<(Database, Keyspaces, u64), Error> {
    check_format(dir)?;
    let database = Database::builder(dir.join("fjall"))
        .cache_size(CACHE_BYTES)
        .max_journaling_size(JOURNAL_BYTES_MAX)
        .open()
        .map_err(|e| opening_error(dir, e))?;
    let keyspaces = Keyspaces::open(&database)?;
    let commits = check_mark(dir, &database, &keyspaces)?;
    Ok((database, keyspaces, commits))
}

impl Keyspaces {
    fn open(database: &Database) -> Result<Keyspaces, Error> {
        let open = |name: &str| {
            let options = || {
                let leveled = Leveled::default().with_table_target_size(TABLE_BYTES);
                KeyspaceCreateOptions::default()
                    .max_memtable_size(MEMTABLE_BYTES_MAX)
                    .compaction_strategy(Arc::new(leveled))
            };
            database.keyspace(name, options).map_err(store_error)
        };
        Ok(Keyspaces {
            meta: open("meta")?,
            url: open("url")?,
            queue: open("queue")?,
            host: open("host")?,
            robots: open("robots")?,
            sleep: open("sleep")?,
            outbox: open("outbox")?,
            content: open("content")?,
            leader: open("leader")?,
            seed: open("seed")?,
            links: open("links")?,
            settled: open("settled")?,
            exchange: open("exchange")?,
        })
    }
}

fn check_format(dir: &Path) -> Result<(), Error> {
    let path = dir.join(FORMAT_FILE);
    let has_store = dir.join("fjall").exists();
    match fs::read_to_string(&path) {
        Ok(text) if text.trim() == FORMAT => Ok(()),
        // Cut short when the directory was made: nothing was ever stored here.
        Ok(text) if text.trim().is_empty() && !has_store => write_format(dir, &path),
        Ok(text) => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "{} says {:?}, this program reads {FORMAT:?}: use the version that made it, or \
                 another --dir",
                path.display(),
                text.trim()
            ),
        )),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            if has_store {
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("{} holds a store without a FORMAT file", dir.display()),
                ));
            }
            write_format(dir, &path)
        }
        Err(e) => Err(file_error(&path, e)),
    }
}

fn write_format(dir: &Path, path: &Path) -> Result<(), Error> {
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(path, format!("{FORMAT}\n")))
        .map_err(|e| file_error(path, e))
}

/// Fewer commits than were synced means that something promised is gone.
fn check_mark(dir: &Path, database: &Database, keyspaces: &Keyspaces) -> Result<u64, Error> {
    let snapshot = database.snapshot();
    let commits: u64 = match snapshot.get(&keyspaces.meta, COMMITS).map_err(store_error)? {
        Some(bytes) => decode("commits", &bytes)?,
        None => 0,
    };
    let path = dir.join(MARK_FILE);
    let promised = match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse::<u64>().map_err(|_| {
            Error::new(ErrorKind::Corrupt, format!("{} is not a number", path.display()))
        })?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => 0,
        Err(e) => return Err(file_error(&path, e)),
    };
    if commits < promised {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "the store in {} opened with {commits} commits, but {promised} were written and \
                 synced: the disk lost data; the WARC files are whole, so begin anew in another \
                 --dir",
                dir.display()
            ),
        ));
    }
    Ok(commits)
}

pub(super) fn write_mark(dir: &Path, commits: u64) -> Result<(), Error> {
    let (temporary, path) = (dir.join("MARK.new"), dir.join(MARK_FILE));
    let write = || -> std::io::Result<()> {
        let mut file = fs::File::create(&temporary)?;
        writeln!(file, "{commits}")?;
        // Else the name may reach the disk before the number: an empty mark after a power cut.
        file.sync_data()?;
        fs::rename(&temporary, &path)
    };
    write().map_err(|e| file_error(&path, e))
}

fn filter_seed(database: &Database, keyspaces: &Keyspaces, new: u64) -> Result<u64, Error> {
    match database.snapshot().get(&keyspaces.meta, SEED).map_err(store_error)? {
        Some(bytes) => decode("filter seed", &bytes),
        None => {
            keyspaces.meta.insert(SEED, encode(&new)).map_err(store_error)?;
            database.persist(PersistMode::SyncAll).map_err(store_error)?;
            Ok(new)
        }
    }
}

/// One walk over all URLs, for the filter and for the books of importance.
fn rebuild_filter(
    database: &Database,
    keyspaces: &Keyspaces,
    seed: u64,
    mass: &mut Mass,
) -> Result<Seen, Error> {
    let mut seen = Seen::new(seed);
    seen.reserve(counters(database, keyspaces)?.known as usize);
    for guard in database.snapshot().iter(&keyspaces.url) {
        let (key, value) = guard.into_inner().map_err(store_error)?;
        let record: UrlRecord = decode("url", &value)?;
        let fingerprint = seen.fingerprint_bytes(&key);
        seen.insert(fingerprint, record.depth, record.id);
        mass.restore_url(&record);
    }
    Ok(seen)
}

/// Links, and what was settled by them: after the URLs, whose standing they rest on.
fn read_mass(database: &Database, keyspaces: &Keyspaces, mass: &mut Mass) -> Result<(), Error> {
    let snapshot = database.snapshot();
    for guard in snapshot.iter(&keyspaces.links) {
        let (key, value) = guard.into_inner().map_err(store_error)?;
        let (page, part) = keys::link_part(&key)
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, "link key cannot be read"))?;
        mass.restore_links(page, part, &decode("links", &value)?);
    }
    for guard in snapshot.iter(&keyspaces.settled) {
        let (_, value) = guard.into_inner().map_err(store_error)?;
        mass.restore_settled(&decode("settled", &value)?);
    }
    post::read_moved(database, keyspaces, mass)?;
    mass.restored();
    Ok(())
}

fn counters(database: &Database, keyspaces: &Keyspaces) -> Result<Counters, Error> {
    match database.snapshot().get(&keyspaces.meta, COUNTERS).map_err(store_error)? {
        Some(bytes) => decode("counters", &bytes),
        None => Ok(Counters::default()),
    }
}

fn opening(database: &Database, keyspaces: &Keyspaces) -> Result<Opening, Error> {
    let mut sleepers = Vec::new();
    for guard in database.snapshot().iter(&keyspaces.sleep) {
        let (key, value) = guard.into_inner().map_err(store_error)?;
        sleepers.push(read::sleeper(&key, &value)?.place);
    }
    let counters = counters(database, keyspaces)?;
    let scheduler = scheduler(database, keyspaces)?;
    let post = post::opening(database, keyspaces)?;
    Ok(Opening { counters, sleepers, mass: Mass::default(), scheduler, post })
}

fn scheduler(database: &Database, keyspaces: &Keyspaces) -> Result<Option<Scheduler>, Error> {
    let bytes = database.snapshot().get(&keyspaces.meta, SCHEDULER).map_err(store_error)?;
    bytes.map(|bytes| decode("scheduler", &bytes)).transpose()
}

fn opening_error(dir: &Path, error: fjall::Error) -> Error {
    let text = error.to_string();
    if text.contains("Locked") {
        let what = format!("{} is in use by another rhumb", dir.display());
        return Error::new(ErrorKind::Invalid, what);
    }
    let what = format!("the store in {} cannot be opened: {text}", dir.display());
    Error::new(ErrorKind::Corrupt, what)
}

fn file_error(path: &Path, error: std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
