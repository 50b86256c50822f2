//! Connections kept open between requests: at most one per host, a bounded number per address and
//! in all.
//!
//! Politeness has one request per host at a time, so one idle connection is all a host can use.
//! Names are free: an address that answers to thousands of them still gets few connections. The
//! least recently used one gives way, of the address or of all.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rhumb_page::url::HostKey;

use super::connect::Line;

/// At each return of a connection, so many expired ones are closed: more than one, so that they
/// never pile up.
const EXPIRED_PER_PUT: usize = 4;

/// How many connections are kept, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub connections_max: usize,
    pub per_address_max: usize,
    pub idle_time_max: Duration,
}

pub(super) struct Pool {
    idle: HashMap<Arc<HostKey>, Idle>,
    /// The same connections, the one returned first at the front.
    by_age: BTreeMap<u64, Arc<HostKey>>,
    /// Their ages, by address.
    by_address: HashMap<IpAddr, BTreeSet<u64>>,
    next_age: u64,
    bounds: Bounds,
}

struct Idle {
    connection: Line,
    since: Instant,
    age: u64,
}

impl Pool {
    pub fn new(bounds: Bounds) -> Pool {
        Pool {
            idle: HashMap::new(),
            by_age: BTreeMap::new(),
            by_address: HashMap::new(),
            next_age: 0,
            bounds,
        }
    }

    /// The host's connection, if it is young enough and leads to the address asked for.
    pub fn take(&mut self, host: &HostKey, address: IpAddr, now: Instant) -> Option<Line> {
        let idle = self.remove(host)?;
        let fits = idle.connection.about().address == address
            && now.saturating_duration_since(idle.since) < self.bounds.idle_time_max;
        fits.then_some(idle.connection)
    }

    pub fn put(&mut self, host: HostKey, connection: Line, now: Instant) {
        self.close_expired(now);
        if self.bounds.connections_max == 0 {
            return;
        }
        self.remove(&host);
        let (age, address) = (self.next_age, connection.about().address);
        self.next_age += 1;
        let host = Arc::new(host);
        self.idle.insert(Arc::clone(&host), Idle { connection, since: now, age });
        self.by_age.insert(age, host);
        let there = self.by_address.entry(address).or_default();
        there.insert(age);
        if there.len() > self.bounds.per_address_max {
            let oldest = there.first().copied();
            self.close(oldest);
        }
        if self.idle.len() > self.bounds.connections_max {
            self.close_oldest();
        }
        assert_eq!(self.idle.len(), self.by_age.len(), "every idle connection has an age");
    }

    /// Takes all connections out; whoever drops them closes them.
    pub fn drain(&mut self) -> Vec<Line> {
        self.by_age.clear();
        self.by_address.clear();
        self.idle.drain().map(|(_, idle)| idle.connection).collect()
    }

    pub fn len(&self) -> usize {
        self.idle.len()
    }

    /// Closes the host's connection, if it has one.
    pub fn forget(&mut self, host: &HostKey) {
        drop(self.remove(host));
    }

    fn remove(&mut self, host: &HostKey) -> Option<Idle> {
        let idle = self.idle.remove(host)?;
        self.by_age.remove(&idle.age);
        let address = idle.connection.about().address;
        let there = self.by_address.get_mut(&address).expect("every connection has an address");
        there.remove(&idle.age);
        if there.is_empty() {
            self.by_address.remove(&address);
        }
        Some(idle)
    }

    fn close_expired(&mut self, now: Instant) {
        for _ in 0..EXPIRED_PER_PUT {
            let Some((_, host)) = self.by_age.first_key_value() else { return };
            let since = self.idle[host].since;
            if now.saturating_duration_since(since) < self.bounds.idle_time_max {
                return;
            }
            self.close_oldest();
        }
    }

    fn close_oldest(&mut self) {
        let oldest = self.by_age.first_key_value().map(|(age, _)| *age);
        self.close(oldest);
    }

    fn close(&mut self, age: Option<u64>) {
        let host = age.and_then(|age| self.by_age.get(&age).cloned());
        if let Some(host) = host {
            self.remove(&host);
        }
    }
}
