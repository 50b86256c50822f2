//! Sorting more than memory holds: sorted runs on disk, merged in the end.
//!
//! Records are kept by *part*, a division of their order that lets several threads merge at once.
//! When as many are held as memory allows, every part is sorted and appended to the spool: a run.
//! In the end a part is the merge of its piece of every run and of what is still held.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Mutex;

use super::error::BatchError;
use super::spool::PairSpool;

/// Parts of an order.
pub const PARTS: usize = 64;
/// Bytes of a run read at a time.
const READ_BYTES: usize = 32 << 10;

/// What is sorted: of a fixed size on disk.
pub trait SortRecord: Copy + Ord + Send {
    const BYTES: usize;

    fn write(&self, bytes: &mut Vec<u8>);

    /// Of exactly that many bytes.
    fn read(bytes: &[u8]) -> Self;
}

pub struct Sorter<R> {
    /// Which part a record belongs to; never falls as records rise.
    part: fn(&R, u32) -> usize,
    /// The second argument of `part`.
    scale: u32,
    held: Vec<Vec<R>>,
    held_count: usize,
    held_max: usize,
    runs: Vec<Run>,
    spool: PairSpool,
}

/// Where each part begins in the spool, and where the last one ends.
struct Run([u64; PARTS + 1]);

impl<R: SortRecord> Sorter<R> {
    pub fn new(
        dir: &Path,
        memory_bytes: usize,
        part: fn(&R, u32) -> usize,
        scale: u32,
    ) -> Sorter<R> {
        let held_max = (memory_bytes / size_of::<R>()).max(PARTS);
        let held = (0..PARTS).map(|_| Vec::new()).collect();
        let (runs, spool) = (Vec::new(), PairSpool::new(dir));
        Sorter { part, scale, held, held_count: 0, held_max, runs, spool }
    }

    pub fn push(&mut self, record: R) -> Result<(), BatchError> {
        self.held[(self.part)(&record, self.scale)].push(record);
        self.held_count += 1;
        if self.held_count >= self.held_max { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), BatchError> {
        let mut bounds = [0; PARTS + 1];
        let mut bytes = Vec::new();
        for (part, records) in self.held.iter_mut().enumerate() {
            records.sort_unstable();
            bytes.clear();
            records.iter().for_each(|record| record.write(&mut bytes));
            bounds[part] = self.spool.append(&bytes)?;
            records.clear();
        }
        bounds[PARTS] = self.spool.bytes();
        self.runs.push(Run(bounds));
        self.held_count = 0;
        Ok(())
    }

    pub fn finish(self) -> Sorted<R> {
        let held = self.held.into_iter().map(Mutex::new).collect();
        Sorted { held, runs: self.runs, spool: self.spool }
    }
}

/// All records, to be taken part by part.
pub struct Sorted<R> {
    held: Vec<Mutex<Vec<R>>>,
    runs: Vec<Run>,
    spool: PairSpool,
}

impl<R: SortRecord> Sorted<R> {
    /// Bytes that went through the disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.spool.bytes()
    }

    /// The records of a part, ascending.
    pub fn part(&self, part: usize) -> Result<Merge<'_, R>, BatchError> {
        let mut held = std::mem::take(&mut *self.held[part].lock().expect("no thread panicked"));
        held.sort_unstable();
        let mut merge = Merge {
            heap: BinaryHeap::new(),
            held: held.into_iter(),
            pieces: Vec::with_capacity(self.runs.len()),
            spool: &self.spool,
        };
        for Run(bounds) in &self.runs {
            let [start, end] = [bounds[part], bounds[part + 1]];
            merge.pieces.push(Piece { start, end, read: Vec::new(), at: 0 });
        }
        for source in 0..=merge.pieces.len() {
            if let Some(first) = merge.next_of(source)? {
                merge.heap.push(Reverse((first, source)));
            }
        }
        Ok(merge)
    }
}

pub struct Merge<'a, R> {
    /// The least record of each source that is not at its end.
    heap: BinaryHeap<Reverse<(R, usize)>>,
    held: std::vec::IntoIter<R>,
    pieces: Vec<Piece>,
    spool: &'a PairSpool,
}

/// A part of a run: what is still on disk, and what was read of it.
struct Piece {
    start: u64,
    end: u64,
    read: Vec<u8>,
    at: usize,
}

impl<R: SortRecord> Merge<'_, R> {
    pub fn next(&mut self) -> Result<Option<R>, BatchError> {
        if self.pieces.is_empty() && self.heap.is_empty() {
            return Ok(None);
        }
        let Some(Reverse((least, source))) = self.heap.pop() else { return Ok(None) };
        if let Some(next) = self.next_of(source)? {
            self.heap.push(Reverse((next, source)));
        }
        Ok(Some(least))
    }

    fn next_of(&mut self, source: usize) -> Result<Option<R>, BatchError> {
        let Some(piece) = self.pieces.get_mut(source) else { return Ok(self.held.next()) };
        if piece.at == piece.read.len() {
            let whole = READ_BYTES / R::BYTES * R::BYTES;
            let length = (piece.end - piece.start).min(whole as u64);
            piece.read.resize(length as usize, 0);
            piece.at = 0;
            if length == 0 {
                return Ok(None);
            }
            self.spool.read(piece.start, &mut piece.read)?;
            piece.start += length;
        }
        let record = R::read(&piece.read[piece.at..piece.at + R::BYTES]);
        piece.at += R::BYTES;
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SortRecord for u64 {
        const BYTES: usize = 8;

        fn write(&self, bytes: &mut Vec<u8>) {
            bytes.extend_from_slice(&self.to_le_bytes());
        }

        fn read(bytes: &[u8]) -> u64 {
            u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
        }
    }

    #[test]
    fn runs_on_disk_give_the_order_that_memory_gives() {
        let dir = tempfile::tempdir().expect("a directory");
        let numbers: Vec<u64> =
            (0..50_000u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        for memory in [1 << 30, 100_000, 0] {
            let mut sorter = Sorter::new(dir.path(), memory, |n: &u64, _| (n >> 58) as usize, 0);
            for number in &numbers {
                sorter.push(*number).expect("room");
            }
            let sorted = sorter.finish();
            assert_eq!(sorted.spilled_bytes() > 0, memory < 400_000);
            let mut found = Vec::new();
            for part in 0..PARTS {
                let mut merge = sorted.part(part).expect("read");
                while let Some(number) = merge.next().expect("read") {
                    found.push(number);
                }
            }
            assert_eq!(found, expected, "memory {memory}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 0);
    }
}
