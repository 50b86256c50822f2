//! Taking down: what was kept of URLs and hosts is removed from a crawl's directory, and they are
//! never fetched into it again (docs/decisions/0062-taking-down.md).
//!
//! The order makes it safe to be killed anywhere. First the targets are written down (`list`), so
//! that no later run fetches them, and a file that says that a takedown is under way, so that none
//! begins before it is finished. Then the places of all records to be overwritten are written down;
//! only after that is anything overwritten (`records`). Index, rows, search and state (`rows`)
//! follow from what is left. To run it again is to do all again: each step finds what is done.

pub mod list;
mod plan;
mod records;
mod rows;

use std::path::Path;

use rhumb_archive::takedown;
use rhumb_engine::admit::Forgotten;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_page::url::Url;
use rhumb_state::local::Home;
use serde::Serialize;

use crate::settings::{CRAWL_TOML, Settings};
use list::TakedownTarget;

/// Memory for sorting the index anew.
const INDEX_BYTES: usize = 64 << 20;

/// What a takedown did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakedownDone {
    /// URLs of the crawl that are forgotten by it.
    pub urls: u64,
    /// Records of the archive that were overwritten.
    pub records: u64,
    /// Pages of others whose payload was kept with a forgotten one alone: kept by themselves now.
    pub kept_anew: u64,
    /// Rows of extracted text that were removed.
    pub rows: u64,
}

/// Takes down these targets, and finishes what an earlier takedown has left.
pub fn forget(dir: &Path, targets: &[TakedownTarget], now_us: u64) -> Result<TakedownDone, Error> {
    if !dir.join(CRAWL_TOML).exists() {
        let what = format!("{} holds no crawl: there is no {CRAWL_TOML} in it", dir.display());
        return Err(Error::new(ErrorKind::Invalid, what));
    }
    let home = Home::open(&dir.join("state")).map_err(|error| in_use(dir, error))?;
    let settings = Settings::of_dir(dir).map_err(|error| invalid(error.to_string()))?;
    let synced = home.archived()?;
    plan::begin(dir)?;
    list::add(dir, targets, now_us)?;
    let forgotten = list::read(dir).map_err(|error| invalid(error.to_string()))?;
    let mut done = TakedownDone::default();
    // What an earlier takedown was about to overwrite may be torn: that comes before all reading.
    takedown::overwrite(dir, &plan::read(dir)?, now_us).map_err(archive_error)?;
    let end = records::take_down(dir, (&forgotten, &settings), synced, now_us, &mut done)?;
    rows::filter_rows(dir, &forgotten, &mut done)?;
    rows::remake_search(dir, &settings)?;
    rows::take_down((dir, home), end, &forgotten, &mut done)?;
    plan::finish(dir)?;
    Ok(done)
}

/// An error, if a takedown was cut short.
pub fn check_whole(dir: &Path) -> Result<(), Error> {
    match plan::is_under_way(dir) {
        false => Ok(()),
        true => Err(invalid(format!(
            "a takedown in {dir} was cut short: run \"rhumb forget {dir}\" to finish it",
            dir = dir.display()
        ))),
    }
}

/// Whether a text names a URL that is to be forgotten.
fn is_forgotten(forgotten: &Forgotten, url: Option<&str>) -> bool {
    url.and_then(|text| Url::parse(text).ok()).is_some_and(|url| forgotten.has(&url))
}

fn in_use(dir: &Path, error: Error) -> Error {
    let is_in_use = error.what.contains("in use");
    match is_in_use {
        true => invalid(format!(
            "a crawl is running in {dir}: stop it with \"rhumb stop {dir}\", then forget",
            dir = dir.display()
        )),
        false => error,
    }
}

fn invalid(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

fn archive_error(error: rhumb_archive::ArchiveError) -> Error {
    Error::new(ErrorKind::Retry, error.to_string())
}

fn at(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
