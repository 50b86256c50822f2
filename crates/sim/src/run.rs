//! A simulated crawl from seeds to the end, through crashes, and the checks that need the end.

use crate::check::{Checker, Point, Tally, Violation};
use crate::mutant::{Mutant, Subject};
use crate::scenario::Scenario;
use crate::store::{CrashPlan, Shared, SharedRef, SimArchive, SimState};
use crate::web::{Scope, Web};
use crate::world::{SimWorld, Visited};
use rhumb_engine::config::Config;
use rhumb_engine::counters::Counters;
use rhumb_engine::discovery::{Discovery, FoundAs};
use rhumb_engine::engine::{Engine, Opening};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::record::{Refusal, Status};
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{self, Archive};
use rhumb_state::memory::{MemoryRows, MemoryState};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Virtual time begins here: 2026-01-01.
pub const BEGINNING: Time = Time(1_767_225_600_000_000);
/// A process that died is started again after so long.
const DOWNTIME: Span = Span::secs(3);

/// What a simulated crawl came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    pub violations: Vec<Violation>,
    pub counters: Counters,
    pub tally: Tally,
    pub virtual_time: Span,
    pub heap_bytes_peak: usize,
    pub heap_bytes_bound: usize,
    /// Of all actions and URL rows: equal for equal seeds.
    pub digest: u64,
    pub curve: Vec<Point>,
    pub stopped: Option<StopReason>,
    /// Of a crawl that goes on: what each visit to a page brought, in order.
    pub visits: Vec<Visited>,
}

pub fn simulate(scenario: &Scenario, mutant: Option<Mutant>) -> Simulated {
    let web = Rc::new(Web::new(scenario.web.clone()));
    let seed = scenario.config.seed;
    let shared: SharedRef = Rc::new(RefCell::new(Shared {
        clock: BEGINNING,
        skew_us: 0,
        state: MemoryState::new(seed),
        checker: Checker::new(&scenario.config, BEGINNING),
        crash: CrashPlan::new(seed, scenario.faults.crashes),
        held: BTreeMap::new(),
    }));
    shared.borrow_mut().checker.oracle.trust(&web.seeds());
    let mut world = SimWorld::new(Rc::clone(&web), Rc::clone(&shared), scenario.faults, seed);
    world.stop_at = scenario.time_max.map(|span| BEGINNING + span);
    world.keeps_visits = scenario.config.continuous.is_some();
    let bound = heap_bound(scenario);
    let mut peak = 0;
    let mut runs = scenario.before.iter().chain([&scenario.config]);
    let (mut config, mut is_later) = (runs.next().expect("at least one run"), false);
    let stopped = loop {
        let life = live(config, is_later, &web, &shared, &mut world, mutant, &mut peak);
        match life {
            Ok(reason) => {
                check_limit(config, &mut shared.borrow_mut());
                let Some(next) = runs.next() else { break Some(reason) };
                (config, is_later) = (next, true);
                world.forget();
                shared.borrow_mut().pause(DOWNTIME);
            }
            Err(e)
                if e.kind == ErrorKind::Crash && shared.borrow().checker.violations.is_empty() =>
            {
                let shared = &mut *shared.borrow_mut();
                shared.checker.crashed(shared.clock);
                shared.skew_us += scenario.faults.clock_jump_s * 1_000_000;
                world.forget();
                shared.pause(DOWNTIME);
            }
            Err(_) => break None,
        }
    };
    let shared = &mut *shared.borrow_mut();
    if peak > bound {
        shared.checker.violated(8, format!("{peak} bytes of engine, the bound is {bound}"));
    }
    if stopped == Some(StopReason::Finished) {
        check_end(&web, &shared.state.rows, &mut shared.checker);
    }
    check_books(&shared.state.rows, &mut shared.checker);
    Simulated {
        violations: shared.checker.violations.clone(),
        counters: shared.state.rows.counters.clone(),
        tally: shared.checker.tally.clone(),
        virtual_time: shared.clock.since(BEGINNING),
        heap_bytes_peak: peak,
        heap_bytes_bound: bound,
        digest: shared.checker.digest(),
        curve: std::mem::take(&mut shared.checker.curve),
        stopped,
        visits: std::mem::take(&mut world.visits),
    }
}

