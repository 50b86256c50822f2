//! The settings written back: `crawl.toml`.

use std::io::{self, Write};
use std::path::Path;

use rhumb_disk::{Durable, replace};

use super::Settings;
use super::quantity::{OptionalBound, Period, Size};
use super::sections::{LimitsSection, RetrySection, TrapsSection};
use super::word::{LiftList, NamedValue, UrlPattern};
use super::written::WrittenSettings;

const HEAD: &str = "\
# The settings of this crawl, as its last run had them. The next run on this directory begins with
# them; flags and --config win. It can be given to --config itself.

";

impl Settings {
    /// Every value as a person would write it.
    pub fn written(&self) -> WrittenSettings {
        let patterns = |texts: &[String]| Some(texts.iter().cloned().map(UrlPattern).collect());
        let mut written = WrittenSettings {
            scope: Some(NamedValue(self.scope)),
            include: patterns(&self.include),
            exclude: patterns(&self.exclude),
            strip: Some(self.strip.clone()),
            max_depth: Some(OptionalBound(self.max_depth)),
            max_pages_per_host: Some(OptionalBound(self.max_pages_per_host)),
            max_redirects: Some(self.max_redirects),
            sitemaps: Some(self.sitemaps),
            requisites: Some(self.requisites.are_fetched),
            max_requisites_per_page: Some(self.requisites.per_page_max),
            lift_traps: Some(LiftList(self.traps.lifted)),
            max_sitemaps_per_host: Some(self.sitemaps_per_host_max),
            order: Some(NamedValue(self.order)),
            topic: (!self.topic.is_empty()).then(|| self.topic.clone()),
            topic_against: self.topic_against.clone(),
            topic_min: (!self.topic.is_empty()).then_some(self.topic_min),
            patience: Some(OptionalBound(self.patience)),
            revisit: Some(OptionalBound(self.revisit_after.map(Period))),
            continuous: Some(self.continuous),
            budget: Some(self.budget),
            objective: Some(NamedValue(self.objective)),
            minor_changes: Some(NamedValue(self.minor_changes)),
            random_seed: Some(self.random_seed),
            max_pages: Some(OptionalBound(self.max_pages)),
            max_bytes: Some(OptionalBound(self.max_bytes.map(Size))),
            coverage: Some(OptionalBound(self.coverage)),
            max_time: Some(OptionalBound(self.max_time.map(Period))),
            delay: Some(Period(self.delay)),
            delay_factor: Some(self.delay_factor),
            delay_max: Some(Period(self.delay_max)),
            per_address: Some(self.per_address),
            address_delay: Some(Period(self.address_delay)),
            robots_ttl: Some(Period(self.robots_ttl)),
            user_agent: Some(self.user_agent.clone()),
            concurrency: Some(self.concurrency),
            partitions: Some(self.partitions),
            hosts_awake_max: Some(self.hosts_awake_max),
            resolver: Some(OptionalBound(self.resolver)),
            allow_private: Some(self.allow_private),
            allow_file: Some(OptionalBound(self.allow_file.clone())),
            metrics: Some(OptionalBound(self.metrics)),
            archive: Some(NamedValue(self.archive)),
            warc_bytes_max: Some(Size(self.warc_bytes_max)),
            compression_level: Some(self.compression_level),
            extract: Some(self.extract),
            noarchive: Some(NamedValue(self.noarchive)),
            index: Some(self.index),
            near_duplicates: Some(NamedValue(self.near.policy)),
            near_threshold: Some(self.near.threshold),
            follow_near_duplicates: Some(self.near.follow),
            seeds: Some(self.seeds.clone()),
            retry: RetrySection::of(&self.retry),
            traps: TrapsSection::of(&self.traps),
            limits: LimitsSection::of(&self.limits),
            below: Some(self.below),
            only_seeds: Some(self.only_seeds),
            types: Some(OptionalBound(self.types.clone())),
            bytes_per_second: Some(OptionalBound(self.bytes_per_second.map(Size))),
            hours: (!self.hours.is_empty()).then(|| self.hours.clone()),
            priority: (!self.priorities.is_empty()).then(|| self.priorities.clone()),
            ..WrittenSettings::default()
        };
        self.access.write(&mut written);
        written
    }

    /// Replaces `path` whole: a crash or a power cut leaves the old settings or the new ones.
    pub fn write_crawl_toml(&self, path: &Path) -> io::Result<()> {
        let text = toml::to_string(&self.written()).map_err(io::Error::other)?;
        replace(path, Durable::Name, |file| {
            file.write_all(HEAD.as_bytes())?;
            file.write_all(text.as_bytes())
        })
    }
}
