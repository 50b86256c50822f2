//! A run from opening to closing: everything is made, wired, driven and put away here.

use super::address_turns::AddressTurns;
use super::archive::{NodeArchive, archive_error, end_of, position, row_error};
use super::clock::Clock;
use super::divided;
use super::fetch_tasks::FetchTasks;
use super::held_bodies::HeldBodies;
use super::permit::Permit;
use super::published::Published;
use super::reader;
use super::reading::PageReader;
use super::stop::StopHandle;
use super::work_times::{TimedState, WorkTimes};
use super::worker::Workers;
use super::world::NodeWorld;
use crate::extract::{RowsWanted, WhileCrawling};
use crate::forget;
use crate::index::weigh;
use crate::settings::{ArchiveKind, CRAWL_TOML, Settings};
use crate::topic;
use crate::watch::status::STATE_DIR;
use crate::watch::steering::Steering;
use crate::watch::{About, CrawlReport, EventLog, Live, ProgressKind, Watchers, metrics};
use rhumb_archive::{Packer, WarcWriter, Warcinfo, WriterLimits as WarcLimits};
use rhumb_engine::config::NearPolicy;
use rhumb_engine::discovery::{Discovery, FoundAs};
use rhumb_engine::engine::Engine;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::order;
use rhumb_engine::seeds::FOLLOWED_WEIGHT;
use rhumb_engine::time::Span;
use rhumb_engine::turn::{self, ArchivePosition};
use rhumb_fetch::dns::{DnsConfig, Resolver};
use rhumb_fetch::{ConfigError, FetchLimits, Fetcher, File, FileConfig, Http, HttpConfig};
use rhumb_page::url::NamedHost;
use rhumb_state::local::{Home, LocalReader, LocalState, check_partitions};
use rhumb_topic::Topic;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Sender, channel};
use tokio::runtime::Runtime;

/// Connections kept open, at most, of those that the system lets us have.
const IDLE_CONNECTIONS_MAX: usize = 2_048;

/// Idle connections to one address, per request that may be in flight to it.
const IDLE_PER_REQUEST: usize = 2;

/// How a run ended.
#[derive(Debug)]
pub struct Crawled {
    pub reason: StopReason,
    pub report: CrawlReport,
}