/// One life of the process: from opening to the end, or to its death.
fn live(
    config: &Config,
    is_later: bool,
    web: &Web,
    shared: &SharedRef,
    world: &mut SimWorld,
    mutant: Option<Mutant>,
    peak: &mut usize,
) -> Result<StopReason, Error> {
    let opening: Opening = shared.borrow_mut().state.reopen();
    shared.borrow_mut().state.compare_texts(config.near.threshold);
    let now = shared.borrow().told(shared.borrow().clock);
    let mut config = config.clone();
    shared.borrow().state.rows.seeds.keys().for_each(|seed| config.scope.add(seed));
    let mut subject = Subject::new(Engine::open(config, opening, now), mutant);
    // The owner names the seeds at every start; those known already change nothing.
    let seeds = web.seeds().into_iter();
    let seeds = seeds.map(|url| {
        let seed = Discovery { url, kind: FoundAs::Seed, depth: 0, hops: 0, from: None };
        (seed, 1.0)
    });
    world.send(Span::ZERO, Event::Seeded { seeds: seeds.collect() });
    if is_later {
        reconsider(&shared.borrow().state.rows, world);
    }
    let mut archive = Gauge { inner: SimArchive(Rc::clone(shared)) };
    let mut state = SimState(Rc::clone(shared));
    let mut watched =
        Watched { subject: &mut subject, peak, turns: 0, measure_at: 1, shared: Rc::clone(shared) };
    let end = turn::run(&mut watched, &mut archive, &mut state, world);
    if let Err(error) = &end
        && error.kind != ErrorKind::Crash
    {
        let snapshot = subject.engine.snapshot(shared.borrow().clock);
        let why = snapshot.why_idle().unwrap_or_default();
        shared.borrow_mut().checker.violated(4, format!("{error} ({why}): {snapshot:?}"));
    }
    end
}

/// Refused URLs in one event, as few as to need several.
const RECONSIDERED_MAX: usize = 100;

/// Rules may have changed since the run before: what they refused is judged again.
fn reconsider(rows: &MemoryRows, world: &mut SimWorld) {
    let refused = rows.urls.iter().filter(|(_, r)| matches!(r.status, Status::Refused(_)));
    let all: Vec<Discovery> = refused
        .map(|(key, record)| {
            let (depth, hops) = (record.depth, record.hops);
            Discovery { url: key.url(), kind: FoundAs::Rejudge, depth, hops, from: None }
        })
        .collect();
    let parts = all.len().div_ceil(RECONSIDERED_MAX);
    for (n, part) in all.chunks(RECONSIDERED_MAX).enumerate() {
        let event = Event::Reconsidered { discoveries: part.to_vec(), more: n + 1 < parts };
        world.send(Span::millis(n as u64), event);
    }
}

/// A run ends at its limit and not beyond it.
fn check_limit(config: &Config, shared: &mut Shared) {
    let pages = shared.state.rows.counters.pages;
    if let Some(max) = config.pages_max.filter(|max| pages > *max) {
        shared.checker.violated(5, format!("{pages} pages, {max} were asked for"));
    }
}

/// The archive as the loop sees it.
struct Gauge {
    inner: SimArchive,
}

impl Archive for Gauge {
    fn append(&mut self, keeps: &mut Vec<rhumb_engine::event::Keep>) -> Result<(), Error> {
        self.inner.append(keeps)
    }
}

/// Measures the subject's memory now and then.
struct Watched<'a> {
    subject: &'a mut Subject,
    peak: &'a mut usize,
    turns: u64,
    measure_at: u64,
    shared: SharedRef,
}

/// Turns between two measurements of memory, which walk over all awake hosts: at least this many …
const MEASURE_EVERY: u64 = 64;
/// … and so many that no turn pays for more hosts than this.
const MEASURED_PER_TURN: u64 = 16;
/// Turns between two comparisons of the proven coverage with the true one.
const COMPARE_EVERY: u64 = 48;
/// … and the square of how often a web has so many URLs: it takes longer, and has more turns.
const COMPARE_SIZE: u64 = 5_000;

impl turn::Machine for Watched<'_> {
    fn step(&mut self, now: Time, event: Event, step: &mut rhumb_engine::event::Step) {
        self.subject.step(now, event, step);
    }

    fn conclude(&mut self, now: Time, step: &mut rhumb_engine::event::Step) {
        self.subject.conclude(now, step);
        self.turns += 1;
        if self.turns >= self.measure_at {
            let hosts = self.subject.hosts_awake() as u64;
            self.measure_at = self.turns + MEASURE_EVERY.max(hosts / MEASURED_PER_TURN);
            *self.peak = self.subject.heap_bytes().max(*self.peak);
        }
    }

    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        self.subject.next_wakeup(now)
    }

    /// Asked after each commit: the moment to compare the books with the truth.
    fn over(&self) -> Option<StopReason> {
        let over = self.subject.over();
        // The truth of a larger web takes longer to compute.
        let size = self.subject.engine.mass().ledger().nodes_len() as u64;
        let every = COMPARE_EVERY * (1 + size / COMPARE_SIZE).pow(2);
        if over.is_some() || self.turns.is_multiple_of(every) {
            let is_end = over == Some(StopReason::Finished);
            let engine = &self.subject.engine;
            let pages = engine.counters().pages;
            self.shared.borrow_mut().checker.importance(engine.mass(), pages, is_end);
        }
        over
    }
}

