//! Traffic: requests and look-ups under way, and the gates that they go through.

use crate::crowded::Crowded;
use crate::event::{FetchId, Purpose};
use crate::frontier::awake::RobotsReferral;
use crate::lookups::Lookups;
use crate::polite::{Gateways, Way};
use crate::queue::{Entry, Place};
use crate::record::Role;
use crate::refresh::past::Visits;
use crate::shares::Shares;
use crate::site_budget::SiteBudgets;
use crate::time::Time;
use rhumb_neardup::sketch::SKETCH_BYTES;
use rhumb_page::url::HostKey;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Requests in flight. Looked up, never iterated.
    flights: HashMap<FetchId, Flight>,
    next_fetch: u64,
    pub gateways: Gateways,
    pub lookups: Lookups,
    pub crowded: Crowded,
    pub shares: Shares,
    pub sites: SiteBudgets,
    /// Hosts that the owner named, by the hash of their key: they need no leave to be contacted.
    pub seed_hosts: HashSet<u64>,
    /// Sites that the owner named, by their hash: they have no budget.
    pub seed_sites: HashSet<u64>,
    /// Names that nobody has, looked up to find out whether any name has an address; their sites.
    pub probes: HashMap<HostKey, u64>,
}

/// A request in flight.
#[derive(Debug)]
pub(crate) struct Flight {
    pub began: Time,
    /// Bytes that the rate was charged with when it began.
    pub charged: u64,
    pub slot: u32,
    pub way: Way,
    pub requested: Requested,
}

#[derive(Debug)]
pub(crate) enum Requested {
    Page {
        place: Place,
        entry: Box<Entry>,
    },
    Robots,
    /// robots.txt of another host that redirects here.
    RobotsFor(RobotsReferral),
}

impl Requested {
    pub fn purpose(&self) -> Purpose {
        match self {
            Requested::Page { entry, .. } => match entry.record.role {
                Role::Page => Purpose::Page,
                role if role.is_stylesheet() => Purpose::Stylesheet,
                role if role.is_requisite() => Purpose::Requisite,
                _ => Purpose::Sitemap,
            },
            Requested::Robots | Requested::RobotsFor(_) => Purpose::Robots,
        }
    }
}

impl Traffic {
    /// Requests in flight.
    pub fn len(&self) -> usize {
        self.flights.len()
    }

    pub fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    /// The number of the next request.
    pub fn next_id(&mut self) -> FetchId {
        self.next_fetch += 1;
        FetchId(self.next_fetch - 1)
    }

    pub fn began(&mut self, id: FetchId, flight: Flight) {
        self.flights.insert(id, flight);
    }

    /// When a request that is in flight began.
    pub fn began_at(&self, id: FetchId) -> Option<Time> {
        self.flights.get(&id).map(|flight| flight.began)
    }

    pub fn ended(&mut self, id: FetchId) -> Flight {
        self.flights.remove(&id).expect("a fetch that was asked for")
    }

    pub fn heap_bytes(&self) -> usize {
        self.gateways.len() * GATE_BYTES
            + self.shares.heap_bytes()
            + self.sites.heap_bytes()
            + (self.seed_hosts.len() + self.seed_sites.len()) * 16
            + self.flights.len() * FLIGHT_BYTES
    }
}

pub(crate) const GATE_BYTES: usize = 80;
pub(crate) const FLIGHT_BYTES: usize =
    size_of::<Flight>() + size_of::<Visits>() + SKETCH_BYTES + 96;