/// Crawls by these settings until done, stopped or failed.
pub fn crawl(
    settings: &Settings,
    progress: ProgressKind,
    stop: &StopHandle,
) -> Result<Crawled, Error> {
    check_partitions(&settings.dir.join(STATE_DIR), settings.partitions)?;
    if settings.partitions > 1 {
        return divided::crawl(settings, progress, stop);
    }
    let mut config = settings.engine_config().map_err(|e| invalid(e.to_string()))?;
    let metrics = match settings.metrics {
        Some(addr) => Some(metrics::bind(addr).map_err(|e| invalid(e.to_string()))?),
        None => None,
    };
    let dir = settings.dir.as_path();
    std::fs::create_dir_all(dir).map_err(|e| at(dir, &e))?;
    // Before the settings are kept: a topic that cannot be had is none that the crawl began with.
    let topic = topic::open(settings)?;
    let entropy = std::hash::RandomState::new().hash_one(std::process::id());
    let home = Home::open(&dir.join(STATE_DIR))?;
    forget::check_whole(dir)?;
    // The archive first, for the state to know which of its commits count.
    let (writer, archive_end) = open_archive(settings, None, home.archived()?)?;
    let (mut state, opening) = LocalState::open(home, entropy, archive_end)?;
    for (url, weight) in state.reader().seeds()? {
        // Where seeds of earlier runs led.
        if weight == FOLLOWED_WEIGHT {
            config.scope.add(&url);
        }
    }
    if settings.near.policy != NearPolicy::Off {
        state.compare_texts(settings.near.threshold)?;
    }
    let toml = dir.join(CRAWL_TOML);
    settings.write_crawl_toml(&toml).map_err(|e| at(&toml, &e))?;
    let live = Live::new(about(settings), &opening.counters);
    let watchers = Watchers::start(Arc::clone(&live), dir, state.reader(), progress, metrics)?;
    let (run_number, known) = (opening.counters.run + 1, opening.counters.next_url);
    tracing::info!(dir = %dir.display(), run = run_number, known, "crawl opened");
    let ran = run((settings, topic), config, opening, state, (writer, archive_end), (&live, stop));
    match ran {
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

fn run(
    (settings, topic): (&Settings, Option<Arc<Topic>>),
    config: rhumb_engine::config::Config,
    opening: rhumb_engine::engine::Opening,
    state: LocalState,
    (writer, archive_end): (Option<WarcWriter>, ArchivePosition),
    (live, stop): (&Arc<Live>, &StopHandle),
) -> Result<StopReason, Error> {
    let clock = Clock::start();
    let runtime = Runtime::new().map_err(|e| invalid(format!("no threads: {e}")))?;
    let (events_in, events) = channel();
    let (questions, questions_out) = channel();
    let (failed, reader_failed) = channel();
    let bodies = Arc::new(HeldBodies::default());
    let rows = open_rows(settings)?;
    let books = state.reader();
    let wired = Wired::to(&bodies, &state, &rows, topic);
    let follows_importance = order::policy(&config).follows_importance();
    let (at, to) = (clock.clone(), events_in.clone());
    let network = make_network(settings, &runtime)?;
    live.watch_work(network.most_open(), network.times());
    let workers = make_workers(settings, &network, at, wired, follows_importance, to);
    let (answering, times) = (state.reader(), network.times());
    let answer = move |question| answering.answer(question);
    reader::start(answer, questions_out, events_in.clone(), failed).map_err(no_reader)?;
    stop.tell(events_in.clone());
    let engine = Engine::open(config, opening, clock.now());
    live.steer_by(Steering::new(settings.clone(), vec![events_in.clone()]));
    send_seeds(settings, events_in);
    let mut archive = NodeArchive {
        writer,
        dir: settings.dir.clone(),
        makes_index: true,
        indexing: None,
        packer: Packer::new(settings.compression_level),
        bodies: Arc::clone(&bodies),
        rows: rows.clone(),
        end: archive_end,
        times: Arc::clone(&times),
    };
    let mut world = NodeWorld {
        workers: Arc::new(workers),
        fetch_tasks: FetchTasks::default(),
        runtime: runtime.handle().clone(),
        clock: clock.clone(),
        events,
        questions,
        reader_failed,
        stop_at: settings.max_time.map(|t| clock.now() + Span(t.as_micros() as u64)),
        gate: None,
        log: settings.events.as_deref().map(EventLog::open).transpose()?.map(Arc::new),
        was_busy: false,
        in_flight: 0,
    };
    let publish = Arc::clone(live);
    let mut node = Published::new(engine, move |snapshot| publish.publish(snapshot));
    let mut state = TimedState { state, times };
    let ended = turn::run(&mut node, &mut archive, &mut state, &mut world);
    stop.forget();
    if let Some(log) = world.log.take().and_then(Arc::into_inner) {
        log.finish(ended.as_ref().copied());
    }
    live.publish(node.engine.snapshot(clock.now()));
    let kept_cookies = keep_cookies(settings, network.http());
    runtime.shutdown_background();
    let reason = put_away(ended, kept_cookies, &mut archive, rows)?;
    weigh_index(settings, &books)?;
    Ok(reason)
}

/// The index hears how important its pages are.
fn weigh_index(settings: &Settings, books: &LocalReader) -> Result<(), Error> {
    if settings.index {
        weigh(&settings.dir, books)?.iter().for_each(|left_out| tracing::warn!("{left_out}"));
    }
    Ok(())
}

/// What went wrong first is what is told.
fn put_away(
    ended: Result<StopReason, Error>,
    kept_cookies: Result<(), Error>,
    archive: &mut NodeArchive,
    rows: Option<Arc<WhileCrawling>>,
) -> Result<StopReason, Error> {
    let closed = archive.closed();
    let reason = ended?;
    closed?;
    rows.map_or(Ok(()), |rows| rows.finish()).map_err(row_error)?;
    kept_cookies?;
    Ok(reason)
}

/// What workers are wired to besides the events.
pub struct Wired<'a> {
    pub bodies: &'a Arc<HeldBodies>,
    /// Says which links lead to what is known, where there is such a thing.
    pub known: Option<LocalReader>,
    pub seed: u64,
    pub rows: &'a Option<Arc<WhileCrawling>>,
    pub follows_links: bool,
    /// What the crawl is about.
    pub topic: Option<Arc<Topic>>,
    /// Of a partition that others may take over.
    pub permit: Option<Permit>,
}

impl<'a> Wired<'a> {
    fn to(
        bodies: &'a Arc<HeldBodies>,
        state: &LocalState,
        rows: &'a Option<Arc<WhileCrawling>>,
        topic: Option<Arc<Topic>>,
    ) -> Wired<'a> {
        let (known, seed) = (Some(state.reader()), state.seed());
        Wired { bodies, known, seed, rows, follows_links: true, topic, permit: None }
    }
}

