//! The engine: a pure state machine. Events in, a [`Step`] out; no clock, no IO, cannot fail.
//!
//! Its memory is a cache of the rows: whatever it forgets in a crash, the rows tell again. It lies
//! in machines, the fields of [`Engine`]; what concerns one of them alone is its method. Methods
//! that take several are spread over the rooms that they belong to: `fetched` (what became of a
//! request), `compare` (what became of a visit), `sifted` (admission), `review` (readmission),
//! `hosts` (waking and sleeping), `failing` (hosts that fail) and `dispatch` (choosing what to
//! fetch).

use crate::admission::Admission;
use crate::books::UrlBooks;
use crate::compare::Comparisons;
use crate::config::Config;
use crate::copies::Copies;
use crate::counters::Counters;
use crate::discovery::{CHUNK_MAX, Discovery};
use crate::event::{Action, Answer, Event, Question, Step, StopReason};
use crate::frontier::address_list::Detours;
use crate::frontier::{Frontier, OVERLAY_BYTES, back_queue};
use crate::hands::{HandLine, Hands};
use crate::limits::EngineLimits;
use crate::mass::Mass;
use crate::order::{LinkModel, Ranking};
use crate::outbound::{MESSAGES_HELD_MAX, Outbound, OutboundOpening};
use crate::outbox::{CHUNKS_HELD_MAX, PROMOTED_MAX, SIFT_MAX};
use crate::queue::{Place, SleepPlace};
use crate::refresh::revisit::Revisiting;
use crate::refresh::scheduler::Scheduler;
use crate::requisites::{RecentRequisites, RequisiteCounters};
use crate::review::RulesFingerprint;
use crate::rng::Rng;
use crate::shares::Shares;
use crate::site_budget::SiteBudgets;
use crate::time::{OwnTime, Time};
use crate::traffic::{FLIGHT_BYTES, GATE_BYTES, Traffic};
use crate::traps::learnt::Patterns;

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
    /// Another owner of the partition may have fetched what these rows know nothing of, even if
    /// there are none: its machine was lost before anything was shipped.
    pub is_taken_over: bool,
}

/// The machines of the engine, each with the state that it owns.
pub struct Engine {
    pub(crate) config: Config,
    pub(crate) clock: OwnTime,
    pub(crate) rng: Rng,
    /// What is counted, and what each URL has of all importance.
    pub(crate) books: UrlBooks,
    /// In what order URLs are fetched.
    pub(crate) ranking: Ranking,
    /// Hosts that have work, awake and asleep.
    pub(crate) frontier: Frontier,
    /// Requests and look-ups under way, and the gates that they go through.
    pub(crate) traffic: Traffic,
    /// What was found, on its way to be known.
    pub(crate) admission: Admission,
    /// What is another partition's, on its way there.
    pub(crate) outbound: Outbound,
    /// Pages that came and wait to hear what they repeat.
    pub(crate) comparing: Comparisons,
    /// When pages are visited again, in a crawl that goes on.
    pub(crate) revisiting: Option<Revisiting>,
    /// What the owner asked for by hand.
    pub(crate) hands: Hands,
    /// How far it may go, and whether it is about to end.
    pub(crate) limits: EngineLimits,
}

impl Engine {
    pub fn open(config: Config, opening: Opening, now: Time) -> Engine {
        let Opening { counters, .. } = &opening;
        let is_reopened = counters.next_url > 0 || opening.is_taken_over;
        let clock = OwnTime::open(now, counters.clock, is_reopened);
        let admission = Admission::open(&config, opening.rules_fingerprint, counters);
        let books = UrlBooks::open(opening.counters, opening.requisites, opening.mass);
        Engine {
            rng: Rng::new(config.seed ^ clock.own(now).0),
            clock,
            ranking: Ranking::open(&config, opening.link_model),
            frontier: Frontier::open(&config, opening.sleepers, books.counters.run),
            books,
            traffic: Traffic::default(),
            admission,
            outbound: Outbound::open(config.partition, opening.outbound),
            comparing: Comparisons::default(),
            revisiting: config.continuous.map(|c| Revisiting::new(c, opening.scheduler)),
            hands: Hands::open(opening.hands),
            limits: EngineLimits::new(&config),
            config,
        }
    }

