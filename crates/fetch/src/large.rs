//! Room for large bodies. Many small ones fit in memory whatever happens; what large ones have
//! beyond that comes out of two rooms of a fixed size.
//!
//! - Bodies of up to 8 MiB take room as bytes arrive, never by what a header promises: a body that
//!   trickles holds little. No address holds more than its share. Two thirds of that room are for
//!   whoever comes first. When they are taken, the oldest of the bodies that wait *leads*: the last
//!   third is its own, and enough for its end. So there is always one that comes to its end, and
//!   what it held is for the others.
//! - A body of which 8 MiB have come asks for all that it may still take, and has it before it goes
//!   on: nobody who holds that room waits for more. Few wait for it, each with what it has; who
//!   finds them waiting, and who has waited too long, gives way, and is asked for again.
//!
//! Whoever holds what others wait for keeps a pace, or gives way as well.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Bytes of bodies of up to `SMALL_BYTES_MAX` held at one time, over all requests.
const SMALL_ROOM_BYTES: usize = 3 * SMALL_BYTES_MAX;
/// Of these, all that those may have who do not lead.
const COMMON_BYTES_MAX: usize = SMALL_ROOM_BYTES - SMALL_BYTES_MAX;
/// Of these, at one address.
const ADDRESS_BYTES_MAX: usize = COMMON_BYTES_MAX / 2;
/// What is larger asks for all that it may take.
pub(super) const SMALL_BYTES_MAX: usize = 8 << 20;
/// Bytes of larger bodies, but for those that wait: room for the longest body in chunks with its
/// framing. If the owner takes longer ones, there is one of them at a time.
pub(super) const LARGE_ROOM_BYTES: usize = 80 << 20;
/// Bodies that wait for that room with what they have.
const LARGE_WAITING_MAX: usize = 2;
/// Bytes that a large body asks for at once, and the time that they have while others wait: a
/// quarter of a MiB a second.
pub(super) const PIECE_BYTES_MAX: usize = 1 << 20;
const PIECE_TIME: Duration = Duration::from_secs(4);

#[derive(Debug, Default)]
pub(super) struct LargeBodies(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    held: Mutex<Held>,
    given_back: Notify,
}

#[derive(Debug, Default)]
struct Held {
    next_ticket: u64,
    small: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Has the last third of the small room.
    leader: Option<u64>,
    /// Wait for small room.
    line: BTreeSet<u64>,
    /// Set aside for large bodies.
    large: usize,
    /// Wait for that.
    large_line: BTreeSet<u64>,
}

/// What one body may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// So many bytes will have come before it asks again.
    pub next: usize,
    /// So many may come in all.
    pub whole: usize,
}

/// What one body holds; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Room {
    shared: Arc<Shared>,
    address: IpAddr,
    /// The older, the lower.
    ticket: u64,
    /// Held in the small room, and in the large one.
    small: usize,
    large: usize,
    /// The piece that comes now ought to have come by then.
    pub until: Instant,
}

impl LargeBodies {
    /// A body up to this size needs no room.
    pub const FREE_BYTES: usize = 256 << 10;

    /// Room for a body from this address, none of it taken yet.
    pub fn room(&self, address: IpAddr) -> Room {
        let mut held = self.0.lock();
        let ticket = held.next_ticket;
        held.next_ticket += 1;
        drop(held);
        let shared = Arc::clone(&self.0);
        let until = Instant::now() + PIECE_TIME;
        Room { shared, address, ticket, small: 0, large: 0, until }
    }
}

impl Room {
    /// Takes what is wished for; false if it is not to be had in time: the body gives way.
    pub async fn grow(&mut self, wish: Wish, until: Instant) -> bool {
        if wish.next > SMALL_BYTES_MAX && self.large == 0 && !self.leave_for_large() {
            return false;
        }
        loop {
            // Before the look, so that what is given back in between is heard of.
            let shared = Arc::clone(&self.shared);
            let given_back = shared.given_back.notified();
            if self.take(wish) {
                return true;
            }
            if tokio::time::timeout_at(until.into(), given_back).await.is_err() {
                return false;
            }
        }
    }

    /// The next piece is listened for from now on.
    pub fn restart(&mut self) {
        self.until = Instant::now() + PIECE_TIME;
    }

    /// Others wait for what it holds, and it does not keep the pace.
    pub fn is_called_back(&self) -> bool {
        Instant::now() > self.until && self.is_waited_for()
    }

    fn is_waited_for(&self) -> bool {
        let held = self.shared.lock();
        let is_small = self.small > 0 && !held.line.is_empty();
        is_small || (self.large > 0 && !held.large_line.is_empty())
    }

    fn take(&mut self, wish: Wish) -> bool {
        let mut held = self.shared.lock();
        if wish.next > SMALL_BYTES_MAX || self.large > 0 {
            let whole = wish.whole.min(LARGE_ROOM_BYTES);
            if self.large == 0 && held.take_large(self.ticket, whole) {
                self.large = whole;
            }
            return self.large > 0;
        }
        let more = wish.next.saturating_sub(self.small);
        let has_all = held.take_small(self.ticket, self.address, self.small, more);
        self.small += if has_all { more } else { 0 };
        has_all
    }

