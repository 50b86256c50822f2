//! Connections kept open between requests: at most one per host, a bounded number in all.
//!
//! Politeness has one request per host at a time, so one idle connection is all a host can use.
//! The least recently used one gives way when the pool is full.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rhumb_page::url::HostKey;

use super::connect::Connection;

/// At each return of a connection, so many expired ones are closed: more than one, so that they
/// never pile up.
const EXPIRED_PER_PUT: usize = 4;

pub(super) struct Pool {
    idle: HashMap<Arc<HostKey>, Idle>,
    /// The same connections, the one returned first at the front.
    by_age: BTreeMap<u64, Arc<HostKey>>,
    next_age: u64,
    connections_max: usize,
    idle_time_max: Duration,
}

struct Idle {
    connection: Connection,
    since: Instant,
    age: u64,
}

impl Pool {
    pub fn new(connections_max: usize, idle_time_max: Duration) -> Pool {
        Pool {
            idle: HashMap::new(),
            by_age: BTreeMap::new(),
            next_age: 0,
            connections_max,
            idle_time_max,
        }
    }

    /// The host's connection, if it is young enough and leads to the address asked for.
    pub fn take(&mut self, host: &HostKey, address: IpAddr, now: Instant) -> Option<Connection> {
        let idle = self.idle.remove(host)?;
        self.by_age.remove(&idle.age);
        let fits = idle.connection.address == address
            && now.saturating_duration_since(idle.since) < self.idle_time_max;
        fits.then_some(idle.connection)
    }

    pub fn put(&mut self, host: HostKey, connection: Connection, now: Instant) {
        self.close_expired(now);
        if self.connections_max == 0 {
            return;
        }
        let age = self.next_age;
        self.next_age += 1;
        let idle = Idle { connection, since: now, age };
        let host = Arc::new(host);
        if let Some(replaced) = self.idle.insert(Arc::clone(&host), idle) {
            self.by_age.remove(&replaced.age);
        }
        self.by_age.insert(age, host);
        if self.idle.len() > self.connections_max {
            self.close_oldest();
        }
        assert_eq!(self.idle.len(), self.by_age.len(), "every idle connection has an age");
    }

    /// Takes all connections out; whoever drops them closes them.
    pub fn drain(&mut self) -> Vec<Connection> {
        self.by_age.clear();
        self.idle.drain().map(|(_, idle)| idle.connection).collect()
    }

    pub fn len(&self) -> usize {
        self.idle.len()
    }

    fn close_expired(&mut self, now: Instant) {
        for _ in 0..EXPIRED_PER_PUT {
            let Some((_, host)) = self.by_age.first_key_value() else { return };
            let since = self.idle[host].since;
            if now.saturating_duration_since(since) < self.idle_time_max {
                return;
            }
            self.close_oldest();
        }
    }

    fn close_oldest(&mut self) {
        if let Some((_, host)) = self.by_age.pop_first() {
            self.idle.remove(&host);
        }
    }
}
