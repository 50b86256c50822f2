//! Discoveries on their way from the page where they were read to the sieve.
//!
//! A chunk is written in the commit of the page that it came from and deleted in the commit that
//! admits what is new in it: no crash loses a discovery, and a repeated sift changes nothing. The
//! first few chunks are also kept in memory, so that they need not be read back.

use crate::counters::Counters;
use crate::discovery::{CHUNK_MAX, Chunk, Discovery};
use crate::event::{Question, Row, Step};
use std::collections::VecDeque;
use std::sync::Arc;

/// Chunks held in memory besides their rows.
pub const CHUNKS_HELD_MAX: usize = 32;
/// Discoveries in one question to the sieve.
pub const SIFT_MAX: usize = 4 * CHUNK_MAX;

#[derive(Debug, Default)]
pub struct Outbox {
    /// Of this turn, not yet rows.
    fresh: Vec<Discovery>,
    /// The head of the row queue: numbers `counters.outbox_head + asked ..`, without gaps.
    held: VecDeque<Arc<Chunk>>,
    /// How many chunks, from the head, the sieve is working on.
    sifting: u64,
    receiving: bool,
}

impl Outbox {
    pub fn push(&mut self, discovery: Discovery) {
        self.fresh.push(discovery);
    }

    /// Turns what this turn found into rows.
    pub fn flush(&mut self, counters: &mut Counters, step: &mut Step) {
        let mut fresh = std::mem::take(&mut self.fresh).into_iter();
        loop {
            let chunk: Chunk = fresh.by_ref().take(CHUNK_MAX).collect();
            if chunk.is_empty() {
                return;
            }
            let chunk = Arc::new(chunk);
            let number = counters.next_outbox;
            counters.next_outbox += 1;
            let contiguous = counters.outbox_head + self.sifting + self.held.len() as u64 == number;
            if contiguous && !self.receiving && self.held.len() < CHUNKS_HELD_MAX {
                self.held.push_back(Arc::clone(&chunk));
            }
            step.rows.push(Row::Outbox { number, chunk: Some(chunk) });
        }
    }

    /// The next question, if the sieve is free: sift what is held, or read more.
    pub fn ask(&mut self, counters: &Counters) -> Option<Question> {
        if self.sifting > 0 || self.receiving {
            return None;
        }
        if self.held.is_empty() {
            if counters.outbox_head == counters.next_outbox {
                return None;
            }
            self.receiving = true;
            let chunks_max = CHUNKS_HELD_MAX;
            return Some(Question::Receive { from: counters.outbox_head, chunks_max });
        }
        let mut candidates = Vec::new();
        while let Some(chunk) = self.held.front() {
            if !candidates.is_empty() && candidates.len() + chunk.len() > SIFT_MAX {
                break;
            }
            candidates.extend(chunk.iter().cloned());
            self.sifting += 1;
            self.held.pop_front();
        }
        Some(Question::Sift { candidates })
    }

    pub fn received(&mut self, counters: &Counters, chunks: Vec<(u64, Chunk)>) {
        assert!(self.receiving, "chunks that nobody asked for");
        self.receiving = false;
        for (n, (number, chunk)) in chunks.into_iter().enumerate() {
            assert_eq!(number, counters.outbox_head + n as u64, "a gap in the outbox");
            self.held.push_back(Arc::new(chunk));
        }
    }

    /// The sieve has answered: its chunks leave the outbox in this turn's commit.
    pub fn sifted(&mut self, counters: &mut Counters, step: &mut Step) {
        for _ in 0..std::mem::take(&mut self.sifting) {
            step.rows.push(Row::Outbox { number: counters.outbox_head, chunk: None });
            counters.outbox_head += 1;
        }
    }

    pub fn is_sifting(&self) -> bool {
        self.sifting > 0
    }

    pub fn is_idle(&self, counters: &Counters) -> bool {
        self.fresh.is_empty()
            && self.sifting == 0
            && !self.receiving
            && counters.outbox_head == counters.next_outbox
    }

    pub fn held_len(&self) -> usize {
        self.fresh.len() + self.held.iter().map(|c| c.len()).sum::<usize>()
    }
}
