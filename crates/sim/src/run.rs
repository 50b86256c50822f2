//! A simulated crawl from seeds to the end, through crashes, and what it came to.

use crate::check::{Checker, Point, Tally, Violation};
use crate::cluster::SimCluster;
use crate::cluster::plan::{ClusterPlan, ClusterTally};
use crate::drive::Drive;
use crate::end;
use crate::history::History;
use crate::mail::Mail;
use crate::mutant::Mutant;
use crate::power::Disk;
use crate::scenario::Scenario;
use crate::store::{CrashPlan, DurablePart, Shared, SharedRef};
use crate::web::Web;
use crate::world::Visited;
use rhumb_engine::config::Config;
use rhumb_engine::counters::Counters;
use rhumb_engine::engine::Engine;
use rhumb_engine::event::StopReason;
use rhumb_engine::partition::Partition;
use rhumb_engine::time::{Span, Time};
use rhumb_state::memory::MemoryRows;
use rhumb_state::plain::PlainMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Virtual time begins here: 2026-01-01.
pub const BEGINNING: Time = Time(1_767_225_600_000_000);

/// An owner runs a crawl again in which something failed, after this time, so often at most.
const COMES_AGAIN_AFTER: Span = Span::secs(5_000);
const RUNS_MAX: u32 = 20;

/// What a simulated crawl came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    pub violations: Vec<Violation>,
    /// Of all partitions together.
    pub counters: Counters,
    /// Requisites fetched.
    pub requisites: u64,
    pub tally: Tally,
    pub virtual_time: Span,
    /// Of the engine that holds most.
    pub heap_bytes_peak: usize,
    pub heap_bytes_bound: usize,
    /// Of all actions and URL rows: equal for equal seeds.
    pub digest: u64,
    pub curve: Vec<Point>,
    pub stopped: Option<StopReason>,
    /// Of a crawl that goes on: what each visit to a page brought, in order.
    pub visits: Vec<Visited>,
    /// Of many machines: what happened to them.
    pub cluster: Option<ClusterTally>,
}

pub fn simulate(scenario: &Scenario, mutant: Option<Mutant>) -> Simulated {
    if let Some(plan) = scenario.cluster {
        return simulate_cluster(scenario, plan, mutant);
    }
    let web = Rc::new(Web::new(scenario.web.clone()));
    let seed = scenario.config.seed;
    let mut checker =
        Checker::new(scenario.runs().cloned().collect(), scenario.partitions, BEGINNING);
    checker.written.oracle.trust(&web.seeds());
    let part = |own: u32| {
        let (seed, cuts) = (seed ^ u64::from(own) << 32, scenario.faults.power_cuts);
        let disk = (cuts > 0).then(Disk::default);
        DurablePart::new(own, seed, CrashPlan::new(seed, scenario.faults.crashes, cuts), disk)
    };
    let history = (scenario.faults.power_cuts > 0).then(|| History::new(checker.written.clone()));
    let parts = (0..scenario.partitions).map(part).collect();
    let shared = shared(scenario, parts, checker, history);
    let mut drive = Drive::new(scenario, &web, &shared, mutant);
    let mut stopped = None;
    for (n, config) in scenario.runs().enumerate() {
        stopped = drive.run(config, n);
        if stopped.is_none() {
            break;
        }
    }
    let last = scenario.runs().count() - 1;
    // The owner comes again as long as something failed that may recover.
    for _ in 0..RUNS_MAX {
        let fails = |part: &DurablePart| end::is_worth_another_run(&web, &part.state.rows);
        if !is_at_end(stopped) || !shared.borrow().parts.iter().any(fails) {
            break;
        }
        let clock = shared.borrow().clock;
        shared.borrow_mut().clock = clock + COMES_AGAIN_AFTER;
        stopped = drive.run(&scenario.config, last);
    }
    let (peak, bound) = (drive.heap_bytes_peak(), heap_bound(scenario));
    let visits = drive.take_visits();
    let Shared { clock, checker, parts, .. } = &mut *shared.borrow_mut();
    if peak > bound {
        checker.violated(8, format!("{peak} bytes of engine, the bound is {bound}"));
    }
    if is_at_end(stopped) {
        let rows: Vec<&MemoryRows> = parts.iter().map(|part| &part.state.rows).collect();
        end::check_end(&web, &rows, checker);
    }
    parts.iter().for_each(|part| end::check_books(&part.state.rows, checker));
    let requisites = parts.iter().map(|part| part.state.rows.requisites.fetched).sum();
    let counters = parts.iter().map(|part| part.state.rows.counters.clone());
    Simulated {
        counters: counters.reduce(|sum, more| sum.plus(&more)).expect("at least one partition"),
        requisites,
        violations: checker.violations.clone(),
        tally: checker.tally.clone(),
        virtual_time: clock.since(BEGINNING),
        heap_bytes_peak: peak,
        heap_bytes_bound: bound,
        digest: checker.digest(),
        curve: std::mem::take(&mut checker.curve),
        stopped,
        visits,
        cluster: None,
    }
}

