//! Why not faster: what each host with work is doing or waiting for at one moment, and how many
//! requests a second that is worth.
//!
//! A host that is asked as soon as its delay is over makes 1 / (delay + last response time)
//! requests a second. At any moment each host with work that is due is in exactly one of these
//! states. So the rates of the hosts at work (requested, or waiting out a delay) make up what is
//! reached, those of the others what is lost, by cause, and both together are the ceiling that
//! politeness sets (Little's law, with hosts for customers).
//!
//! It only looks: nothing here is decided or changed. Hosts asleep are not in memory; each counts
//! as the mean of those that are awake.

use crate::config::CLASSES;
use crate::engine::Engine;
use crate::frontier::awake::{Awake, Doing};
use crate::polite;
use crate::time::{Span, Time};
use rhumb_page::url::HostKey;
use std::net::IpAddr;

/// Awake hosts that are named, the longest awake place first.
const NAMED_MAX: usize = 400;
/// A host that is asked without any delay counts as one that takes at least this long.
const PERIOD_MIN: Span = Span::millis(1);
/// An answer is late beyond so many times what the last one took, and beyond this part of the time
/// from request to request: what is less is as often made good.
const LATE_TIMES: f64 = 2.0;
const LATE_PART: f64 = 0.1;

/// What a host with work that is due does or waits for. The order is that of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holdup {
    /// A request is under way.
    Fetching,
    /// It waits out its delay.
    Delay,
    /// A request is under way for much longer than the last one took, or is the first.
    SlowAnswer,
    /// It failed, asked us to wait, or its owner did: longer than its delay.
    Backoff,
    /// Its name is being looked up.
    LookingUp,
    /// It waits for a look-up to end, so that its name can be looked up.
    LookupLine,
    /// It was never asked, and the names of its site are contacted one after the other.
    FirstContact,
    /// Another host redirects its robots.txt, and has not answered.
    RobotsElsewhere,
    /// The same name is asked by another scheme or port.
    SameName,
    /// Its site has its share of the slots.
    Site,
    /// Hosts that are slow or unproven have their share of the slots.
    Doubtful,
    /// Its address has the requests that one address may have, or rests between two.
    Address,
    /// The head of its queue is being read from the store.
    Reading,
    /// As many requests are under way as may be.
    Slots,
    /// As many pages are held and compared as may be.
    Comparing,
    /// The rate of bytes.
    ByteRate,
    /// The budget of requests.
    Budget,
    /// The limits on pages and bytes of the crawl, or of its partition.
    Limit,
    /// The partition's lease has run out, or too much is not shipped.
    Held,
    /// The order waits for better pages.
    Patience,
    Paused,
    Stopping,
    /// Nothing: the next turn of the loop asks it.
    Turn,
    /// It sleeps, since as many hosts are awake as may be.
    Asleep,
}

impl Holdup {
    pub const ALL: [Holdup; 24] = [
        Holdup::Fetching,
        Holdup::Delay,
        Holdup::SlowAnswer,
        Holdup::Backoff,
        Holdup::LookingUp,
        Holdup::LookupLine,
        Holdup::FirstContact,
        Holdup::RobotsElsewhere,
        Holdup::SameName,
        Holdup::Site,
        Holdup::Doubtful,
        Holdup::Address,
        Holdup::Reading,
        Holdup::Slots,
        Holdup::Comparing,
        Holdup::ByteRate,
        Holdup::Budget,
        Holdup::Limit,
        Holdup::Held,
        Holdup::Patience,
        Holdup::Paused,
        Holdup::Stopping,
        Holdup::Turn,
        Holdup::Asleep,
    ];

    /// Lower case, for reports.
    pub fn word(self) -> &'static str {
        match self {
            Holdup::Fetching => "fetching",
            Holdup::Delay => "delay",
            Holdup::SlowAnswer => "slow_answer",
            Holdup::Backoff => "backoff",
            Holdup::LookingUp => "looking_up",
            Holdup::LookupLine => "lookup_line",
            Holdup::FirstContact => "first_contact",
            Holdup::RobotsElsewhere => "robots_elsewhere",
            Holdup::SameName => "same_name",
            Holdup::Site => "site",
            Holdup::Doubtful => "doubtful",
            Holdup::Address => "address",
            Holdup::Reading => "reading",
            Holdup::Slots => "slots",
            Holdup::Comparing => "comparing",
            Holdup::ByteRate => "byte_rate",
            Holdup::Budget => "budget",
            Holdup::Limit => "limit",
            Holdup::Held => "held",
            Holdup::Patience => "patience",
            Holdup::Paused => "paused",
            Holdup::Stopping => "stopping",
            Holdup::Turn => "turn",
            Holdup::Asleep => "asleep",
        }
    }
}

/// Hosts in one state, and the requests a second that they would make if nothing held them up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldUp {
    pub hosts: f64,
    pub per_s: f64,
}

/// Hosts by what they wait for, indexed by [`Holdup`].
pub type HeldUpBy = [HeldUp; Holdup::ALL.len()];

