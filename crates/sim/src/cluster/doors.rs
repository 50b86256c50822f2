//! Requests of one node at addresses: as many as were granted, and one without a grant
//! (`rhumb_cluster::address`).

use rhumb_cluster::address::SLOTS_ALONE;
use rhumb_engine::time::Time;
use std::collections::BTreeMap;
use std::net::IpAddr;

#[derive(Default)]
pub struct Doors {
    by_address: BTreeMap<IpAddr, Door>,
    /// Addresses where somebody had to wait: more slots are to be asked for.
    wanted: BTreeMap<IpAddr, u16>,
    /// Something came free since requests that wait were looked at.
    pub has_room: bool,
}

#[derive(Default)]
struct Door {
    in_flight: u16,
    /// Granted, until when by the true clock.
    granted: u16,
    until: Time,
}

impl Doors {
    /// Whether a request may begin now; then it has.
    pub fn enter(&mut self, address: IpAddr, now: Time) -> bool {
        let door = self.by_address.entry(address).or_default();
        let slots = if now < door.until { door.granted } else { SLOTS_ALONE };
        if door.in_flight < slots.max(SLOTS_ALONE) {
            door.in_flight += 1;
            return true;
        }
        *self.wanted.entry(address).or_insert(door.in_flight) += 1;
        false
    }

    pub fn leave(&mut self, address: IpAddr) {
        if let Some(door) = self.by_address.get_mut(&address) {
            door.in_flight = door.in_flight.saturating_sub(1);
        }
        self.has_room = true;
    }

    pub fn granted(&mut self, address: IpAddr, slots: u16, until: Time) {
        let door = self.by_address.entry(address).or_default();
        (door.granted, door.until) = (slots, until);
        self.has_room = true;
    }

    /// What is to be asked for.
    pub fn take_wanted(&mut self) -> BTreeMap<IpAddr, u16> {
        std::mem::take(&mut self.wanted)
    }
}
