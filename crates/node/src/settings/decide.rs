//! The second stage: every value decided, and those that only make sense together compared.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use rhumb_engine::admit::Reach;
use rhumb_engine::config::{Config, MinorChanges, NearDuplicates, Order, Polite, Traps};
use rhumb_engine::refresh::index::Objective;
use rhumb_page::url::Scheme;

use rhumb_state::local::PARTITIONS_MAX;

use super::sections::TrapsSection;
use super::seeds::{SEEDS_MAX, SeedLine};
use super::word::{ArchiveKind, LiftList, TopicSpec};
use super::written::WrittenSettings;
use super::{RequisiteSettings, Settings, SettingsError};

/// More sockets than any one machine is allowed to open.
const CONCURRENCY_MAX: usize = 100_000;

/// The engine's memory grows with this.
const HOSTS_AWAKE_MAX: usize = 10_000_000;

/// A WARC file smaller than this would hold hardly a page.
const WARC_BYTES_MIN: u64 = 1_000_000;

/// At a lower rate a single page would take longer than servers wait.
const BYTES_PER_SECOND_MIN: u64 = 1_000;

/// Below it the sketches of pages tell little, and nearly all of them would be compared.
const NEAR_THRESHOLD_MIN: f64 = 0.5;

/// As the Writer's own default.
const WARC_BYTES_MAX: u64 = 1_000_000_000;
/// Pages have some dozens; a gallery may have hundreds.
const REQUISITES_PER_PAGE_MAX: u32 = 1_000;

impl WrittenSettings {
    /// What is written, over the defaults; refused if it makes no sense together.
    pub fn decide(self, dir: PathBuf, json: bool) -> Result<Settings, SettingsError> {
        let settings = self.effective(dir, json);
        settings.check()?;
        Ok(settings)
    }

    fn near(&self) -> NearDuplicates {
        let default = NearDuplicates::default();
        NearDuplicates {
            policy: self.near_duplicates.map_or(default.policy, |word| word.0),
            threshold: self.near_threshold.unwrap_or(default.threshold),
            follow: self.follow_near_duplicates.unwrap_or(default.follow),
        }
    }

    fn requisites(&self) -> RequisiteSettings {
        RequisiteSettings {
            are_fetched: self.requisites.unwrap_or(false),
            per_page_max: self.max_requisites_per_page.unwrap_or(REQUISITES_PER_PAGE_MAX),
        }
    }

