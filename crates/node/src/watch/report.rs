//! `report.json`: the crawl in one JSON object, rewritten every second while it runs and final at
//! its end. It is replaced by a rename, so a reader always finds a whole one.
//!
//! Counts are over all runs of the directory, and so are `seconds` and `pages_per_s`; `run` tells
//! of the last run alone. `filtered` is all that the owner's own rules refused (scope, filters,
//! depth, the budget of a host, traps, redirects); with `robots_denied` it makes up `refused`,
//! which has each cause by its name.

use super::coverage::{Covered, Topical};
use super::failing::FailingHost;
use super::kept::FreshnessEstimate;
use super::live::LiveMoment;
use super::moment::rfc3339;
use super::status::OverduePage;
use crate::settings::NamedValues;
use rhumb_disk::{Durable, replace};
use rhumb_engine::config::Order;
use rhumb_engine::counters::Counters;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::mass::Coverage;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::Refusal;
use rhumb_engine::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

pub const REPORT_FILE: &str = "report.json";
/// Ours are a few kilobytes; whatever is larger is none of ours.
const REPORT_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlReport {
    pub version: String,
    pub order: String,
    pub pages: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub pages_per_s: f64,
    pub hosts: u64,
    pub known_urls: u64,
    pub admitted: u64,
    pub queued: u64,
    pub robots_denied: u64,
    pub filtered: u64,
    /// By cause, every cause.
    pub refused: BTreeMap<String, u64>,
    /// URLs that were given up, by kind, only kinds that occurred.
    pub failed: BTreeMap<String, u64>,
    /// Requests, and look-ups of names, that failed, tried again or not; only kinds that occurred.
    pub errors: BTreeMap<String, u64>,
    pub exact_duplicates: u64,
    /// Nearly the text of another, exact duplicates not included.
    pub near_duplicates: u64,
    pub unchanged: u64,
    pub moved: u64,
    pub gone: u64,
    /// Answers 401 and 403.
    pub unauthorized: u64,
    pub forbidden: u64,
    /// Pages that ask not to be indexed, and that ask not to have their links followed.
    pub noindex: u64,
    pub nofollow: u64,
    /// Pages that say next to nothing without their scripts, as last visited.
    pub scripted: u64,
    pub retries: u64,
    pub revisits: u64,
    pub discoveries: u64,
    /// Links that were not followed because their pages have too many (or too long ones).
    pub links_beyond: u64,
    /// URLs that moved up while they waited.
    pub promoted: u64,
    /// Sitemaps read, and the pages and sitemaps that they list; they are no pages.
    pub sitemaps: u64,
    pub listed_by_sitemaps: u64,
    /// What pages are shown with: fetched, named beyond the bound on those of one page, and still
    /// waiting; they are no pages.
    pub requisites: u64,
    pub requisites_beyond: u64,
    pub requisites_waiting: u64,
    pub answers: u64,
    pub robots_fetched: u64,
    pub robots_absent: u64,
    /// How much of all importance the pages have for certain; null while it is computed anew, and
    /// where no seed has links to follow: then there is nothing to measure it by.
    pub coverage: Option<Covered>,
    /// Of a crawl with a topic: how much of it the pages have; null otherwise. Its `coverage` is
    /// null: the books are those of the topic.
    pub topic: Option<Topical>,
    /// Of a crawl that goes on: how its pages are doing; null otherwise.
    pub collection: Option<FreshnessEstimate>,
    /// Of a crawl that goes on: the pages that have waited longest beyond their time, as of the
    /// end of the run or, while it runs, of some minutes ago at most.
    pub most_overdue: Vec<OverduePage>,
    pub in_flight: u64,
    pub hosts_awake: u64,
    pub hosts_asleep: u64,
    /// Hosts with work that fail, and some of them by name: the next run tries them at once.
    pub hosts_failing: u64,
    pub failing_hosts: Vec<FailingHost>,
    /// Hosts that were not asked yet: their sites have more names than their pages are worth, and
    /// the next run asks more of them.
    pub hosts_held: u64,
    /// Hosts of sites that have had the pages or bytes that they are worth; the next run goes on.
    pub hosts_spent: u64,
    /// Hosts that wait for their hours to begin, and when the next of these do.
    pub hosts_closed: u64,
    pub opens: Option<String>,
    /// The earliest moment at which there is something to do, and what.
    pub next_due: Option<Due>,
    /// Why nothing is being fetched, if nothing is.
    pub why_idle: Option<String>,
    /// Null while running.
    pub stopped_because: Option<String>,
    /// Why there is no page, or why the seeds led nowhere, and what to do about it; null if they
    /// led somewhere, and while running.
    pub hint: Option<String>,
    pub peak_rss_bytes: u64,
    /// Of the last run: the most connections that were open to one address at one time.
    pub open_connections_per_address_max: u32,
    /// Hosts whose robots.txt the last run did not obey, being the owner's own, and those whose
    /// certificates it did not verify.
    pub own_sites: Vec<String>,
    pub certificates_not_verified: Vec<String>,
    pub run: RunReport,
    pub written: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Due {
    pub at: String,
    pub why: String,
}

/// The last run alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunReport {
    pub started: String,
    pub pages: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub pages_per_s: f64,
    /// Of the last seconds.
    pub pages_per_s_now: f64,
    /// Its owner has paused it.
    pub paused: bool,
}

