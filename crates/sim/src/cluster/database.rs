//! A partition's database in the bucket: the writer that opened it last, frames of commits, and
//! rows up to a mark (docs/decisions/0053-slatedb.md).
//!
//! Opening it fences whoever had it. A writer's puts take effect in their order, each once: like
//! SlateDB's log, whose files are put under numbers, if absent.

use super::journal::SimFrame;
use rhumb_cluster::allowance::Grants;
use rhumb_engine::event::Row;
use rhumb_engine::outbound::SequenceNumbers;
use rhumb_state::memory::MemoryRows;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct SimDatabase {
    pub epoch: u64,
    /// The opening whose puts take effect.
    pub opening: u64,
    /// How many of that have.
    pub puts: u64,
    pub frames: Vec<SimFrame>,
    pub rows: MemoryRows,
    /// Rows hold all up to this commit.
    pub mark: u64,
    pub ledger: Grants,
    /// Of what is shipped: pages by the books, and how far messages have come.
    pub pages: u64,
    pub numbers: SequenceNumbers,
    /// Which run of a node wrote in each epoch.
    pub writers: BTreeMap<u64, u64>,
}

#[derive(Clone)]
pub enum SimPut {
    Frames(Vec<SimFrame>),
    /// What frames have made of the rows.
    Rows(Vec<SimFrame>),
    Mark(u64),
    /// A write that says nothing: it fails if somebody has opened the database since.
    Proof,
}

impl SimDatabase {
    pub fn open(&mut self, opening: u64, is_new_epoch: bool) {
        self.epoch += u64::from(is_new_epoch);
        (self.opening, self.puts) = (opening, 0);
    }

    /// The last commit that is shipped.
    pub fn last(&self) -> u64 {
        self.frames.last().map_or(self.mark, |frame| frame.number.max(self.mark))
    }

    pub fn put(&mut self, put: SimPut) {
        match put {
            SimPut::Frames(frames) => {
                for frame in &frames {
                    for row in frame.rows.iter() {
                        match row {
                            Row::Counters(counters) => self.pages = counters.pages,
                            Row::SequenceNumbers(numbers) => self.numbers = *numbers.clone(),
                            _ => {}
                        }
                    }
                }
                self.frames.extend(frames);
            }
            SimPut::Rows(frames) => frames.iter().for_each(|frame| self.apply(frame)),
            SimPut::Mark(mark) => {
                self.mark = mark;
                self.frames.retain(|frame| frame.number > mark);
            }
            SimPut::Proof => {}
        }
    }

    fn apply(&mut self, frame: &SimFrame) {
        frame.rows.iter().cloned().for_each(|row| self.rows.apply(row));
        if let Some(ledger) = &frame.ledger {
            self.ledger = ledger.clone();
        }
    }

    /// What whoever opens it elsewhere reads: rows, and the frames behind the mark.
    pub fn read(&self) -> (MemoryRows, Grants) {
        let (mut rows, mut ledger) = (self.rows.clone(), self.ledger.clone());
        for frame in self.frames.iter().filter(|frame| frame.number > self.mark) {
            frame.rows.iter().cloned().for_each(|row| rows.apply(row));
            if let Some(of_frame) = &frame.ledger {
                ledger = of_frame.clone();
            }
        }
        (rows, ledger)
    }
}
