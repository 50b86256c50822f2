//! What was typed after `rhumb crawl`: the settings that can also be written in TOML, and what
//! only a command line has.

use std::path::{Path, PathBuf};

use rhumb_engine::admit::Reach;
use rhumb_engine::config::{NearDuplicates, NearPolicy, Order, Traps};

use super::sections::RetrySection;
use super::seeds::{self, SeedLine, is_bare_host};
use super::word::{LiftList, UserAgent};
use super::written::WrittenSettings;
use super::{CRAWL_TOML, RequisiteSettings, Settings, SettingsError, document};
use crate::watch::events::STANDARD_OUTPUT;

/// On a web of strangers, they should be able to reach us.
const NO_CONTACT: &str = "\
    nobody can tell whose crawl this is: name yourself with \
    --user-agent \"mybot/1.0 (+https://example.org/bot)\"";

#[derive(Clone, Debug, Default, clap::Args)]
pub struct Typed {
    /// URLs to begin with; `example.com` is taken as http://example.com/
    #[arg(value_name = "SEED")]
    pub seeds: Vec<String>,

    /// The crawl's directory; one that exists is gone on with
    #[arg(long, value_name = "DIR", default_value = "./rhumb-crawl")]
    pub dir: PathBuf,

    /// Seeds: one URL a line, perhaps a weight after it, # comments; - is standard input; .gz
    /// and .zst are read as such; repeatable
    #[arg(long = "seeds", value_name = "FILE")]
    pub seeds_files: Vec<PathBuf>,

    /// Settings in TOML; flags win over it, and it wins over the directory's crawl.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Try all that failed in earlier runs again, with all tries of a new URL; each run tries most
    /// of it once in any case
    #[arg(long, help_heading = "Where to go")]
    pub retry_failed: bool,

    /// Print the report on standard output at the end
    #[arg(long)]
    pub json: bool,

    /// Append what happens to this file, as JSON lines; - is standard output
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,

    #[command(flatten)]
    pub written: WrittenSettings,
}

impl Typed {
    /// Reads all that is named and decides what it means.
    pub fn settings(mut self) -> Result<Settings, SettingsError> {
        if self.json && self.events.as_deref() == Some(Path::new(STANDARD_OUTPUT)) {
            let wrong = "--events - and --json both write to standard output: name a file for one";
            return Err(SettingsError::usage(wrong));
        }
        let (flags, mut notes) = self.flags()?;
        let mut written = written_before(&self.dir)?;
        if let Some(path) = &self.config {
            written = document::read(path)?.over(written);
        }
        same_topic(&flags, &written, &self.dir)?;
        let settings = flags.over(written).decide(self.dir, self.json)?;
        settings.access.check(&settings.seeds)?;
        notes.extend(settings.access.notes());
        if settings.user_agent == UserAgent::default() && !settings.allow_private {
            notes.push(NO_CONTACT.to_owned());
        }
        let (retry_failed, events) = (self.retry_failed, self.events);
        Ok(Settings { notes, retry_failed, events, ..settings })
    }

    /// The same for pages that are fetched at once: there is no directory, and who asks waits for
    /// the answer.
    pub fn settings_of_get(mut self) -> Result<Settings, SettingsError> {
        let (flags, mut notes) = self.flags()?;
        let written = self.config.as_deref().map(document::read).transpose()?.unwrap_or_default();
        let written = flags.over(written);
        let seeds = written.seeds.as_ref();
        if seeds.is_none_or(Vec::is_empty) {
            return Err(SettingsError::usage("no URL: name one, or --seeds FILE"));
        }
        let settings = WrittenSettings { retry: written.retry.clone().over(one_try()), ..written };
        let settings = settings.decide(PathBuf::new(), false)?;
        settings.access.check(&settings.seeds)?;
        notes.extend(settings.access.notes());
        Ok(Settings {
            scope: Reach::Any,
            order: Order::Bfs,
            topic: Vec::new(),
            sitemaps: false,
            requisites: RequisiteSettings { are_fetched: false, ..settings.requisites },
            continuous: false,
            revisit_after: None,
            include: Vec::new(),
            exclude: Vec::new(),
            near: NearDuplicates { policy: NearPolicy::Off, ..settings.near },
            traps: Traps { lifted: LiftList::all().0, ..settings.traps },
            types: None,
            below: false,
            hours: Vec::new(),
            extract: false,
            index: false,
            notes,
            ..settings
        })
    }

    /// What was typed, the seeds of files among it, and what was assumed on the way.
    fn flags(&mut self) -> Result<(WrittenSettings, Vec<String>), SettingsError> {
        let mut notes = Vec::new();
        let mut seeds = Vec::new();
        for text in &self.seeds {
            let seed: SeedLine = text.trim().parse().map_err(SettingsError::usage)?;
            if is_bare_host(text.trim()) {
                if Path::new(text).is_file() {
                    let hint = format!("seed {text:?} is a file here: say --seeds {text}");
                    return Err(SettingsError::usage(hint));
                }
                notes.push(format!("seed {text:?} is taken as {}", seed.url));
            }
            seeds.push(seed);
        }
        for path in &self.seeds_files {
            seeds::read_file(path, &mut seeds)?;
        }
        let flags = WrittenSettings { seeds: Some(seeds), ..std::mem::take(&mut self.written) };
        flags.check_headers()?;
        Ok((flags, notes))
    }
}

/// A script that asks for a page can ask again.
fn one_try() -> RetrySection {
    RetrySection {
        tries_max: Some(1),
        robots_tries_max: Some(1),
        host_failures_max: Some(1),
        ..RetrySection::default()
    }
}

/// The books of a crawl rest on its topic: it is what it was when the crawl began.
fn same_topic(
    flags: &WrittenSettings,
    before: &WrittenSettings,
    dir: &Path,
) -> Result<(), SettingsError> {
    let has_begun = dir.join(CRAWL_TOML).exists();
    let Some(wanted) = flags.topic.as_ref().filter(|_| has_begun) else { return Ok(()) };
    if before.topic.as_ref() == Some(wanted) {
        return Ok(());
    }
    let dir = dir.display();
    let began = match &before.topic {
        Some(topic) => {
            let topic: Vec<String> = topic.iter().map(|spec| format!("--topic {spec:?}")).collect();
            format!("with {}", topic.join(" "))
        }
        None => "without a topic".to_owned(),
    };
    Err(SettingsError::usage(format!(
        "the crawl in {dir} began {began}: another topic needs another --dir"
    )))
}

impl Settings {
    /// The settings of the last run on this directory.
    pub fn of_dir(dir: &Path) -> Result<Settings, SettingsError> {
        document::read(&dir.join(CRAWL_TOML))?.decide(dir.to_owned(), false)
    }
}

/// The settings of an earlier run on this directory. What made that run stop is not one of them:
/// to run it again is to go on.
fn written_before(dir: &Path) -> Result<WrittenSettings, SettingsError> {
    let path = dir.join(CRAWL_TOML);
    match path.try_exists() {
        Ok(true) => {
            let before = document::read(&path)?;
            Ok(WrittenSettings {
                max_pages: None,
                max_bytes: None,
                max_time: None,
                coverage: None,
                ..before
            })
        }
        Ok(false) => Ok(WrittenSettings::default()),
        Err(error) => Err(SettingsError::usage(format!("{}: {error}", path.display()))),
    }
}
