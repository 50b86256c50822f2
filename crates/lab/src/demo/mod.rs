//! The main job with nothing but this machine: a synthetic web on loopback, crawled for real.
//!
//! The web knows the truth about itself and its server writes down who asked what and when, so a
//! demo does not only show what a crawl finds: it checks it. [`run`] serves, crawls and asks three
//! witnesses: the crawl's own state ([`finds`]), its WARC files and the server's log ([`checks`]).

pub mod checks;
mod directory;
pub mod finds;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rhumb_engine::admit::Reach;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::StopReason;
use rhumb_engine::time::Span;
use rhumb_sim::web::WebConfig;
use serde::Serialize;

use crate::serve::{ServeOptions, Served};
use rhumb_node::run::{self, StopHandle};
use rhumb_node::settings::{SeedLine, Settings};
use rhumb_node::watch::{CrawlReport, ProgressKind};

pub use checks::Check;
pub use finds::Finds;

/// Fewer would show nothing; more would take minutes.
pub const PAGES_MIN: u32 = 50;
pub const PAGES_MAX: u32 = 100_000;
/// Pages of a site, on average.
const PAGES_PER_SITE: u32 = 10;
/// Sites whose front pages we begin with; the others are found.
const SEEDS: u32 = 20;
/// A machine of our own on a web of our own: polite, but not for long.
const DELAY: Duration = Duration::from_millis(50);
/// Hosts that never answer are tried for seconds; those that fail at first get time to recover.
const RETRY_WAIT_MIN: Span = Span(200_000);
const FIRST_BYTE_TIME_MAX: Duration = Duration::from_secs(1);
const SLOW_WINDOW: Duration = Duration::from_secs(1);
/// Deeper than any page of this web: only a calendar without end gets there.
const DEPTH_MAX: u16 = 16;
/// A trap with three new sessions on every page: what an owner writes a filter for.
const SESSIONS: &str = r"/visit\?token=";

#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// Where to; the next free name is taken if something is there.
    pub dir: PathBuf,
    pub pages: u32,
    pub seed: u64,
    /// Also keep a search index.
    pub index: bool,
}

/// All that a demo has to tell.
#[derive(Debug, Serialize)]
pub struct Demo {
    pub dir: PathBuf,
    /// False if it was interrupted: nothing is checked then.
    pub complete: bool,
    pub report: CrawlReport,
    pub finds: Finds,
    pub checks: Vec<Check>,
}

impl Demo {
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
}

/// Serves, crawls, and looks at what came of it. `begun` hears of the directory and the web.
pub fn run(
    options: &DemoOptions,
    (progress, stop): (ProgressKind, &StopHandle),
    begun: impl FnOnce(&Settings, &WebConfig),
) -> Result<Demo, Error> {
    let dir = directory::free(&options.dir)?;
    let serving = ServeOptions { log: true, ..ServeOptions::default() };
    let served = Served::start(web(options), &serving).map_err(|e| trouble("serving", &e))?;
    let settings = Settings { index: options.index, ..settings(&dir, &served) };
    begun(&settings, served.web.config());
    let crawled = run::crawl(&settings, progress, stop)?;
    // Some hosts of this web never answer.
    let complete = matches!(crawled.reason, StopReason::Finished | StopReason::HostsFailing);
    let finds = finds::look(&dir)?;
    let checks = if complete { checks::all(&served, &dir, DELAY)? } else { Vec::new() };
    Ok(Demo { dir, complete, report: crawled.report, finds, checks })
}

fn web(options: &DemoOptions) -> WebConfig {
    let pages = options.pages.clamp(PAGES_MIN, PAGES_MAX);
    let sites = pages / PAGES_PER_SITE;
    WebConfig { port: 0, seed: options.seed, pages, sites, seeds: SEEDS, ..WebConfig::demo() }
}

fn settings(dir: &std::path::Path, served: &Served) -> Settings {
    let seeds = served.web.seeds().into_iter().map(|url| SeedLine { url, weight: 1.0 }).collect();
    let mut settings = Settings::new(dir.to_owned(), seeds);
    settings.scope = Reach::Any;
    settings.allow_private = true;
    settings.resolver = Some(served.dns);
    settings.delay = DELAY;
    settings.delay_factor = 0.0;
    settings.exclude = vec![SESSIONS.to_owned()];
    settings.max_depth = Some(DEPTH_MAX);
    settings.retry.wait_min = RETRY_WAIT_MIN;
    settings.limits.first_byte_time_max = FIRST_BYTE_TIME_MAX;
    settings.limits.slow_window = SLOW_WINDOW;
    settings
}

fn trouble(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{what}: {error}"))
}
