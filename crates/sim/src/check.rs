//! The watch: what must never happen, whatever the seed and the faults.
//!
//! 1. One fetch per host at a time, at most N per address, never sooner than the delay, also
//!    across a restart; none outside its hours, and no more bytes than the rate gives. 2. No fetch
//!    against the robots in force, or before they are known. 3. A URL is admitted once, and not
//!    fetched again unless it is due. 4. Every admitted URL is fetched, refused or due; every page
//!    that can be reached is found. 5. The books balance: the counters are what a recount of the
//!    rows gives; no importance is made or lost but by rounding, nor paid twice between partitions,
//!    and the bound on what is covered never exceeds the truth. 6. Same seed, same actions. 7. A
//!    row never claims what the archive lacks; a crash repeats at most what was in flight. 8. The
//!    engine's memory stays under its stated bound.

use crate::mutant::{Mutant, bound_on_topic};
use crate::web::Web;
use crate::world::puts_rules_in_force;
use crate::written::{Complaints, WrittenState};
use rhumb_engine::config::Config;
use rhumb_engine::event::{Action, FetchId, FetchOrder, Purpose, Question, Row};
use rhumb_engine::hours::Hours;
use rhumb_engine::mass::Mass;
use rhumb_engine::outcome::{FailKind, FetchReport, Outcome, RobotsAnswer};
use rhumb_engine::partition::Partition;
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::{Span, Time};
use rhumb_page::url::{HostKey, Url};
use rhumb_state::memory::MemoryRows;
use rhumb_state::plain::PlainMap;
use std::collections::BTreeMap;
use std::net::IpAddr;
use xxhash_rust::xxh3::Xxh3;

/// Violations kept; more of the same tell nothing new.
const VIOLATIONS_MAX: usize = 20;
/// What floating point may make of the truth.
const TRUTH_ERROR: f64 = 1e-9;
/// What may be left unproven at the end of a crawl that came to its end: what lies on crawled pages
/// then, and some rounding.
const SLACK_MAX: f64 = 1e-4;
/// … and as much again for each so many pages: the last settling of a large crawl is cut short.
const SLACK_PAGES: f64 = 10_000.0;

pub struct Checker {
    polite: rhumb_engine::config::Polite,
    hours: Hours,
    rate: Rate,
    partitions: u32,
    revisits: bool,
    began: Time,
    /// The present, for what is said of it.
    pub now: Time,
    hosts: PlainMap<HostKey, HostWatch>,
    /// Of each place the partition, and by what requests to an address are counted: by partition
    /// where all are on one machine, else by node.
    places: Vec<(u32, u32)>,
    addresses: PlainMap<(u32, IpAddr), u32>,
    open: BTreeMap<(usize, FetchId), (HostKey, IpAddr)>,
    /// Of each partition the place of the last owner that was allowed to fetch; of a crawl on one
    /// machine none.
    fetchers: BTreeMap<u32, usize>,
    /// What it knows of rows and archive.
    pub written: WrittenState,
    digest: Xxh3,
    pub violations: Vec<Violation>,
    pub first_violation: Option<Time>,
    is_unbalanced: bool,
    pub tally: Tally,
    /// One point for each comparison.
    pub curve: Vec<Point>,
}

/// How far a crawl had come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub pages: u64,
    pub since: Span,
    /// The share of importance that was proven then, and what the links prove at best.
    pub bound: f64,
    pub truth: f64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub invariant: u8,
    pub what: String,
}

/// What happened, for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub fetches: u64,
    pub robots_fetches: u64,
    /// Times that a process died, and for how many of them power was cut.
    pub crashes: u64,
    pub power_cuts: u64,
    pub rows: u64,
    pub repeated: u64,
    /// From partition to partition.
    pub messages: u64,
}

#[derive(Default)]
struct HostWatch {
    place: usize,
    open: bool,
    rest_until: Time,
    /// When its last answer came, or its last connection ended.
    ended: Time,
    crawl_delay: Span,
    rules_known: bool,
    /// What the last response said is not yet on record: a crash would forget it.
    unwritten: bool,
}

impl Checker {
    /// `runs` are the rules of each run, one after the other.
    pub fn new(runs: Vec<Config>, partitions: u32, began: Time) -> Checker {
        let config = runs.last().expect("at least one run");
        Checker {
            partitions,
            began,
            now: began,
            polite: config.polite,
            hours: config.hours.clone(),
            rate: Rate::of(config, began),
            revisits: config.revisit_after.is_some() || config.continuous.is_some(),
            hosts: PlainMap::default(),
            places: (0..partitions).map(|part| (part, part)).collect(),
            addresses: PlainMap::default(),
            open: BTreeMap::new(),
            fetchers: BTreeMap::new(),
            written: WrittenState::new(runs),
            digest: Xxh3::new(),
            violations: Vec::new(),
            first_violation: None,
            is_unbalanced: false,
            tally: Tally::default(),
            curve: Vec::new(),
        }
    }

