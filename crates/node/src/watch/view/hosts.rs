//! Hosts in lists, and one host.

use super::{Bound, ceiling, each_host};
use crate::watch::reason::Reasons;
use crate::watch::status::{HostStatus, belief_of, host_status};
use rhumb_engine::config::Polite;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::host::HostRecord;
use rhumb_engine::polite;
use rhumb_engine::queue::Section;
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::Time;
use rhumb_page::url::{HostKey, Url};
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Hosts in a list.
const LISTED_MAX: usize = 200;
/// URLs of a host's queue that are shown.
const QUEUE_SHOWN_MAX: usize = 50;
/// URLs of a host that are read for what its page says of them.
const URLS_OF_HOST_MAX: usize = 5_000;
/// Reasons that are told apart.
const REFUSALS_MAX: usize = 40;

/// By what hosts are sorted, the greatest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostsBy {
    #[default]
    Pages,
    Queued,
    Slowest,
    Failures,
    Bytes,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostsView {
    pub by: HostsBy,
    pub hosts: Vec<ListedHost>,
    pub of_first: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ListedHost {
    pub host: String,
    pub pages: u64,
    pub queued: u64,
    pub bytes: u64,
    pub last_took_ms: u64,
    pub failures: u16,
    pub failing: Option<String>,
    pub delay_s: f64,
    pub delay_cause: String,
}

pub fn list(reader: &LocalReader, polite: &Polite, by: HostsBy) -> Result<HostsView, Error> {
    let mut best: Vec<(u64, ListedHost)> = Vec::new();
    let of_first = each_host(reader, |key, record| {
        let measure = measure(by, record);
        let is_full = best.len() == LISTED_MAX;
        if measure == 0 || (is_full && best.last().is_some_and(|(least, _)| measure <= *least)) {
            return;
        }
        let place = best.partition_point(|(other, _)| *other >= measure);
        best.insert(place, (measure, listed(key, record, polite)));
        best.truncate(LISTED_MAX);
    })?;
    let hosts = best.into_iter().map(|(_, host)| host).collect();
    Ok(HostsView { by, hosts, of_first })
}

fn measure(by: HostsBy, record: &HostRecord) -> u64 {
    match by {
        HostsBy::Pages => record.pages + record.queued,
        HostsBy::Queued => record.queued,
        HostsBy::Slowest => record.last_took.0,
        HostsBy::Failures => u64::from(record.failures),
        HostsBy::Bytes => record.bytes,
    }
}

fn listed(key: &HostKey, record: &HostRecord, polite: &Polite) -> ListedHost {
    ListedHost {
        host: key.origin(),
        pages: record.pages,
        queued: record.queued,
        bytes: record.bytes,
        last_took_ms: record.last_took.0 / 1000,
        failures: record.failures,
        failing: record.failing.map(|kind| kind.word().to_owned()),
        delay_s: polite::delay(polite, record).as_secs_f64(),
        delay_cause: ceiling::cause(polite, record).to_owned(),
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HostView {
    /// As it was asked for, if nothing is known of it.
    pub host: String,
    pub known: Option<HostStatus>,
    pub delay_s: f64,
    pub delay_cause: String,
    /// Sitemaps that its robots.txt names.
    pub sitemaps: Vec<String>,
    /// The first URLs of its queue, in the order in which they will be fetched.
    pub queue: Vec<String>,
    /// What kept URLs of it out: lines of its robots.txt, rules, traps; the most first.
    #[serde(default)]
    pub refusals: Vec<HostRefusal>,
    /// The number of its URLs read for that, if there were more.
    #[serde(default)]
    pub refusals_of_first: Option<u64>,
    /// How often its pages are believed to change, and of how many that was learnt.
    #[serde(default)]
    pub changes_per_day: Option<f64>,
}

/// One reason for which URLs of a host are not fetched.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostRefusal {
    pub why: String,
    pub urls: u64,
    pub example: String,
}

/// What its URLs tell: why some are refused, and how often its pages change.
type Told = (Vec<HostRefusal>, Option<u64>, Option<f64>);

fn told(
    reader: &LocalReader,
    dir: &Path,
    (key, host): (&HostKey, &HostRecord),
) -> Result<Told, Error> {
    let reasons = Reasons::read(dir, reader);
    let scheduler = reader.scheduler()?;
    let mut refusals: Vec<HostRefusal> = Vec::new();
    let (mut changes, mut learnt) = (0.0, 0u64);
    let prefix = format!("{}/", key.as_str());
    let mut of_first = None;
    let bound = Bound::of(URLS_OF_HOST_MAX);
    for (count, row) in reader.url_rows(prefix.as_bytes(), None).enumerate() {
        let row = row?;
        if bound.is_reached(count) {
            of_first = Some(count as u64);
            break;
        }
        if let Some(scheduler) = &scheduler
            && let Some(belief) = belief_of(&row.record, host, scheduler, Time::ZERO)
        {
            (changes, learnt) = (changes + belief.changes_per_day, learnt + 1);
        }
        let RecordStatus::Refused(refusal) = row.record.status else { continue };
        let url = row.url()?;
        let why = reasons.refusal(refusal, &url, &row.record)?;
        if let Some(known) = refusals.iter_mut().find(|known| known.why == why) {
            known.urls += 1;
        } else if refusals.len() < REFUSALS_MAX {
            refusals.push(HostRefusal { why, urls: 1, example: url.as_str().to_owned() });
        }
    }
    refusals.sort_by_key(|refusal| std::cmp::Reverse(refusal.urls));
    Ok((refusals, of_first, (learnt > 0).then(|| changes / learnt as f64)))
}

/// A host as a person types it: an origin, or a name, which is tried on https and then http.
pub fn one(
    (reader, dir): (&LocalReader, &Path),
    polite: &Polite,
    text: &str,
    now: Time,
) -> Result<HostView, Error> {
    let typed = match text.contains("://") {
        true => vec![text.to_owned()],
        false => vec![format!("https://{text}"), format!("http://{text}")],
    };
    for origin in typed {
        let url = Url::parse(&origin).map_err(|error| {
            Error::new(ErrorKind::Invalid, format!("{text:?} is no host: {error}"))
        })?;
        let key = url.host_key();
        let holding = reader.holding_host(&key);
        let snapshot = holding.snapshot();
        let Some(record) = snapshot.host(&key)? else { continue };
        let robots = snapshot.robots(&key)?;
        let queue = snapshot.queue(&key, Section::Now, None, QUEUE_SHOWN_MAX)?;
        let (refusals, refusals_of_first, changes_per_day) = told(reader, dir, (&key, &record))?;
        return Ok(HostView {
            refusals,
            refusals_of_first,
            changes_per_day,
            host: key.origin(),
            delay_s: polite::delay(polite, &record).as_secs_f64(),
            delay_cause: ceiling::cause(polite, &record).to_owned(),
            known: Some(host_status(&key, &record, now)),
            sitemaps: robots.map(|robots| robots.sitemaps().to_vec()).unwrap_or_default(),
            queue: queue.rows.iter().map(|(_, entry)| entry.url.as_str().to_owned()).collect(),
        });
    }
    Ok(HostView { host: text.to_owned(), ..HostView::default() })
}
