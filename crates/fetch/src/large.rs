//! Room for large bodies. Many small ones fit in memory whatever happens; what large ones have
//! beyond that comes out of one room of a fixed size.
//!
//! Room is taken as bytes arrive, never by what a header promises: a body that trickles holds
//! little. No address holds more than its share, so that one server cannot keep the others out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Bytes of large bodies held at one time, over all requests.
pub const LARGE_BYTES_MAX: usize = 96 << 20;
/// Of these, at one address: the longest body in chunks, with its framing.
const ADDRESS_BYTES_MAX: usize = LARGE_BYTES_MAX / 4 * 3;

#[derive(Debug, Default)]
pub(super) struct LargeBodies(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    held: Mutex<Held>,
    given_back: Notify,
}

#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// What one body holds; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Room {
    shared: Arc<Shared>,
    address: IpAddr,
    bytes: usize,
}

impl LargeBodies {
    /// A body up to this size needs no room.
    pub const FREE_BYTES: usize = 256 << 10;

    /// Room for a body from this address, none of it taken yet.
    pub fn room(&self, address: IpAddr) -> Room {
        Room { shared: Arc::clone(&self.0), address, bytes: 0 }
    }
}

impl Room {
    /// Takes so many bytes more; false if there are none in time.
    pub async fn grow(&mut self, bytes: usize, until: Instant) -> bool {
        loop {
            // Before the look, so that what is given back in between is heard of.
            let given_back = self.shared.given_back.notified();
            if self.shared.lock().take(self.address, bytes) {
                self.bytes += bytes;
                return true;
            }
            if tokio::time::timeout_at(until.into(), given_back).await.is_err() {
                return false;
            }
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.shared.lock().give_back(self.address, self.bytes);
            self.shared.given_back.notify_waiters();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn take(&mut self, address: IpAddr, bytes: usize) -> bool {
        let there = self.by_address.get(&address).copied().unwrap_or(0);
        let fits = self.bytes + bytes <= LARGE_BYTES_MAX && there + bytes <= ADDRESS_BYTES_MAX;
        if fits {
            self.bytes += bytes;
            self.by_address.insert(address, there + bytes);
        }
        fits
    }

    fn give_back(&mut self, address: IpAddr, bytes: usize) {
        self.bytes -= bytes;
        let there = self.by_address.get_mut(&address).expect("an address that holds something");
        *there -= bytes;
        if *there == 0 {
            self.by_address.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_its_share_and_leaves_the_rest_to_others() {
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let mut held = Held::default();
        assert!(held.take(one, ADDRESS_BYTES_MAX));
        assert!(!held.take(one, 1));
        assert!(held.take(other, LARGE_BYTES_MAX - ADDRESS_BYTES_MAX));
        assert!(!held.take(IpAddr::from([127, 0, 0, 3]), 1));
        held.give_back(one, ADDRESS_BYTES_MAX);
        assert!(held.take(one, 1));
    }
}