/// Pages of the synthetic web have at most so many links, and robots.txt such rules.
const LINKS_MAX: usize = 400;
const RULES_BYTES_MAX: usize = 4_096;

fn heap_bound(scenario: &Scenario) -> usize {
    Engine::heap_bound(&scenario.config, LINKS_MAX, RULES_BYTES_MAX)
}

/// What must hold when nothing is left to do.
fn check_end(web: &Web, rows: &MemoryRows, checker: &mut Checker) {
    for (key, record) in &rows.urls {
        if record.status == Status::Queued || record.place.is_some() {
            let host = rows.hosts.get(&key.host_key());
            let (status, place) = (record.status, record.place);
            checker.violated(
                4,
                format!("forgotten: {} ({status:?}, {place:?}) of {host:?}", key.url()),
            );
        }
    }
    if !rows.queue.is_empty() || !rows.sleep.is_empty() || !rows.outbox.is_empty() {
        let (q, s, o) = (rows.queue.len(), rows.sleep.len(), rows.outbox.len());
        checker.violated(4, format!("left over: {q} queued, {s} asleep, {o} in the outbox"));
    }
    let answered = |status: Status| matches!(status, Status::Fetched | Status::Duplicate);
    let found: std::collections::BTreeSet<(u32, u32)> = rows
        .urls
        .iter()
        .filter(|(_, record)| answered(record.status))
        .filter_map(|(key, _)| {
            let place = web.original(web.place(&key.url())?);
            match place.what {
                crate::web::What::Page(n) => Some((place.site, n)),
                _ => None,
            }
        })
        .collect();
    let seeds: Vec<_> = web.seeds();
    let expected = web.reachable(&seeds, Scope::Any).pages(web);
    for (site, n) in expected.difference(&found) {
        checker.violated(4, format!("page {n} of site {site} can be reached and was not found"));
    }
}

/// The counters against a recount.
fn check_books(rows: &MemoryRows, checker: &mut Checker) {
    let mut recount = Counters::default();
    for record in rows.urls.values() {
        recount.known += 1;
        match record.status {
            Status::Refused(why) => {
                *recount.refused_as(why) += 1;
                recount.admitted += u64::from(why == Refusal::Robots);
            }
            Status::Failed(kind) => {
                *recount.failed_as(kind) += 1;
                recount.admitted += 1;
            }
            _ => recount.admitted += 1,
        }
        recount.queued += u64::from(record.place.is_some());
        recount.pages += u64::from(answered_as_page(record));
    }
    let counters = &rows.counters;
    let mut compare = |name: &str, booked: u64, counted: u64| {
        if booked != counted {
            checker.violated(5, format!("{name}: {booked} booked, {counted} counted"));
        }
    };
    compare("known", counters.known, recount.known);
    compare("admitted", counters.admitted, recount.admitted);
    compare("queued", counters.queued, recount.queued);
    compare("queue rows", counters.queued, rows.queue.len() as u64);
    compare("host rows", counters.hosts, rows.hosts.len() as u64);
    compare("queued by hosts", counters.queued, rows.hosts.values().map(|h| h.queued).sum());
    compare("pages by hosts", counters.pages, rows.hosts.values().map(|h| h.pages).sum());
    for why in Refusal::ALL {
        compare(why.word(), counters.refused[why as usize], recount.refused[why as usize]);
    }
    let visited = rows.urls.values().any(|r| r.visits > 1);
    if !visited {
        compare("pages", counters.pages, recount.pages);
        for (kind, (booked, counted)) in rhumb_engine::outcome::FailKind::ALL
            .iter()
            .zip(counters.failed.iter().zip(recount.failed))
        {
            compare(kind.word(), *booked, counted);
        }
    }
}

fn answered_as_page(record: &rhumb_engine::record::UrlRecord) -> bool {
    matches!(record.status, Status::Fetched | Status::Duplicate) && record.content.is_some()
}