    pub(super) fn effective(mut self, dir: PathBuf, json: bool) -> Settings {
        let (access, near, requisites) = (self.access(), self.near(), self.requisites());
        let (default, polite) = (Config::default(), Polite::default());
        Settings {
            dir,
            seeds: without_repeats(self.seeds.unwrap_or_default()),
            scope: self.scope.map_or(Reach::Site, |word| word.0),
            include: texts(self.include),
            exclude: texts(self.exclude),
            strip: self.strip.unwrap_or_default(),
            max_pages: self.max_pages.and_then(|bound| bound.0),
            max_bytes: self.max_bytes.and_then(|bound| bound.0).map(|size| size.0),
            max_time: self.max_time.and_then(|bound| bound.0).map(|period| period.0),
            max_depth: self.max_depth.and_then(|bound| bound.0),
            max_pages_per_host: self.max_pages_per_host.and_then(|bound| bound.0),
            max_redirects: self.max_redirects.unwrap_or(default.redirects_max),
            order: self.order.map_or(order_of(&self.topic), |word| word.0),
            topic: self.topic.unwrap_or_default(),
            topic_against: self.topic_against.map(absolute),
            topic_min: self.topic_min.unwrap_or(0.0),
            patience: self.patience.and_then(|bound| bound.0),
            coverage: self.coverage.and_then(|bound| bound.0),
            random_seed: self.random_seed.unwrap_or(default.seed),
            delay: self.delay.map_or(micros(polite.delay), |period| period.0),
            delay_factor: self.delay_factor.unwrap_or(polite.delay_factor),
            delay_max: self.delay_max.map_or(micros(polite.delay_max), |period| period.0),
            per_address: self.per_address.unwrap_or(polite.per_address),
            address_delay: self.address_delay.map_or(micros(polite.address_delay), |p| p.0),
            robots_ttl: self.robots_ttl.map_or(micros(polite.robots_ttl), |period| period.0),
            concurrency: self.concurrency.unwrap_or(default.concurrency),
            partitions: self.partitions.unwrap_or(1),
            hosts_awake_max: self.hosts_awake_max.unwrap_or(default.hosts_awake_max),
            user_agent: self.user_agent.unwrap_or_default(),
            resolver: self.resolver.and_then(|bound| bound.0),
            allow_private: self.allow_private.unwrap_or(false),
            allow_file: self.allow_file.and_then(|bound| bound.0).map(absolute),
            access,
            archive: self.archive.map_or(ArchiveKind::Warc, |word| word.0),
            warc_bytes_max: self.warc_bytes_max.map_or(WARC_BYTES_MAX, |size| size.0),
            compression_level: self.compression_level.unwrap_or(rhumb_archive::LEVEL_DEFAULT),
            extract: self.extract.unwrap_or(false),
            index: self.index.unwrap_or(false),
            metrics: self.metrics.and_then(|bound| bound.0),
            revisit_after: self.revisit.and_then(|bound| bound.0).map(|period| period.0),
            continuous: self.continuous.unwrap_or(false),
            budget: self.budget.unwrap_or_default(),
            objective: self.objective.map_or(Objective::default(), |word| word.0),
            minor_changes: self.minor_changes.map_or(MinorChanges::default(), |word| word.0),
            sitemaps: self.sitemaps.unwrap_or(true),
            requisites,
            sitemaps_per_host_max: self
                .max_sitemaps_per_host
                .unwrap_or(default.sitemaps.per_host_max),
            noarchive: self.noarchive.map_or(default.noarchive, |word| word.0),
            near,
            retry: self.retry.effective(),
            retry_failed: false,
            traps: traps(self.traps, self.lift_traps),
            priorities: self.priority.unwrap_or_default(),
            hours: self.hours.unwrap_or_default(),
            bytes_per_second: self.bytes_per_second.and_then(|b| b.0).map(|size| size.0),
            types: self.types.and_then(|bound| bound.0),
            below: self.below.unwrap_or(false),
            only_seeds: self.only_seeds.unwrap_or(false),
            limits: self.limits.effective(),
            events: None,
            json,
            notes: Vec::new(),
        }
    }
}

fn order_of(topic: &Option<Vec<TopicSpec>>) -> Order {
    match topic {
        Some(specs) if !specs.is_empty() => Order::Focused,
        _ => Order::Settled,
    }
}

fn texts(patterns: Option<Vec<super::UrlPattern>>) -> Vec<String> {
    patterns.unwrap_or_default().into_iter().map(|pattern| pattern.0).collect()
}

fn micros(span: rhumb_engine::time::Span) -> Duration {
    Duration::from_micros(span.0)
}

/// A later run may begin in another directory.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn traps(section: TrapsSection, lifted: Option<LiftList>) -> Traps {
    Traps { lifted: lifted.unwrap_or_default().0, ..section.effective() }
}

/// In the order given; the last weight of a URL wins.
fn without_repeats(seeds: Vec<SeedLine>) -> Vec<SeedLine> {
    let mut met = HashSet::new();
    let mut kept: Vec<SeedLine> =
        seeds.into_iter().rev().filter(|seed| met.insert(seed.url.clone())).collect();
    kept.reverse();
    kept
}

impl Settings {
    /// The defaults, for a caller that is no person; it sets what it wants otherwise.
    pub fn new(dir: PathBuf, seeds: Vec<SeedLine>) -> Settings {
        WrittenSettings { seeds: Some(seeds), ..WrittenSettings::default() }.effective(dir, false)
    }