impl CrawlReport {
    pub fn running(now: &LiveMoment) -> CrawlReport {
        let snapshot = &now.snapshot;
        let seconds = rounded(now.elapsed.as_secs_f64(), 1e6);
        let pages = snapshot.counters.pages.saturating_sub(now.before.pages);
        let run = RunReport {
            started: rfc3339(now.started_at),
            pages,
            bytes: snapshot.counters.bytes.saturating_sub(now.before.bytes),
            seconds,
            pages_per_s: per_second(pages, seconds),
            pages_per_s_now: rounded(now.pages_per_s, 1e3),
            paused: snapshot.paused,
        };
        let seconds = rounded(now.seconds_before + seconds, 1e6);
        CrawlReport {
            order: order_word(now.about.order).to_owned(),
            seconds,
            pages_per_s: per_second(snapshot.counters.pages, seconds),
            in_flight: snapshot.in_flight as u64,
            hosts_awake: snapshot.hosts_awake as u64,
            hosts_asleep: snapshot.hosts_asleep + snapshot.hosts_asleep_until,
            hosts_failing: snapshot.hosts_failing,
            hosts_held: snapshot.hosts_held,
            hosts_spent: snapshot.hosts_spent,
            hosts_closed: snapshot.hosts_closed,
            opens: snapshot.opens.map(rfc3339),
            next_due: snapshot
                .next_due
                .map(|(at, why)| Due { at: rfc3339(at), why: why.to_owned() }),
            why_idle: snapshot.why_idle(),
            coverage: snapshot
                .coverage
                .as_ref()
                .map(|coverage| Covered::of(coverage, order_word(now.about.order)))
                .filter(|covered| !covered.is_empty()),
            topic: snapshot.topic.as_ref().map(|t| Topical::of(t, snapshot.topic_estimate())),
            collection: snapshot
                .collection
                .as_ref()
                .map(|c| FreshnessEstimate::of(c, &snapshot.counters)),
            peak_rss_bytes: now.peak_rss_bytes,
            open_connections_per_address_max: now.open_connections_per_address_max,
            own_sites: now.about.own_sites.clone(),
            certificates_not_verified: now.about.insecure.clone(),
            run,
            written: rfc3339(snapshot.now),
            requisites: snapshot.requisites.fetched,
            requisites_beyond: snapshot.requisites.beyond,
            requisites_waiting: snapshot.requisites.waiting,
            ..CrawlReport::of_counters(&snapshot.counters)
        }
    }

    /// Of a crawl on many machines, of which its store tells this.
    pub fn of_many(
        counters: &Counters,
        coverage: Option<&Coverage>,
        order: Order,
        because: Option<String>,
    ) -> CrawlReport {
        let word = order_word(order);
        CrawlReport {
            order: word.to_owned(),
            coverage: coverage.map(|c| Covered::of(c, word)).filter(|c| !c.is_empty()),
            stopped_because: because,
            written: rfc3339(super::moment::now()),
            ..CrawlReport::of_counters(counters)
        }
    }

    pub fn ended(now: &LiveMoment, because: String) -> CrawlReport {
        CrawlReport { stopped_because: Some(because), why_idle: None, ..CrawlReport::running(now) }
    }

