//! A host's queue in memory: the head of what waits in the store.
//!
//! Invariant: every row of the store at or before `cursor` is here or out (being fetched). So a
//! refill only ever looks beyond the cursor and never walks through the tombstones of what was
//! fetched before.
//!
//! Rows that arrive while a refill is under way are newer than the snapshot it reads. They are
//! kept aside and merged with its answer; if too many come, only the first in order are kept and
//! the answer is believed only up to the first one that was dropped.
//!
//! A row that is here may be served sooner than its place in the store says: whichever of them is
//! taken, nothing at or before the cursor is lost sight of. That costs no write.

use crate::event::QueueRows;
use crate::queue::{Entry, Place};
use crate::record::UrlId;
use crate::refresh::past::Visits;
use std::collections::VecDeque;

/// Rows that a queue holds in memory: most hosts are small and need never be read again, if there
/// is room for them, and many hosts need little of each.
const ROWS_MAX: usize = 64;
const ROWS_MIN: usize = 16;
/// A new queue may hold its share of so many rows, between these limits, and keeps to that.
const ROWS_SHARED: usize = 1 << 16;
/// Below this a queue asks for more.
pub const ROWS_LOW: usize = 6;
const _: () = assert!(ROWS_LOW < ROWS_MIN);

/// The rows that one more queue may hold beside so many others.
pub fn rows_beside(others: usize) -> usize {
    (ROWS_SHARED / (others + 1)).clamp(ROWS_MIN, ROWS_MAX)
}

#[derive(Debug)]
pub struct BackQueue {
    /// So many rows, and as many arrivals during a refill.
    rows_max: usize,
    rows: VecDeque<(Place, Entry)>,
    cursor: Option<Place>,
    /// Nothing waits in the store beyond the cursor.
    all_here: bool,
    /// Handed out and not yet settled. During a refill settled places stay on this list, because
    /// the snapshot may still show them.
    out: Vec<(Place, bool)>,
    late: Option<Late>,
    /// Rows that are here, by place, and the better places that they are served at.
    raised: Vec<(Place, Place)>,
}

#[derive(Debug, Default)]
struct Late {
    rows: Vec<(Place, Entry)>,
    dropped_first: Option<Place>,
}

impl BackQueue {
    /// A queue whose store is empty.
    pub fn empty(rows_max: usize) -> BackQueue {
        BackQueue { all_here: true, ..BackQueue::unknown(None, rows_max) }
    }

    /// A queue of which nothing is known yet but that nothing waits up to `after`.
    pub fn unknown(after: Option<Place>, rows_max: usize) -> BackQueue {
        BackQueue {
            rows_max,
            rows: VecDeque::new(),
            cursor: after,
            all_here: false,
            out: Vec::new(),
            late: None,
            raised: Vec::new(),
        }
    }

    /// A queue of which these rows were read, behind `after`.
    pub fn from_rows(after: Option<Place>, rows: QueueRows, rows_max: usize) -> BackQueue {
        let mut queue = BackQueue::unknown(after, rows_max);
        queue.late = Some(Late::default());
        queue.refilled(rows);
        queue
    }

