//! The engine: a pure state machine. Events in, a [`Step`] out; no clock, no IO, cannot fail.
//!
//! Its memory is a cache of the rows: whatever it forgets in a crash, the rows tell again. The
//! methods are spread over the rooms that they belong to: `fetched` (what became of a request),
//! `compare` (what became of a visit), `sifted` (admission), `review` (readmission), `hosts`
//! (waking and sleeping), `failing` (hosts that fail) and `dispatch` (choosing what to fetch).

use crate::allowance::Allowance;
use crate::ceilings::Ceilings;
use crate::compare::Comparisons;
use crate::config::Config;
use crate::copies::Copies;
use crate::counters::Counters;
use crate::discovery::{CHUNK_MAX, Discovery};
use crate::event::{Action, Answer, Event, FetchId, Purpose, Question, Row, Step, StopReason};
use crate::flow::Flow;
use crate::frontier::address_list::Detours;
use crate::frontier::awake::{AwakeHosts, RobotsReferral};
use crate::frontier::back_queue;
use crate::frontier::ready::Ready;
use crate::frontier::sleepers::Sleepers;
use crate::hands::{HandLine, Hands};
use crate::host::HostRecord;
use crate::lookups::Lookups;
use crate::mass::Mass;
use crate::nearer::Nearer;
use crate::order::{self, LinkModel, OrderPolicy};
use crate::outbound::{MESSAGES_HELD_MAX, Outbound, OutboundOpening};
use crate::outbox::{CHUNKS_HELD_MAX, Outbox, PROMOTED_MAX, SIFT_MAX};
use crate::past::Visits;
use crate::polite::{Gateways, Way};
use crate::queue::{Entry, Place, SleepPlace};
use crate::record::Role;
use crate::refresh::scheduler::Scheduler;
use crate::requisites::{RequisiteCounters, Requisites};
use crate::review::{Review, RulesFingerprint};
use crate::revisit::Revisiting;
use crate::rng::Rng;
use crate::shares::Shares;
use crate::time::{Span, Time};
use crate::traps::learnt::Patterns;
use rhumb_neardup::sketch::SKETCH_BYTES;
use rhumb_page::url::HostKey;
use std::collections::{HashMap, HashSet, VecDeque};

/// Back queues at the start, per request in flight.
pub const AWAKE_PER_FETCH: usize = 3;

/// What the engine is opened with: what the rows say that is not read by question.
#[derive(Debug, Default)]
pub struct Opening {
    pub counters: Counters,
    pub sleepers: Vec<SleepPlace>,
    pub mass: Mass,
    pub scheduler: Option<Scheduler>,
    pub outbound: OutboundOpening,
    pub rules_fingerprint: Option<RulesFingerprint>,
    pub hands: Vec<HandLine>,
    pub link_model: Option<LinkModel>,
    pub requisites: RequisiteCounters,
}

