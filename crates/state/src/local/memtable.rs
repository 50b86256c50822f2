//! Rows that are not yet in fjall's tables: in the journal, and here in memory.
//!
//! A commit costs a hash or a step in a tree per row, where fjall's own memtables walk through
//! lists all over memory. A row that is written twice is stored once, and rows leave sorted, so
//! that they become tables at once. A generation is filled, then flushed while the next one is
//! filled: see [`super::flush`].
//!
//! Readers see whole commits and block nobody: each row has the number of its commit, and the row
//! before it is kept while a reader may look for it.

use super::table::{StateTable, TABLES};
use fjall::{UserKey, UserValue};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap, VecDeque, btree_map, hash_map};
use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// What a row costs in memory besides its bytes, roughly.
const ROW_BYTES: usize = 112;
/// Rows that are taken out at once when some are walked over.
const STEP_ROWS: usize = 32;

/// A row; none takes it away.
pub type MemtableRow = (UserKey, Option<UserValue>);

/// A row as one commit wrote it.
struct Version {
    commit: u64,
    value: Option<UserValue>,
    /// As it was before, for those who look at an earlier moment.
    before: Option<Box<Version>>,
}

impl Version {
    fn bytes(&self) -> usize {
        self.value.as_ref().map_or(0, |value| value.len())
    }

    /// As it was after this commit; none if it was not in this generation then.
    fn at(&self, commit: u64) -> Option<&Option<UserValue>> {
        let mut version = self;
        while version.commit > commit {
            version = version.before.as_deref()?;
        }
        Some(&version.value)
    }

    /// What was before is kept for those who look at it, and nothing else.
    fn overwrite(&mut self, new: Version, readers: Option<Readers>) {
        let old = std::mem::replace(self, new);
        let Some(readers) = readers else { return };
        self.before = match old.commit > readers.newest {
            true => old.before,
            false => Some(Box::new(old)),
        };
        if let Some(before) = &mut self.before {
            before.forget_before(readers.oldest);
        }
    }

    /// Lets go of what even those who look at this commit do not see.
    fn forget_before(&mut self, commit: u64) {
        let mut version = self;
        while version.commit > commit {
            let Some(before) = &mut version.before else { return };
            version = before;
        }
        version.before = None;
    }
}

/// The moments that somebody looks at: the commits that came last before them.
#[derive(Clone, Copy)]
pub struct Readers {
    oldest: u64,
    newest: u64,
}

/// The rows of one table in a generation. Strangers choose keys: the hash has a seed of its own in
/// every process.
enum TableRows {
    Found(HashMap<UserKey, Version, RandomState>),
    Walked(BTreeMap<UserKey, Version>),
}

impl TableRows {
    fn new(table: StateTable) -> TableRows {
        match table.is_walked() {
            true => TableRows::Walked(BTreeMap::new()),
            false => TableRows::Found(HashMap::default()),
        }
    }

    fn get(&self, key: &[u8]) -> Option<&Version> {
        match self {
            TableRows::Found(rows) => rows.get(key),
            TableRows::Walked(rows) => rows.get(key),
        }
    }

    /// Puts a row in, and has the one that is there dealt with. The key is looked for once: with
    /// long keys that begin alike, that is most of the work.
    fn put(&mut self, key: UserKey, new: Version, replace: impl FnOnce(&mut Version, Version)) {
        match self {
            TableRows::Found(rows) => match rows.entry(key) {
                hash_map::Entry::Occupied(mut old) => replace(old.get_mut(), new),
                hash_map::Entry::Vacant(room) => drop(room.insert(new)),
            },
            TableRows::Walked(rows) => match rows.entry(key) {
                btree_map::Entry::Occupied(mut old) => replace(old.get_mut(), new),
                btree_map::Entry::Vacant(room) => drop(room.insert(new)),
            },
        }
    }
}

/// All rows written in some stretch of time.
pub struct Generation {
    tables: [TableRows; TABLES],
    bytes: usize,
}

impl Default for Generation {
    fn default() -> Generation {
        Generation { tables: StateTable::ALL.map(TableRows::new), bytes: 0 }
    }
}