    /// A crawl that does not run: the store's counters, and what only its last report knows.
    pub fn at_rest(counters: &Counters, last: Option<CrawlReport>) -> CrawlReport {
        let last = last.unwrap_or_default();
        CrawlReport {
            order: last.order,
            seconds: last.seconds,
            pages_per_s: per_second(counters.pages, last.seconds),
            stopped_because: last.stopped_because,
            hosts_failing: last.hosts_failing,
            hosts_held: last.hosts_held,
            hosts_spent: last.hosts_spent,
            hosts_closed: last.hosts_closed,
            opens: last.opens,
            failing_hosts: last.failing_hosts,
            coverage: last.coverage,
            topic: last.topic,
            collection: last.collection,
            peak_rss_bytes: last.peak_rss_bytes,
            open_connections_per_address_max: last.open_connections_per_address_max,
            own_sites: last.own_sites,
            certificates_not_verified: last.certificates_not_verified,
            run: last.run,
            written: last.written,
            requisites: last.requisites,
            requisites_beyond: last.requisites_beyond,
            requisites_waiting: last.requisites_waiting,
            ..CrawlReport::of_counters(counters)
        }
    }

    fn of_counters(counters: &Counters) -> CrawlReport {
        let refused = |why: Refusal| counters.refused[why as usize];
        let occurred = |counts: &[u64]| {
            let all =
                FailKind::ALL.iter().map(|kind| (kind.word().to_owned(), counts[*kind as usize]));
            all.filter(|(_, count)| *count > 0).collect()
        };
        let robots_denied = refused(Refusal::Robots);
        CrawlReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pages: counters.pages,
            bytes: counters.bytes,
            hosts: counters.hosts,
            known_urls: counters.known,
            admitted: counters.admitted,
            queued: counters.queued,
            robots_denied,
            filtered: counters.refused.iter().sum::<u64>() - robots_denied,
            refused: Refusal::ALL.iter().map(|&w| (w.word().to_owned(), refused(w))).collect(),
            failed: occurred(&counters.failed),
            errors: occurred(&counters.errors),
            exact_duplicates: counters.duplicates,
            near_duplicates: counters.near_duplicates,
            unchanged: counters.unchanged,
            moved: counters.moved,
            gone: counters.gone,
            unauthorized: counters.unauthorized,
            forbidden: counters.forbidden,
            noindex: counters.noindex,
            nofollow: counters.nofollow,
            scripted: counters.scripted,
            retries: counters.retries,
            revisits: counters.revisits,
            discoveries: counters.discoveries,
            links_beyond: counters.links_beyond,
            promoted: counters.promoted,
            sitemaps: counters.sitemaps,
            listed_by_sitemaps: counters.listed,
            answers: counters.answers,
            robots_fetched: counters.robots_fetched,
            robots_absent: counters.robots_absent,
            ..CrawlReport::default()
        }
    }

    /// What waits for its hours, in words; none if nothing did when this was written, or if the
    /// hours of some have begun since.
    pub fn closed(&self, now: Time) -> Option<String> {
        let opens = self.opens.as_deref().filter(|opens| *opens > rfc3339(now).as_str())?;
        let hosts = match self.hosts_closed {
            0 => return None,
            1 => "1 host is outside its hours".to_owned(),
            n => format!("{n} hosts are outside their hours"),
        };
        Some(format!("{hosts}; the next opens at {opens}"))
    }

    pub fn failed_in_all(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Replaces `report.json` in `dir` whole.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let path = dir.join(REPORT_FILE);
        let written = replace(&path, Durable::No, |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            file.write_all(b"\n")
        });
        written.map_err(|e| Error::new(ErrorKind::Retry, format!("{}: {e}", path.display())))
    }

    /// The report in `dir`, if there is one.
    pub fn read(dir: &Path) -> Result<Option<CrawlReport>, Error> {
        let path = dir.join(REPORT_FILE);
        let corrupt =
            |what: String| Error::new(ErrorKind::Corrupt, format!("{}: {what}", path.display()));
        match fs::metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(meta) if meta.len() > REPORT_BYTES_MAX => {
                return Err(corrupt(format!("{} bytes are too many for a report", meta.len())));
            }
            _ => {}
        }
        let text = fs::read(&path).map_err(|e| corrupt(e.to_string()))?;
        serde_json::from_slice(&text).map(Some).map_err(|e| corrupt(e.to_string()))
    }
}

/// To a thousandth: short to read, and read back as it was written.
fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { rounded(count as f64 / seconds, 1e3) } else { 0.0 }
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

fn order_word(order: Order) -> &'static str {
    let word = Order::WORDS.iter().find(|(_, value)| *value == order);
    word.map_or("", |(word, _)| word)
}
