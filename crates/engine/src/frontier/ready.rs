//! Whose turn it is: a heap of earliest times for hosts that must still wait, a front queue per
//! class for those that need not, and a line by due time for those with a visit that is overdue.

use crate::config::CLASSES;
use crate::rng::Rng;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

#[derive(Debug)]
pub struct Ready {
    /// (earliest time, slot, ticket). An entry whose ticket is not the slot's is stale.
    heap: BinaryHeap<Reverse<(Time, u32, u32)>>,
    classes: [VecDeque<(u32, u32)>; CLASSES],
    /// How many stand in the front queues.
    len: usize,
    /// (due, slot, ticket) of hosts with a visit that is due, in a crawl that goes on. By turns a
    /// large host would be later than a small one, though neither is short of anything.
    overdue: BinaryHeap<Reverse<(Time, u32, u32)>>,
}

impl Default for Ready {
    fn default() -> Ready {
        Ready {
            heap: BinaryHeap::new(),
            classes: [const { VecDeque::new() }; CLASSES],
            len: 0,
            overdue: BinaryHeap::new(),
        }
    }
}

impl Ready {
    pub fn wait(&mut self, at: Time, slot: u32, ticket: u32) {
        self.heap.push(Reverse((at, slot, ticket)));
    }

    /// A waiter whose time has come.
    pub fn pop_due(&mut self, now: Time) -> Option<(u32, u32)> {
        let Reverse((at, slot, ticket)) = *self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        Some((slot, ticket))
    }

    pub fn next_due(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    pub fn push(&mut self, class: u8, slot: u32, ticket: u32) {
        self.classes[class as usize].push_back((slot, ticket));
        self.len += 1;
    }

    /// The next host, of the best class or by Mercator's biased selector: each non-empty class
    /// gets half of the turns that the classes above leave, so that none starves.
    pub fn pop(&mut self, chooser: &mut Chooser<'_>) -> Option<(u32, u32)> {
        if self.len == 0 {
            return None;
        }
        let class = chooser.choose(|k| !self.classes[k].is_empty())?;
        self.len -= 1;
        self.classes[class].pop_front()
    }

    pub fn push_overdue(&mut self, due: Time, slot: u32, ticket: u32) {
        self.overdue.push(Reverse((due, slot, ticket)));
    }

    /// Hosts in the front queue of a class.
    pub fn len_of(&self, class: u8) -> usize {
        self.classes[class as usize].len()
    }

    /// Whoever has waited longest.
    pub fn pop_overdue(&mut self) -> Option<(u32, u32)> {
        self.overdue.pop().map(|Reverse((_, slot, ticket))| (slot, ticket))
    }

    pub fn has_overdue(&self) -> bool {
        !self.overdue.is_empty()
    }

    pub fn has_classed(&self) -> bool {
        self.len > 0
    }

    /// The best class that has something.
    pub fn best(&self) -> Option<u8> {
        (0..CLASSES).find(|&k| !self.classes[k].is_empty()).map(|k| k as u8)
    }

    pub fn len(&self) -> usize {
        self.len + self.overdue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn heap_len(&self) -> usize {
        self.heap.len() + self.len()
    }
}

/// How one of the classes that have something is chosen.
pub enum Chooser<'a> {
    Best,
    Biased(&'a mut Rng),
    /// This class or none.
    Only(usize),
}

impl Chooser<'_> {
    pub fn choose(&mut self, has: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            Chooser::Best => (0..CLASSES).find(|&k| has(k)),
            Chooser::Biased(rng) => biased(rng, has),
            Chooser::Only(class) => Some(*class).filter(|class| has(*class)),
        }
    }
}

/// A class among those that have something, the better ones with more chance.
pub fn biased(rng: &mut Rng, has: impl Fn(usize) -> bool) -> Option<usize> {
    let mut coins = rng.draw();
    let mut last = None;
    for class in (0..CLASSES).filter(|&k| has(k)) {
        last = Some(class);
        if coins & 1 == 0 {
            return last;
        }
        coins >>= 1;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_class_gets_more_turns_and_the_worst_still_gets_some() {
        let mut rng = Rng::new(7);
        let mut turns = [0u32; 3];
        for _ in 0..10_000 {
            let class = biased(&mut rng, |k| k == 3 || k == 9 || k == 31).unwrap();
            turns[[3, 9, 31].iter().position(|&k| k == class).unwrap()] += 1;
        }
        assert!(turns[0] > turns[1] && turns[1] > 2_000 && turns[2] > 2_000, "{turns:?}");
        assert_eq!(biased(&mut rng, |_| false), None);
    }
}
