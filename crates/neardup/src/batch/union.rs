//! Union-find that several threads may use at once.
//!
//! R. Anderson, H. Woll, "Wait-free Parallel Algorithms for the Union-Find Problem", STOC 1991. The
//! root of a set is its least member: links only ever lead to a lesser number, so there are no
//! cycles, and the outcome does not depend on who came first.

use std::sync::atomic::{AtomicU32, Ordering};

/// Disjoint sets that many threads may join at once.
pub struct Union(Vec<AtomicU32>);

impl Union {
    /// Each of `count` members alone.
    pub fn new(count: usize) -> Union {
        Union((0..count as u32).map(AtomicU32::new).collect())
    }

    /// The least member of its set.
    pub fn root(&self, member: u32) -> u32 {
        let mut member = member;
        loop {
            let above = self.above(member);
            if above == member {
                return member;
            }
            // Halves the way for those who come after; if another thread did so already, fine.
            let further = self.above(above);
            let slot = &self.0[member as usize];
            let _ = slot.compare_exchange(above, further, Ordering::AcqRel, Ordering::Relaxed);
            member = further;
        }
    }

    /// Were they together? A no may be out of date when it arrives, a yes never is.
    pub fn joined(&self, a: u32, b: u32) -> bool {
        self.root(a) == self.root(b)
    }

    /// Puts two elements into one set.
    pub fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            let (less, more) = (a.min(b), a.max(b));
            let slot = &self.0[more as usize];
            let linked = slot.compare_exchange(more, less, Ordering::AcqRel, Ordering::Relaxed);
            if less == more || linked.is_ok() {
                return;
            }
        }
    }

    fn above(&self, member: u32) -> u32 {
        self.0[member as usize].load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_that_join_the_same_chain_agree_on_its_least_member() {
        let union = Union::new(30_000);
        std::thread::scope(|scope| {
            scope.spawn(|| (0..29_997).step_by(2).for_each(|n| union.join(n, n + 3)));
            scope.spawn(|| (0..29_997).rev().for_each(|n| union.join(n + 3, n)));
        });
        assert!((0..30_000).all(|n| union.root(n) == n % 3));
        assert!(union.joined(0, 29_997) && !union.joined(0, 1));
    }
}