/// All hosts with work at one moment.
#[derive(Clone, Debug, Default)]
pub struct Holdups {
    pub by: HeldUpBy,
    /// What the bounds on addresses leave of the rates of hosts awake, and these.
    pub addresses_per_s: f64,
    pub awake_per_s: f64,
    /// The address that leaves least of what its hosts could do.
    pub crowded: Option<CrowdedAddress>,
    /// Slots that may be used, and pages held.
    pub slots: usize,
    /// By class: hosts that are due and awake, and hosts that sleep and are due.
    pub classes: [(u64, u64); CLASSES],
    /// Hosts awake that are named, and how many there are.
    pub named: Vec<NamedAwake>,
    pub awake: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrowdedAddress {
    pub ip: IpAddr,
    pub hosts: u64,
    /// What its hosts' delays would allow beyond what the address does.
    pub lost_per_s: f64,
}

/// A host that is awake, by name.
#[derive(Clone, Debug)]
pub struct NamedAwake {
    pub host: HostKey,
    /// None if its work is not due.
    pub holdup: Option<Holdup>,
    pub queued: u64,
    pub class: Option<u8>,
    /// It may be asked then.
    pub due: Time,
    pub delay: Span,
    pub is_robots_known: bool,
}

impl Holdups {
    /// Of two partitions together.
    pub fn plus(&self, other: &Holdups) -> Holdups {
        let mut all = self.clone();
        for (sum, part) in all.by.iter_mut().zip(&other.by) {
            sum.hosts += part.hosts;
            sum.per_s += part.per_s;
        }
        for (sum, part) in all.classes.iter_mut().zip(&other.classes) {
            *sum = (sum.0 + part.0, sum.1 + part.1);
        }
        all.addresses_per_s += other.addresses_per_s;
        all.awake_per_s += other.awake_per_s;
        all.slots += other.slots;
        all.awake += other.awake;
        let lost = |crowded: &Option<CrowdedAddress>| crowded.map_or(0.0, |c| c.lost_per_s);
        if lost(&other.crowded) > lost(&all.crowded) {
            all.crowded = other.crowded;
        }
        all.named.extend_from_slice(&other.named);
        all.named.truncate(NAMED_MAX);
        all
    }
}

/// From the start of a request to the start of the next, if nothing holds it up.
fn period(host: &Awake, engine: &Engine) -> Span {
    let delay = polite::delay(&engine.config().polite, &host.record);
    Span(delay.0.saturating_add(host.record.last_took.0)).max(PERIOD_MIN)
}

impl Engine {
    /// What all hosts with work wait for: a pass over those awake, for once a second.
    pub fn holdups(&self, now: Time) -> Holdups {
        let now = self.clock.own(now);
        let at_hand = self.holdup_of_all(now);
        let mut all = Holdups {
            slots: self.limits.slots(&self.config),
            awake: self.frontier.awake.len(),
            ..Holdups::default()
        };
        let mut at_addresses: Vec<(IpAddr, f64, Span)> = Vec::new();
        let mut due = HeldUp::default();
        for host in self.frontier.awake.iter() {
            let holdup = self.holdup(now, host, at_hand);
            if all.named.len() < NAMED_MAX {
                all.named.push(self.named(host, holdup));
            }
            let Some(holdup) = holdup else { continue };
            let per_s = 1.0 / period(host, self).as_secs_f64();
            let state = &mut all.by[holdup as usize];
            *state = HeldUp { hosts: state.hosts + 1.0, per_s: state.per_s + per_s };
            due = HeldUp { hosts: due.hosts + 1.0, per_s: due.per_s + per_s };
            if let Some(ip) = host.addresses.last() {
                at_addresses.push((ip, per_s, host.record.last_took));
            }
        }
        all.awake_per_s = due.per_s;
        let (lost, crowded) = self.lost_at_addresses(at_addresses);
        (all.addresses_per_s, all.crowded) = (due.per_s - lost, crowded);
        for (class, counts) in (0..).zip(&mut all.classes) {
            *counts =
                (self.frontier.ready.len_of(class) as u64, self.frontier.sleepers.ready_in(class));
        }
        let asleep = self.frontier.sleepers.ready() as f64;
        let mean = if due.hosts > 0.0 { due.per_s / due.hosts } else { self.usual_per_s() };
        let state = &mut all.by[self.holdup_of_sleepers(at_hand) as usize];
        *state = HeldUp { hosts: state.hosts + asleep, per_s: state.per_s + asleep * mean };
        all
    }

    /// What a host does of which nothing is known.
    fn usual_per_s(&self) -> f64 {
        1.0 / self.config().polite.delay.max(PERIOD_MIN).as_secs_f64()
    }

    fn named(&self, host: &Awake, holdup: Option<Holdup>) -> NamedAwake {
        let due = host.record.not_before.max(host.first_contact.unwrap_or(Time::ZERO));
        let later = host.later_due().filter(|_| host.now.is_empty()).unwrap_or(Time::ZERO);
        NamedAwake {
            host: host.key.clone(),
            holdup,
            queued: host.record.queued,
            class: host.class(),
            due: due.max(later).max(host.rest_until).max(host.closed_until),
            delay: polite::delay(&self.config().polite, &host.record),
            is_robots_known: host.record.robots_until.is_some(),
        }
    }