    fn check(&self) -> Result<(), SettingsError> {
        if self.seeds.is_empty() && !self.dir.join("state").exists() {
            let dir = self.dir.display();
            return Err(SettingsError::usage(format!(
                "no seeds: name a URL or --seeds FILE ({dir} holds no crawl to go on with)"
            )));
        }
        self.check_all_but_seeds()
    }

    pub(super) fn check_all_but_seeds(&self) -> Result<(), SettingsError> {
        self.check_partitions()?;
        let file_seed = self.seeds.iter().find(|seed| seed.url.scheme() == Scheme::File);
        let wrong = match () {
            () if self.seeds.len() > SEEDS_MAX => format!("more than {SEEDS_MAX} seeds"),
            () if file_seed.is_some() && self.allow_file.is_none() => {
                "file: URLs are not fetched unless --allow-file names their directory".to_owned()
            }
            () if self.concurrency == 0 || self.concurrency > CONCURRENCY_MAX => {
                format!("concurrency is 1 to {CONCURRENCY_MAX}, not {}", self.concurrency)
            }
            () if self.hosts_awake_max == 0 || self.hosts_awake_max > HOSTS_AWAKE_MAX => {
                format!("hosts_awake_max is 1 to {HOSTS_AWAKE_MAX}, not {}", self.hosts_awake_max)
            }
            () if self.coverage.is_some_and(|share| !(share > 0.0 && share <= 1.0)) => {
                "coverage is a share above 0 and at most 1".to_owned()
            }
            () if self.topic.is_empty()
                && matches!(self.order, Order::Focused | Order::FocusedProven) =>
            {
                "orders focused and focused-proven need a --topic, as in --topic words:tides,moon"
                    .to_owned()
            }
            () if self.topic.is_empty()
                && (self.topic_min > 0.0 || self.topic_against.is_some()) =>
            {
                "--topic-min and --topic-against say nothing without --topic".to_owned()
            }
            () if !(0.0..=1.0).contains(&self.topic_min) => {
                format!("topic_min is 0 to 1, not {}", self.topic_min)
            }
            () if self.bytes_per_second.is_some_and(|bytes| bytes < BYTES_PER_SECOND_MIN) => {
                format!("bytes_per_second is at least {}", super::Size(BYTES_PER_SECOND_MIN))
            }
            () if self.per_address == 0 => "per_address is at least 1".to_owned(),
            () if !self.delay_factor.is_finite() || self.delay_factor < 0.0 => {
                format!("delay_factor is a number of at least 0, not {}", self.delay_factor)
            }
            () if self.warc_bytes_max < WARC_BYTES_MIN => {
                format!("warc_bytes_max is at least {}", super::Size(WARC_BYTES_MIN))
            }
            () if !(1..=12).contains(&self.compression_level) => {
                format!("compression_level is 1 to 12, not {}", self.compression_level)
            }
            () if !(NEAR_THRESHOLD_MIN..=1.0).contains(&self.near.threshold) => {
                let given = self.near.threshold;
                format!("near_threshold is {NEAR_THRESHOLD_MIN} to 1, not {given}")
            }
            () if self.revisit_after == Some(Duration::ZERO) => {
                "revisit is a time above 0, or none".to_owned()
            }
            () if self.limits.body_bytes_max == 0 || self.limits.header_bytes_max == 0 => {
                "limits on bytes are above 0".to_owned()
            }
            () => return Ok(()),
        };
        Err(SettingsError::Usage(wrong))
    }

    fn check_partitions(&self) -> Result<(), SettingsError> {
        let (count, concurrency) = (self.partitions, self.concurrency);
        let wrong = match () {
            () if count == 0 || count > PARTITIONS_MAX => {
                format!("partitions are 1 to {PARTITIONS_MAX}, not {count}")
            }
            () if count > 1 && count as usize > concurrency => {
                format!("{count} partitions need a concurrency of at least {count}")
            }
            () if count > 1 && (self.extract || self.index) => {
                "several partitions write no rows or search index while they crawl: run `rhumb \
                 extract` or `rhumb index` on the directory afterwards"
                    .to_owned()
            }
            () => return Ok(()),
        };
        Err(SettingsError::Usage(wrong))
    }
}