    /// What came to partitions, what went from them, and what is on its way make nought.
    pub fn exchange(&mut self, parts: &[&MemoryRows]) {
        let mut sum: i128 = 0;
        for (own, rows) in parts.iter().enumerate() {
            sum += rows.moved.values().map(|&mass| i128::from(mass)).sum::<i128>();
            for ((to, number), message) in &rows.messages {
                let taken = parts[*to as usize].numbers.taken.get(own).copied().unwrap_or(0);
                if *number > taken {
                    sum += message.iter().map(|item| i128::from(item.mass)).sum::<i128>();
                }
            }
        }
        // Once is enough: it stays so.
        if sum != 0 && !std::mem::replace(&mut self.is_unbalanced, true) {
            self.violated(5, format!("{sum} of 2^60 were paid twice between partitions, or lost"));
        }
    }

    pub fn violated(&mut self, invariant: u8, what: impl Into<String>) {
        self.first_violation.get_or_insert(self.now);
        if self.violations.len() < VIOLATIONS_MAX {
            let at = self.now.since(self.began).as_secs_f64();
            let what = format!("at {at:.3} s: {}", what.into());
            self.violations.push(Violation { invariant, what });
        }
    }

    pub fn digest(&self) -> u64 {
        self.digest.digest()
    }

    /// No place is known yet: partitions lie on nodes.
    pub fn on_nodes(mut self) -> Checker {
        self.places.clear();
        self
    }

    /// There is another place; requests to an address are counted together with those of the same
    /// group.
    pub fn add_place(&mut self, part: u32, group: u32) {
        self.places.push((part, group));
    }

    /// `is_current` if nobody has taken the partition over.
    pub fn fetch_began(
        &mut self,
        (place, is_current): (usize, bool),
        now: Time,
        fetch: &FetchOrder,
        web: &Web,
    ) {
        self.tally.fetches += 1;
        let (part, group) = self.places[place];
        // The host that is asked, which for a redirected robots.txt is not the one that asks.
        let host = fetch.url.host_key();
        let watch = self.hosts.entry(host.clone()).or_default();
        let (open, rest_until, rules_known) = (watch.open, watch.rest_until, watch.rules_known);
        (watch.open, watch.place) = (true, place);
        let flying = self.addresses.entry((group, fetch.address)).or_default();
        *flying += 1;
        let flying = *flying;
        self.open.insert((place, fetch.id), (host, fetch.address));
        let url = &fetch.url;
        if !(Partition { own: part, count: self.partitions }).owns(url) {
            self.violated(1, format!("partition {part} asks another's host: {url}"));
        }
        if self.fetchers.get(&part).is_some_and(|fetcher| *fetcher != place) {
            self.violated(1, format!("two nodes fetch for partition {part}: {url}"));
        }
        let rules = [self.hours.of_host(&url.host_key()), self.hours.of_url(url)];
        if rules.into_iter().flatten().any(|rule| rule.opens(now).is_some()) {
            self.violated(1, format!("outside its hours: {url}"));
        }
        if open {
            self.violated(1, format!("two requests open to one host: {url}"));
        }
        if now < rest_until {
            let early = rest_until.since(now).as_secs_f64();
            self.violated(1, format!("{early:.3} s sooner than its host's delay: {url}"));
        }
        if flying > u32::from(self.polite.per_address) {
            let max = self.polite.per_address;
            let address = fetch.address;
            self.violated(1, format!("{flying} requests open to {address}, {max} may be: {url}"));
        }
        match fetch.purpose {
            Purpose::Robots => self.tally.robots_fetches += 1,
            // An owner that does not know yet that it is none goes by rows that nobody reads.
            _ if !is_current => {}
            purpose => self.page_began((url, purpose), rules_known, web),
        }
    }

    fn page_began(&mut self, (url, purpose): (&Url, Purpose), rules_known: bool, web: &Web) {
        if !web.permits(url) {
            self.violated(2, format!("robots forbid {url}"));
        }
        let rules = self.written.oracle.rules();
        let is_admitted = match purpose {
            Purpose::Requisite | Purpose::Stylesheet => is_admitted_requisite(rules, url),
            _ => is_admitted(rules, url),
        };
        if !is_admitted {
            self.violated(3, format!("fetched though the rules in force leave it out: {url}"));
        }
        if !rules_known {
            self.violated(2, format!("fetched before robots.txt: {url}"));
        }
        match self.written.is_done(url) {
            None => self.violated(3, format!("fetched though no row admits it: {url}")),
            Some(true) if !self.revisits => {
                self.violated(7, format!("fetched again though its visit is on record: {url}"));
            }
            Some(_) => {}
        }
    }

