//! `rhumb status DIR`: what a crawl knows and does, of a running one by its socket, of one at rest
//! from its store.
//!
//! The hosts are read one after the other, which takes as long as there are hosts; memory holds
//! only the few that are shown. A store at rest is opened for it, which keeps a crawl from starting
//! meanwhile.

mod belief;
mod hosts;
mod overdue;
mod pattern;
mod text;
mod url;

pub use belief::{HostTrust, UrlBelief, of_page as belief_of};
pub use hosts::{HostLine, Hosts};
pub use overdue::{OverduePage, most_overdue};
pub use pattern::MostFetched;
pub(super) use url::host_status;
pub use url::{HostStatus, NextVisit, UrlHistory, UrlStatus, of_url};

use super::control::{self, Reply, Request};
use super::coverage::{self, Covered};
use super::diagnosis;
use super::failing::failing_hosts;
use super::live::Moment;
use super::moment::{self, rfc3339};
use super::report::Report;
use crate::run::resume_command;
use rhumb_engine::counters::Counters;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::time::Time;
use rhumb_state::local::{LocalReader, partitions_in};
use rhumb_state::snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Where a crawl's directory has its store.
pub const STATE_DIR: &str = "state";

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

/// What `rhumb status` prints: of the crawl or of one URL, for people or as one JSON value.
pub fn describe(dir: &Path, url: Option<&str>, json: bool) -> Result<String, Error> {
    let as_json = |value: serde_json::Result<String>| {
        let text = value.map_err(|e| Error::new(ErrorKind::Corrupt, e.to_string()))?;
        Ok(text + "\n")
    };
    match (url, json) {
        (None, true) => as_json(serde_json::to_string_pretty(&of_dir(dir)?)),
        (None, false) => Ok(text::of_status(&of_dir(dir)?)),
        (Some(url), true) => as_json(serde_json::to_string_pretty(&of_dir_and_url(dir, url)?)),
        (Some(url), false) => Ok(text::of_url_status(&of_dir_and_url(dir, url)?)),
    }
}

/// The status of the crawl in `dir`, running or not.
pub fn of_dir(dir: &Path) -> Result<Status, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &Request::Status(true))? {
        Some(Reply::Status(status)) => return Ok(*status),
        Some(reply) => return Err(unexpected(reply)),
        None => {}
    }
    match LocalReader::open(&dir.join(STATE_DIR)) {
        Ok(reader) => at_rest(dir, &reader),
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
        None => of_url(url, moment::now(), dir, &LocalReader::open(&dir.join(STATE_DIR))?),
    }
}

/// The tight certificate of the crawl in `dir`, running or not.
pub fn certificate_of_dir(dir: &Path) -> Result<Covered, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &Request::Coverage(true))? {
        Some(Reply::Coverage(covered)) => Ok(covered),
        Some(reply) => Err(unexpected(reply)),
        None => coverage::certificate(&LocalReader::open(&dir.join(STATE_DIR))?),
    }
}

/// The status of a crawl from within.
pub fn of_running(now: &Moment, mut report: Report, reader: &LocalReader) -> Result<Status, Error> {
    report.most_overdue = overdue_of(&report, now.snapshot.now, reader)?;
    report.hint = diagnosis::hint(&now.about.dir, reader)?;
    report.failing_hosts = failing_hosts(reader)?;
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
    let counters = reader.counters()?;
    let mut next_due = None;
    for part in reader.parts() {
        let (_, due) = part.snapshot().sleepers_due(Time::ZERO, None, 1)?;
        next_due = [next_due, due].into_iter().flatten().min();
    }
    let mut report = Report::at_rest(&counters, last);
    report.hint = diagnosis::hint(dir, reader)?;
    report.most_overdue = overdue_of(&report, moment::now(), reader)?;
    report.failing_hosts = failing_hosts(reader)?;
    Ok(Status {
        dir: dir.display().to_string(),
        running: false,
        why_nothing_is_fetched: Some(why_at_rest(dir, &counters, next_due, &report)),
        report,
        shown: Some(hosts::shown(reader)?),
    })
}

/// Of a crawl that goes on: the pages that have waited longest beyond their time.
fn overdue_of(report: &Report, now: Time, reader: &LocalReader) -> Result<Vec<OverduePage>, Error> {
    match report.collection {
        Some(_) => most_overdue(now, reader, &AtomicBool::new(false)),
        None => Ok(Vec::new()),
    }
}

fn why_at_rest(dir: &Path, counters: &Counters, next_due: Option<Time>, report: &Report) -> String {
    let shown = dir.display();
    let chunks = counters.next_outbox - counters.outbox_head;
    let mut waits = match (counters.queued, chunks) {
        (0, 0) if counters.known == 0 => "it has found no URL yet".to_owned(),
        (0, 0) if counters.pages == 0 => {
            let why = report.hint.as_deref().unwrap_or("none of its URLs is a page");
            return format!(
                "no crawl is running on {shown}, no URL waits, and no page came: {why}"
            );
        }
        (0, 0) => {
            return format!("no crawl is running on {shown}, and no URL waits: it is complete");
        }
        (0, _) => "links that were found wait to be sifted".to_owned(),
        (queued, _) => format!("{queued} URLs wait"),
    };
    if let Some(closed) = report.closed(moment::now()) {
        waits += &format!(" ({closed})");
    } else if let Some(at) = next_due {
        waits += &format!(" (the first retry or revisit is due at {})", rfc3339(at));
    }
    format!("no crawl is running on {shown}; {waits}: run `{}` to go on", resume_command(dir))
}

/// A crawl holds the store but does not listen, or not yet: its report has to do. How an earlier
/// run ended is no news of this one.
fn by_report(dir: &Path, held: Error) -> Result<Status, Error> {
    let Ok(Some(last)) = Report::read(dir) else { return Err(held) };
    let report = Report { stopped_because: None, ..last };
    Ok(Status {
        dir: dir.display().to_string(),
        running: true,
        why_nothing_is_fetched: report.why_idle.clone(),
        report,
        shown: None,
    })
}

pub fn check_is_crawl(dir: &Path) -> Result<(), Error> {
    if partitions_in(&dir.join(STATE_DIR))?.is_some() {
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

pub(super) fn unexpected(reply: Reply) -> Error {
    match reply {
        Reply::Error(what) => Error::new(ErrorKind::Invalid, what),
        _ => Error::new(ErrorKind::Corrupt, "the crawl answered another question"),
    }
}

/// The store says so in words only.
fn is_held(error: &Error) -> bool {
    error.kind == ErrorKind::Invalid && error.what.contains("in use by another rhumb")
}
