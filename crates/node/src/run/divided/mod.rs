//! One crawl by several engines in one process (docs/decisions/0056-partitions-in-a-process.md).
//!
//! Each partition has a loop on a thread of its own, a store, held bodies and a series of WARC
//! files ([`part`]). Connections, names, the threads that fetch, and the turns at an address are
//! shared. Messages between partitions leave when they are shipped ([`gate`]) and are carried in
//! memory ([`carrier`]). One thread adds up what all publish, divides the limits of the crawl among
//! them, and knows when it is over ([`together`]).

pub mod carrier;
mod gate;
pub mod part;
mod together;

pub use gate::PartitionGate;

use super::archive::archive_error;
use super::clock::Clock;
use super::start::{Crawled, about, at, invalid, keep_cookies, make_network, open_archive};
use super::stop::StopHandle;
use crate::settings::{CRAWL_TOML, Settings};
use crate::topic;
use crate::watch::status::STATE_DIR;
use crate::watch::steering::Steering;
use crate::watch::{EventLog, Live, ProgressKind, Watchers, metrics};
use carrier::Carrier;
use part::{OpenedPartition, PartitionPart, Running};
use rhumb_engine::allowance::{CrawlLimits, Granter};
use rhumb_engine::config::{Config, NearPolicy};
use rhumb_engine::counters::Counters;
use rhumb_engine::error::Error;
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::partition::Partition;
use rhumb_engine::seeds::FOLLOWED_WEIGHT;
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::time::Span;
use rhumb_state::local::{Home, LocalReader, LocalState, part_dir, write_partitions};
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;
use together::Together;
use tokio::runtime::Runtime;

/// Memory for sorting the index.
const INDEX_BYTES: usize = 64 << 20;
/// Rows of one store that are worth a flush, at least.
const MEMTABLE_BYTES_MIN: usize = 2 << 20;
/// The same of all stores together.
const MEMTABLE_BYTES: usize = 12 << 20;

/// Crawls by these settings, with several partitions, until done, stopped or failed.
pub fn crawl(
    settings: &Settings,
    progress: ProgressKind,
    stop: &StopHandle,
) -> Result<Crawled, Error> {
    let config = settings.engine_config().map_err(|e| invalid(e.to_string()))?;
    let metrics = match settings.metrics {
        Some(addr) => Some(metrics::bind(addr).map_err(|e| invalid(e.to_string()))?),
        None => None,
    };
    let dir = settings.dir.as_path();
    std::fs::create_dir_all(dir).map_err(|e| at(dir, &e))?;
    let topic = topic::open(settings)?;
    let opened = open_all(settings, &config)?;
    let toml = dir.join(CRAWL_TOML);
    settings.write_crawl_toml(&toml).map_err(|e| at(&toml, &e))?;
    let reader = LocalReader::of_parts(opened.iter().map(|o| o.state.reader()).collect());
    let before = opened.iter().map(|o| o.opening.counters.clone());
    let before: Counters = before.reduce(|a, b| a.plus(&b)).unwrap_or_default();
    let live = Live::new(about(settings), &before);
    let watchers = Watchers::start(Arc::clone(&live), dir, reader, progress, metrics)?;
    tracing::info!(dir = %dir.display(), partitions = opened.len(), known = before.known,
        "crawl opened");
    match run((settings, topic), config, opened, (&live, stop)) {
        Ok(reason) => {
            let last = live.get().snapshot;
            let report = watchers.finish(reason, last)?;
            tracing::info!(reason = reason.word(), pages = report.pages, "crawl ended");
            Ok(Crawled { reason, report })
        }
        Err(error) => {
            // The error itself matters more than a report that cannot be written either.
            let _ = watchers.fail(&error.what);
            tracing::info!(error = %error.what, "crawl failed");
            Err(error)
        }
    }
}

/// The stores and the archives of all partitions.
fn open_all(settings: &Settings, config: &Config) -> Result<Vec<OpenedPartition>, Error> {
    let state_dir = settings.dir.join(STATE_DIR);
    std::fs::create_dir_all(&state_dir).map_err(|e| at(&state_dir, &e))?;
    let mut seed = std::hash::RandomState::new().hash_one(std::process::id());
    let mut opened = Vec::new();
    for own in 0..settings.partitions {
        let part = open_part(settings, (&state_dir, own), seed)?;
        // What is hashed by several is compared: all have the seed of the first.
        seed = part.state.seed();
        opened.push(part);
    }
    write_partitions(&state_dir, settings.partitions)?;
    if config.near.policy != NearPolicy::Off {
        for part in &mut opened {
            part.state.compare_texts(config.near.threshold)?;
        }
    }
    Ok(opened)
}