    pub fn fetch_ended(
        &mut self,
        (place, is_current): (usize, bool),
        now: Time,
        fetch: &FetchOrder,
        report: &FetchReport,
    ) {
        let (part, group) = self.places[place];
        if is_current && fetch.purpose != Purpose::Robots {
            self.written.answered(part, &fetch.url, report);
        }
        // Of a node that stood still, it ended when the lease did.
        let Some((host, address)) = self.open.remove(&(place, fetch.id)) else { return };
        *self.addresses.get_mut(&(group, address)).expect("its address") -= 1;
        if let Some(what) = self.rate.received(now, report.bytes) {
            self.violated(1, what);
        }
        let polite = self.polite;
        let watch = self.hosts.get_mut(&host).expect("its host");
        watch.open = false;
        watch.unwritten = true;
        if fetch.purpose == Purpose::Robots && fetch.host == host {
            watch.rules_known |= puts_rules_in_force(&report.outcome);
            if let Outcome::Robots(RobotsAnswer::Rules(robots)) = &report.outcome {
                let asked = robots.crawl_delay().map_or(0, |d| d.as_micros() as u64);
                watch.crawl_delay = Span(asked).min(polite.delay_max);
            }
        }
        // Where no connection was made, the server had no part in how long it took.
        let is_slow = report.outcome.failed_as() != Some(FailKind::Connect);
        let took = if is_slow { report.took } else { Span::ZERO };
        let slow = took.times(polite.delay_factor).min(polite.delay_max);
        watch.rest_until = now + polite.delay.max(slow).max(watch.crawl_delay);
        watch.ended = now;
    }

    /// A process is gone, by a stop or a crash; how many requests were under way.
    pub fn connections_ended(&mut self, place: usize, now: Time) -> u64 {
        let (_, group) = self.places[place];
        let (dead, open) =
            std::mem::take(&mut self.open).into_iter().partition(|((of, _), _)| *of == place);
        self.open = open;
        let dead: BTreeMap<(usize, FetchId), (HostKey, IpAddr)> = dead;
        let count = dead.len() as u64;
        for (host, address) in dead.into_values() {
            *self.addresses.get_mut(&(group, address)).expect("its address") -= 1;
            let watch = self.hosts.get_mut(&host).expect("its host");
            watch.open = false;
            watch.ended = now;
            watch.rest_until = watch.rest_until.max(now + self.polite.delay);
        }
        // Only the owner's delay is certain to survive; what a lost response asked for is not.
        let is_lost = |watch: &&mut HostWatch| watch.unwritten && watch.place == place;
        for watch in self.hosts.values_mut().filter(is_lost) {
            watch.rest_until = now + self.polite.delay;
            watch.crawl_delay = Span::ZERO;
        }
        count
    }

    /// A partition falls back to what is left of it: rows and archive are that, and of hosts only
    /// the owner's delay is certain to be known.
    pub fn fell_back(&mut self, part: u32, now: Time, left: WrittenState, rows: &MemoryRows) {
        self.written = left;
        let Checker { hosts, places, polite, .. } = self;
        for watch in hosts.values_mut().filter(|watch| places[watch.place].0 == part) {
            watch.rest_until = now + polite.delay;
            watch.crawl_delay = Span::ZERO;
        }
        let complaints = self.written.unkept(rows);
        self.complain(complaints);
    }

    /// An owner of a partition begins, on another machine perhaps: it knows what is in these rows.
    pub fn begins_anew(&mut self, place: usize, now: Time, rows: &MemoryRows) {
        let (part, _) = self.places[place];
        self.fetchers.insert(part, place);
        let Checker { hosts, places, polite, .. } = self;
        for (host, watch) in hosts.iter_mut().filter(|(_, watch)| places[watch.place].0 == part) {
            watch.rest_until = now.max(watch.ended) + polite.delay;
            if !rows.robots.contains_key(host) {
                watch.crawl_delay = Span::ZERO;
            }
        }
        let complaints = self.written.unkept(rows);
        self.complain(complaints);
    }

    fn complain(&mut self, complaints: Complaints) {
        complaints.into_iter().for_each(|(invariant, what)| self.violated(invariant, what));
    }

