//! Rows that are not yet in fjall's tables: in the journal, and here in memory.
//!
//! A commit costs a hash or a step in a tree for each row, which is a tenth of what fjall's own
//! memtables take; a row that is written again meanwhile is stored once, and what is moved into
//! fjall at last is sorted, so that it becomes tables at once. A generation is filled, then stowed
//! while the next one is filled: see [`super::stow`].

use super::table::{TABLES, Table};
use fjall::{UserKey, UserValue};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// What a row costs in memory besides its bytes, roughly.
const ROW_BYTES: usize = 96;

/// A row; none takes it away.
pub type FreshRow = (UserKey, Option<UserValue>);

/// The rows of one table in a generation.
enum Shelf {
    Found(HashMap<UserKey, Option<UserValue>>),
    Walked(BTreeMap<UserKey, Option<UserValue>>),
}

impl Shelf {
    fn new(table: Table) -> Shelf {
        match table.is_walked() {
            true => Shelf::Walked(BTreeMap::new()),
            false => Shelf::Found(HashMap::new()),
        }
    }

    fn get(&self, key: &[u8]) -> Option<&Option<UserValue>> {
        match self {
            Shelf::Found(rows) => rows.get(key),
            Shelf::Walked(rows) => rows.get(key),
        }
    }

    fn put(&mut self, key: UserKey, value: Option<UserValue>) -> Option<Option<UserValue>> {
        match self {
            Shelf::Found(rows) => rows.insert(key, value),
            Shelf::Walked(rows) => rows.insert(key, value),
        }
    }
}

/// All rows written in some stretch of time, as they are at its end.
pub struct Generation {
    shelves: [Shelf; TABLES],
    bytes: usize,
}

impl Default for Generation {
    fn default() -> Generation {
        Generation { shelves: Table::ALL.map(Shelf::new), bytes: 0 }
    }
}

impl Generation {
    pub fn put(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) {
        let value_len = value.map_or(0, <[u8]>::len);
        let before = self.shelves[table as usize].put(key.into(), value.map(UserValue::from));
        self.bytes += value_len;
        match before {
            Some(before) => self.bytes -= before.map_or(0, |value| value.len()),
            None => self.bytes += key.len() + ROW_BYTES,
        }
    }

    /// Bytes in memory, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The rows of a table in the order of keys.
    pub fn sorted(&self, table: Table) -> Vec<FreshRow> {
        match &self.shelves[table as usize] {
            Shelf::Walked(rows) => rows.iter().map(copied).collect(),
            Shelf::Found(rows) => {
                let mut rows: Vec<FreshRow> = rows.iter().map(copied).collect();
                rows.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
                rows
            }
        }
    }

    /// Some rows of a table in the order of keys. Only where rows are walked over is this cheap.
    fn range(&self, table: Table, from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> FreshRows<'_> {
        let bounds = (slice(from), slice(to));
        match &self.shelves[table as usize] {
            Shelf::Walked(rows) => Box::new(rows.range::<[u8], _>(bounds).map(copied)),
            Shelf::Found(_) => {
                use std::ops::RangeBounds;
                let mut rows = self.sorted(table);
                rows.retain(|(key, _)| bounds.contains(&**key));
                Box::new(rows.into_iter())
            }
        }
    }
}

fn slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

/// Counted references: no bytes are copied.
fn copied((key, value): (&UserKey, &Option<UserValue>)) -> FreshRow {
    (key.clone(), value.clone())
}

type FreshRows<'a> = Box<dyn Iterator<Item = FreshRow> + 'a>;

/// The generation that commits go to, and the one that is being stowed.
#[derive(Default)]
pub struct Fresh {
    pub now: Generation,
    pub leaving: Option<Arc<Generation>>,
}

impl Fresh {
    /// The row with this key, if it was written lately; none within if it was taken away.
    pub fn get(&self, table: Table, key: &[u8]) -> Option<Option<&UserValue>> {
        let shelf = table as usize;
        let leaving = || self.leaving.as_ref().and_then(|old| old.shelves[shelf].get(key));
        self.now.shelves[shelf].get(key).or_else(leaving).map(Option::as_ref)
    }

    /// Rows of a table written lately, newer ones before older ones of the same key.
    pub fn range(&self, table: Table, from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> Newest<'_> {
        let leaving: FreshRows<'_> = match &self.leaving {
            Some(old) => old.range(table, from, to),
            None => Box::new(std::iter::empty()),
        };
        Newest { newer: self.now.range(table, from, to).peekable(), older: leaving.peekable() }
    }

    /// All rows of a table written lately, to be walked over without holding anything up.
    pub fn sorted(&self, table: Table) -> Newest<'static> {
        let rows =
            |some: &Generation| -> FreshRows<'static> { Box::new(some.sorted(table).into_iter()) };
        let leaving = self.leaving.as_deref().map_or_else(|| Box::new([].into_iter()) as _, rows);
        Newest { newer: rows(&self.now).peekable(), older: leaving.peekable() }
    }
}

/// Rows of both generations in the order of keys, each key once.
pub struct Newest<'a> {
    newer: std::iter::Peekable<FreshRows<'a>>,
    older: std::iter::Peekable<FreshRows<'a>>,
}

impl Iterator for Newest<'_> {
    type Item = FreshRow;

    fn next(&mut self) -> Option<FreshRow> {
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