fn open_part(
    settings: &Settings,
    (state_dir, own): (&Path, u32),
    seed: u64,
) -> Result<OpenedPartition, Error> {
    let home = Home::open(&part_dir(state_dir, own))?;
    let series = format!("p{own:03}");
    let (writer, archive_end) = open_archive(settings, Some(&series), home.archived()?)?;
    let (state, opening) = LocalState::open(home, seed, archive_end)?;
    let state = state.with_fresh_bytes(memtable_share(settings.partitions));
    let count = settings.partitions;
    Ok(OpenedPartition { own, count, state, opening, writer, archive_end })
}

/// Rows of one store in memory, of so many.
pub fn memtable_share(partitions: u32) -> usize {
    (MEMTABLE_BYTES / partitions.max(1) as usize).max(MEMTABLE_BYTES_MIN)
}

fn run(
    (settings, topic): (&Settings, Option<Arc<rhumb_topic::Topic>>),
    config: Config,
    opened: Vec<OpenedPartition>,
    (live, stop): (&Arc<Live>, &StopHandle),
) -> Result<StopReason, Error> {
    let clock = Clock::start();
    let runtime = Runtime::new().map_err(|e| invalid(format!("no threads: {e}")))?;
    let network = make_network(settings, &runtime)?;
    live.watch_work(network.most_open(), network.times());
    let log = settings.events.as_deref().map(EventLog::open).transpose()?.map(Arc::new);
    let carrier = Carrier::new(settings.partitions);
    let together = Together::new(opened.len());
    let limits = CrawlLimits {
        pages: settings.max_pages,
        bytes: settings.max_bytes,
        slots: settings.concurrency,
    };
    let mut granter = Granter::new(limits, opened.len());
    let of_all = |of: fn(&Counters) -> u64| {
        opened.iter().map(|o| of(&o.opening.counters)).collect::<Vec<u64>>()
    };
    let first = granter.first(&of_all(|c| c.pages), &of_all(|c| c.bytes));
    let mut parts: Vec<Running> = Vec::new();
    for (opened, allowance) in opened.into_iter().zip(first) {
        let config = config_of(&config, &opened)?;
        let (own, gate) =
            (opened.own, PartitionGate::new(opened.own, opened.state.commits(), &carrier, None));
        let (published, ended) = (Arc::clone(&together), Arc::clone(&together));
        let part = PartitionPart {
            settings,
            config,
            network: &network,
            runtime: runtime.handle(),
            clock: clock.clone(),
            carrier: &carrier,
            gate,
            publish: Box::new(move |snapshot| published.publish(own, snapshot)),
            on_end: Box::new(move || ended.ended(own)),
            permit: None,
            topic: topic.clone(),
            log: log.clone(),
            stop_at: settings.max_time.map(|t| clock.now() + Span(t.as_micros() as u64)),
            first: vec![Event::Allowed(allowance)],
        };
        let running = part.start(opened)?;
        stop.tell(running.events.clone());
        parts.push(running);
    }
    let events = parts.iter().map(|part| part.events.clone()).collect();
    live.steer_by(Steering::new(settings.clone(), events));
    let ended = together.watch(parts, (granter, limits), (&config, live), &carrier);
    stop.forget();
    if let Some(log) = log.and_then(Arc::into_inner) {
        log.finish(ended.as_ref().copied());
    }
    let kept_cookies = keep_cookies(settings, network.http());
    runtime.shutdown_background();
    let reason = ended?;
    if settings.archive != crate::settings::ArchiveKind::None {
        rhumb_archive::write_index(&settings.dir, INDEX_BYTES).map_err(archive_error)?;
    }
    kept_cookies?;
    Ok(reason)
}

/// What one engine of several is told: limits of the crawl come as allowances, and bounds on memory
/// are divided.
pub fn config_of(config: &Config, opened: &OpenedPartition) -> Result<Config, Error> {
    let count = opened.count;
    let mut config = Config {
        partition: Partition { own: opened.own, count },
        pages_max: None,
        bytes_max: None,
        hosts_awake_max: (config.hosts_awake_max / count as usize).max(1),
        seed: config.seed ^ u64::from(opened.own),
        ..config.clone()
    };
    if let Some(continuous) = &mut config.continuous {
        continuous.budget = continuous.budget.divided(count);
    }
    for (url, weight) in opened.state.reader().seeds()? {
        // Where seeds of earlier runs led.
        if weight == FOLLOWED_WEIGHT {
            config.scope.add(&url);
        }
    }
    Ok(config)
}

/// What a partition publishes goes to those who add up.
pub type Publish = Box<dyn Fn(EngineSnapshot) + Send>;
