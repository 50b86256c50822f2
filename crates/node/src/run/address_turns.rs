//! Requests in flight to one address, over all partitions of a process: each engine keeps to the
//! bound by itself, and here its tasks wait until all of them together do.
//!
//! Where other processes may ask the same address, one request at a time is everybody's, and more
//! are granted for a few seconds ([`rhumb_cluster::address`]).

use super::clock::Clock;
use rhumb_cluster::address::SLOTS_ALONE;
use rhumb_engine::time::{Span, Time};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Fewer addresses than this are not worth sweeping.
const SWEEP_MIN: usize = 1_024;
/// A grant that came while nobody looked is seen after this.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Addresses that grants are asked for at once.
const WANTING_MAX: usize = 256;

pub struct AddressTurns {
    per_address: u16,
    /// From the end of a response to the next request, and between two that begin together.
    rest: Duration,
    /// Where other processes may ask the same addresses.
    clock: Option<Clock>,
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
    granted: Mutex<Granted>,
    left: Notify,
}

/// What was granted of an address, and what is in use.
#[derive(Clone, Copy, Debug, Default)]
struct Granted {
    slots: u16,
    until: Time,
    in_flight: u16,
    waiting: u16,
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
            per_address,
            rest: Duration::from_micros(rest.0),
            clock: None,
            by_address: Mutex::default(),
        }
    }

    /// Other processes may ask the same addresses.
    pub fn among_others(self, clock: Clock) -> AddressTurns {
        AddressTurns { clock: Some(clock), ..self }
    }

    /// Waits until a request to this address may begin.
    pub async fn enter(&self, address: IpAddr) -> Turn {
        let door = self.door(address);
        let places = Arc::clone(&door.places);
        let place = places.acquire_owned().await.expect("doors are never closed");
        if let Some(clock) = &self.clock {
            door.wait_for_slot(clock).await;
        }
        // From now on, also if whoever waits is given up.
        let turn = Turn { door, rest: self.rest, _place: place };
        loop {
            let not_before = {
                let mut not_before = lock(&turn.door.not_before);
                let now = Instant::now();
                if *not_before <= now {
                    *not_before = now + self.rest;
                    break;
                }
                *not_before
            };
            tokio::time::sleep_until(not_before).await;
        }
        turn
    }

    /// Addresses at which more requests could be in flight than may be, or soon could not be.
    pub fn wanting(&self) -> Vec<(IpAddr, u16)> {
        let doors = &lock(&self.by_address).doors;
        let wanting = doors.iter().filter(|(_, door)| {
            let granted = lock(&door.granted);
            granted.in_flight + granted.waiting > SLOTS_ALONE
        });
        wanting.map(|(address, _)| (*address, self.per_address)).take(WANTING_MAX).collect()
    }

    /// So many slots at an address are granted.
    pub fn granted(&self, address: IpAddr, slots: u16, until: Time) {
        let door = lock(&self.by_address).doors.get(&address).cloned();
        if let Some(door) = door {
            let mut granted = lock(&door.granted);
            (granted.slots, granted.until) = (slots.min(self.per_address), until);
            drop(granted);
            door.left.notify_waiters();
        }
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
                places: Arc::new(Semaphore::new(usize::from(self.per_address))),
                not_before: Mutex::new(Instant::now()),
                granted: Mutex::default(),
                left: Notify::new(),
            })
        });
        Arc::clone(door)
    }
}

impl Door {
    /// Takes a slot as soon as there is one that this process may use.
    async fn wait_for_slot(&self, clock: &Clock) {
        lock(&self.granted).waiting += 1;
        loop {
            let left = self.left.notified();
            {
                let mut granted = lock(&self.granted);
                let is_granted = clock.now() < granted.until;
                let slots = if is_granted { granted.slots.max(SLOTS_ALONE) } else { SLOTS_ALONE };
                if granted.in_flight < slots {
                    granted.in_flight += 1;
                    granted.waiting -= 1;
                    return;
                }
            }
            let _ = tokio::time::timeout(LOOK_EVERY, left).await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut granted = lock(&self.door.granted);
        granted.in_flight = granted.in_flight.saturating_sub(1);
        drop(granted);
        self.door.left.notify_one();
        let mut not_before = lock(&self.door.not_before);
        *not_before = (*not_before).max(Instant::now() + self.rest);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn among_others_one_request_is_ours_and_more_are_as_they_are_granted() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (clock, ip) = (Clock::start(), IpAddr::from([10, 0, 0, 1]));
            let turns = Arc::new(AddressTurns::new(2, Span::ZERO).among_others(clock.clone()));
            let first = turns.enter(ip).await;
            let next = tokio::spawn({
                let turns = Arc::clone(&turns);
                async move { turns.enter(ip).await }
            });
            while turns.wanting().is_empty() {
                tokio::task::yield_now().await;
            }
            assert!(!next.is_finished() && turns.wanting() == [(ip, 2)]);
            turns.granted(ip, 2, clock.now() + Span::secs(3_600));
            let second = next.await.unwrap();
            drop((first, second));
            assert!(turns.wanting().is_empty());
        });
    }
}
