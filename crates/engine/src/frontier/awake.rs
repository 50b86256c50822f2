//! Hosts that are awake: their record, their queues, and what they are doing now.

use crate::event::FetchId;
use crate::frontier::address_list::AddressList;
use crate::frontier::back_queue::{BackQueue, rows_beside};
use crate::host::HostRecord;
use crate::polite::{self, Way};
use crate::queue::{Place, Section, SleepPlace};
use crate::requisites;
use crate::time::Time;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url};
use std::collections::HashMap;
use std::net::IpAddr;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Debug)]
pub struct Awake {
    pub key: HostKey,
    pub record: HostRecord,
    pub now: BackQueue,
    pub later: BackQueue,
    pub robots: Option<Box<Robots>>,
    /// Where robots.txt is to be had, after redirects, and how many there were.
    pub robots_at: Option<(Url, u8)>,
    /// robots.txt requests made here for other hosts that redirect to this one.
    pub referrals: Vec<RobotsReferral>,
    pub addresses: AddressList,
    /// Hashes of what it shares bounds with: hosts of its name, hosts of its site.
    pub name: u64,
    pub site: u64,
    /// It was never asked, and may be for the first time then.
    pub first_contact: Option<Time>,
    pub doing: Doing,
    /// Its robots.txt is being fetched from another host; meanwhile it runs referrals alone.
    pub awaits_robots: bool,
    /// It fails, and is not asked for its own sake before this moment.
    pub rest_until: Time,
    /// It is outside its hours, and is asked for nothing before this moment.
    pub closed_until: Time,
    /// Valid entries in the heap, the front queues and the lines at addresses carry this number.
    pub ticket: u32,
    /// It stands in the heap, in a front queue or in line at an address.
    pub queued_up: bool,
    /// The last URL that it was asked for is a requisite, asked for the first time.
    pub had_requisite: bool,
    /// Requests since it woke.
    pub turns: u32,
    /// Its row must be written in this turn's commit.
    pub dirty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Nothing,
    Resolving {
        /// It never answered.
        is_new: bool,
    },
    Fetching(FetchId),
}

#[derive(Clone, Debug)]
pub struct RobotsReferral {
    pub for_host: HostKey,
    pub url: Url,
}

impl Awake {
    pub fn new(key: HostKey, record: HostRecord, now: BackQueue, later: BackQueue) -> Awake {
        let name = xxh3_64(key.server().as_bytes());
        let site = xxh3_64(key.site().as_str().as_bytes());
        Awake {
            name,
            site,
            first_contact: None,
            key,
            record,
            now,
            later,
            robots: None,
            robots_at: None,
            referrals: Vec::new(),
            addresses: AddressList::default(),
            doing: Doing::Nothing,
            awaits_robots: false,
            rest_until: Time::ZERO,
            closed_until: Time::ZERO,
            ticket: 0,
            queued_up: false,
            had_requisite: false,
            turns: 0,
            dirty: false,
        }
    }

    /// What a request to this address goes through.
    pub fn way(&self, ip: IpAddr) -> Way {
        let is_doubtful = polite::is_doubtful(&self.record);
        Way { name: self.name, site: self.site, ip, is_doubtful }
    }

    pub fn queue(&mut self, section: Section) -> &mut BackQueue {
        match section {
            Section::Now => &mut self.now,
            Section::Later => &mut self.later,
        }
    }

    pub fn is_refilling(&self) -> bool {
        self.now.is_refilling() || self.later.is_refilling()
    }

    /// Fetched and not yet to_admit: the rows are still in the store.
    pub fn has_out(&self) -> bool {
        self.now.has_out() || self.later.has_out()
    }

    /// The class of the best URL that waits to be fetched now.
    pub fn class(&self) -> Option<u8> {
        match self.now.front()?.0 {
            Place::Now { class, .. } => Some(class),
            Place::Later { .. } => None,
        }
    }

    pub fn later_due(&self) -> Option<Time> {
        match self.later.front()?.0 {
            Place::Later { due, .. } => Some(due),
            Place::Now { .. } => None,
        }
    }

