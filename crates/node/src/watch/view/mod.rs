//! What the dashboard shows beyond `rhumb status`: each page of it is one [`ViewQuery`], answered
//! from the store by a scan that is bounded in rows, of a running crawl through its socket.
//!
//! An answer is a JSON value: the dashboard's page draws it, and serves it as it is.

mod alike;
mod ceiling;
mod frontier;
mod hosts;
mod pace;
mod sample;
mod web;
mod what_if;

pub use alike::{AlikeCluster, AlikePage, AlikeView, MirrorPair};
pub use ceiling::{DelayCause, HoldingHost, SpeedView};
pub use frontier::{ClassLine, FrontierView, HostCell, SleepingHost};
pub use hosts::{HostRefusal, HostView, HostsBy, HostsView};
pub use pace::{LoopShare, LostRate, PaceView, PartCeiling};
pub use web::{HostLink, SeenHost, WebView};
pub use what_if::WhatIfView;

use super::at_rest;
use super::control::{self, ControlReply, ControlRequest};
use super::last_settings;
use super::live::Live;
use super::moment;
use super::pace::PaceMeans;
use super::status::{check_is_crawl, unexpected};
use crate::settings::Settings;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::holdups::Holdups;
use rhumb_engine::host::HostRecord;
use rhumb_engine::time::Time;
use rhumb_page::url::HostKey;
use rhumb_state::local::{LocalReader, UrlRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Host rows that one page reads.
const HOSTS_READ_MAX: usize = 100_000;
/// URL rows that one page reads.
const URLS_READ_MAX: usize = 200_000;
/// A scan ends after this, however few rows it read: a page makes up to three, and is to be there
/// within 200 ms.
const SCAN_TIME_MAX: Duration = Duration::from_millis(50);
/// Rows between two looks at the clock.
const ROWS_PER_LOOK: usize = 64;

/// A page of the dashboard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewQuery {
    Speed,
    Frontier,
    Hosts(HostsBy),
    /// `https://example.org`, or a name alone.
    Host(String),
    Duplicates,
    Web,
    /// What would an exclusion refuse, and what would another delay allow?
    WhatIf {
        exclude: Option<String>,
        delay_ms: Option<u64>,
    },
}

/// The page of the crawl in `dir`, running or not.
pub fn of_dir(dir: &Path, query: &ViewQuery) -> Result<Value, Error> {
    check_is_crawl(dir)?;
    let asked = control::ask(dir, &ControlRequest::View(query.clone())).map_err(|error| {
        let what = format!("the crawl that runs on {} does not answer: {error}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })?;
    match asked {
        Some(ControlReply::View(value)) => Ok(value),
        Some(reply) => Err(unexpected(reply)),
        None => {
            let reader = at_rest::open(dir)?;
            answer(query, (dir, &reader), moment::now(), &AtWork::default())
        }
    }
}

/// What a crawl that runs knows and its store does not; nothing of one at rest.
#[derive(Default)]
pub struct AtWork {
    /// What held hosts up in the last minute.
    pace: Option<PaceMeans>,
    /// The same now.
    holdups: Option<Arc<Holdups>>,
}

impl AtWork {
    pub fn of(live: &Live) -> AtWork {
        AtWork { pace: live.pace(), holdups: live.get().snapshot.holdups }
    }
}

/// The page, from the store and from what is at work.
pub fn answer(
    query: &ViewQuery,
    (dir, reader): (&Path, &Arc<LocalReader>),
    now: Time,
    at_work: &AtWork,
) -> Result<Value, Error> {
    let last = last_settings::of_dir(dir);
    let settings = last.as_ref().map(|last| &last.settings);
    // The delays of the last run's settings; the usual ones if they cannot be read.
    let polite = settings.map(Settings::polite).unwrap_or_default();
    let view = match query {
        ViewQuery::Speed => {
            let pace = at_work.pace.as_ref().map(|means| pace::of(means, settings));
            to_value(&SpeedView { pace, ..ceiling::read(reader, &polite, now)? })
        }
        ViewQuery::Frontier => {
            to_value(&frontier::read(reader, &polite, now, at_work.holdups.as_deref())?)
        }
        ViewQuery::Hosts(by) => to_value(&hosts::list(reader, &polite, *by)?),
        ViewQuery::Host(text) => to_value(&hosts::one((reader, dir), &polite, text, now)?),
        ViewQuery::Duplicates => to_value(&alike::read(reader)?),
        ViewQuery::Web => to_value(&web::read(dir, reader)?),
        ViewQuery::WhatIf { exclude, delay_ms } => {
            to_value(&what_if::read((dir, reader), &polite, now, (exclude.as_deref(), *delay_ms))?)
        }
    };
    view.map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))
}

fn to_value<T: Serialize>(view: &T) -> serde_json::Result<Value> {
    serde_json::to_value(view)
}

/// The end of a scan: so many rows, or [`SCAN_TIME_MAX`].
struct Bound {
    rows_max: usize,
    begun: Instant,
}

impl Bound {
    fn of(rows_max: usize) -> Bound {
        Bound { rows_max, begun: Instant::now() }
    }

    fn is_reached(&self, rows: usize) -> bool {
        let is_look = rows > 0 && rows.is_multiple_of(ROWS_PER_LOOK);
        rows == self.rows_max || (is_look && self.begun.elapsed() > SCAN_TIME_MAX)
    }
}

/// Calls `each` for at most [`HOSTS_READ_MAX`] hosts; tells how many, if there were more.
fn each_host(
    reader: &LocalReader,
    mut each: impl FnMut(&HostKey, &HostRecord),
) -> Result<Option<u64>, Error> {
    let bound = Bound::of(HOSTS_READ_MAX);
    for (count, row) in reader.hosts().enumerate() {
        let (key, record) = row?;
        if bound.is_reached(count) {
            return Ok(Some(count as u64));
        }
        each(&key, &record);
    }
    Ok(None)
}

/// Calls `each` for at most [`URLS_READ_MAX`] URLs; tells how many, if there were more.
fn each_url(
    reader: &LocalReader,
    mut each: impl FnMut(&UrlRow) -> Result<(), Error>,
) -> Result<Option<u64>, Error> {
    let bound = Bound::of(URLS_READ_MAX);
    for (count, row) in reader.url_rows(&[], None).enumerate() {
        if bound.is_reached(count) {
            return Ok(Some(count as u64));
        }
        each(&row?)?;
    }
    Ok(None)
}