/// The same on many machines. What counts in the end is what the bucket has.
fn simulate_cluster(scenario: &Scenario, plan: ClusterPlan, mutant: Option<Mutant>) -> Simulated {
    let web = Rc::new(Web::new(scenario.web.clone()));
    let runs = scenario.runs().cloned().collect();
    let mut checker = Checker::new(runs, scenario.partitions, BEGINNING).on_nodes();
    checker.written.oracle.trust(&web.seeds());
    let history = Some(History::new(checker.written.clone()));
    let shared = shared(scenario, Vec::new(), checker, history);
    let mut cluster = SimCluster::new(scenario, plan, &web, &shared, mutant);
    let mut stopped = cluster.run();
    for _ in 0..RUNS_MAX {
        let fails = |rows: &MemoryRows| end::is_worth_another_run(&web, rows);
        if !is_at_end(stopped) || !cluster.copies().iter().any(fails) {
            break;
        }
        cluster.go_on_after(COMES_AGAIN_AFTER);
        stopped = cluster.run();
    }
    let copies = cluster.copies();
    let foreign = copies.iter().map(|rows| rows.foreign.len() as u64).sum();
    let (peak, bound) = (cluster.heap_bytes_peak, heap_bound(scenario));
    let Shared { clock, checker, .. } = &mut *shared.borrow_mut();
    if peak > bound {
        checker.violated(8, format!("{peak} bytes of engine, the bound is {bound}"));
    }
    if is_at_end(stopped) {
        end::check_end(&web, &copies.iter().collect::<Vec<_>>(), checker);
    }
    if stopped.is_some() {
        copies.iter().for_each(|rows| end::check_books(rows, checker));
    }
    let counters = copies.iter().map(|rows| rows.counters.clone());
    Simulated {
        counters: counters.reduce(|sum, more| sum.plus(&more)).expect("at least one partition"),
        requisites: copies.iter().map(|rows| rows.requisites.fetched).sum(),
        violations: checker.violations.clone(),
        tally: checker.tally.clone(),
        virtual_time: clock.since(BEGINNING),
        heap_bytes_peak: peak,
        heap_bytes_bound: bound,
        digest: checker.digest(),
        curve: std::mem::take(&mut checker.curve),
        stopped,
        visits: Vec::new(),
        cluster: Some(ClusterTally { foreign, ..cluster.tally }),
    }
}

fn shared(
    scenario: &Scenario,
    parts: Vec<DurablePart>,
    checker: Checker,
    history: Option<History>,
) -> SharedRef {
    Rc::new(RefCell::new(Shared {
        clock: BEGINNING,
        checker,
        parts,
        mail: Mail::new(scenario.config.seed, scenario.faults),
        history,
        leaving: Vec::new(),
        doors: Vec::new(),
        attempts: PlainMap::default(),
    }))
}

/// There was nothing left to do.
fn is_at_end(stopped: Option<StopReason>) -> bool {
    matches!(stopped, Some(StopReason::Finished | StopReason::HostsFailing))
}

/// Pages of the synthetic web have at most so many links, and robots.txt such rules.
const LINKS_MAX: usize = 400;
const RULES_BYTES_MAX: usize = 4_096;

fn heap_bound(scenario: &Scenario) -> usize {
    let partition = Partition { own: 0, count: scenario.partitions };
    let config = Config { partition, ..scenario.config.clone() };
    Engine::heap_bound(&config, LINKS_MAX, RULES_BYTES_MAX)
}