impl Generation {
    /// An empty one, with room for as many rows as `last` has: it will most likely have as many,
    /// and to make room bit by bit takes longer than to write them.
    pub fn after(last: &Generation) -> Generation {
        let mut next = Generation::default();
        for (table_rows, last) in next.tables.iter_mut().zip(&last.tables) {
            if let (TableRows::Found(rows), TableRows::Found(last)) = (table_rows, last) {
                rows.reserve(last.len());
            }
        }
        next
    }

    /// Writes a row, in this commit.
    pub fn put(
        &mut self,
        (table, key, value): (StateTable, &[u8], Option<&[u8]>),
        commit: u64,
        readers: Option<Readers>,
    ) {
        let version = Version { commit, value: value.map(UserValue::from), before: None };
        let mut more = version.bytes() + key.len() + ROW_BYTES;
        let table_rows = &mut self.tables[table as usize];
        table_rows.put(key.into(), version, |old, version| {
            more = version.bytes();
            self.bytes -= old.bytes();
            old.overwrite(version, readers);
        });
        self.bytes += more;
    }

    /// Bytes in memory, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The row with this key after a commit, if it was written in this generation by then; none
    /// within if it was taken away.
    fn get(&self, table: StateTable, key: &[u8], commit: u64) -> Option<Option<UserValue>> {
        self.tables[table as usize].get(key)?.at(commit).cloned()
    }

    /// The rows of a table after a commit, to be put [`in_order`].
    pub fn rows(&self, table: StateTable, commit: u64) -> Vec<MemtableRow> {
        match &self.tables[table as usize] {
            TableRows::Walked(rows) => rows.iter().filter_map(|row| copied(row, commit)).collect(),
            TableRows::Found(rows) => rows.iter().filter_map(|row| copied(row, commit)).collect(),
        }
    }

    /// The next rows within these bounds into `rows`; the key of the last that was looked at, none
    /// if there are no more.
    fn step(
        &self,
        table: StateTable,
        commit: u64,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        rows: &mut VecDeque<MemtableRow>,
    ) -> Option<UserKey> {
        let TableRows::Walked(all) = &self.tables[table as usize] else {
            unreachable!("only some tables are walked over")
        };
        let mut last = None;
        for row in all.range::<[u8], _>(bounds).take(STEP_ROWS) {
            last = Some(row.0);
            rows.extend(copied(row, commit));
        }
        last.cloned()
    }
}

/// Sorts rows by their keys. Apart from taking them out, so that nobody waits for it.
pub fn in_order(mut rows: Vec<MemtableRow>) -> Vec<MemtableRow> {
    rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    rows
}

/// Counted references: no bytes are copied.
fn copied((key, version): (&UserKey, &Version), commit: u64) -> Option<MemtableRow> {
    version.at(commit).map(|value| (key.clone(), value.clone()))
}

/// A generation that some write and others read, each for a moment.
#[derive(Clone, Default)]
pub struct SharedGeneration(Arc<RwLock<Generation>>);

impl SharedGeneration {
    pub fn read(&self) -> RwLockReadGuard<'_, Generation> {
        self.0.read().unwrap_or_else(|e| e.into_inner())
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, Generation> {
        self.0.write().unwrap_or_else(|e| e.into_inner())
    }
}

impl From<Generation> for SharedGeneration {
    fn from(generation: Generation) -> SharedGeneration {
        SharedGeneration(Arc::new(RwLock::new(generation)))
    }
}

/// The generation that commits go to, and the one that is being flushed.
#[derive(Default)]
pub struct Memtable {
    pub now: SharedGeneration,
    pub leaving: Option<SharedGeneration>,
    /// The last commit.
    pub commit: u64,
    /// The moments that somebody looks at, and how many do.
    readers: BTreeMap<u64, usize>,
}

impl Memtable {
    pub fn of(rows: Generation, commit: u64) -> Memtable {
        Memtable { now: rows.into(), commit, ..Memtable::default() }
    }

    pub fn readers(&self) -> Option<Readers> {
        let (oldest, newest) = (self.readers.first_key_value(), self.readers.last_key_value());
        oldest
            .zip(newest)
            .map(|((oldest, _), (newest, _))| Readers { oldest: *oldest, newest: *newest })
    }

    /// This moment, for somebody who looks at it until they [`leave`](Memtable::leave).
    pub fn enter(&mut self) -> MemtableView {
        *self.readers.entry(self.commit).or_default() += 1;
        MemtableView { commit: self.commit, now: self.now.clone(), leaving: self.leaving.clone() }
    }