pub struct Engine {
    pub(crate) config: Config,
    pub(crate) policy: Box<dyn OrderPolicy>,
    pub(crate) mass: Mass,
    /// URLs that may be filed anew: each page that comes pays for one.
    pub(crate) promotions: u32,
    pub(crate) rng: Rng,
    pub(crate) counters: Counters,
    /// What was committed last, to write the row only when it changed.
    counters_written: Counters,
    /// A crawl that goes on: no host is asked sooner than its full delay after this moment.
    pub(crate) reopened: Option<Time>,
    pub(crate) awake: AwakeHosts,
    pub(crate) awake_limit: usize,
    pub(crate) ready: Ready,
    pub(crate) sleepers: Sleepers,
    pub(crate) gateways: Gateways,
    pub(crate) shares: Shares,
    /// Hosts that the owner named, by the hash of their key: they need no leave to be contacted.
    pub(crate) seed_hosts: HashSet<u64>,
    /// Names that nobody has, looked up to find out whether any name has an address; their sites.
    pub(crate) probes: HashMap<HostKey, u64>,
    pub(crate) resting: Resting,
    /// Some host that has work is outside its hours until then.
    pub(crate) closed_until: Time,
    pub(crate) flow: Option<Flow>,
    pub(crate) detours: Detours,
    /// Looked up, never iterated.
    pub(crate) flights: HashMap<FetchId, Flight>,
    pub(crate) next_fetch: u64,
    pub(crate) lookups: Lookups,
    pub(crate) comparing: Comparisons,
    pub(crate) copies: Copies,
    pub(crate) outbox: Outbox,
    pub(crate) outbound: Outbound,
    /// Rows of hosts that were written while a question about hosts was under way: the snapshot
    /// that answers it may not show them. Nothing is kept here when none is.
    pub(crate) since_sift: HashMap<HostKey, HostRecord>,
    pub(crate) since_wake: HashMap<HostKey, HostRecord>,
    /// Referrals for hosts that are being woken for them. Looked up, never iterated.
    pub(crate) referrals_to_wake: HashMap<HostKey, Vec<RobotsReferral>>,
    pub(crate) refills: VecDeque<u32>,
    pub(crate) refill_asked: bool,
    pub(crate) dirty: Vec<u32>,
    pub(crate) revisiting: Option<Revisiting>,
    pub(crate) stopping: Option<StopReason>,
    /// Since when it is stopping, and whether it has waited long enough for what is under way.
    stopping_since: Option<Time>,
    has_given_up: bool,
    /// By how much our time is ahead of the world's: a clock that was set back between two runs
    /// must not make us wait for times that were lived through before.
    ahead: Span,
    pub(crate) review: Review,
    pub(crate) nearer: Nearer,
    pub(crate) hands: Hands,
    pub(crate) requisites: Requisites,
    /// One of several uses no more of the crawl's limits.
    pub(crate) allowance: Option<Allowance>,
    pub(crate) ceilings: Ceilings,
    /// As of the last fit of the link model.
    pub(crate) topic_expected: Option<f64>,
}

/// Hosts that went to rest in this run, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resting {
    pub failing: u64,
    /// Their sites have had their share of names.
    pub held: u64,
    /// Hosts with hours.
    pub closed: u64,
}

/// A request in flight.
#[derive(Debug)]
pub(crate) struct Flight {
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

impl Engine {
    pub fn open(config: Config, opening: Opening, now: Time) -> Engine {
        let ahead = opening.counters.clock.since(now);
        let now = now + ahead;
        let counters_written = opening.counters.clone();
        let counters = Counters { run: opening.counters.run + 1, ..opening.counters };
        let reopened = (counters.next_url > 0).then_some(now);
        let awake_limit = (config.concurrency * AWAKE_PER_FETCH).min(config.hosts_awake_max).max(1);
        let mut policy = order::policy(&config);
        opening.link_model.into_iter().for_each(|model| policy.opened(model));
        Engine {
            policy,
            review: Review::open(&config, opening.rules_fingerprint, &opening.counters),
            nearer: Nearer::default(),
            hands: Hands::open(opening.hands),
            requisites: Requisites::open(opening.requisites),
            allowance: None,
            ceilings: Ceilings::default(),
            topic_expected: None,
            mass: opening.mass,
            promotions: 0,
            rng: Rng::new(config.seed ^ now.0),
            sleepers: Sleepers::open(opening.sleepers.into_iter(), counters.run),
            counters_written,
            counters,
            reopened,
            awake: AwakeHosts::default(),
            awake_limit,
            ready: Ready::default(),
            gateways: Gateways::default(),
            shares: Shares::default(),
            seed_hosts: HashSet::new(),
            probes: HashMap::new(),
            resting: Resting::default(),
            closed_until: Time::ZERO,
            flow: config.bytes_per_s.map(Flow::new),
            detours: Detours::default(),
            flights: HashMap::new(),
            next_fetch: 0,
            lookups: Lookups::default(),
            comparing: Comparisons::default(),
            copies: Copies::default(),
            outbox: Outbox::default(),
            outbound: Outbound::open(config.partition, opening.outbound),
            since_sift: HashMap::new(),
            since_wake: HashMap::new(),
            referrals_to_wake: HashMap::new(),
            refills: VecDeque::new(),
            refill_asked: false,
            dirty: Vec::new(),
            revisiting: config.continuous.map(|c| Revisiting::new(c, opening.scheduler)),
            stopping: None,
            stopping_since: None,
            has_given_up: false,
            ahead,
            config,
        }
    }

