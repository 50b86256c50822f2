//! From the user's words to what they mean.
//!
//! Two stages. [`Typed`] and [`WrittenSettings`] are what was said, in flags and in TOML: each word
//! is checked where it stands, so that an error can point at it. [`Settings`] is what it means:
//! every value decided, nothing optional but what may truly be absent. `crawl.toml` in the crawl's
//! directory is the `Settings` written back; a later run on the directory takes it as its base, so
//! that `rhumb crawl --dir DIR` alone goes on as before.

mod access;
mod allowance;
mod decide;
mod document;
mod hours;
pub mod nearest;
mod quantity;
mod reference;
mod sections;
mod seeds;
mod shared;
mod store;
mod typed;
mod word;
mod written;

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use regex::RegexBuilder;
use rhumb_engine::admit::{Reach, Scope};
use rhumb_engine::config::{
    Config, Continuous, Focus, MinorChanges, NearDuplicates, NoArchive, Order, Polite, Priority,
    Retry, Selection, Sitemaps, Traps,
};
use rhumb_engine::hours::Hours;
use rhumb_engine::partition::Partition;
use rhumb_engine::record::Refusal;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::screen::Screen;
use rhumb_engine::time::{Span, Time};
use rhumb_page::robots::Agent;
use rhumb_page::url::{PATTERNS_BYTES_MAX, Rules};

use crate::forget;
use rhumb_fetch::FetchLimits;
use sections::span;

pub use access::{AccessSettings, COOKIES_FILE, HeaderLine, LoginLine, ProxyLine};
pub use allowance::RequestsAllowed;
pub use document::Mistake;
pub use hours::HoursSetting;
pub use quantity::{OptionalBound, Period, Size};
pub use reference::reference;
pub use sections::PriorityRule;
pub use seeds::{SEEDS_MAX, SeedLine, is_bare_host, open as open_input};
pub use shared::read_seeds;
pub use typed::Typed;
pub use word::{
    ArchiveKind, CookieJar, MediaTypes, NamedValue, NamedValues, StripList, TOKEN_DEFAULT,
    TopicSpec, UrlPattern, UserAgent,
};
pub use written::WrittenSettings;

/// The file in a crawl's directory that holds its settings.
pub const CRAWL_TOML: &str = "crawl.toml";

/// However seldom a page changes, a crawl that goes on looks after it: it may be gone.
const INTERVAL_MAX: Span = Span::secs(90 * 86_400);

/// Everything the owner decides about a crawl.
#[derive(Clone, Debug)]
pub struct Settings {
    pub dir: PathBuf,
    /// Those of earlier runs, then the new ones; none twice.
    pub seeds: Vec<SeedLine>,
    pub scope: Reach,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub strip: StripList,
    pub max_pages: Option<u64>,
    pub max_bytes: Option<u64>,
    /// Counts this run.
    pub max_time: Option<Duration>,
    pub max_depth: Option<u16>,
    pub max_pages_per_host: Option<u64>,
    pub max_redirects: u8,
    pub order: Order,
    /// What the crawl is about; nothing in particular, if empty.
    pub topic: Vec<TopicSpec>,
    pub topic_against: Option<PathBuf>,
    /// Links of pages below this relevance are not followed.
    pub topic_min: f64,
    /// Pages so many octaves below the best that waits are held back while others are in flight.
    pub patience: Option<u8>,
    /// Stop when the crawled pages have this share of all importance for certain.
    pub coverage: Option<f64>,
    pub random_seed: u64,
    pub delay: Duration,
    pub delay_factor: f64,
    pub delay_max: Duration,
    pub per_address: u16,
    pub address_delay: Duration,
    pub robots_ttl: Duration,
    pub concurrency: usize,
    /// The crawl is divided among so many engines.
    pub partitions: u32,
    pub hosts_awake_max: usize,
    pub user_agent: UserAgent,
    pub resolver: Option<SocketAddr>,
    pub allow_private: bool,
    /// `file:` URLs below this directory are fetched; none, if there is no directory.
    pub allow_file: Option<PathBuf>,
    pub access: AccessSettings,
    pub archive: ArchiveKind,
    pub warc_bytes_max: u64,
    pub compression_level: i32,
    /// Also write what pages say.
    pub extract: bool,
    /// Also keep a search index current.
    pub index: bool,
    pub metrics: Option<SocketAddr>,
    /// Pages are visited again after this time; never, if none.
    pub revisit_after: Option<Duration>,
    /// Pages are visited again for ever, where it pays.
    pub continuous: bool,
    pub budget: RequestsAllowed,
    pub objective: Objective,
    pub minor_changes: MinorChanges,
    pub sitemaps: bool,
    pub sitemaps_per_host_max: u32,
    pub requisites: RequisiteSettings,
    pub noarchive: NoArchive,
    pub near: NearDuplicates,
    pub retry: Retry,
    /// All that failed is tried again. Not part of `crawl.toml`: it is about this run alone.
    pub retry_failed: bool,
    pub traps: Traps,
    pub priorities: Vec<PriorityRule>,
    pub hours: Vec<HoursSetting>,
    /// Received over all hosts, at most.
    pub bytes_per_second: Option<u64>,
    /// Types of pages; all, if none are named.
    pub types: Option<MediaTypes>,
    /// What lies below the seeds' paths, and nothing else.
    pub below: bool,
    /// Pages that are named, and no link of theirs.
    pub only_seeds: bool,
    pub limits: FetchLimits,
    /// What happens is appended to this file. Not part of `crawl.toml`, either.
    pub events: Option<PathBuf>,
    /// Print the report at the end. Not part of `crawl.toml`: it is about this run's output.
    pub json: bool,
    /// What was assumed on the way, for people.
    pub notes: Vec<String>,
}

