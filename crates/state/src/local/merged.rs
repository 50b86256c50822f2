//! Rows of memory and of fjall's tables as one sequence, in the order of keys.

use super::memtable::MemtableRow;
use fjall::{UserKey, UserValue};
use rhumb_engine::error::Error;
use std::cmp::Ordering;
use std::iter::Peekable;

pub type StoredRow = Result<(UserKey, UserValue), Error>;

/// What was written lately hides what the tables say, and takes away what it says is gone.
pub struct Merged<F: Iterator<Item = MemtableRow>, S: Iterator<Item = StoredRow>> {
    memtable: Peekable<F>,
    stored: Peekable<S>,
}

impl<F: Iterator<Item = MemtableRow>, S: Iterator<Item = StoredRow>> Merged<F, S> {
    pub fn new(memtable: F, stored: S) -> Merged<F, S> {
        Merged { memtable: memtable.peekable(), stored: stored.peekable() }
    }
}

impl<F: Iterator<Item = MemtableRow>, S: Iterator<Item = StoredRow>> Iterator for Merged<F, S> {
    type Item = StoredRow;

    fn next(&mut self) -> Option<StoredRow> {
        loop {
            let order = match (self.memtable.peek(), self.stored.peek()) {
                (Some((memtable, _)), Some(Ok((stored, _)))) => memtable.cmp(stored),
                (_, Some(Err(_))) | (None, _) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
            };
            if order == Ordering::Greater {
                return self.stored.next();
            }
            if order == Ordering::Equal {
                self.stored.next();
            }
            if let Some((key, Some(value))) = self.memtable.next() {
                return Some(Ok((key, value)));
            }
        }
    }
}