    /// Takes one event.
    pub fn step(&mut self, now: Time, event: Event, step: &mut Step) {
        let now = now + self.ahead;
        match event {
            Event::Seeded { seeds } => self.seeded(seeds, step),
            Event::Fetched { fetch, report } => self.fetched(now, fetch, report, step),
            Event::Resolved { host, answer } => self.resolved(now, host, answer, step),
            Event::Answered(Answer::Sifted(sifted)) => self.sifted(now, sifted, step),
            Event::Answered(Answer::Twinned { pages }) => self.twinned(now, pages, step),
            Event::Answered(Answer::Woken(woken)) => self.woken(now, woken, step),
            Event::Answered(Answer::Refilled { hosts }) => self.refilled(now, hosts, step),
            Event::Answered(Answer::Received { chunks }) => {
                self.outbox.received(&self.counters, chunks);
            }
            Event::Answered(Answer::Addressed { urls }) => self.addressed(urls),
            Event::Answered(Answer::Reviewed { found, next }) => self.reviewed(found, next),
            Event::Delivered { from, number, message } => self.delivered(from, number, message),
            Event::Acknowledged { by, number } => self.acknowledged(by, number, step),
            Event::Allowed(allowance) => self.allowed(allowance),
            Event::Told(hand) => self.told(now, hand, step),
            Event::Bounded(ceilings) => self.ceilings = ceilings,
            Event::Stopped(reason) => self.stopping = self.stopping.or(Some(reason)),
            Event::Tick => {}
        }
    }

    /// Ends a turn: chooses what to fetch, asks what must be known, and writes what changed.
    pub fn conclude(&mut self, now: Time, step: &mut Step) {
        let now = now + self.ahead;
        self.settle_mass(step);
        self.check_limits();
        self.outbox.flush(&mut self.counters, step);
        self.conclude_finishing(now);
        self.check_grace(now);
        self.conclude_review(step);
        self.conclude_outbound(now, step);
        if self.stopping.is_none() {
            if !self.begins_nothing() {
                self.dispatch(now, step);
                self.wake(now, step);
                // Those that open now are asked for, or there is no room for them.
                if self.closed_until <= now {
                    self.closed_until = Time::ZERO;
                }
            }
            self.ask_refills(step);
            if let Some(question) = self.outbox.ask(&self.counters, &mut self.outbound) {
                if let Question::Sift { candidates } = &question {
                    self.hands.begin_sift(candidates);
                    self.since_sift.clear();
                    if let Some(revisiting) = &mut self.revisiting {
                        revisiting.since_sift.clear();
                    }
                }
                step.actions.push(Action::Ask(question));
            }
        }
        if let Some(question) = self.comparing.ask() {
            step.actions.push(Action::Ask(question));
        }
        self.write_dirty(step);
        self.conclude_revisiting(now, step);
        self.write_requisites(step);
        if self.counters != self.counters_written {
            self.counters.clock = now;
            self.counters_written = self.counters.clone();
            step.rows.push(Row::Counters(Box::new(self.counters.clone())));
        }
    }

    /// Ends a crawl that is over: settles what importance is still on its way.
    pub fn last_words(&mut self, step: &mut Step) {
        self.mass.settle_at_end();
        self.topic_expected = self.expected_of_topic();
        self.mass.write_all(step);
    }

    /// When to be called again though nothing happens, and why.
    pub fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        let (at, why) = self.next_due(now + self.ahead)?;
        Some((at - self.ahead, why))
    }

