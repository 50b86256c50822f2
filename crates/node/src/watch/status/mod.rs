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
pub use hosts::{HostLine, StatusHosts};
pub use overdue::{OverduePage, most_overdue};
pub use pattern::MostFetched;
pub(super) use url::host_status;
pub use url::{HostStatus, NextVisit, Patience, UrlHistory, UrlStatus, of_url};

use super::at_rest;
use super::control::{self, ControlReply, ControlRequest};
use super::counted;
use super::coverage::{self, Covered};
use super::diagnosis;
use super::failing::failing_hosts;
use super::live::LiveMoment;
use super::moment::{self, rfc3339};
use super::report::CrawlReport;
use crate::run::resume_command;
use rhumb_engine::counters::Counters;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::time::Time;
use rhumb_state::local::{LocalReader, partitions_in};
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Where a crawl's directory has its store.
pub const STATE_DIR: &str = "state";

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CrawlStatus {
    pub dir: String,
    pub running: bool,
    /// Why nothing is being fetched, if nothing is.
    pub why_nothing_is_fetched: Option<String>,
    #[serde(flatten)]
    pub report: CrawlReport,
    /// None if the store could not be read: it is held by a crawl that does not answer.
    #[serde(flatten)]
    pub shown: Option<StatusHosts>,
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
pub fn of_dir(dir: &Path) -> Result<CrawlStatus, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &ControlRequest::Status(true))? {
        Some(ControlReply::Status(status)) => return Ok(*status),
        Some(reply) => return Err(unexpected(reply)),
        None => {}
    }
    match at_rest::open(dir) {
        Ok(reader) => of_store(dir, &reader),
        Err(e) if is_held(&e) => by_report(dir, e),
        Err(e) => Err(e),
    }
}

/// What the crawl in `dir`, running or not, knows of a URL.
pub fn of_dir_and_url(dir: &Path, url: &str) -> Result<UrlStatus, Error> {
    asked_of_url(dir, url, (ControlRequest::Url(url.to_owned()), Patience::Whole))
}

/// The same without what takes a walk through all URLs.
pub fn of_dir_and_url_briefly(dir: &Path, url: &str) -> Result<UrlStatus, Error> {
    asked_of_url(dir, url, (ControlRequest::UrlBriefly(url.to_owned()), Patience::Brief))
}

fn asked_of_url(
    dir: &Path,
    url: &str,
    (request, patience): (ControlRequest, Patience),
) -> Result<UrlStatus, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &request)? {
        Some(ControlReply::Url(status)) => Ok(*status),
        Some(reply) => Err(unexpected(reply)),
        None => of_url(url, (moment::now(), patience), dir, &*at_rest::open(dir)?),
    }
}

/// The tight certificate of the crawl in `dir`, running or not.
pub fn certificate_of_dir(dir: &Path) -> Result<Covered, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &ControlRequest::Coverage(true))? {
        Some(ControlReply::Coverage(covered)) => Ok(covered),
        Some(reply) => Err(unexpected(reply)),
        None => coverage::certificate(&LocalReader::open(&dir.join(STATE_DIR))?),
    }
}

/// The status of a crawl from within.
pub fn of_running(
    now: &LiveMoment,
    mut report: CrawlReport,
    reader: &LocalReader,
) -> Result<CrawlStatus, Error> {
    report.most_overdue = overdue_of(&report, now.snapshot.now, reader)?;
    report.hint = diagnosis::hint(&now.about.dir, reader)?;
    report.failing_hosts = failing_hosts(reader)?;
    Ok(CrawlStatus {
        dir: now.about.dir.display().to_string(),
        running: true,
        why_nothing_is_fetched: report.why_idle.clone(),
        report,
        shown: Some(hosts::shown(reader)?),
    })
}

/// The same for viewers who ask again and again: without the lists of hosts, which take a pass over
/// all of them, and with the overdue pages as the report has them.
pub fn of_running_briefly(now: &LiveMoment, report: CrawlReport) -> CrawlStatus {
    let last = CrawlReport::read(&now.about.dir).ok().flatten().unwrap_or_default();
    let report = CrawlReport { most_overdue: last.most_overdue, hint: last.hint, ..report };
    CrawlStatus {
        dir: now.about.dir.display().to_string(),
        running: true,
        why_nothing_is_fetched: report.why_idle.clone(),
        report,
        shown: None,
    }
}