    pub fn row(&mut self, place: usize, row: &Row) {
        let (part, _) = self.places[place];
        self.tally.rows += 1;
        match row {
            Row::Message { message: Some(_), .. } => self.tally.messages += 1,
            Row::Host { key, .. } => {
                if let Some(watch) = self.hosts.get_mut(key) {
                    watch.unwritten = false;
                }
            }
            Row::Url { key, record } if record.status != RecordStatus::Foreign => {
                self.digest.update(key.as_bytes());
                self.digest.update(&[record.past.visits as u8]);
            }
            _ => {}
        }
        let complaints = self.written.row(part, row);
        self.complain(complaints);
    }

    /// The engines' books of importance after a commit; `is_end` if no more will come.
    pub fn importance(
        &mut self,
        (books, mutant): (&[&Mass], Option<Mutant>),
        pages: u64,
        is_end: bool,
    ) {
        // Books that are still being made from the rows balance nothing yet.
        for mass in books.iter().filter(|mass| !mass.is_stale()) {
            if let Err(wrong) = mass.ledger().audit() {
                self.violated(5, wrong);
            }
        }
        // Of a partition that is down nobody knows the books.
        if books.len() < self.partitions as usize {
            return;
        }
        let Some(sums) = Mass::sums_of_all(books.iter().copied()) else { return };
        let (bound, truth) = match self.written.oracle.rules().topic {
            Some(_) => (bound_on_topic(mutant, &sums), self.written.oracle.covered_of_topic()),
            None => (sums.of_importance().bound, self.written.oracle.covered()),
        };
        let since = self.now.since(self.began);
        self.curve.push(Point { pages, since, bound, truth });
        if bound > truth + TRUTH_ERROR {
            self.violated(5, format!("{bound} of importance covered, they say; it is {truth}"));
        }
        if is_end && bound < truth - SLACK_MAX * (1.0 + pages as f64 / SLACK_PAGES) {
            self.violated(5, format!("{truth} of importance is covered; {bound} is proven"));
        }
    }

    /// For the comparison of two runs of one seed.
    pub fn acted(&mut self, action: &Action) {
        match action {
            Action::Fetch(fetch) => {
                self.digest.update(&fetch.id.0.to_le_bytes());
                self.digest.update(fetch.url.as_str().as_bytes());
            }
            Action::Resolve { host } => self.digest.update(host.as_str().as_bytes()),
            Action::Acknowledge { to, number } => {
                self.digest.update(&to.to_le_bytes());
                self.digest.update(&number.to_le_bytes());
            }
            Action::Log(_) => {}
            Action::Ask(question) => {
                let (kind, len) = match question {
                    Question::Sift { candidates } => (1u8, candidates.len()),
                    Question::Twin { pages } => (2, pages.len()),
                    Question::Wake(wake) => (3, wake.classes.len()),
                    Question::Refill { hosts } => (4, hosts.len()),
                    Question::Receive { chunks_max, .. } => (5, *chunks_max),
                    Question::Addresses { nodes } => (6, nodes.len()),
                    Question::Review { wanted, .. } => (7, usize::from(wanted.refused)),
                };
                self.digest.update(&[kind]);
                self.digest.update(&(len as u64).to_le_bytes());
            }
        }
    }
}

/// Bytes against the rate that the owner set.
struct Rate {
    bytes_per_s: Option<u64>,
    in_flight_max: u64,
    began: Time,
    received: u64,
    largest: u64,
}

impl Rate {
    /// What may come at once beyond the rate, in seconds of it, and for each crash once more.
    const BURST_S: f64 = 2.0;

    fn of(config: &Config, began: Time) -> Rate {
        let (bytes_per_s, in_flight_max) = (config.bytes_per_s, config.concurrency as u64);
        Rate { bytes_per_s, in_flight_max, began, received: 0, largest: 0 }
    }

    /// Takes account of an answer; what is wrong with it.
    fn received(&mut self, now: Time, bytes: u64) -> Option<String> {
        let bytes_per_s = self.bytes_per_s? as f64;
        self.received += bytes;
        self.largest = self.largest.max(bytes);
        let given = (now.since(self.began).as_secs_f64() + Rate::BURST_S) * bytes_per_s;
        let in_flight = (self.in_flight_max * self.largest) as f64;
        let is_much = self.received as f64 > given + in_flight;
        is_much.then(|| format!("{} bytes received, {given:.0} may be", self.received))
    }
}

/// Of whatever host.
fn is_admitted_requisite(config: &Config, url: &Url) -> bool {
    config.requisites_max.is_some() && config.rules.excluding(url).is_none()
}

/// The filters of scenarios leave no seed out.
fn is_admitted(config: &Config, url: &Url) -> bool {
    config.scope.admits(url) && config.rules.admits(url)
}
