//! The settings of a crawl's last run, read again only when `crawl.toml` has changed: with hundreds
//! of thousands of seeds that takes longer than an answer.

use crate::settings::{CRAWL_TOML, Settings};
use rhumb_engine::config::Config;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

pub struct LastSettings {
    pub settings: Settings,
    /// The rules of that run; none if they cannot be made of these settings.
    pub config: Option<Config>,
}

/// What was read last: of one crawl, as its file was.
static READ: Mutex<Option<(FileAsOf, Arc<LastSettings>)>> = Mutex::new(None);

#[derive(PartialEq)]
struct FileAsOf {
    path: PathBuf,
    modified: SystemTime,
    bytes: u64,
}

/// None if they cannot be read.
pub fn of_dir(dir: &Path) -> Option<Arc<LastSettings>> {
    let path = dir.join(CRAWL_TOML);
    let file = std::fs::metadata(&path).ok()?;
    let as_of = FileAsOf { path, modified: file.modified().ok()?, bytes: file.len() };
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, last)) = read.as_ref().filter(|(known, _)| *known == as_of) {
        return Some(Arc::clone(last));
    }
    let settings = Settings::of_dir(dir).ok()?;
    let config = settings.engine_config().ok();
    let last = Arc::new(LastSettings { settings, config });
    *read = Some((as_of, Arc::clone(&last)));
    Some(last)
}