    pub fn leave(&mut self, view: &MemtableView) {
        let readers = self.readers.get_mut(&view.commit).expect("somebody entered");
        *readers -= 1;
        if *readers == 0 {
            self.readers.remove(&view.commit);
        }
    }
}

/// What was memtable after one commit.
pub struct MemtableView {
    commit: u64,
    now: SharedGeneration,
    leaving: Option<SharedGeneration>,
}

impl MemtableView {
    /// The row with this key, if it was written lately; none within if it was taken away.
    pub fn get(&self, table: StateTable, key: &[u8]) -> Option<Option<UserValue>> {
        let newer = self.now.read().get(table, key, self.commit);
        newer.or_else(|| self.leaving.as_ref()?.read().get(table, key, self.commit))
    }

    /// Some rows of a table that is walked over, in the order of keys.
    pub fn range(
        &self,
        table: StateTable,
        from: &Bound<Vec<u8>>,
        to: &Bound<Vec<u8>>,
    ) -> Newest<MemtableWalk> {
        let walk = |generation: &SharedGeneration| MemtableWalk {
            generation: generation.clone(),
            table,
            commit: self.commit,
            next: Some(from.clone()),
            to: to.clone(),
            rows: VecDeque::new(),
        };
        Newest::of(walk(&self.now), self.leaving.as_ref().map(walk))
    }

    /// The rows of a table within these bounds.
    pub fn sorted_within(
        &self,
        table: StateTable,
        bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    ) -> Newest<std::vec::IntoIter<MemtableRow>> {
        let bounds = (bounds.0.as_ref().map(Vec::as_slice), bounds.1.as_ref().map(Vec::as_slice));
        let rows = |some: &SharedGeneration| {
            let mut rows = some.read().rows(table, self.commit);
            rows.retain(|(key, _)| RangeBounds::<[u8]>::contains(&bounds, &**key));
            in_order(rows).into_iter()
        };
        Newest::of(rows(&self.now), self.leaving.as_ref().map(rows))
    }

    /// All rows of a table.
    pub fn sorted(&self, table: StateTable) -> Newest<std::vec::IntoIter<MemtableRow>> {
        let rows = |some: &SharedGeneration| {
            let rows = some.read().rows(table, self.commit);
            in_order(rows).into_iter()
        };
        Newest::of(rows(&self.now), self.leaving.as_ref().map(rows))
    }
}

/// Rows of one generation, taken out a few at a time.
pub struct MemtableWalk {
    generation: SharedGeneration,
    table: StateTable,
    commit: u64,
    /// None at the end.
    next: Option<Bound<Vec<u8>>>,
    to: Bound<Vec<u8>>,
    rows: VecDeque<MemtableRow>,
}

impl Iterator for MemtableWalk {
    type Item = MemtableRow;

    fn next(&mut self) -> Option<MemtableRow> {
        while self.rows.is_empty() {
            let from = self.next.take()?;
            let bounds = (from.as_ref().map(Vec::as_slice), self.to.as_ref().map(Vec::as_slice));
            let generation = self.generation.read();
            let last = generation.step(self.table, self.commit, bounds, &mut self.rows);
            self.next = last.map(|key| Bound::Excluded(key.to_vec()));
        }
        self.rows.pop_front()
    }
}

/// Rows of both generations in the order of keys, each key once.
pub struct Newest<I: Iterator<Item = MemtableRow>> {
    newer: std::iter::Peekable<I>,
    older: std::iter::Peekable<std::iter::Flatten<std::option::IntoIter<I>>>,
}

impl<I: Iterator<Item = MemtableRow>> Newest<I> {
    fn of(newer: I, older: Option<I>) -> Newest<I> {
        Newest { newer: newer.peekable(), older: older.into_iter().flatten().peekable() }
    }
}

impl<I: Iterator<Item = MemtableRow>> Iterator for Newest<I> {
    type Item = MemtableRow;

    fn next(&mut self) -> Option<MemtableRow> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = match (self.newer.peek(), self.older.peek()) {
            (Some((newer, _)), Some((older, _))) => newer.cmp(older),
            (Some(_), None) => Less,
            (None, _) => Greater,
        };
        match order {
            Less => self.newer.next(),
            Greater => self.older.next(),
            Equal => {
                self.older.next();
                self.newer.next()
            }
        }
    }
}
