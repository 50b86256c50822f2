//! The web seen: hosts by the importance of their URLs, and the links between them.

use super::{HOSTS_READ_MAX, each_host};
use rhumb_engine::error::Error;
use rhumb_engine::mass;
use rhumb_page::url::HostKey;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Hosts that are drawn, the heaviest.
const DRAWN_MAX: usize = 200;
/// Links between hosts that are drawn, the most first.
const LINES_MAX: usize = 400;
/// Known URLs up to which the books of importance are made anew: below a second.
const BOOKS_URLS_MAX: u64 = 300_000;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WebView {
    pub hosts: Vec<SeenHost>,
    pub lines: Vec<HostLine>,
    /// Hosts are by importance; else, where there are too many URLs for that, by their pages.
    pub by_importance: bool,
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
pub struct HostLine {
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

pub fn read(reader: &LocalReader) -> Result<WebView, Error> {
    // The numbers of several partitions are not those of one graph.
    let has_books = !reader.is_divided() && reader.counters()?.known <= BOOKS_URLS_MAX;
    let books = match has_books {
        true => Some(Books::read(reader)?),
        false => None,
    };
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
    Ok(WebView { hosts, lines, by_importance, of_first })
}

impl Books {
    fn read(reader: &LocalReader) -> Result<Books, Error> {
        let mut mass = reader.mass()?;
        mass.settle_all();
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
    fn lines(&self, hosts: &[&HostKey]) -> Vec<HostLine> {
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
        let mut lines: Vec<HostLine> =
            links.into_iter().map(|((from, to), links)| HostLine { from, to, links }).collect();
        lines.sort_by_key(|line| (u64::MAX - line.links, line.from, line.to));
        lines.truncate(LINES_MAX);
        lines
    }
}
