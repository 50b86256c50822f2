//! Crawled pages by the octave of their residue: a list for each, linked through the pages.
//!
//! Heaviest first by octave, last come first within one: within a factor of two the order of
//! pushes does not matter, and no stale entries pile up. 8 bytes a page.

use super::fixed::{LEVEL_NONE, LEVELS};
use super::pages::push;

/// No page.
pub const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub struct Buckets {
    heads: [u32; LEVELS],
    /// Which buckets have something.
    taken: u64,
    next: Vec<u32>,
    before: Vec<u32>,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets { heads: [NONE; LEVELS], taken: 0, next: Vec::new(), before: Vec::new() }
    }
}

impl Buckets {
    pub fn grow(&mut self, pages: usize) {
        while self.next.len() < pages {
            push(&mut self.next, NONE);
            push(&mut self.before, NONE);
        }
    }

    /// Moves a page from the bucket it is in, if any, to another.
    pub fn put(&mut self, page: u32, from: u8, to: u8) {
        self.remove(page, from);
        let head = self.heads[to as usize];
        self.next[page as usize] = head;
        self.before[page as usize] = NONE;
        if head != NONE {
            self.before[head as usize] = page;
        }
        self.heads[to as usize] = page;
        self.taken |= 1 << to;
    }

    pub fn remove(&mut self, page: u32, from: u8) {
        if from == LEVEL_NONE {
            return;
        }
        let (next, before) = (self.next[page as usize], self.before[page as usize]);
        if next != NONE {
            self.before[next as usize] = before;
        }
        if before == NONE {
            self.heads[from as usize] = next;
            if next == NONE {
                self.taken &= !(1 << from);
            }
        } else {
            self.next[before as usize] = next;
        }
    }

    pub fn first(&self) -> Option<u8> {
        (self.taken != 0).then(|| self.taken.trailing_zeros() as u8)
    }

    pub fn pop(&mut self) -> Option<u32> {
        let level = self.first()?;
        let page = self.heads[level as usize];
        self.remove(page, level);
        Some(page)
    }

    pub fn heap_bytes(&self) -> usize {
        (self.next.capacity() + self.before.capacity()) * 4
    }
}