    /// Takes one event.
    pub fn step(&mut self, now: Time, event: Event, step: &mut Step) {
        let now = self.clock.own(now);
        match event {
            Event::Seeded { seeds } => self.seeded(seeds, step),
            Event::Fetched { fetch, report } => self.fetched(now, fetch, report, step),
            Event::Resolved { host, answer } => self.resolved(now, host, answer, step),
            Event::Answered(Answer::Sifted(sifted)) => self.sifted(now, sifted, step),
            Event::Answered(Answer::Twinned { pages }) => self.twinned(now, pages, step),
            Event::Answered(Answer::Woken(woken)) => self.woken(now, woken, step),
            Event::Answered(Answer::Refilled { hosts }) => self.refilled(now, hosts, step),
            Event::Answered(Answer::Received { chunks }) => {
                self.admission.outbox.received(&self.books.counters, chunks);
            }
            Event::Answered(Answer::Addressed { urls }) => self.addressed(urls),
            Event::Answered(Answer::Reviewed { found, next }) => self.reviewed(found, next),
            Event::Delivered { from, number, message } => self.delivered(from, number, message),
            Event::Acknowledged { by, number } => self.acknowledged(by, number, step),
            Event::Allowed(allowance) => self.limits.allow(allowance),
            Event::Told(hand) => self.told(now, hand, step),
            Event::Bounded(ceilings) => self.limits.ceilings = ceilings,
            Event::Stopped(reason) => self.limits.stop(reason),
            Event::Tick => {}
        }
    }