pub fn no_reader(error: std::io::Error) -> Error {
    invalid(format!("no thread for the reader: {error}"))
}

/// What workers of all partitions share.
pub struct Network {
    fetcher: Arc<Fetcher>,
    resolver: Arc<Resolver>,
    turns: Option<Arc<AddressTurns>>,
    large: Arc<tokio::sync::Semaphore>,
    unfolding: Arc<tokio::sync::Semaphore>,
    times: Arc<WorkTimes>,
}

impl Network {
    /// Where it is counted how many connections were open to one address at most.
    pub fn most_open(&self) -> Arc<AtomicU32> {
        self.fetcher.http.most_open()
    }

    /// A process of several, which may ask the same addresses.
    pub fn among_others(self, settings: &Settings, clock: Clock) -> Network {
        let polite = settings.polite();
        let turns = AddressTurns::new(polite.per_address, polite.address_delay);
        Network { turns: Some(Arc::new(turns.among_others(clock))), ..self }
    }

    /// Turns at addresses that several partitions share.
    pub fn turns(&self) -> Option<&Arc<AddressTurns>> {
        self.turns.as_ref()
    }

    /// Where the time goes.
    pub fn times(&self) -> Arc<WorkTimes> {
        Arc::clone(&self.times)
    }

    pub fn http(&self) -> &Http {
        &self.fetcher.http
    }
}

pub fn make_network(settings: &Settings, runtime: &Runtime) -> Result<Network, Error> {
    let _within = runtime.enter();
    let mut config = HttpConfig {
        user_agent: settings.user_agent.header.clone(),
        allow_private: settings.allow_private,
        idle_connections_max: connections_to_keep(),
        bytes_per_s: settings.bytes_per_second,
        idle_per_address_max: IDLE_PER_REQUEST * usize::from(settings.per_address),
        ..HttpConfig::default()
    };
    settings.access.apply(&settings.seeds, &mut config).map_err(config_error)?;
    let http = Http::new(&config).map_err(config_error)?;
    if let Some(path) = settings.access.jar(&settings.dir) {
        http.load_cookies(&path).map_err(|e| at(&path, &e))?;
    }
    let file = match &settings.allow_file {
        Some(root) => {
            let config = FileConfig { root: root.clone(), list_directories: true };
            Some(File::new(config).map_err(config_error)?)
        }
        None => None,
    };
    let dns = DnsConfig { server: settings.resolver, ..DnsConfig::default() };
    let polite = settings.polite();
    let turns = AddressTurns::new(polite.per_address, polite.address_delay);
    Ok(Network {
        fetcher: Arc::new(Fetcher { http, file }),
        resolver: Arc::new(Resolver::new(dns).map_err(config_error)?),
        turns: (settings.partitions > 1).then(|| Arc::new(turns)),
        large: Arc::new(tokio::sync::Semaphore::new(
            std::thread::available_parallelism().map_or(2, |n| n.get()),
        )),
        unfolding: Arc::new(tokio::sync::Semaphore::new(1)),
        times: Arc::default(),
    })
}

pub fn make_workers(
    settings: &Settings,
    network: &Network,
    clock: Clock,
    Wired { bodies, known, seed, rows, follows_links, topic, permit }: Wired<'_>,
    follows_importance: bool,
    events: Sender<Event>,
) -> Workers {
    let level = match settings.archive {
        ArchiveKind::Warc => Some(settings.compression_level),
        ArchiveKind::None => None,
    };
    Workers {
        fetcher: Arc::clone(&network.fetcher),
        resolver: Arc::clone(&network.resolver),
        turns: network.turns.clone(),
        permit,
        reader: PageReader {
            token: settings.user_agent.token.clone(),
            strip: settings.strip.strip_params(),
            sketches: settings.near.policy != NearPolicy::Off,
            revisits: settings.continuous,
            requisites_max: settings.requisites.taken_max().map(|max| max as usize),
            follows_links,
            seed,
            topic,
        },
        known,
        follows_importance,
        bodies: Arc::clone(bodies),
        clock,
        limits: limits(settings),
        screen: Arc::new(settings.screen()),
        allow_private: settings.allow_private,
        level,
        large: Arc::clone(&network.large),
        unfolding: Arc::clone(&network.unfolding),
        events,
        times: network.times(),
        rows: rows.clone(),
    }
}

