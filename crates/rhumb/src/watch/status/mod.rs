//! `rhumb status DIR`: what a crawl knows and does, of a running one by its socket, of one at rest
//! from its store.
//!
//! The hosts are read one after the other, which takes as long as there are hosts; memory holds
//! only the few that are shown. Opening the store of a crawl at rest reads every URL once, as a
//! crawl does, and keeps a crawl from starting meanwhile.

mod hosts;
mod text;
mod url;

pub use hosts::{HostLine, Hosts};
pub use text::{of_status as text_of_status, of_url_status as text_of_url_status};
pub use url::{HostStatus, UrlStatus, of_url};

use super::control::{self, Reply, Request};
use super::live::Moment;
use super::moment::{self, rfc3339};
use super::report::Report;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::time::Time;
use rhumb_state::local::{LocalReader, LocalState};
use rhumb_state::snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where a crawl's directory has its store.
pub const STATE_DIR: &str = "state";
const FORMAT_FILE: &str = "FORMAT";
/// Only a new store is given a seed, and we never make one.
const NO_SEED: u64 = 0;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Status {
    pub dir: String,
    pub running: bool,
    /// Why nothing is being fetched, if nothing is.
    pub why_nothing_is_fetched: Option<String>,
    #[serde(flatten)]
    pub report: Report,
    /// None if the store could not be read: it is held by a crawl that does not answer.
    #[serde(flatten)]
    pub shown: Option<Hosts>,
}

/// The status of the crawl in `dir`, running or not.
pub fn of_dir(dir: &Path) -> Result<Status, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &Request::Status(true))? {
        Some(Reply::Status(status)) => return Ok(*status),
        Some(reply) => return Err(unexpected(reply)),
        None => {}
    }
    match LocalState::open(&dir.join(STATE_DIR), NO_SEED) {
        Ok((state, _)) => at_rest(dir, &state.reader()),
        Err(e) if is_held(&e) => by_report(dir, e),
        Err(e) => Err(e),
    }
}

/// What the crawl in `dir`, running or not, knows of a URL.
pub fn of_dir_and_url(dir: &Path, url: &str) -> Result<UrlStatus, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &Request::Url(url.to_owned()))? {
        Some(Reply::Url(status)) => Ok(*status),
        Some(reply) => Err(unexpected(reply)),
        None => {
            let (state, _) = LocalState::open(&dir.join(STATE_DIR), NO_SEED)?;
            of_url(url, moment::now(), &state.reader())
        }
    }
}

/// The status of a crawl from within.
pub fn of_running(now: &Moment, report: Report, reader: &LocalReader) -> Result<Status, Error> {
    Ok(Status {
        dir: now.about.dir.display().to_string(),
        running: true,
        why_nothing_is_fetched: report.why_idle.clone(),
        report,
        shown: Some(hosts::shown(reader)?),
    })
}

fn at_rest(dir: &Path, reader: &LocalReader) -> Result<Status, Error> {
    // A report that cannot be read takes nothing from what the store says.
    let last = Report::read(dir).ok().flatten();
    let report = Report::at_rest(&reader.counters()?, last);
    let (_, next_due) = reader.snapshot().sleepers_due(Time::ZERO, None, 1)?;
    Ok(Status {
        dir: dir.display().to_string(),
        running: false,
        why_nothing_is_fetched: Some(why_at_rest(dir, &report, next_due)),
        report,
        shown: Some(hosts::shown(reader)?),
    })
}

fn why_at_rest(dir: &Path, report: &Report, next_due: Option<Time>) -> String {
    let dir = dir.display();
    if report.queued == 0 {
        return format!("no crawl is running on {dir}, and no URL waits: it is complete");
    }
    let due = match next_due {
        Some(at) => format!(" (the next that has its own time: {})", rfc3339(at)),
        None => String::new(),
    };
    format!(
        "no crawl is running on {dir}; {} URLs wait{due}: run `rhumb crawl --dir {dir}` to go on",
        report.queued
    )
}

/// A crawl holds the store but does not listen: its report is at most a second old.
fn by_report(dir: &Path, held: Error) -> Result<Status, Error> {
    let Ok(Some(report)) = Report::read(dir) else { return Err(held) };
    Ok(Status {
        dir: dir.display().to_string(),
        running: true,
        why_nothing_is_fetched: report.why_idle.clone(),
        report,
        shown: None,
    })
}

fn check_is_crawl(dir: &Path) -> Result<(), Error> {
    if dir.join(STATE_DIR).join(FORMAT_FILE).is_file() {
        return Ok(());
    }
    let what = if dir.is_dir() { "holds no crawl" } else { "is no directory" };
    Err(Error::new(ErrorKind::Invalid, format!("{} {what}", dir.display())))
}

fn ask(dir: &Path, request: &Request) -> Result<Option<Reply>, Error> {
    control::ask(dir, request).map_err(|e| {
        let what = format!("the crawl that runs on {} does not answer: {e}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })
}

fn unexpected(reply: Reply) -> Error {
    match reply {
        Reply::Error(what) => Error::new(ErrorKind::Invalid, what),
        _ => Error::new(ErrorKind::Corrupt, "the crawl answered another question"),
    }
}

/// The store says so in words only.
fn is_held(error: &Error) -> bool {
    error.kind == ErrorKind::Invalid && error.what.contains("in use by another rhumb")
}
