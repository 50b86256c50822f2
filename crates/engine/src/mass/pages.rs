//! What the books hold of every crawled page: 25 bytes, and 8 more of the buckets.

use super::outlinks::At;
use super::surfer::Surfer;

/// By the number of a page, which is that of its download.
#[derive(Debug, Default)]
pub struct CrawledPages {
    pub node: Vec<u32>,
    pub settled: Vec<i64>,
    pub residue: Vec<i64>,
    pub links: Vec<At>,
    pub surfer: Vec<Surfer>,
}

impl CrawledPages {
    /// One more page, with what lies on it: its number.
    pub fn add(&mut self, node: u32, residue: i64) -> usize {
        let page = self.node.len();
        push(&mut self.node, node);
        push(&mut self.settled, 0);
        push(&mut self.residue, residue);
        push(&mut self.links, At::NOWHERE);
        push(&mut self.surfer, Surfer::USUAL);
        page
    }

    pub fn heap_bytes(&self) -> usize {
        (self.node.capacity() + self.links.capacity()) * 4
            + self.surfer.capacity()
            + (self.settled.capacity() + self.residue.capacity()) * 8
    }
}

/// Room for an eighth more when there is none: a full vector would double.
pub fn push<T>(vec: &mut Vec<T>, value: T) {
    if vec.len() == vec.capacity() {
        vec.reserve_exact((vec.len() / 8).max(64));
    }
    vec.push(value);
}
