//! The gate between what is committed and what is shipped.
//!
//! A commit survives the process; a shipped commit survives the machine. Whatever tells others of
//! a commit waits here until that commit is shipped: messages, acknowledgements (repeated ones
//! too), releases, sums, allowances. Were an unshipped one to leave, the machine could be lost, its
//! successor would fall back behind the commit, and the others would know what never happened.
//!
//! In a crawl of one process a commit is shipped when archive and journal are synced; in a cluster
//! when the partition's database on the object store has it.
//!
//! Fetches do not wait, but their results gather here unshipped: at a bound of bytes no fetch
//! begins until some are shipped.

use std::collections::VecDeque;

/// What waits, each with the commit on which it rests, and how much is unshipped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate<T> {
    committed: u64,
    shipped: u64,
    /// Commits that are not shipped, with their bytes; the oldest first.
    unshipped: VecDeque<(u64, u64)>,
    unshipped_bytes: u64,
    unshipped_bytes_max: u64,
    /// The commits on which they rest never decrease.
    waiting: VecDeque<(u64, T)>,
}

impl<T> Gate<T> {
    /// At an opening, when all commits up to this number are shipped.
    pub fn new(shipped: u64, unshipped_bytes_max: u64) -> Gate<T> {
        Gate {
            committed: shipped,
            shipped,
            unshipped: VecDeque::new(),
            unshipped_bytes: 0,
            unshipped_bytes_max,
            waiting: VecDeque::new(),
        }
    }

    /// A commit of this number and so many bytes, rows and bodies together. Numbers increase. One
    /// without rows is none: nothing would ship it, and what rests on it would wait for ever.
    pub fn committed(&mut self, number: u64, bytes: u64) {
        assert!(number > self.committed, "commit {number} after {}", self.committed);
        self.committed = number;
        self.unshipped.push_back((number, bytes));
        self.unshipped_bytes += bytes;
    }

    /// All commits up to this number are shipped. Reports may come late and out of order.
    pub fn shipped(&mut self, number: u64) {
        assert!(number <= self.committed, "{number} shipped, {} committed", self.committed);
        self.shipped = self.shipped.max(number);
        while self.unshipped.front().is_some_and(|(commit, _)| *commit <= self.shipped) {
            let (_, bytes) = self.unshipped.pop_front().expect("just seen");
            self.unshipped_bytes -= bytes;
        }
    }

    /// This may leave once all that is committed now is shipped. An acknowledgement that is
    /// repeated rests on the last commit as well: the number that it repeats may be unshipped.
    pub fn hold(&mut self, leaving: T) {
        self.waiting.push_back((self.committed, leaving));
    }

    /// The next that may leave now, in the order of holding.
    pub fn pass(&mut self) -> Option<T> {
        let (commit, _) = self.waiting.front()?;
        if *commit > self.shipped {
            return None;
        }
        self.waiting.pop_front().map(|(_, leaving)| leaving)
    }

    /// Whether a fetch may begin: below the bound of unshipped bytes.
    pub fn may_fetch(&self) -> bool {
        self.unshipped_bytes < self.unshipped_bytes_max
    }

    pub fn is_all_shipped(&self) -> bool {
        self.shipped == self.committed
    }

    /// The last commit, and the last one that is shipped.
    pub fn numbers(&self) -> (u64, u64) {
        (self.committed, self.shipped)
    }

    pub fn unshipped_bytes(&self) -> u64 {
        self.unshipped_bytes
    }

    /// How many wait, whether or not they may leave by now.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(gate: &mut Gate<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| gate.pass()).collect()
    }

    #[test]
    fn nothing_leaves_before_the_commit_on_which_it_rests_is_shipped() {
        let mut gate = Gate::new(10, 1_000);
        gate.hold("at the opening");
        assert_eq!(passed(&mut gate), ["at the opening"]);
        gate.committed(11, 1);
        gate.hold("message");
        gate.committed(12, 1);
        gate.hold("acknowledgement");
        assert!(passed(&mut gate).is_empty());
        gate.shipped(11);
        assert_eq!(passed(&mut gate), ["message"]);
        // A repeated acknowledgement names a number that is perhaps only committed.
        gate.hold("acknowledgement, repeated");
        gate.shipped(11);
        assert!(passed(&mut gate).is_empty());
        gate.shipped(12);
        // A late report takes nothing back.
        gate.shipped(11);
        assert_eq!(passed(&mut gate), ["acknowledgement", "acknowledgement, repeated"]);
        assert!(gate.is_all_shipped());
    }

    #[test]
    fn at_the_bound_of_unshipped_bytes_no_fetch_begins_until_some_are_shipped() {
        let mut gate: Gate<()> = Gate::new(0, 100);
        gate.committed(1, 60);
        assert!(gate.may_fetch());
        gate.committed(2, 60);
        assert!(!gate.may_fetch());
        gate.shipped(1);
        assert!(gate.may_fetch());
        assert_eq!((gate.unshipped_bytes(), gate.numbers()), (60, (2, 1)));
    }
}
