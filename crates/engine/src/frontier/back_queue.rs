//! A host's queue in memory: the head of what waits in the store.
//!
//! Invariant: every row of the store at or before `cursor` is here or out (being fetched). So a
//! refill only ever looks beyond the cursor and never walks through the tombstones of what was
//! fetched before.
//!
//! Rows that arrive while a refill is under way are newer than the snapshot it reads. They are
//! kept aside and merged with its answer; if too many come, only the first in order are kept and
//! the answer is believed only up to the first one that was dropped.

use crate::event::Rows;
use crate::queue::{Entry, Place};
use std::collections::VecDeque;

/// Rows a queue holds in memory.
pub const ROWS_MAX: usize = 16;
/// Below this a queue asks for more.
pub const ROWS_LOW: usize = 6;
/// Arrivals kept aside during a refill.
pub const LATE_MAX: usize = ROWS_MAX;

#[derive(Debug, Default)]
pub struct BackQueue {
    rows: VecDeque<(Place, Entry)>,
    cursor: Option<Place>,
    /// Nothing waits in the store beyond the cursor.
    all_here: bool,
    /// Handed out and not yet settled. During a refill settled places stay on this list, because
    /// the snapshot may still show them.
    out: Vec<(Place, bool)>,
    late: Option<Late>,
}

#[derive(Debug, Default)]
struct Late {
    rows: Vec<(Place, Entry)>,
    dropped_first: Option<Place>,
}

impl BackQueue {
    /// A queue whose store is empty.
    pub fn empty() -> BackQueue {
        BackQueue { all_here: true, ..BackQueue::default() }
    }

    /// A queue of which nothing is known yet.
    pub fn unknown() -> BackQueue {
        BackQueue::default()
    }

    pub fn from_rows(rows: Rows) -> BackQueue {
        let mut queue = BackQueue::unknown();
        queue.late = Some(Late::default());
        queue.refilled(rows);
        queue
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn front(&self) -> Option<&(Place, Entry)> {
        self.rows.front()
    }

    /// Nothing waits here or in the store.
    pub fn is_drained(&self) -> bool {
        self.rows.is_empty() && self.all_here && self.late.is_none()
    }

    pub fn has_out(&self) -> bool {
        self.out.iter().any(|(_, settled)| !settled)
    }

    pub fn wants_refill(&self) -> bool {
        self.late.is_none() && !self.all_here && self.rows.len() <= ROWS_LOW
    }

    pub fn is_refilling(&self) -> bool {
        self.late.is_some()
    }

    /// Begins a refill; the place after which to look.
    pub fn begin_refill(&mut self) -> Option<Place> {
        assert!(self.late.is_none(), "one refill at a time");
        self.late = Some(Late::default());
        self.cursor
    }

    /// A row that was just written to the store.
    pub fn insert(&mut self, place: Place, entry: Entry) {
        if self.cursor.is_some_and(|cursor| place <= cursor) {
            self.insert_sorted(place, entry);
            self.cut();
        } else if let Some(late) = &mut self.late {
            late.insert(place, entry);
        } else if self.all_here && self.rows.len() < ROWS_MAX {
            self.insert_sorted(place, entry);
            self.cursor = Some(place);
        } else {
            self.all_here = false;
        }
    }

    pub fn pop(&mut self) -> Option<(Place, Entry)> {
        let (place, entry) = self.rows.pop_front()?;
        self.out.push((place, false));
        Some((place, entry))
    }

    /// The row at `place` left the store (or is about to, in this turn's commit).
    pub fn settled(&mut self, place: Place) {
        if self.late.is_some() {
            self.out
                .iter_mut()
                .filter(|(p, _)| *p == place)
                .for_each(|(_, settled)| *settled = true);
        } else {
            self.out.retain(|(p, _)| *p != place);
        }
    }

    /// The answer to a refill.
    pub fn refilled(&mut self, answer: Rows) {
        let late = self.late.take().expect("a refill was asked for");
        let covered = match (answer.all, answer.rows.last()) {
            (true, _) => None,
            (false, Some((last, _))) => Some(*last),
            // Not all, yet nothing read: nothing is learnt.
            (false, None) => self.cursor,
        };
        let believed = |place: &Place| {
            covered.is_none_or(|c| *place <= c) && late.dropped_first.is_none_or(|d| *place < d)
        };
        let all_believed = answer.all
            && late.dropped_first.is_none()
            && late.rows.iter().all(|(p, _)| believed(p));
        let fresh: Vec<(Place, Entry)> =
            answer.rows.into_iter().chain(late.rows).filter(|(p, _)| believed(p)).collect();
        for (place, entry) in fresh {
            let known = self.out.iter().any(|(p, _)| *p == place);
            if !known {
                self.insert_sorted(place, entry);
            }
            self.cursor = self.cursor.max(Some(place));
        }
        self.out.retain(|(_, settled)| !settled);
        self.all_here = all_believed;
        self.cut();
    }

    /// All rows, for a host that goes to sleep: the store has them.
    pub fn heap_bytes(&self) -> usize {
        let late = self.late.as_ref().map_or(0, |l| l.rows.len());
        (self.rows.len() + late) * ENTRY_BYTES + self.out.len() * size_of::<Place>()
    }

    fn insert_sorted(&mut self, place: Place, entry: Entry) {
        let at = self.rows.partition_point(|(p, _)| *p < place);
        if self.rows.get(at).is_none_or(|(p, _)| *p != place) {
            self.rows.insert(at, (place, entry));
        }
    }

    /// Lets the last rows go back to the store alone.
    fn cut(&mut self) {
        if self.rows.len() > ROWS_MAX {
            self.rows.truncate(ROWS_MAX);
            self.cursor = self.rows.back().map(|(place, _)| *place);
            self.all_here = false;
        }
    }
}

/// An estimate for the memory bound: the entry itself and a URL of usual length.
pub const ENTRY_BYTES: usize = size_of::<(Place, Entry)>() + 96;

impl Late {
    fn insert(&mut self, place: Place, entry: Entry) {
        let at = self.rows.partition_point(|(p, _)| *p < place);
        self.rows.insert(at, (place, entry));
        if self.rows.len() > LATE_MAX {
            let (dropped, _) = self.rows.pop().expect("more than LATE_MAX rows");
            self.dropped_first = Some(self.dropped_first.map_or(dropped, |d| d.min(dropped)));
        }
    }
}