/// What pages are shown with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequisiteSettings {
    pub are_fetched: bool,
    /// Of one page or stylesheet.
    pub per_page_max: u32,
}

impl RequisiteSettings {
    /// How many of one page are fetched, if any are.
    pub fn taken_max(self) -> Option<u32> {
        self.are_fetched.then_some(self.per_page_max)
    }
}

impl Settings {
    /// What the engine is told.
    pub fn engine_config(&self) -> Result<Config, SettingsError> {
        let reach = if self.below { Reach::Below } else { self.scope };
        let mut scope = Scope::new(reach);
        self.seeds.iter().for_each(|seed| scope.add(&seed.url));
        let rules = Rules::new(&self.include, &self.exclude)
            .map_err(|error| SettingsError::usage(format!("filter {error}")))?;
        let priorities = self.priorities.iter().map(engine_priority).collect::<Result<_, _>>()?;
        let now = Time(Timestamp::now().as_microsecond().max(0) as u64);
        let hours = self.hours.iter().map(|rule| rule.rule(now)).collect::<Result<_, _>>()?;
        Ok(Config {
            partition: Partition::WHOLE,
            seed: self.random_seed,
            agent: Agent::of(&self.user_agent.token),
            scope,
            rules,
            priorities,
            order: self.order,
            topic: (!self.topic.is_empty())
                .then_some(Focus { relevance_min: (self.topic_min * 255.0).ceil() as u8 }),
            selection: self
                .patience
                .map_or(Selection::ByOrder, |octaves| Selection::Patient { octaves }),
            coverage: self.coverage,
            depth_max: self.max_depth,
            host_pages_max: self.max_pages_per_host,
            pages_max: self.max_pages,
            bytes_max: self.max_bytes,
            redirects_max: self.max_redirects,
            concurrency: self.concurrency,
            hosts_awake_max: self.hosts_awake_max,
            polite: self.polite(),
            retry: self.retry,
            stop_grace: Config::default().stop_grace,
            retry_failed: self.retry_failed,
            logs: self.events.is_some(),
            traps: self.effective_traps(),
            revisit_after: self.revisit_after.map(span),
            continuous: self.continuous.then_some(Continuous {
                objective: self.objective,
                budget: self.budget.0,
                interval_max: INTERVAL_MAX,
                by_importance: true,
                minor_changes: self.minor_changes,
            }),
            sitemaps: Sitemaps {
                named: self.sitemaps && !self.only_seeds,
                tried: self.sitemaps && !self.only_seeds,
                per_host_max: self.sitemaps_per_host_max,
            },
            requisites_max: self.requisites.taken_max(),
            near: self.near,
            noarchive: self.noarchive,
            own_sites: self.access.own_sites.clone(),
            hours: Hours { rules: hours },
            bytes_per_s: self.bytes_per_second,
            screen: self.screen(),
            follows_links: !self.only_seeds,
            forgotten: forget::list::read(&self.dir)?,
        })
    }
}

impl Settings {
    /// Who names the type of an archive wants archives.
    fn effective_traps(&self) -> Traps {
        let wants_archives = self.types.as_ref().is_some_and(|types| types.0.names_archives());
        let lifted = match wants_archives {
            true => self.traps.lifted.with(Refusal::Archive),
            false => self.traps.lifted,
        };
        Traps { lifted, ..self.traps }
    }

    /// What is wanted of pages, by their heads.
    pub fn screen(&self) -> Screen {
        Screen {
            types: self.types.as_ref().map(|types| types.0.clone()).unwrap_or_default(),
            body_bytes_max: Some(self.limits.body_bytes_max as u64),
            takes_archives: self.effective_traps().lifted.has(Refusal::Archive),
        }
    }

    pub fn polite(&self) -> Polite {
        Polite {
            delay: span(self.delay),
            delay_factor: self.delay_factor,
            delay_max: span(self.delay_max),
            per_address: self.per_address,
            address_delay: span(self.address_delay),
            robots_ttl: span(self.robots_ttl),
        }
    }
}

fn engine_priority(rule: &PriorityRule) -> Result<Priority, SettingsError> {
    let pattern = RegexBuilder::new(&rule.pattern.0)
        .size_limit(PATTERNS_BYTES_MAX)
        .build()
        .map_err(|error| SettingsError::usage(format!("priority {error}")))?;
    let interval_max = rule.max_interval.map(|period| span(period.0));
    Ok(Priority { pattern, class: rule.class, weight: rule.weight, interval_max })
}

/// The user said something that cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    /// One line that says what to write instead.
    Usage(String),
    /// A configuration with a mistake in it.
    Config(Box<Mistake>),
}

impl SettingsError {
    pub fn usage(message: impl Into<String>) -> SettingsError {
        SettingsError::Usage(message.into())
    }
}

impl From<Mistake> for SettingsError {
    fn from(mistake: Mistake) -> SettingsError {
        SettingsError::Config(Box::new(mistake))
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Usage(message) => f.write_str(message),
            SettingsError::Config(mistake) => mistake.fmt(f),
        }
    }
}

impl std::error::Error for SettingsError {}