    /// What it holds in the small room is for others from now on; false if too many wait already.
    fn leave_for_large(&mut self) -> bool {
        let mut held = self.shared.lock();
        held.leave_small(self.ticket, self.address, std::mem::take(&mut self.small));
        let waits = held.large_line.len() < LARGE_WAITING_MAX;
        if waits {
            held.large_line.insert(self.ticket);
        }
        drop(held);
        self.shared.given_back.notify_waiters();
        waits
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut held = self.shared.lock();
        held.leave_small(self.ticket, self.address, self.small);
        held.large -= self.large;
        held.large_line.remove(&self.ticket);
        drop(held);
        self.shared.given_back.notify_waiters();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn take_small(&mut self, ticket: u64, address: IpAddr, holds: usize, more: usize) -> bool {
        let there = self.by_address.get(&address).copied().unwrap_or(0);
        let is_first = self.line.first().is_none_or(|first| *first >= ticket);
        let is_common = self.small + more <= COMMON_BYTES_MAX && there + more <= ADDRESS_BYTES_MAX;
        // Others have no more than what is common: the rest is enough for one.
        let leads = self.leader.is_none_or(|leader| leader == ticket) && is_first;
        assert!(holds + more <= SMALL_BYTES_MAX, "more than a body of the small room may have");
        if self.leader != Some(ticket) && !is_common {
            if !leads {
                self.line.insert(ticket);
                return false;
            }
            self.leader = Some(ticket);
        }
        self.line.remove(&ticket);
        self.small += more;
        *self.by_address.entry(address).or_default() += more;
        true
    }

    fn leave_small(&mut self, ticket: u64, address: IpAddr, bytes: usize) {
        self.line.remove(&ticket);
        if self.leader == Some(ticket) {
            self.leader = None;
        }
        self.small -= bytes;
        if let Some(there) = self.by_address.get_mut(&address) {
            *there -= bytes;
            if *there == 0 {
                self.by_address.remove(&address);
            }
        }
    }

    fn take_large(&mut self, ticket: u64, whole: usize) -> bool {
        let is_first = self.large_line.first().is_none_or(|first| *first >= ticket);
        let fits = is_first && self.large + whole <= LARGE_ROOM_BYTES;
        if fits {
            self.large += whole;
            self.large_line.remove(&ticket);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, n])
    }

    fn small(next: usize) -> Wish {
        Wish { next, whole: SMALL_BYTES_MAX }
    }

    #[test]
    fn one_address_takes_its_share_and_leaves_the_rest_to_others() {
        let bodies = LargeBodies::default();
        let mut rooms: Vec<Room> = (0..4).map(|_| bodies.room(address(1))).collect();
        assert!(rooms[0].take(small(ADDRESS_BYTES_MAX)));
        assert!(rooms[1].take(small(1)), "it leads");
        assert!(!rooms[2].take(small(1)) && !rooms[3].take(small(1)));
        let mut other = bodies.room(address(2));
        assert!(other.take(small(1)), "it waits for no other address");
        rooms.truncate(1);
        assert!(other.take(small(COMMON_BYTES_MAX - ADDRESS_BYTES_MAX)));
        assert!(bodies.room(address(3)).take(small(1)), "it leads");
        assert_eq!(bodies.0.lock().leader, None);
    }

    #[test]
    fn whatever_others_hold_and_wait_for_the_oldest_that_waits_comes_to_its_end() {
        let bodies = LargeBodies::default();
        let mut rooms: Vec<Room> = (0..40).map(|n| bodies.room(address(n))).collect();
        let mut size = LargeBodies::FREE_BYTES;
        let mut left = 40;
        while !rooms.is_empty() {
            let had: Vec<bool> = rooms.iter_mut().map(|room| room.take(small(size))).collect();
            assert!(had.contains(&true), "all of them wait for each other");
            if size == SMALL_BYTES_MAX {
                // Those that have all that they may take come to their end.
                rooms.retain(|room| room.small < SMALL_BYTES_MAX);
                assert!(rooms.len() < left, "nothing came to its end");
                left = rooms.len();
            } else {
                size *= 2;
            }
            let held = bodies.0.lock().small;
            assert!(held <= SMALL_ROOM_BYTES, "{held}");
        }
        let held = bodies.0.lock();
        assert_eq!((held.small, held.line.len(), held.leader), (0, 0, None));
    }

    #[test]
    fn who_has_the_large_room_has_all_that_it_may_take_and_few_wait_for_it() {
        let bodies = LargeBodies::default();
        let mut rooms: Vec<Room> = (0..5).map(|n| bodies.room(address(n))).collect();
        let wish = |whole| Wish { next: SMALL_BYTES_MAX + 1, whole };
        let (half, all) = (LARGE_ROOM_BYTES / 2, LARGE_ROOM_BYTES);
        for (at, whole) in [(0, half), (1, half), (2, all), (3, half)] {
            assert!(rooms[at].take(small(SMALL_BYTES_MAX)), "what the others had is free again");
            assert!(rooms[at].leave_for_large());
            assert_eq!(rooms[at].take(wish(whole)), at < 2);
        }
        assert!(!rooms[4].leave_for_large(), "two wait");
        assert!(rooms[0].take(Wish { next: half, whole: half }), "it waits for nothing more");
        assert!(!rooms[0].is_called_back());
        assert!(rooms[0].is_waited_for() && !rooms[4].is_waited_for());
        rooms.remove(0);
        assert!(!rooms[2].take(wish(half)), "the older one comes first");
        rooms.remove(0);
        assert!(rooms[0].take(wish(2 * all)), "and no more than there is");
    }
}
