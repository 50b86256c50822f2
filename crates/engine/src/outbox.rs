//! Discoveries on their way from the page where they were read to the sieve.
//!
//! A chunk is written in the commit of the page that it came from and deleted in the commit that
//! admits what is new in it: no crash loses a discovery, and a repeated sift changes nothing. The
//! first few chunks are also kept in memory, so that they need not be read back.

use crate::counters::Counters;
use crate::discovery::{CHUNK_MAX, Chunk, Discovery, Lead};
use crate::event::{Question, Row, Step};
use crate::outbound::Outbound;
use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::Arc;

/// Chunks held in memory besides their rows.
pub const CHUNKS_HELD_MAX: usize = 32;
/// Links of one question to the sieve.
pub const SIFT_MAX: usize = 4 * CHUNK_MAX;

#[derive(Debug, Default)]
pub struct Outbox {
    /// Of this turn, not yet rows.
    fresh: Vec<Lead>,
    /// The head of the row queue: numbers `counters.outbox_head + asked ..`, without gaps.
    held: VecDeque<Arc<Chunk>>,
    /// The chunks, from the head, that the sieve is working on, and whether it is at all.
    sifting: Vec<Arc<Chunk>>,
    asked: bool,
    receiving: bool,
    /// Known URLs that are to be queued anew, beside the rows: after a crash they are found again.
    promoted: Vec<Discovery>,
}

/// URLs that are queued anew by one question.
pub const PROMOTED_MAX: usize = 512;

impl Outbox {
    pub fn push(&mut self, discovery: Discovery) {
        self.lead(Lead::New(discovery));
    }

    /// At most [`CHUNK_MAX`] links.
    pub fn lead(&mut self, lead: Lead) {
        self.fresh.push(lead);
    }

    /// Has a URL that waits queued anew, if there is room for it.
    pub fn promote(&mut self, discovery: Discovery) {
        if self.promoted.len() < PROMOTED_MAX {
            self.promoted.push(discovery);
        }
    }

    /// Turns what this turn found into rows.
    pub fn flush(&mut self, counters: &mut Counters, step: &mut Step) {
        let mut fresh = std::mem::take(&mut self.fresh).into_iter().peekable();
        while fresh.peek().is_some() {
            let chunk = Arc::new(next_chunk(&mut fresh));
            let number = counters.next_outbox;
            counters.next_outbox += 1;
            let taken = (self.sifting.len() + self.held.len()) as u64;
            let contiguous = counters.outbox_head + taken == number;
            if contiguous && !self.receiving && self.held.len() < CHUNKS_HELD_MAX {
                self.held.push_back(Arc::clone(&chunk));
            }
            step.rows.push(Row::Outbox { number, chunk: Some(chunk) });
        }
    }

    /// The next question, if the sieve is free: sift what is held and what messages brought, or
    /// read more.
    pub fn ask(&mut self, counters: &Counters, outbound: &mut Outbound) -> Option<Question> {
        if self.asked || self.receiving {
            return None;
        }
        if self.held.is_empty() {
            if counters.outbox_head == counters.next_outbox {
                return self.ask_for_others(outbound);
            }
            self.receiving = true;
            let chunks_max = CHUNKS_HELD_MAX;
            return Some(Question::Receive { from: counters.outbox_head, chunks_max });
        }
        let mut candidates = Vec::new();
        let mut links = 0;
        while let Some(chunk) = self.held.front() {
            links += links_len(chunk);
            if links > SIFT_MAX {
                break;
            }
            candidates.extend(chunk.iter().filter_map(Lead::sought).cloned());
            self.sifting.extend(self.held.pop_front());
        }
        candidates.append(&mut outbound.begin_sift());
        candidates.append(&mut self.promoted);
        self.asked = true;
        Some(Question::Sift { candidates })
    }

    fn ask_for_others(&mut self, outbound: &mut Outbound) -> Option<Question> {
        if self.promoted.is_empty() && !outbound.has_held() {
            return None;
        }
        self.asked = true;
        let mut candidates = outbound.begin_sift();
        candidates.append(&mut self.promoted);
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

    /// The sieve has answered: its chunks leave the outbox in this turn's commit. They are what the
    /// answer is about, with their numbers.
    pub fn sifted(&mut self, counters: &mut Counters, step: &mut Step) -> Vec<(u64, Arc<Chunk>)> {
        self.asked = false;
        let mut chunks = Vec::with_capacity(self.sifting.len());
        for chunk in self.sifting.drain(..) {
            step.rows.push(Row::Outbox { number: counters.outbox_head, chunk: None });
            chunks.push((counters.outbox_head, chunk));
            counters.outbox_head += 1;
        }
        chunks
    }

    pub fn is_sifting(&self) -> bool {
        self.asked
    }

    pub fn is_idle(&self, counters: &Counters) -> bool {
        self.fresh.is_empty()
            && !self.asked
            && !self.receiving
            && counters.outbox_head == counters.next_outbox
    }

    pub fn held_len(&self) -> usize {
        let held = self.held.iter().chain(&self.sifting);
        let held: usize = held.map(|chunk| links_len(chunk)).sum();
        self.promoted.len() + links_len(&self.fresh) + held
    }
}

fn links_len(leads: &[Lead]) -> usize {
    leads.iter().map(Lead::links_len).sum()
}

/// As many as go into one row; each has at most as many links as that.
fn next_chunk(leads: &mut Peekable<impl Iterator<Item = Lead>>) -> Chunk {
    let mut room = CHUNK_MAX;
    let mut chunk = Chunk::with_capacity(leads.size_hint().0.min(CHUNK_MAX));
    while let Some(lead) = leads.next_if(|lead| lead.links_len() <= room) {
        room -= lead.links_len();
        chunk.push(lead);
    }
    chunk
}