    /// The same in our own time.
    pub(crate) fn next_due(&self, now: Time) -> Option<(Time, &'static str)> {
        if let Some(since) = self.stopping_since {
            let at = since + self.config.stop_grace;
            return Some((at.max(now), "the grace for requests under way ends"));
        }
        let host = self.ready.next_due().map(|t| (t, "a host is due"));
        let has_room = self.awake.len() < self.awake_limit && !self.sleepers.is_asked();
        let next_sleeper = match self.is_finishing() {
            true => self.sleepers.next_later(),
            false => self.sleepers.next_due(),
        };
        let sleeper = next_sleeper.filter(|_| has_room).map(|t| (t, "a sleeping host is due"));
        // Hosts may stand in line for nothing but the budget.
        let waits = !self.ready.is_empty() && !self.within_budget(now);
        let allows = match self.flow.as_ref().is_some_and(|flow| flow.next(now) > now) {
            true => "the rate of bytes allows it",
            false => "the budget allows it",
        };
        let budget = waits.then(|| (self.budget_wakeup(now), allows));
        let round = self.round_due().map(|t| (t, "messages to other partitions are due"));
        let mass = self.is_pushing().then_some((now, "importance is being pushed"));
        let fetching = host.into_iter().chain(sleeper).chain(budget);
        let next = fetching.filter(|_| !self.begins_nothing()).chain(round).chain(mass).min()?;
        Some((next.0.max(now), next.1))
    }

    /// A stop waits so long for what is under way. What is not here then, the next run fetches.
    fn check_grace(&mut self, now: Time) {
        if self.stopping.is_some() {
            let since = *self.stopping_since.get_or_insert(now);
            self.has_given_up |= now.since(since) >= self.config.stop_grace;
        }
    }

    /// Why the crawl is over, once it is.
    pub fn over(&self) -> Option<StopReason> {
        if self.has_given_up {
            return self.stopping;
        }
        if !self.flights.is_empty() || !self.comparing.is_empty() {
            return None;
        }
        if self.stopping.is_some() {
            return self.stopping;
        }
        // One of several cannot know that the others will send it nothing more, and of what is
        // paused the owner will.
        let may_end = !self.config.partition.is_divided() && !self.hands.is_paused;
        (may_end && self.is_idle()).then(|| self.idle_because())
    }

    /// Why an engine that is idle has nothing to do.
    pub fn idle_because(&self) -> StopReason {
        // What rests because its site has had its share does not fail.
        match self.resting.failing {
            0 => StopReason::Finished,
            _ => StopReason::HostsFailing,
        }
    }

    /// Nothing is left to do in this run but to try hosts that fail, unless another partition sends
    /// something.
    pub fn is_idle(&self) -> bool {
        !self.has_work()
            && self.outbound.is_idle()
            && self.round_due().is_none()
            && !self.is_pushing()
    }

    /// There is something to fetch, or to find out whether there is.
    pub(crate) fn has_work(&self) -> bool {
        !self.flights.is_empty()
            || !self.comparing.is_empty()
            || !self.awake.is_empty()
            || self.review.is_under_way()
            || self.sleepers.are_any()
            || self.closed_until > Time::ZERO
            || !self.outbox.is_idle(&self.counters)
    }

    /// One of several, with nothing to fetch, has importance to push that others may wait for.
    fn is_pushing(&self) -> bool {
        let partition = self.config.partition;
        partition.is_divided() && !self.has_work() && !self.mass.is_at_rest(partition.count)
    }

    /// The world's time as ours.
    pub(crate) fn own_time(&self, now: Time) -> Time {
        now + self.ahead
    }

