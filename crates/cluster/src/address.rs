//! Politeness towards an address that hosts of several nodes share.
//!
//! Within a node requests to an address are counted exactly. Across nodes they are granted, for a
//! few seconds at a time, by the owner of the partition to which the address hashes. Without a
//! grant a node has one slot at an address; that is the price of knowing nothing, and it is bounded
//! by the number of nodes.
//!
//! A grant counts, for the node, from when it began to ask, and for the grantor from when it
//! answered, which is later; so the grantor never believes that a slot is free while a node uses
//! it. A new owner of the partition knows nothing of the grants of the one before it, and waits for
//! the length of one before it grants.

use rhumb_engine::rng::mix;
use rhumb_engine::time::{Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;
use xxhash_rust::xxh3::xxh3_64;

/// How long a grant is good.
pub const GRANT_FOR: Span = Span::secs(5);
/// A grantor counts it for longer, since clocks run at different speed.
const COUNTED_FOR: Span = Span::secs(6);
/// Slots without a grant.
pub const SLOTS_ALONE: u16 = 1;

/// The partition whose owner grants an address.
pub fn partition_of(address: IpAddr, partitions: u32) -> u32 {
    let hash = match address {
        IpAddr::V4(ip) => xxh3_64(&ip.octets()),
        IpAddr::V6(ip) => xxh3_64(&ip.octets()),
    };
    (mix(hash) % u64::from(partitions.max(1))) as u32
}

/// What the owner of a partition has granted of the addresses that hash to it.
#[derive(Clone, Debug)]
pub struct AddressSlots {
    /// Requests in flight to an address, of all nodes together.
    per_address: u16,
    begins_at: Time,
    granted: BTreeMap<IpAddr, BTreeMap<String, (u16, Time)>>,
    /// When those that ran out were last forgotten.
    swept: Time,
}

impl AddressSlots {
    /// At the opening of the partition.
    pub fn new(now: Time, per_address: u16) -> AddressSlots {
        let begins_at = now + COUNTED_FOR;
        AddressSlots { per_address, begins_at, granted: BTreeMap::new(), swept: now }
    }

    /// A node wants so many slots at an address; how many it gets, for `GRANT_FOR` from when it
    /// asked. It always may use one, so that is what each node that asked counts for at least.
    pub fn ask(&mut self, now: Time, node: &str, address: IpAddr, wanted: u16) -> u16 {
        self.sweep(now);
        if now < self.begins_at {
            return SLOTS_ALONE;
        }
        let nodes = self.granted.entry(address).or_default();
        nodes.retain(|_, (_, until)| now < *until);
        let others = nodes.iter().filter(|(id, _)| id.as_str() != node);
        let taken: u16 = others.map(|(_, (slots, _))| *slots).sum();
        let free = self.per_address.saturating_sub(taken);
        // With others at the address it gets its even share at most.
        let count = nodes.len() + usize::from(!nodes.contains_key(node));
        let even = self.per_address.div_ceil(count as u16);
        let held = nodes.get(node).map_or(0, |(slots, _)| *slots);
        let slots = wanted.min(free).min(even).max(SLOTS_ALONE);
        // Until the earlier grant runs out it may be in use.
        nodes.insert(node.to_owned(), (slots.max(held.min(free)), now + COUNTED_FOR));
        slots
    }

    fn sweep(&mut self, now: Time) {
        if now.since(self.swept) >= COUNTED_FOR {
            self.swept = now;
            self.granted.retain(|_, nodes| nodes.values().any(|(_, until)| now < *until));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_at_an_address_are_divided_and_come_free_when_grants_run_out() {
        let at = |s: u64| Time::ZERO + Span::secs(s);
        let ip = IpAddr::from([10, 0, 0, 1]);
        let mut slots = AddressSlots::new(at(0), 4);
        assert_eq!(slots.ask(at(1), "a", ip, 4), 1, "grants of an earlier owner may still be good");
        assert_eq!(slots.ask(at(6), "a", ip, 4), 4);
        assert_eq!(slots.ask(at(7), "b", ip, 4), 1, "nothing is free, and one is everybody's");
        // The first asks again and gets less, as there is another; its old ones run out.
        assert_eq!(slots.ask(at(11), "a", ip, 4), 2);
        assert_eq!(slots.ask(at(12), "b", ip, 4), 1);
        assert_eq!(slots.ask(at(17), "a", ip, 2), 2);
        assert_eq!(slots.ask(at(18), "b", ip, 4), 2);
        assert_eq!(slots.ask(at(30), "b", ip, 4), 4, "the other is gone");
    }

    #[test]
    fn addresses_are_spread_over_the_partitions() {
        let mut counts = [0; 8];
        (0..=255).for_each(|n| counts[partition_of(IpAddr::from([10, 0, 0, n]), 8) as usize] += 1);
        assert!(counts.iter().all(|&count| (16..=48).contains(&count)), "{counts:?}");
    }
}
