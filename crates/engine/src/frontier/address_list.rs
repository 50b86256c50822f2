//! The addresses of a host, and which of them is asked.
//!
//! A request goes to the address in use. If no connection can be made there, the next one is tried
//! after the host's usual delay, and the host counts as failing only when none is left. The address
//! that answered last stays in use, also when the name is resolved again.

use crate::event::ResolvedName;
use crate::time::Time;
use rhumb_page::url::HostKey;
use std::collections::HashMap;
use std::net::IpAddr;

/// Addresses of one name that are tried; the first ones do.
pub const ADDRESSES_MAX: usize = 8;

#[derive(Debug, Default)]
pub struct AddressList {
    ips: Box<[IpAddr]>,
    in_use: usize,
    /// So many in a row, up to the one in use, gave no connection.
    failed: usize,
    /// The name is to be resolved again then.
    until: Time,
}

impl AddressList {
    /// The name was resolved: its addresses are good until then. `good` is one that answered when
    /// the first one did not.
    pub fn resolved(&mut self, answer: ResolvedName, good: Option<IpAddr>, until: Time) {
        let before = self.last().or(good);
        self.ips = answer.ips.into_iter().take(ADDRESSES_MAX).collect();
        self.in_use = self.ips.iter().position(|ip| Some(*ip) == before).unwrap_or(0);
        (self.failed, self.until) = (0, until);
    }

    /// The address in use, if the name need not be resolved first.
    pub fn current(&self, now: Time) -> Option<IpAddr> {
        self.ips.get(self.in_use).copied().filter(|_| self.until > now)
    }

    /// The address in use, however old the answer that named it.
    pub fn last(&self) -> Option<IpAddr> {
        self.ips.get(self.in_use).copied()
    }

    /// The address in use, if it is not the one that the name server puts first.
    pub fn detour(&self) -> Option<IpAddr> {
        self.last().filter(|_| self.in_use > 0)
    }

    /// The address in use took a request.
    pub fn connected(&mut self) {
        self.failed = 0;
    }

    /// The address in use gave no connection; whether there is another one to try.
    pub fn take_next(&mut self) -> bool {
        self.failed += 1;
        if self.ips.len() > 1 {
            self.in_use = (self.in_use + 1) % self.ips.len();
        }
        let is_left = self.failed < self.ips.len();
        self.failed %= self.ips.len().max(1);
        is_left
    }

    pub fn heap_bytes(&self) -> usize {
        self.ips.len() * size_of::<IpAddr>()
    }
}

/// Addresses in use of hosts asleep, where these are not the ones that come first.
#[derive(Debug, Default)]
pub struct Detours {
    /// Looked up, never iterated.
    by_host: HashMap<HostKey, IpAddr>,
}

/// Hosts whose detours are remembered; all are forgotten when there are more, which costs each of
/// them a request in vain.
const DETOURS_MAX: usize = 4_096;

impl Detours {
    pub fn remember(&mut self, host: &HostKey, list: &AddressList) {
        if self.by_host.len() >= DETOURS_MAX {
            self.by_host.clear();
        }
        match list.detour() {
            Some(ip) => drop(self.by_host.insert(host.clone(), ip)),
            None => drop(self.by_host.remove(host)),
        }
    }

    pub fn of(&self, host: &HostKey) -> Option<IpAddr> {
        self.by_host.get(host).copied()
    }

    pub fn heap_bytes(&self) -> usize {
        self.by_host.len() * DETOUR_BYTES
    }

    pub const HEAP_BYTES_MAX: usize = DETOURS_MAX * DETOUR_BYTES;
}

const DETOUR_BYTES: usize = size_of::<(HostKey, IpAddr)>() + 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_tried_once_and_the_one_that_answers_stays_in_use() {
        let ip = |n: u8| IpAddr::from([10, 0, 0, n]);
        let answer =
            |ns: &[u8]| ResolvedName { ips: ns.iter().map(|n| ip(*n)).collect(), until: Time(9) };
        let mut list = AddressList::default();
        list.resolved(answer(&[1, 2, 3]), None, Time(9));
        assert_eq!((list.current(Time(0)), list.current(Time(9))), (Some(ip(1)), None));
        assert!(list.take_next());
        assert_eq!(list.current(Time(0)), Some(ip(2)));
        list.connected();
        list.resolved(answer(&[3, 1, 2]), None, Time(9));
        assert_eq!(list.current(Time(0)), Some(ip(2)));
        assert!(list.take_next() && list.take_next() && !list.take_next());
        assert_eq!(list.current(Time(0)), Some(ip(2)), "then they are tried again in turn");
    }
}