/// With a cap on the rate, what a connection gets of it must not be held against its server.
fn limits(settings: &Settings) -> FetchLimits {
    let share = |bytes: u64| bytes / (settings.concurrency as u64).max(1);
    let slow_min = settings.limits.slow_bytes_per_s_min;
    let slow_bytes_per_s_min =
        settings.bytes_per_second.map_or(slow_min, |b| slow_min.min(share(b)));
    FetchLimits { slow_bytes_per_s_min, ..settings.limits.clone() }
}

/// What sites have set is sent back by later runs, too.
pub fn keep_cookies(settings: &Settings, http: &Http) -> Result<(), Error> {
    let Some(path) = settings.access.jar(&settings.dir) else { return Ok(()) };
    http.save_cookies(&path).map_err(|e| at(&path, &e))
}

/// Where rows of what pages say are written, if they are asked for.
fn open_rows(settings: &Settings) -> Result<Option<Arc<WhileCrawling>>, Error> {
    if !settings.extract && !settings.index {
        return Ok(None);
    }
    let has_archive = settings.archive != ArchiveKind::None;
    let token = settings.user_agent.token.clone();
    let asked = RowsWanted { rows: settings.extract, index: settings.index, token };
    let rows = WhileCrawling::open(&settings.dir, has_archive, asked).map_err(row_error)?;
    Ok(Some(Arc::new(rows)))
}

/// Asks the system for as many descriptors as it gives, and leaves half for other uses.
fn connections_to_keep() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let current = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    current.map_or(IDLE_CONNECTIONS_MAX, |n| (n as usize / 2).min(IDLE_CONNECTIONS_MAX))
}

/// What keeps bodies, and where the archive ends. One that a run before left is repaired also if
/// this run keeps nothing: the state is held against it. It was synced up to `synced`, if known.
pub fn open_archive(
    settings: &Settings,
    series: Option<&str>,
    synced: Option<ArchivePosition>,
) -> Result<(Option<WarcWriter>, ArchivePosition), Error> {
    let synced = synced.map(|at| rhumb_archive::AppendEnd { file: at.file, length: at.length });
    if settings.archive == ArchiveKind::None {
        let end = match series {
            Some(series) => rhumb_archive::repair_series((&settings.dir, series), synced),
            None => rhumb_archive::repair(&settings.dir, synced),
        };
        let end = end.map_err(archive_error)?;
        return Ok((None, position(end)));
    }
    let info = warcinfo(settings, String::new());
    let limits = warc_limits(settings);
    let writer = match series {
        Some(series) => WarcWriter::open_series((&settings.dir, series), info, limits, synced),
        None => WarcWriter::open(&settings.dir, info, limits, synced),
    };
    let writer = writer.map_err(archive_error)?;
    let end = end_of(&writer);
    Ok((Some(writer), end))
}

/// What WARC files say of themselves. `id` tells files of one partition's openings apart.
pub fn warcinfo(settings: &Settings, id: String) -> Warcinfo {
    Warcinfo {
        id,
        software: concat!("rhumb/", env!("CARGO_PKG_VERSION")).to_owned(),
        user_agent: settings.user_agent.header.clone(),
        robots: "obey".to_owned(),
        fields: settings.access.warcinfo_fields(),
    }
}

pub fn warc_limits(settings: &Settings) -> WarcLimits {
    WarcLimits { file_bytes_max: settings.warc_bytes_max, ..WarcLimits::default() }
}

pub fn send_seeds(settings: &Settings, events: Sender<Event>) {
    let strip = settings.strip.strip_params();
    let seeds = settings.seeds.iter().map(|seed| {
        let url = strip.apply(seed.url.clone());
        (Discovery { url, kind: FoundAs::Seed, depth: 0, hops: 0, from: None }, seed.weight)
    });
    // The loop that will receive them has not begun: it cannot have ended either.
    let _ = events.send(Event::Seeded { seeds: seeds.collect() });
}

pub fn about(settings: &Settings) -> About {
    About {
        dir: settings.dir.clone(),
        order: settings.order,
        pages_max: settings.max_pages,
        bytes_max: settings.max_bytes,
        time_max: settings.max_time,
        own_sites: settings.access.own_sites.iter().map(NamedHost::to_string).collect(),
        insecure: settings.access.insecure.iter().map(NamedHost::to_string).collect(),
    }
}

fn config_error(error: ConfigError) -> Error {
    invalid(error.0)
}

pub fn invalid(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

pub fn at(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