    /// Ends a turn: chooses what to fetch, asks what must be known, and writes what changed.
    pub fn conclude(&mut self, now: Time, step: &mut Step) {
        let now = self.clock.own(now);
        self.push_mass(step);
        self.check_limits();
        self.admission.outbox.flush(&mut self.books.counters, step);
        self.conclude_finishing(now);
        self.limits.check_grace(now, self.config.stop_grace);
        self.conclude_review(step);
        self.conclude_outbound(now, step);
        if !self.limits.is_stopping() {
            if !self.begins_nothing() {
                self.dispatch(now, step);
                self.wake(now, step);
                // Those that open now are asked for, or there is no room for them.
                if self.frontier.closed_until <= now {
                    self.frontier.closed_until = Time::ZERO;
                }
            }
            self.frontier.ask_refills(step);
            if let Some(question) =
                self.admission.outbox.ask(&self.books.counters, &mut self.outbound)
            {
                if let Question::Sift { candidates } = &question {
                    self.hands.begin_sift(candidates);
                    self.frontier.since_sift.clear();
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
        self.frontier.write_dirty(step);
        self.conclude_revisiting(now, step);
        self.books.write(now, step);
    }

    /// Ends a crawl that is over: settles what importance is still on its way.
    pub fn last_words(&mut self, step: &mut Step) {
        self.books.mass.push_at_end();
        self.ranking.topic_expected = self.expected_of_topic();
        self.books.mass.write_all(step);
    }

    /// When to be called again though nothing happens, and why.
    pub fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        let (at, why) = self.next_due(self.clock.own(now))?;
        Some((self.clock.world(at), why))
    }

    /// The same in our own time.
    pub(crate) fn next_due(&self, now: Time) -> Option<(Time, &'static str)> {
        if let Some(since) = self.limits.stopping_since() {
            let at = since + self.config.stop_grace;
            return Some((at.max(now), "the grace for requests under way ends"));
        }
        let host = self.frontier.ready.next_due().map(|t| (t, "a host is due"));
        let has_room = self.frontier.awake.len() < self.frontier.awake_limit
            && !self.frontier.sleepers.is_asked();
        let next_sleeper = match self.limits.is_finishing() {
            true => self.frontier.sleepers.next_later(),
            false => self.frontier.sleepers.next_due(),
        };
        let sleeper = next_sleeper.filter(|_| has_room).map(|t| (t, "a sleeping host is due"));
        // Hosts may stand in line for nothing but the budget.
        let waits = !self.frontier.ready.is_empty() && !self.within_budget(now);
        let allows = match self.limits.flow.as_ref().is_some_and(|flow| flow.next(now) > now) {
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

    /// Why the crawl is over, once it is.
    pub fn over(&self) -> Option<StopReason> {
        if self.limits.has_given_up() {
            return self.limits.stopping();
        }
        if !self.traffic.is_empty() || !self.comparing.is_empty() {
            return None;
        }
        if self.limits.is_stopping() {
            return self.limits.stopping();
        }
        // One of several cannot know that the others will send it nothing more, and of what is
        // paused the owner will.
        let may_end = !self.config.partition.is_divided() && !self.hands.is_paused;
        (may_end && self.is_idle()).then(|| self.idle_because())
    }

    /// Why an engine that is idle has nothing to do.
    pub fn idle_because(&self) -> StopReason {
        // What rests because its site has had its share does not fail.
        match self.frontier.resting.failing {
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
        !self.traffic.is_empty()
            || !self.comparing.is_empty()
            || !self.frontier.awake.is_empty()
            || self.admission.review.is_under_way()
            || self.frontier.sleepers.are_any()
            || self.frontier.closed_until > Time::ZERO
            || !self.admission.outbox.is_idle(&self.books.counters)
    }

    /// One of several, with nothing to fetch, has importance to push that others may wait for.
    fn is_pushing(&self) -> bool {
        let partition = self.config.partition;
        partition.is_divided() && !self.has_work() && !self.books.mass.is_at_rest(partition.count)
    }

    /// The owner, or whoever watches over the partition, lets nothing begin now.
    pub(crate) fn begins_nothing(&self) -> bool {
        self.hands.is_paused || self.limits.ceilings.is_held
    }

    pub fn counters(&self) -> &Counters {
        &self.books.counters
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Importance moves on in memory, whatever else happens.
    fn push_mass(&mut self, step: &mut Step) {
        if !self.admission.review.changes_graph()
            && !self.books.mass.awaits_seeds()
            && self.books.mass.refresh()
        {
            self.ranking.policy.restored(&self.books.mass);
        }
        self.books.mass.push_due(self.ranking.policy.pushing());
        let is_divided = self.config.partition.is_divided();
        if is_divided && (self.books.mass.has_none_waiting() || !self.has_work()) {
            self.books.mass.push_at_rest(self.config.partition.count);
        }
        self.books.mass.write(step);
        self.write_link_model(step);
    }

    fn check_limits(&mut self) {
        // Of several partitions, the one that grants allowances ends the crawl at its limits.
        if self.limits.allowance.is_some() {
            return;
        }
        let over = |limit: Option<u64>, value: u64| limit.is_some_and(|max| value >= max);
        let has_requisites = self.config.requisites_max.is_some();
        if over(self.config.pages_max, self.books.counters.pages) {
            self.limits.stop_with_requisites(StopReason::Pages, has_requisites);
        }
        if over(self.config.bytes_max, self.books.counters.bytes) {
            self.limits.stop(StopReason::Bytes);
        }
        // Of several partitions, whoever sums their books stops them.
        let is_alone = !self.config.partition.is_divided();
        let wanted = self.config.coverage.filter(|_| is_alone && !self.limits.is_stopping());
        let Some(wanted) = wanted else { return };
        let Some((bound, ceiling)) = self.bound_and_ceiling() else { return };
        if bound >= wanted {
            self.limits.stop_with_requisites(StopReason::Coverage, has_requisites);
        } else if ceiling < wanted {
            self.limits.stop(StopReason::CoverageOutOfReach);
        }
    }

    pub fn hosts_awake(&self) -> usize {
        self.frontier.awake.len()
    }

    pub fn mass(&self) -> &Mass {
        &self.books.mass
    }

    /// An estimate of the heap that the engine holds, from the lengths of its parts; the books of
    /// importance, which grow with known URLs, are apart.
    pub fn heap_bytes(&self) -> usize {
        self.frontier.heap_bytes()
            + self.traffic.heap_bytes()
            + self.admission.requisites.heap_bytes()
            + self.comparing.heap_bytes()
            + (self.admission.outbox.held_len() + self.outbound.held_len()) * DISCOVERY_BYTES
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
            + SiteBudgets::HEAP_BYTES_MAX
            + RecentRequisites::HEAP_BYTES_MAX
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

pub(crate) const DISCOVERY_BYTES: usize = size_of::<Discovery>() + 96;
