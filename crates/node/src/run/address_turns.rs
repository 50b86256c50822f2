//! Requests in flight to one address, over all partitions of a process: each engine keeps to the
//! bound by itself, and here its tasks wait until all of them together do.

use rhumb_engine::time::Span;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Fewer addresses than this are not worth sweeping.
const SWEEP_MIN: usize = 1_024;

pub struct AddressTurns {
    per_address: usize,
    /// From the end of a response to the next request, and between two that begin together.
    rest: Duration,
    by_address: Mutex<ByAddress>,
}

#[derive(Default)]
struct ByAddress {
    doors: HashMap<IpAddr, Arc<Door>>,
    sweep_at: usize,
}

struct Door {
    /// First come, first served.
    places: Arc<Semaphore>,
    not_before: Mutex<Instant>,
}

/// Leave to have a request in flight, until this is dropped.
pub struct Turn {
    door: Arc<Door>,
    rest: Duration,
    _place: OwnedSemaphorePermit,
}

impl AddressTurns {
    pub fn new(per_address: u16, rest: Span) -> AddressTurns {
        AddressTurns {
            per_address: usize::from(per_address),
            rest: Duration::from_micros(rest.0),
            by_address: Mutex::new(ByAddress::default()),
        }
    }

    /// Waits until a request to this address may begin.
    pub async fn enter(&self, address: IpAddr) -> Turn {
        let door = self.door(address);
        let places = Arc::clone(&door.places);
        let place = places.acquire_owned().await.expect("doors are never closed");
        loop {
            let not_before = {
                let mut not_before = lock(&door.not_before);
                let now = Instant::now();
                if *not_before <= now {
                    *not_before = now + self.rest;
                    break;
                }
                *not_before
            };
            tokio::time::sleep_until(not_before).await;
        }
        Turn { door, rest: self.rest, _place: place }
    }

    fn door(&self, address: IpAddr) -> Arc<Door> {
        let mut by_address = lock(&self.by_address);
        if by_address.doors.len() >= by_address.sweep_at.max(SWEEP_MIN) {
            let now = Instant::now();
            let is_used =
                |door: &Arc<Door>| Arc::strong_count(door) > 1 || *lock(&door.not_before) > now;
            by_address.doors.retain(|_, door| is_used(door));
            by_address.sweep_at = 2 * by_address.doors.len();
        }
        let door = by_address.doors.entry(address).or_insert_with(|| {
            Arc::new(Door {
                places: Arc::new(Semaphore::new(self.per_address)),
                not_before: Mutex::new(Instant::now()),
            })
        });
        Arc::clone(door)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut not_before = lock(&self.door.not_before);
        *not_before = (*not_before).max(Instant::now() + self.rest);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
