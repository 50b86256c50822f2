//! How many connections are open to each address, in use or idle, from the first packet sent.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Debug, Default)]
pub(super) struct OpenConnections {
    by_address: Arc<Mutex<HashMap<IpAddr, u32>>>,
    most: Arc<AtomicU32>,
}

impl OpenConnections {
    /// Counts a connection until what this returns is dropped.
    pub fn open(&self, address: IpAddr) -> OpenConnection {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = by_address.entry(address).or_default();
        *count += 1;
        self.most.fetch_max(*count, Ordering::Relaxed);
        OpenConnection { address, by_address: Arc::clone(&self.by_address) }
    }

    /// The most that were ever open to one address at one time.
    pub fn most(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.most)
    }
}

/// A connection that is counted.
#[derive(Debug)]
pub(super) struct OpenConnection {
    address: IpAddr,
    by_address: Arc<Mutex<HashMap<IpAddr, u32>>>,
}

impl OpenConnection {
    pub fn address(&self) -> IpAddr {
        self.address
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut by_address = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_that_were_open_at_once_to_one_address_are_told() {
        let (one, other) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let open = OpenConnections::default();
        let first = open.open(one);
        let second = open.open(one);
        drop(first);
        let third = open.open(one);
        let elsewhere = open.open(other);
        assert_eq!(open.most().load(Ordering::Relaxed), 2);
        drop((second, third, elsewhere));
        assert!(open.by_address.lock().unwrap().is_empty());
    }
}
