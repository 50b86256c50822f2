//! What the watch knows of the rows and of the archive: what a power cut takes back.

use crate::importance::Oracle;
use crate::numbers::Named;
use rhumb_engine::config::Config;
use rhumb_engine::event::Row;
use rhumb_engine::outcome::FetchReport;
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_page::url::{Url, UrlKey};
use rhumb_state::memory::MemoryRows;

/// Broken invariants, by number.
pub type Complaints = Vec<(u8, String)>;

#[derive(Clone)]
pub struct WrittenState {
    /// By the oracle's numbers.
    urls: Vec<UrlWatch>,
    pub oracle: Oracle,
}

#[derive(Clone, Default)]
struct UrlWatch {
    /// None before a row admits it.
    id: Option<UrlId>,
    /// A visit is on record that needs no other.
    done: bool,
    /// Others may resemble it.
    leads: bool,
    /// Bodies of it that were kept.
    archived: u32,
}

impl WrittenState {
    /// `runs` are the rules of each run, one after the other.
    pub fn new(runs: Vec<Config>) -> WrittenState {
        WrittenState { urls: Vec::new(), oracle: Oracle::new(runs) }
    }

    /// Whether a visit is on record that needs no other; none if no row admits the URL.
    pub fn is_done(&self, url: &Url) -> Option<bool> {
        let node = self.oracle.known(url).and_then(|node| self.urls.get(node as usize))?;
        node.id.map(|_| node.done)
    }

    /// The web has answered a page.
    pub fn answered(&mut self, part: u32, url: &Url, report: &FetchReport) {
        self.oracle.answered(part, url, report);
    }

    pub fn archived(&mut self, url: &Url) {
        let node = self.oracle.node(url);
        self.watch(node).archived += 1;
    }

    /// Some body of it was kept.
    pub fn is_archived(&mut self, url: &Url) -> bool {
        let node = self.oracle.node(url);
        self.watch(node).archived > 0
    }

    fn watch(&mut self, node: u32) -> &mut UrlWatch {
        let node = node as usize;
        if self.urls.len() <= node {
            self.urls.resize(node + 1, UrlWatch::default());
        }
        &mut self.urls[node]
    }

    pub fn row(&mut self, part: u32, row: &Row) -> Complaints {
        match row {
            Row::Leader { leader, .. } => {
                let node = self.oracle.node(&leader.url);
                self.watch(node).leads = true;
            }
            Row::Links { page, links, .. } if links.ends => self.oracle.linked(part, *page),
            // Its own partition says what becomes of it.
            Row::Url { record, .. } if record.status == RecordStatus::Foreign => {}
            Row::Url { key, record } => return self.url_row(part, key, record),
            _ => {}
        }
        Complaints::new()
    }

    fn url_row(&mut self, part: u32, key: &UrlKey, record: &UrlRecord) -> Complaints {
        let mut complaints = Complaints::new();
        let Named { url: node, is_taken } = self.oracle.node_of_row(part, key, record.id);
        self.oracle.recorded(part, node, record);
        let watch = self.watch(node);
        match watch.id {
            None => {
                watch.id = Some(record.id);
                if is_taken {
                    let (id, url) = (record.id.0, key.url());
                    complaints.push((3, format!("number {id} was given twice, now to {url}")));
                }
            }
            Some(id) => {
                watch.done = is_done(record.status);
                if id != record.id {
                    complaints.push((3, format!("admitted twice: {}", key.url())));
                }
            }
        }
        let kept = watch.archived;
        if let Some(near) = &record.past.near {
            let node = self.oracle.node(&near.url);
            if !self.watch(node).leads {
                let what = format!("nearly a copy of what no row has: {}", key.url());
                complaints.push((7, what));
            }
        }
        complaints.extend(unkept(key, record, kept));
        complaints
    }

    /// What rows claim that the archive lacks.
    pub fn unkept(&mut self, rows: &MemoryRows) -> Complaints {
        let mut complaints = Complaints::new();
        for (key, record) in rows.urls.sorted() {
            let node = self.oracle.node(&key.url());
            complaints.extend(unkept(key, record, self.watch(node).archived));
        }
        complaints
    }
}

fn is_done(status: RecordStatus) -> bool {
    matches!(
        status,
        RecordStatus::Fetched | RecordStatus::Duplicate | RecordStatus::Moved | RecordStatus::Gone
    )
}

fn unkept(key: &UrlKey, record: &UrlRecord, kept: u32) -> Option<(u8, String)> {
    let visits = record.past.visits;
    let url = || key.url();
    (kept < visits)
        .then(|| (7, format!("{visits} visits on record, {kept} in the archive: {}", url())))
}
