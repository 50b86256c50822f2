//! How many requests may be in flight at once by some key: an address, a name or a site. Hosts for
//! which there is no room wait in line, and whoever leaves hands its place to the first of them.

use crate::time::{Span, Time};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A host that waits: its slot and its ticket.
pub type Waiter = (u32, u32);

#[derive(Debug)]
pub struct Gates<K> {
    /// Looked up, never iterated.
    by_key: HashMap<K, GateState>,
    /// Those that nobody uses are forgotten when there are this many.
    sweep_at: usize,
}

/// Fewer than this are not worth sweeping.
const SWEEP_MIN: usize = 1_024;

#[derive(Debug, Default)]
struct GateState {
    flying: u16,
    not_before: Time,
    /// Hosts that were ready when there was no room.
    waiting: VecDeque<Waiter>,
}

/// May a request begin?
#[derive(Debug, PartialEq, Eq)]
pub enum Permission {
    Open,
    /// In line; it will be handed back when a request ends.
    Full,
    /// Not before then.
    Resting(Time),
}

impl<K> Default for Gates<K> {
    fn default() -> Gates<K> {
        Gates { by_key: HashMap::new(), sweep_at: 0 }
    }
}

impl<K: Copy + Eq + Hash> Gates<K> {
    /// Takes one of so many places, or says why not. Where there is none, it is remembered who
    /// asked. With a rest between requests, those that start together are spaced as well.
    pub fn enter(&mut self, key: K, who: Waiter, room: u16, rest: Span, now: Time) -> Permission {
        if self.by_key.len() >= self.sweep_at.max(SWEEP_MIN) {
            self.sweep(now);
            self.sweep_at = 2 * self.by_key.len();
        }
        let state = self.by_key.entry(key).or_default();
        if state.flying >= room {
            state.waiting.push_back(who);
            return Permission::Full;
        }
        if state.not_before > now {
            return Permission::Resting(state.not_before);
        }
        state.flying += 1;
        state.not_before = now + rest;
        Permission::Open
    }

    /// A request ended, or none was made; nobody enters before `until`. The host that may try next,
    /// if one waits.
    pub fn leave(&mut self, key: K, until: Time, now: Time) -> Option<Waiter> {
        let state = self.by_key.get_mut(&key).expect("left what was never entered");
        assert!(state.flying > 0, "left more often than entered");
        state.flying -= 1;
        state.not_before = state.not_before.max(until);
        let next = state.waiting.pop_front();
        if state.flying == 0 && state.waiting.is_empty() && state.not_before <= now {
            self.by_key.remove(&key);
        }
        next
    }

    /// The host that waits longest, if there is room and the one that was called before it went
    /// elsewhere.
    pub fn call(&mut self, key: K, room: u16) -> Option<Waiter> {
        let state = self.by_key.get_mut(&key).filter(|state| state.flying < room)?;
        state.waiting.pop_front()
    }

    /// Whether a request could not begin now.
    pub fn is_shut(&self, key: K, room: u16, now: Time) -> bool {
        let state = self.by_key.get(&key);
        state.is_some_and(|state| state.flying >= room || state.not_before > now)
    }

    /// Hosts that wait in line.
    pub fn line(&self, key: K) -> usize {
        self.by_key.get(&key).map_or(0, |state| state.waiting.len())
    }

    /// Forgets those that nobody uses and whose rest is over.
    fn sweep(&mut self, now: Time) {
        self.by_key.retain(|_, s| s.flying > 0 || !s.waiting.is_empty() || s.not_before > now);
    }

    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_full_hands_its_place_to_the_host_that_waited_longest() {
        let mut gates = Gates::default();
        let enter =
            |gates: &mut Gates<u8>, slot, now| gates.enter(7, (slot, 0), 1, Span::ZERO, Time(now));
        assert_eq!(enter(&mut gates, 1, 0), Permission::Open);
        assert_eq!(enter(&mut gates, 2, 0), Permission::Full);
        assert_eq!(enter(&mut gates, 3, 0), Permission::Full);
        assert_eq!(gates.leave(7, Time(9), Time(5)), Some((2, 0)));
        assert_eq!(enter(&mut gates, 2, 5), Permission::Resting(Time(9)));
        assert_eq!(enter(&mut gates, 2, 9), Permission::Open);
        assert_eq!(gates.leave(7, Time(9), Time(9)), Some((3, 0)));
    }
}