    pub fn robots_in_force(&self, now: Time) -> Option<&Robots> {
        let fresh = self.record.robots_until.is_some_and(|until| until > now);
        if fresh { self.robots.as_deref() } else { None }
    }

    pub fn heap_bytes(&self) -> usize {
        size_of::<Awake>()
            + self.now.heap_bytes()
            + self.later.heap_bytes()
            + self.record.patterns.heap_bytes()
            + self.robots.as_ref().map_or(0, |r| r.heap_bytes())
            + self.addresses.heap_bytes()
            + 2 * self.key.as_str().len()
    }
}

/// A slab of awake hosts with a table from host to slot.
#[derive(Debug, Default)]
pub struct AwakeHosts {
    slots: Vec<Option<Awake>>,
    free: Vec<u32>,
    /// Looked up, never iterated.
    by_host: HashMap<HostKey, u32>,
    /// How many hosts of each site. Looked up, never iterated.
    by_site: HashMap<u64, u32>,
    tickets: u32,
}

impl AwakeHosts {
    pub fn len(&self) -> usize {
        self.by_host.len()
    }

    /// Rows that the queues of one more host may hold.
    pub fn rows_of_next(&self) -> usize {
        rows_beside(self.len())
    }

    pub fn is_empty(&self) -> bool {
        self.by_host.is_empty()
    }

    /// Hosts of one site.
    pub fn of_site(&self, site: u64) -> usize {
        self.by_site.get(&site).map_or(0, |hosts| *hosts as usize)
    }

    pub fn slot_of(&self, host: &HostKey) -> Option<u32> {
        self.by_host.get(host).copied()
    }

    pub fn get(&self, slot: u32) -> Option<&Awake> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, slot: u32) -> Option<&mut Awake> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    /// The host in a slot that is known to be taken.
    pub fn at(&mut self, slot: u32) -> &mut Awake {
        self.get_mut(slot).expect("an awake host in this slot")
    }

    pub fn insert(&mut self, mut awake: Awake) -> u32 {
        awake.ticket = self.next_ticket();
        let (key, site) = (awake.key.clone(), awake.site);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(awake);
                slot
            }
            None => {
                self.slots.push(Some(awake));
                (self.slots.len() - 1) as u32
            }
        };
        *self.by_site.entry(site).or_default() += 1;
        let before = self.by_host.insert(key, slot);
        assert!(before.is_none(), "a host wakes once");
        slot
    }

    pub fn remove(&mut self, slot: u32) -> Awake {
        let awake = self.slots[slot as usize].take().expect("an awake host in this slot");
        self.by_host.remove(&awake.key);
        let of_site = self.by_site.get_mut(&awake.site).expect("a site with a host awake");
        *of_site -= 1;
        if *of_site == 0 {
            self.by_site.remove(&awake.site);
        }
        self.free.push(slot);
        awake
    }

    /// A number that no entry in any queue carries yet.
    pub fn next_ticket(&mut self) -> u32 {
        self.tickets = self.tickets.wrapping_add(1);
        self.tickets
    }

    pub fn iter(&self) -> impl Iterator<Item = &Awake> {
        self.slots.iter().flatten()
    }
}

/// Where a host goes to sleep: by class if something waits, else by its next due time; apart from
/// all others if it fails, or is outside its hours.
pub fn bed(awake: &Awake, rank: u64, now: Time, nap: Time) -> Option<SleepPlace> {
    let held = awake.record.not_before;
    let of_requisites = awake.has_requisite().then_some(requisites::CLASS);
    let work = (awake.class().or(of_requisites), awake.later_due());
    let rests = awake.rest_until.max(awake.closed_until);
    if rests > now && work != (None, None) {
        let (run, due) = (awake.record.run, rests.max(held));
        return Some(SleepPlace::Resting { run, due, rank });
    }
    match work {
        (Some(_), _) if held > nap => Some(SleepPlace::Later { due: held, rank }),
        (Some(class), _) => Some(SleepPlace::Ready { class, rank }),
        (None, Some(due)) => Some(SleepPlace::Later { due: due.max(held).max(now), rank }),
        (None, None) => None,
    }
}
