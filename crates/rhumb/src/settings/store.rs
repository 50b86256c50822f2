//! The settings written back: `crawl.toml`, and the fingerprint that tells whether the rules of
//! admission are still those that refused what was refused.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use rhumb_engine::admit::Reach;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::Settings;
use super::quantity::{Bound, Period, Size};
use super::sections::{LimitsSection, RetrySection, TrapsSection};
use super::word::{Pattern, StripList, Word};
use super::written::Written;

const HEAD: &str = "\
# The settings of this crawl, as its last run had them. The next run on this directory begins with
# them; flags and --config win. It can be given to --config itself.

";

impl Settings {
    /// Every value as a person would write it.
    pub fn written(&self) -> Written {
        let patterns = |texts: &[String]| Some(texts.iter().cloned().map(Pattern).collect());
        Written {
            scope: Some(Word(self.scope)),
            include: patterns(&self.include),
            exclude: patterns(&self.exclude),
            strip: Some(self.strip.clone()),
            max_depth: Some(Bound(self.max_depth)),
            max_pages_per_host: Some(Bound(self.max_pages_per_host)),
            max_redirects: Some(self.max_redirects),
            sitemaps: Some(self.sitemaps),
            order: Some(Word(self.order)),
            patience: Some(Bound(self.patience)),
            revisit: Some(Bound(self.revisit_after.map(Period))),
            continuous: Some(self.continuous),
            budget: Some(self.budget),
            objective: Some(Word(self.objective)),
            minor_changes: Some(Word(self.minor_changes)),
            random_seed: Some(self.random_seed),
            max_pages: Some(Bound(self.max_pages)),
            max_bytes: Some(Bound(self.max_bytes.map(Size))),
            coverage: Some(Bound(self.coverage)),
            max_time: Some(Bound(self.max_time.map(Period))),
            delay: Some(Period(self.delay)),
            delay_factor: Some(self.delay_factor),
            delay_max: Some(Period(self.delay_max)),
            per_address: Some(self.per_address),
            address_delay: Some(Period(self.address_delay)),
            robots_ttl: Some(Period(self.robots_ttl)),
            user_agent: Some(self.user_agent.clone()),
            concurrency: Some(self.concurrency),
            hosts_awake_max: Some(self.hosts_awake_max),
            resolver: Some(Bound(self.resolver)),
            allow_private: Some(self.allow_private),
            allow_file: Some(Bound(self.allow_file.clone())),
            metrics: Some(Bound(self.metrics)),
            archive: Some(Word(self.archive)),
            warc_bytes_max: Some(Size(self.warc_bytes_max)),
            compression_level: Some(self.compression_level),
            extract: Some(self.extract),
            near_duplicates: Some(Word(self.near.policy)),
            near_threshold: Some(self.near.threshold),
            follow_near_duplicates: Some(self.near.follow),
            seeds: Some(self.seeds.clone()),
            retry: RetrySection::of(&self.retry),
            traps: TrapsSection::of(&self.traps),
            limits: LimitsSection::of(&self.limits),
            priority: (!self.priorities.is_empty()).then(|| self.priorities.clone()),
        }
    }

    /// Writes the settings beside `path` and moves them there whole, so that a crash leaves the
    /// old file or the new one.
    pub fn write_crawl_toml(&self, path: &Path) -> io::Result<()> {
        let text = toml::to_string(&self.written()).map_err(io::Error::other)?;
        let beside = path.with_extension("toml.new");
        let mut file = File::create(&beside)?;
        file.write_all(HEAD.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => File::open(dir)?.sync_all(),
            _ => Ok(()),
        }
    }

    /// Of all that decides which URLs are admitted, the seeds' hosts or sites included. When it
    /// differs from that of an earlier run, what was refused then is judged again. It hashes text,
    /// so it does not change with the compiler.
    pub fn scope_fingerprint(&self) -> u64 {
        #[derive(Serialize)]
        struct Admission<'a> {
            scope: Word<Reach>,
            members: BTreeSet<String>,
            include: &'a [String],
            exclude: &'a [String],
            strip: &'a StripList,
            max_depth: Bound<u16>,
            max_pages_per_host: Bound<u64>,
            max_redirects: u8,
            traps: TrapsSection,
        }
        let members = self.seeds.iter().filter_map(|seed| match self.scope {
            Reach::Host => Some(seed.url.host().to_owned()),
            Reach::Site => Some(seed.url.site().as_str().to_owned()),
            Reach::Any => None,
        });
        let admission = Admission {
            scope: Word(self.scope),
            members: members.collect(),
            include: &self.include,
            exclude: &self.exclude,
            strip: &self.strip,
            max_depth: Bound(self.max_depth),
            max_pages_per_host: Bound(self.max_pages_per_host),
            max_redirects: self.max_redirects,
            traps: TrapsSection::of(&self.traps),
        };
        let text = toml::to_string(&admission).expect("plain text and numbers");
        xxh3_64(text.as_bytes())
    }
}
