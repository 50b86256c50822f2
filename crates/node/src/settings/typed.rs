//! What was typed after `rhumb crawl`: the settings that can also be written in TOML, and what
//! only a command line has.

use std::path::{Path, PathBuf};

use super::seeds::{self, Seed, is_bare_host};
use super::word::UserAgent;
use super::written::Written;
use super::{CRAWL_TOML, Settings, SettingsError, document};
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
    pub written: Written,
}

impl Typed {
    /// Reads all that is named and decides what it means.
    pub fn settings(self) -> Result<Settings, SettingsError> {
        if self.json && self.events.as_deref() == Some(Path::new(STANDARD_OUTPUT)) {
            let wrong = "--events - and --json both write to standard output: name a file for one";
            return Err(SettingsError::usage(wrong));
        }
        let mut notes = Vec::new();
        let mut seeds = Vec::new();
        for text in &self.seeds {
            let seed: Seed = text.trim().parse().map_err(SettingsError::usage)?;
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
        let flags = Written { seeds: Some(seeds), ..self.written };
        let mut written = written_before(&self.dir)?;
        if let Some(path) = &self.config {
            written = document::read(path)?.over(written);
        }
        let settings = flags.over(written).decide(self.dir, self.json)?;
        if settings.user_agent == UserAgent::default() && !settings.allow_private {
            notes.push(NO_CONTACT.to_owned());
        }
        let (retry_failed, events) = (self.retry_failed, self.events);
        Ok(Settings { notes, retry_failed, events, ..settings })
    }
}

impl Settings {
    /// The settings of the last run on this directory.
    pub fn of_dir(dir: &Path) -> Result<Settings, SettingsError> {
        document::read(&dir.join(CRAWL_TOML))?.decide(dir.to_owned(), false)
    }
}

/// The settings of an earlier run on this directory. What made that run stop is not one of them:
/// to run it again is to go on.
fn written_before(dir: &Path) -> Result<Written, SettingsError> {
    let path = dir.join(CRAWL_TOML);
    match path.try_exists() {
        Ok(true) => {
            let before = document::read(&path)?;
            Ok(Written {
                max_pages: None,
                max_bytes: None,
                max_time: None,
                coverage: None,
                ..before
            })
        }
        Ok(false) => Ok(Written::default()),
        Err(error) => Err(SettingsError::usage(format!("{}: {error}", path.display()))),
    }
}
