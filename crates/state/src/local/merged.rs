//! Rows of memory and of fjall's tables as one sequence, in the order of keys.

use super::fresh::FreshRow;
use fjall::{UserKey, UserValue};
use rhumb_engine::error::Error;
use std::cmp::Ordering;
use std::iter::Peekable;

pub type StoredRow = Result<(UserKey, UserValue), Error>;

/// What was written lately hides what the tables say, and takes away what it says is gone.
pub struct Merged<F: Iterator<Item = FreshRow>, S: Iterator<Item = StoredRow>> {
    fresh: Peekable<F>,
    stored: Peekable<S>,
}

impl<F: Iterator<Item = FreshRow>, S: Iterator<Item = StoredRow>> Merged<F, S> {
    pub fn new(fresh: F, stored: S) -> Merged<F, S> {
        Merged { fresh: fresh.peekable(), stored: stored.peekable() }
    }
}

impl<F: Iterator<Item = FreshRow>, S: Iterator<Item = StoredRow>> Iterator for Merged<F, S> {
    type Item = StoredRow;

    fn next(&mut self) -> Option<StoredRow> {
        loop {
            let order = match (self.fresh.peek(), self.stored.peek()) {
                (Some((fresh, _)), Some(Ok((stored, _)))) => fresh.cmp(stored),
                (_, Some(Err(_))) | (None, _) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
            };
            if order == Ordering::Greater {
                return self.stored.next();
            }
            if order == Ordering::Equal {
                self.stored.next();
            }
            if let Some((key, Some(value))) = self.fresh.next() {
                return Some(Ok((key, value)));
            }
        }
    }
}