    /// What an awake host does or waits for; none if it has no work that is due. `at_hand` is what
    /// one waits for that nothing of its own holds up.
    fn holdup(&self, now: Time, host: &Awake, at_hand: Holdup) -> Option<Holdup> {
        match host.doing {
            Doing::Fetching(id) => {
                let began = self.traffic.began_at(id).unwrap_or(now);
                let usual = host.record.last_took.times(LATE_TIMES);
                let is_late = now.since(began) > usual.max(period(host, self).times(LATE_PART));
                return Some(if is_late { Holdup::SlowAnswer } else { Holdup::Fetching });
            }
            Doing::Resolving { .. } => return Some(Holdup::LookingUp),
            Doing::Nothing => {}
        }
        if host.awaits_robots && host.referrals.is_empty() {
            return Some(Holdup::RobotsElsewhere);
        }
        if host.rest_until > now || host.closed_until > now {
            return None;
        }
        let has_new = !(host.now.is_empty() && host.referrals.is_empty());
        let is_due = || host.later_due().is_some_and(|due| due <= now);
        if !has_new && !is_due() {
            return host.is_refilling().then_some(Holdup::Reading);
        }
        Some(self.holdup_of_due(now, host, at_hand))
    }

    /// The same of one whose work is due.
    fn holdup_of_due(&self, now: Time, host: &Awake, at_hand: Holdup) -> Holdup {
        let record = &host.record;
        let was_tried = record.answers > 0 || record.failing.is_some();
        let not_before = record.not_before.max(host.first_contact.unwrap_or(Time::ZERO));
        if not_before > now {
            let delay = polite::delay(&self.config().polite, record);
            return match (was_tried, record.failures > 0 || not_before > now + delay) {
                (false, _) => Holdup::FirstContact,
                (true, true) => Holdup::Backoff,
                (true, false) => Holdup::Delay,
            };
        }
        match host.addresses.current(now) {
            None => Holdup::LookupLine,
            Some(ip) => {
                self.traffic.gateways.holdup(host.way(ip), &self.config, now).unwrap_or(at_hand)
            }
        }
    }

    /// What a host waits for that is due and that nothing of its own holds up.
    fn holdup_of_all(&self, now: Time) -> Holdup {
        let held = self.traffic.len() + self.comparing.len();
        if self.limits.is_stopping() {
            Holdup::Stopping
        } else if self.hands.is_paused {
            Holdup::Paused
        } else if self.begins_nothing() {
            Holdup::Held
        } else if self.limits.is_out_of_bytes(&self.books.counters) {
            Holdup::Limit
        } else if self.limits.flow.as_ref().is_some_and(|flow| flow.next(now) > now) {
            Holdup::ByteRate
        } else if !self.within_budget(now) {
            Holdup::Budget
        } else if self.traffic.len() >= self.limits.slots(&self.config) {
            Holdup::Slots
        } else if held >= self.held_places() {
            Holdup::Comparing
        } else if self.free_slots() == 0 {
            Holdup::Limit
        } else if self.holds_back() {
            Holdup::Patience
        } else {
            Holdup::Turn
        }
    }

    /// Why hosts sleep that could be asked.
    fn holdup_of_sleepers(&self, at_hand: Holdup) -> Holdup {
        match at_hand {
            Holdup::Turn if self.frontier.awake.len() >= self.config.hosts_awake_max => {
                Holdup::Asleep
            }
            // They are being woken.
            Holdup::Turn => Holdup::Reading,
            other => other,
        }
    }

    /// What hosts at one address cannot do though their delays would let them: so many requests at
    /// once, and so long between two.
    fn lost_at_addresses(
        &self,
        mut hosts: Vec<(IpAddr, f64, Span)>,
    ) -> (f64, Option<CrowdedAddress>) {
        let polite = &self.config().polite;
        let spaced = 1.0 / polite.address_delay.as_secs_f64();
        hosts.sort_by_key(|(ip, ..)| *ip);
        let (mut lost, mut crowded) = (0.0, None::<CrowdedAddress>);
        for at_one in hosts.chunk_by(|a, b| a.0 == b.0) {
            let per_s: f64 = at_one.iter().map(|(_, per_s, _)| per_s).sum();
            let took: f64 = at_one.iter().map(|(.., took)| took.as_secs_f64()).sum();
            let took = (took / at_one.len() as f64).max(PERIOD_MIN.as_secs_f64());
            let most = spaced.min(f64::from(polite.per_address) / took);
            let lost_per_s = (per_s - most).max(0.0);
            lost += lost_per_s;
            if lost_per_s > crowded.map_or(0.0, |c| c.lost_per_s) {
                let (ip, hosts) = (at_one[0].0, at_one.len() as u64);
                crowded = Some(CrowdedAddress { ip, hosts, lost_per_s });
            }
        }
        (lost, crowded)
    }
}
