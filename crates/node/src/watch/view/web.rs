//! The web seen: hosts by the importance of their URLs, and the links between them.

use super::{HOSTS_READ_MAX, each_host};
use rhumb_engine::error::Error;
use rhumb_engine::mass;
use rhumb_page::url::HostKey;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Hosts that are drawn, the heaviest.
const DRAWN_MAX: usize = 200;
/// Links between hosts that are drawn, the most first.
const LINES_MAX: usize = 400;
/// Known URLs up to which the books of importance are made anew while a viewer waits: 50 ms.
const BOOKS_AT_ONCE_MAX: u64 = 5_000;
/// The same beside: some seconds.
const BOOKS_URLS_MAX: u64 = 300_000;
/// A picture by importance that took long to make is good for so long, and for so many times as
/// long as it took.
const BOOKS_GOOD_FOR: Duration = Duration::from_secs(60);
const BOOKS_SHARE: u32 = 50;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WebView {
    pub hosts: Vec<SeenHost>,
    pub lines: Vec<HostLink>,
    /// Hosts are by importance; else, where there are too many URLs for that, by their pages.
    pub by_importance: bool,
    /// One by importance is being made.
    #[serde(default)]
    pub is_awaited: bool,
    pub of_first: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SeenHost {
    pub host: String,
    pub pages: u64,
    pub queued: u64,
    /// Its share of all importance that is certain, or of all pages and URLs that wait.
    pub weight: f64,
}

/// Links from one host to another, by their places in the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostLink {
    pub from: usize,
    pub to: usize,
    pub links: u64,
}

/// Importance by host, and whose URL each number is.
struct Books {
    weights: HashMap<HostKey, f64>,
    host_of: Vec<u32>,
    numbers: HashMap<HostKey, u32>,
    mass: mass::Mass,
}

/// The picture of one crawl that was made beside, the last.
static MADE: Mutex<Made> = Mutex::new(Made { dir: None, view: None, is_being_made: false });

struct Made {
    dir: Option<PathBuf>,
    view: Option<(WebView, Instant, Duration)>,
    is_being_made: bool,
}

fn made() -> MutexGuard<'static, Made> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn read(dir: &Path, reader: &Arc<LocalReader>) -> Result<WebView, Error> {
    // The numbers of several partitions are not those of one graph.
    let known = if reader.is_divided() { u64::MAX } else { reader.counters()?.known };
    if known <= BOOKS_AT_ONCE_MAX {
        return drawn(reader, Some(Books::read(reader)?));
    }
    if known > BOOKS_URLS_MAX {
        return drawn(reader, None);
    }
    let kept = kept_or_begun(dir, reader);
    match kept {
        Some(view) => Ok(view),
        None => Ok(WebView { is_awaited: made().is_being_made, ..drawn(reader, None)? }),
    }
}

/// The picture by importance, if there is one; a newer one is begun if it is old.
fn kept_or_begun(dir: &Path, reader: &Arc<LocalReader>) -> Option<WebView> {
    let mut made = made();
    if made.dir.as_deref() != Some(dir) {
        (made.dir, made.view) = (Some(dir.to_owned()), None);
    }
    let is_good = made.view.as_ref().is_some_and(|(_, at, took)| {
        at.elapsed() < BOOKS_GOOD_FOR.max(took.saturating_mul(BOOKS_SHARE))
    });
    if !is_good && !made.is_being_made {
        let (dir, reader) = (dir.to_owned(), Arc::clone(reader));
        let thread = std::thread::Builder::new().name("rhumb-books".to_owned());
        made.is_being_made = thread.spawn(move || make(&dir, &reader)).is_ok();
    }
    made.view.as_ref().map(|(view, ..)| view.clone())
}

fn make(dir: &Path, reader: &LocalReader) {
    let began = Instant::now();
    let view = Books::read(reader).and_then(|books| drawn(reader, Some(books)));
    let mut made = made();
    made.is_being_made = false;
    match view {
        Ok(view) if made.dir.as_deref() == Some(dir) => {
            made.view = Some((view, Instant::now(), began.elapsed()));
        }
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "the books of importance were not made"),
    }
}

fn drawn(reader: &LocalReader, books: Option<Books>) -> Result<WebView, Error> {
    let mut best: Vec<(HostKey, SeenHost)> = Vec::new();
    let of_first = each_host(reader, |key, record| {
        let weight = match &books {
            Some(books) => books.weights.get(key).copied().unwrap_or(0.0),
            None => (record.pages + record.queued) as f64,
        };
        let is_less = best.last().is_some_and(|(_, least)| weight <= least.weight);
        if weight <= 0.0 || (best.len() == DRAWN_MAX && is_less) {
            return;
        }
        let place = best.partition_point(|(_, other)| other.weight >= weight);
        let seen =
            SeenHost { host: key.origin(), pages: record.pages, queued: record.queued, weight };
        best.insert(place, (key.clone(), seen));
        best.truncate(DRAWN_MAX);
    })?;
    let keys: Vec<&HostKey> = best.iter().map(|(key, _)| key).collect();
    let lines = books.as_ref().map_or_else(Vec::new, |books| books.lines(&keys));
    let by_importance = books.is_some();
    let hosts = best.into_iter().map(|(_, host)| host).collect();
    Ok(WebView { hosts, lines, by_importance, of_first, is_awaited: false })
}

impl Books {
    fn read(reader: &LocalReader) -> Result<Books, Error> {
        let mut mass = reader.mass()?;
        mass.push_all();
        let nodes = mass.ledger().nodes_len();
        let mut books = Books {
            weights: HashMap::new(),
            host_of: vec![u32::MAX; nodes],
            numbers: HashMap::new(),
            mass,
        };
        for row in reader.urls() {
            let (key, record) = row?;
            let host = key.url().host_key();
            let (settled, lies_on_it) = books.mass.of(record.id);
            let next = books.numbers.len().min(HOSTS_READ_MAX) as u32;
            let number = *books.numbers.entry(host.clone()).or_insert(next);
            if let Some(place) = books.host_of.get_mut(record.id.0 as usize) {
                *place = number;
            }
            *books.weights.entry(host).or_default() += settled + lies_on_it;
        }
        Ok(books)
    }

    /// Links between these hosts, by their places.
    fn lines(&self, hosts: &[&HostKey]) -> Vec<HostLink> {
        let places: HashMap<u32, usize> = hosts
            .iter()
            .enumerate()
            .filter_map(|(place, host)| Some((*self.numbers.get(*host)?, place)))
            .collect();
        let place_of = |node: u32| {
            let number = self.host_of.get(node as usize)?;
            places.get(number).copied()
        };
        let mut links: HashMap<(usize, usize), u64> = HashMap::new();
        self.mass.ledger().each_page(|page| {
            let Some(from) = place_of(page.page) else { return };
            for to in page.ids.iter().filter_map(|id| place_of(*id)).filter(|to| *to != from) {
                *links.entry((from, to)).or_default() += 1;
            }
        });
        let mut lines: Vec<HostLink> =
            links.into_iter().map(|((from, to), links)| HostLink { from, to, links }).collect();
        lines.sort_by_key(|line| (u64::MAX - line.links, line.from, line.to));
        lines.truncate(LINES_MAX);
        lines
    }
}