    /// The place up to which nothing waits, here or in the store.
    pub fn nothing_until(&self) -> Option<Place> {
        assert!(!self.has_out(), "what is out still waits in the store");
        match self.rows.front() {
            Some((place, _)) => place.before(),
            None => self.cursor,
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row that is served next, and at which place.
    pub fn front(&self) -> Option<(Place, &Entry)> {
        let (served, stored) = self.best()?;
        self.rows.get(self.position(stored)).map(|(_, entry)| (served, entry))
    }

    /// The best place that a row is served at, and that row's place in the store.
    fn best(&self) -> Option<(Place, Place)> {
        let first = self.rows.front().map(|(place, _)| (*place, *place));
        let raised = self.raised.iter().map(|&(stored, served)| (served, stored));
        first.into_iter().chain(raised).min()
    }

    fn position(&self, place: Place) -> usize {
        self.rows.partition_point(|(p, _)| *p < place)
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

    /// The rows that it may hold.
    pub fn rows_max(&self) -> usize {
        self.rows_max
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
            late.insert(place, entry, self.rows_max);
        } else if self.all_here && self.rows.len() < self.rows_max {
            self.insert_sorted(place, entry);
            self.cursor = Some(place);
        } else {
            self.all_here = false;
        }
    }

    pub fn pop(&mut self) -> Option<(Place, Entry)> {
        let (_, stored) = self.best()?;
        let (place, entry) = self.rows.remove(self.position(stored))?;
        self.raised.retain(|(p, _)| *p != place);
        self.out.push((place, false));
        Some((place, entry))
    }

    /// Serves a URL sooner; false if it is not among the rows here.
    pub fn raise(&mut self, id: UrlId, place: Place) -> bool {
        // Links to the same URL come again and again: most often it was raised before.
        if let Some((_, served)) = self.raised.iter_mut().find(|(stored, _)| stored.id() == id) {
            *served = place;
            return true;
        }
        let stored = self.rows.iter().map(|(stored, _)| *stored).find(|stored| stored.id() == id);
        self.raised.extend(stored.map(|stored| (stored, place)));
        stored.is_some()
    }

    /// A row leaves its place for another; false if it is out and must stay.
    pub fn withdraw(&mut self, place: Place) -> bool {
        if self.out.iter().any(|(p, settled)| *p == place && !settled) {
            return false;
        }
        self.rows.retain(|(p, _)| *p != place);
        self.raised.retain(|(p, _)| *p != place);
        if let Some(late) = &mut self.late {
            late.rows.retain(|(p, _)| *p != place);
            // The snapshot that is being read may still show it.
            self.out.push((place, true));
        }
        true
    }

    /// The row was handed out in vain, and waits in the store as before.
    pub fn put_back(&mut self, place: Place, entry: Entry) {
        self.out.retain(|(p, _)| *p != place);
        if self.cursor.is_some_and(|cursor| place <= cursor) {
            self.insert_sorted(place, entry);
            self.cut();
        } else {
            self.all_here = false;
        }
    }

    /// The row at `place` left the store (or is about to, in this turn's commit).
    pub fn row_left(&mut self, place: Place) {
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
    pub fn refilled(&mut self, answer: QueueRows) {
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

    /// An estimate: what [`ENTRY_BYTES`] says of each row.
    pub fn heap_bytes(&self) -> usize {
        let late = self.late.as_ref().map_or(0, |l| l.rows.len());
        let places = self.out.len() + 2 * self.raised.len();
        (self.rows.len() + late) * ENTRY_BYTES + places * size_of::<Place>()
    }

    fn insert_sorted(&mut self, place: Place, entry: Entry) {
        let at = self.position(place);
        if self.rows.get(at).is_none_or(|(p, _)| *p != place) {
            self.rows.insert(at, (place, entry));
        }
    }

    /// Lets the last rows go back to the store alone. A refill under way looks beyond where the
    /// cursor was: it would step over them, so its answer must not be believed that far.
    fn cut(&mut self) {
        if self.rows.len() > self.rows_max {
            if let Some(late) = &mut self.late {
                late.drop_from(self.rows[self.rows_max].0);
            }
            self.rows.truncate(self.rows_max);
            self.cursor = self.rows.back().map(|(place, _)| *place);
            self.raised.retain(|(place, _)| Some(*place) <= self.cursor);
            self.all_here = false;
        }
    }
}

/// An estimate for the memory bound: the entry itself, a URL of usual length, and its visits.
pub const ENTRY_BYTES: usize = size_of::<(Place, Entry)>() + 96 + size_of::<Visits>();

impl Late {
    fn insert(&mut self, place: Place, entry: Entry, rows_max: usize) {
        let at = self.rows.partition_point(|(p, _)| *p < place);
        self.rows.insert(at, (place, entry));
        if self.rows.len() > rows_max {
            let (dropped, _) = self.rows.pop().expect("one row at least");
            self.drop_from(dropped);
        }
    }

    fn drop_from(&mut self, place: Place) {
        self.dropped_first = Some(self.dropped_first.map_or(place, |d| d.min(place)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordStatus, UrlRecord};
    use crate::rng::Rng;
    use crate::time::Time;
    use rhumb_page::url::Url;
    use std::collections::{BTreeMap, BTreeSet};

    /// The queue beside the store that it is the head of.
    struct Model {
        queue: BackQueue,
        store: BTreeSet<Place>,
        /// What a reader may see: every state of the store since the refill was asked for.
        asked: Option<(Option<Place>, Vec<BTreeSet<Place>>)>,
        out: BTreeSet<Place>,
        popped: BTreeSet<Place>,
        /// Rows that are served sooner, while they are in the queue's hands.
        raised: BTreeMap<Place, Place>,
        next: u64,
        rng: Rng,
        url: Url,
    }

    impl Model {
        fn new(seed: u64) -> Model {
            let mut rng = Rng::new(seed);
            let url = Url::parse("http://a.test/x").unwrap();
            let known = rng.draw().is_multiple_of(2);
            let max = rows_beside((rng.draw() % 8_192) as usize);
            let mut model = Model {
                queue: if known { BackQueue::empty(max) } else { BackQueue::unknown(None, max) },
                store: BTreeSet::new(),
                asked: None,
                out: BTreeSet::new(),
                popped: BTreeSet::new(),
                raised: BTreeMap::new(),
                next: 0,
                rng,
                url,
            };
            for _ in 0..if known { 0 } else { model.rng.draw() % 50 } {
                let place = model.place(5_000);
                model.store.insert(place);
            }
            model
        }

        fn place(&mut self, around: u64) -> Place {
            self.next += 1;
            let rank = around.saturating_sub(500) + self.rng.draw() % 1_000;
            Place::Now { class: 8, rank, id: self.next }
        }

        fn entry(&self, place: Place) -> Entry {
            let record = UrlRecord::new(place.id(), RecordStatus::Queued, 0, 0, Time::ZERO);
            Entry { url: self.url.clone(), record }
        }

        fn turn(&mut self) {
            match self.rng.draw() % 11 {
                10 => self.put_back(),
                9 => self.raise(),
                8 => self.promote(),
                0 => self.arrive(),
                1..=3 => self.pop(),
                4 => self.settle(),
                5 | 6 => self.ask(),
                _ => self.answer(),
            }
            if let Some((_, seen)) = &mut self.asked {
                seen.push(self.store.clone());
            }
            self.check();
        }

        /// A burst before, behind or all around what is there; sometimes more than is kept aside.
        fn arrive(&mut self) {
            let around = [0, 2_000, 5_000, 9_000][(self.rng.draw() % 4) as usize];
            for _ in 0..1 + self.rng.draw() % (2 * self.queue.rows_max as u64 + 4) {
                let place = self.place(around);
                self.store.insert(place);
                self.queue.insert(place, self.entry(place));
            }
        }

        /// Some row that may be anywhere takes a better place.
        fn promote(&mut self) {
            let nth = self.rng.draw() as usize % self.store.len().max(1);
            let Some(place) = self.store.iter().copied().nth(nth) else { return };
            let is_out = self.out.contains(&place);
            assert_eq!(self.queue.withdraw(place), !is_out);
            if !is_out {
                self.store.remove(&place);
                let better = self.place(1_000);
                self.store.insert(better);
                self.queue.insert(better, self.entry(better));
            }
        }

        /// Some row that may be anywhere is to be served sooner.
        fn raise(&mut self) {
            let nth = self.rng.draw() as usize % self.store.len().max(1);
            let Some(stored) = self.store.iter().copied().nth(nth) else { return };
            let id = stored.id();
            let served = Place::Now { class: 7, rank: self.rng.draw() % 100, id: id.0 };
            if self.queue.raise(id, served) {
                assert!(!self.out.contains(&stored), "{stored:?} is out");
                self.raised.insert(stored, served);
            }
        }

        fn pop(&mut self) {
            let best = self.queue.front().map(|(served, _)| served);
            if let Some((place, entry)) = self.queue.pop() {
                let served = self.raised.get(&place).copied();
                assert!(best == Some(place) || best == served, "{place:?} popped, {best:?} shown");
                assert!(self.store.contains(&place), "{place:?} popped but not stored");
                assert_eq!(entry, self.entry(place), "another's entry");
                assert!(self.popped.insert(place), "{place:?} popped twice");
                self.out.insert(place);
            }
        }

        fn settle(&mut self) {
            if let Some(place) = self.out.pop_first() {
                self.store.remove(&place);
                self.queue.row_left(place);
            }
        }

        fn put_back(&mut self) {
            if let Some(place) = self.out.pop_last() {
                self.popped.remove(&place);
                self.queue.put_back(place, self.entry(place));
            }
        }

        fn ask(&mut self) {
            if self.queue.wants_refill() {
                self.asked = Some((self.queue.begin_refill(), Vec::new()));
            }
        }

        fn answer(&mut self) {
            let Some((after, seen)) = self.asked.take() else { return };
            let moment = &seen[(self.rng.draw() % seen.len() as u64) as usize];
            let beyond = |place: &&Place| after.is_none_or(|after| **place > after);
            let mut rest = moment.iter().filter(beyond);
            // Whoever wakes a host asks before it is known what room its queue will have.
            let max = 1 + (self.rng.draw() % (2 * self.queue.rows_max as u64)) as usize;
            let rows = rest.by_ref().take(max).map(|p| (*p, self.entry(*p))).collect();
            self.queue.refilled(QueueRows { rows, all: rest.next().is_none() });
        }

        fn check(&self) {
            assert!(self.queue.len() <= self.queue.rows_max);
            let best = self.store.iter().find(|place| !self.out.contains(place));
            if let Some((served, _)) = self.queue.front() {
                // One that was raised may have gone back to the store since.
                let is_raised = self.raised.values().any(|place| *place == served);
                assert!(is_raised || Some(&served) == best, "{served:?} is not the best");
                assert!(Some(&served) <= best, "{served:?} goes before {best:?}");
            }
            if self.queue.is_drained() {
                assert_eq!(best, None, "called drained while a row waits");
            }
            assert_eq!(self.queue.has_out(), !self.out.is_empty());
            if self.out.is_empty() {
                let until = self.queue.nothing_until();
                assert!(best.is_none_or(|best| until < Some(*best)), "{until:?} hides {best:?}");
            }
        }

        /// Nothing more arrives: all that waits comes out.
        fn rest(&mut self) {
            while !self.queue.is_drained() {
                let before = (self.popped.len(), self.queue.cursor);
                while !self.queue.is_empty() {
                    self.pop();
                }
                self.ask();
                if let Some((_, seen)) = &mut self.asked {
                    seen.push(self.store.clone());
                }
                self.answer();
                self.check();
                let after = (self.popped.len(), self.queue.cursor);
                assert!(after != before || self.queue.is_drained(), "a refill brings nothing");
            }
            assert_eq!(self.store, self.out, "rows that nobody was handed");
        }
    }

    #[test]
    fn what_is_popped_is_the_best_that_waits_and_no_row_is_lost_or_taken_twice() {
        for seed in 0..200 {
            let mut model = Model::new(seed);
            (0..300).for_each(|_| model.turn());
            model.rest();
        }
    }
}