    /// Our time as the world's: hours are kept by its clocks.
    pub(crate) fn world_time(&self, now: Time) -> Time {
        now - self.ahead
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Importance moves on in memory, whatever else happens.
    fn settle_mass(&mut self, step: &mut Step) {
        if !self.review.changes_graph() && !self.mass.awaits_seeds() && self.mass.refresh() {
            self.policy.restored(&self.mass);
        }
        self.mass.settle(self.policy.pushing());
        let is_divided = self.config.partition.is_divided();
        if is_divided && (self.mass.has_none_waiting() || !self.has_work()) {
            self.mass.settle_at_rest(self.config.partition.count);
        }
        self.mass.write(step);
        self.write_link_model(step);
    }

    fn check_limits(&mut self) {
        // Of several partitions, the one that grants allowances ends the crawl at its limits.
        if self.allowance.is_some() {
            return;
        }
        let over = |limit: Option<u64>, value: u64| limit.is_some_and(|max| value >= max);
        if over(self.config.pages_max, self.counters.pages) {
            self.stop_with_requisites(StopReason::Pages);
        }
        if over(self.config.bytes_max, self.counters.bytes) {
            self.stopping = self.stopping.or(Some(StopReason::Bytes));
        }
        // Of several partitions, whoever sums their books stops them.
        let is_alone = !self.config.partition.is_divided();
        let wanted = self.config.coverage.filter(|_| is_alone && self.stopping.is_none());
        let Some(wanted) = wanted else { return };
        let Some((bound, ceiling)) = self.bound_and_ceiling() else { return };
        if bound >= wanted {
            self.stop_with_requisites(StopReason::Coverage);
        } else if ceiling < wanted {
            self.stopping = Some(StopReason::CoverageOutOfReach);
        }
    }

    pub fn hosts_awake(&self) -> usize {
        self.awake.len()
    }

    pub fn mass(&self) -> &Mass {
        &self.mass
    }

    fn write_dirty(&mut self, step: &mut Step) {
        for slot in std::mem::take(&mut self.dirty) {
            // It may have gone to sleep since, which wrote its row.
            if let Some(host) = self.awake.get_mut(slot).filter(|host| host.dirty) {
                host.dirty = false;
                step.rows.push(Row::Host { key: host.key.clone(), record: host.record.clone() });
            }
        }
    }

    pub(crate) fn mark_dirty(&mut self, slot: u32) {
        let host = self.awake.at(slot);
        if !host.dirty {
            host.dirty = true;
            self.dirty.push(slot);
        }
    }

    /// An estimate of the heap that the engine holds, from the lengths of its parts; the books of
    /// importance, which grow with known URLs, are apart.
    pub fn heap_bytes(&self) -> usize {
        let hosts: usize = self.awake.iter().map(|host| host.heap_bytes()).sum();
        hosts
            + self.ready.heap_len() * 16
            + self.gateways.len() * GATE_BYTES
            + self.shares.heap_bytes()
            + self.requisites.heap_bytes()
            + self.seed_hosts.len() * 16
            + self.flights.len() * FLIGHT_BYTES
            + self.comparing.heap_bytes()
            + self.copies.heap_bytes()
            + self.detours.heap_bytes()
            + (self.outbox.held_len() + self.outbound.held_len()) * DISCOVERY_BYTES
            + (self.since_sift.len() + self.since_wake.len()) * OVERLAY_BYTES
    }

    /// What `heap_bytes` never exceeds with this configuration, pages of at most `links` links
    /// and robots rules of at most `rules` bytes.
    pub fn heap_bound(config: &Config, links: usize, rules: usize) -> usize {
        let patterns = Patterns::HEAP_BYTES_MAX;
        let host = size_of::<crate::frontier::awake::Awake>() + rules + patterns + 512;
        let awake = config.hosts_awake_max + crate::frontier::sleepers::WAKE_MAX;
        // Of those awake, each was woken beside all that were woken before it.
        let rows: usize = (0..awake).map(back_queue::rows_beside).sum();
        let messages = if config.partition.is_divided() { MESSAGES_HELD_MAX + 1 } else { 0 };
        // A name rests as long as its longest delay, whether or not its host is awake.
        awake * (host + 4 * 16 + 4 * GATE_BYTES)
            + Shares::HEAP_BYTES_MAX
            + Requisites::HEAP_BYTES_MAX
            + 4 * rows * (back_queue::ENTRY_BYTES + size_of::<Place>())
            + messages * CHUNK_MAX * DISCOVERY_BYTES
            + config.held_max() * (FLIGHT_BYTES + links * DISCOVERY_BYTES)
            + (CHUNKS_HELD_MAX * CHUNK_MAX + config.held_max() * links) * DISCOVERY_BYTES
            + (SIFT_MAX + CHUNK_MAX + PROMOTED_MAX) * DISCOVERY_BYTES
            + 2 * (SIFT_MAX * 4 + awake) * OVERLAY_BYTES
            + Copies::HEAP_BYTES_MAX
            + Detours::HEAP_BYTES_MAX
    }
}

const GATE_BYTES: usize = 80;
const FLIGHT_BYTES: usize = size_of::<Flight>() + size_of::<Visits>() + SKETCH_BYTES + 96;
pub(crate) const DISCOVERY_BYTES: usize = size_of::<Discovery>() + 96;
const OVERLAY_BYTES: usize = size_of::<(HostKey, HostRecord)>() + 48;