/// What a dashboard shows of the crawl in `dir` again and again: of a running one without its
/// store, of one at rest by its last report, which the end of a run leaves whole.
pub fn of_dir_briefly(dir: &Path) -> Result<CrawlStatus, Error> {
    check_is_crawl(dir)?;
    match ask(dir, &ControlRequest::Status(false))? {
        Some(ControlReply::Status(status)) => return Ok(*status),
        Some(reply) => return Err(unexpected(reply)),
        None => {}
    }
    match CrawlReport::read(dir)? {
        // A run that did not end has left no word of what it had committed.
        Some(report) if report.stopped_because.is_some() => Ok(by_last_report(dir, report)),
        _ => of_dir(dir),
    }
}

fn by_last_report(dir: &Path, report: CrawlReport) -> CrawlStatus {
    let waits = match report.queued {
        0 => "no URL waits".to_owned(),
        queued => counted(queued, "URL waits", "URLs wait"),
    };
    let resume = resume_command(dir);
    let why = format!("no crawl is running on {}; {waits}: run `{resume}` to go on", dir.display());
    CrawlStatus {
        dir: dir.display().to_string(),
        running: false,
        why_nothing_is_fetched: Some(why),
        report,
        shown: None,
    }
}

fn of_store(dir: &Path, reader: &LocalReader) -> Result<CrawlStatus, Error> {
    // A report that cannot be read takes nothing from what the store says.
    let last = CrawlReport::read(dir).ok().flatten();
    let counters = reader.counters()?;
    let mut next_due = None;
    for part in reader.parts() {
        let (_, due) = part.snapshot().sleepers_due(Time::ZERO, None, 1)?;
        next_due = [next_due, due].into_iter().flatten().min();
    }
    let mut report = CrawlReport::at_rest(&counters, last);
    report.hint = diagnosis::hint(dir, reader)?;
    report.most_overdue = overdue_of(&report, moment::now(), reader)?;
    report.failing_hosts = failing_hosts(reader)?;
    Ok(CrawlStatus {
        dir: dir.display().to_string(),
        running: false,
        why_nothing_is_fetched: Some(why_at_rest(dir, &counters, next_due, &report)),
        report,
        shown: Some(hosts::shown(reader)?),
    })
}

/// Of a crawl that goes on: the pages that have waited longest beyond their time.
fn overdue_of(
    report: &CrawlReport,
    now: Time,
    reader: &LocalReader,
) -> Result<Vec<OverduePage>, Error> {
    match report.collection {
        Some(_) => most_overdue(now, reader, &AtomicBool::new(false)),
        None => Ok(Vec::new()),
    }
}

fn why_at_rest(
    dir: &Path,
    counters: &Counters,
    next_due: Option<Time>,
    report: &CrawlReport,
) -> String {
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
        (queued, _) => counted(queued, "URL waits", "URLs wait"),
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
fn by_report(dir: &Path, held: Error) -> Result<CrawlStatus, Error> {
    let Ok(Some(last)) = CrawlReport::read(dir) else { return Err(held) };
    let report = CrawlReport { stopped_because: None, ..last };
    Ok(CrawlStatus {
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

fn ask(dir: &Path, request: &ControlRequest) -> Result<Option<ControlReply>, Error> {
    control::ask(dir, request).map_err(|e| {
        let what = format!("the crawl that runs on {} does not answer: {e}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })
}

pub(super) fn unexpected(reply: ControlReply) -> Error {
    match reply {
        ControlReply::Error(what) => Error::new(ErrorKind::Invalid, what),
        ControlReply::Later(what) => Error::new(ErrorKind::Retry, what),
        _ => Error::new(ErrorKind::Corrupt, "the crawl answered another question"),
    }
}

/// The store says so in words only.
fn is_held(error: &Error) -> bool {
    error.kind == ErrorKind::Invalid && error.what.contains("in use by another rhumb")
}
