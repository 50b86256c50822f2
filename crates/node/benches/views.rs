//! How long a viewer waits on a large crawl: every page's question, from the store, with the store
//! open as it is while a crawl runs.
//!
//!     cargo bench -p rhumb-node --bench views -- [URLS] [DIR]
//!
//! A directory that is named is kept, so that `rhumb dashboard DIR` can be looked at, too.

use rhumb_engine::counters::Counters;
use rhumb_engine::event::Row;
use rhumb_engine::host::HostRecord;
use rhumb_engine::queue::{Entry, Place};
use rhumb_engine::record::{RecordStatus, Refusal, UrlId, UrlRecord};
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_node::watch::CrawlReport;
use rhumb_node::watch::status::{Patience, of_url};
use rhumb_node::watch::view::{AtWork, HostsBy, ViewQuery, answer};
use rhumb_page::url::Url;
use rhumb_state::local::{Home, LocalReader, LocalState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const URLS_USUAL: u64 = 1_000_000;
const URLS_OF_HOST: u64 = 100;
/// Rows in one commit.
const BATCH: usize = 2_000;
const ROUNDS: usize = 9;

fn main() {
    let numbers = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let words: Vec<String> = numbers.collect();
    let urls = words.first().map_or(URLS_USUAL, |word| word.parse().expect("a number of URLs"));
    let scratch = std::env::temp_dir().join(format!("rhumb-bench-views-{}", std::process::id()));
    let dir = words.get(1).map_or_else(|| scratch.clone(), PathBuf::from);
    let state_dir = dir.join("state");
    if !state_dir.exists() {
        let began = Instant::now();
        fill(&dir, urls);
        println!("{urls} URLs written in {:.0} s", began.elapsed().as_secs_f64());
    }
    let began = Instant::now();
    let reader = Arc::new(LocalReader::open(&state_dir).expect("a store"));
    println!("opened in {:.0} ms", began.elapsed().as_secs_f64() * 1e3);
    let known = reader.counters().expect("counters").known;
    println!("{known} URLs known; median and longest of {ROUNDS}, in ms");
    for (name, query) in questions(known) {
        timed(name, || {
            let at_rest = AtWork::default();
            drop(answer(&query, (&dir, &reader), Time(1), &at_rest).expect("an answer"));
        });
    }
    let asked = url(known / 2);
    timed("/url", || {
        drop(of_url(asked.as_str(), (Time(1), Patience::Brief), &dir, &reader).expect("an answer"));
    });
    drop(reader);
    let _ = std::fs::remove_dir_all(scratch);
}

fn questions(known: u64) -> Vec<(&'static str, ViewQuery)> {
    let host = url(known / 2).host_key().origin();
    let tried = |exclude: &str| ViewQuery::WhatIf {
        exclude: Some(exclude.to_owned()),
        delay_ms: Some(500),
    };
    vec![
        ("/speed", ViewQuery::Speed),
        ("/frontier", ViewQuery::Frontier),
        ("/hosts", ViewQuery::Hosts(HostsBy::Pages)),
        ("/host", ViewQuery::Host(host)),
        ("/duplicates", ViewQuery::Duplicates),
        ("/web", ViewQuery::Web),
        ("/what-if", tried("/page/1")),
    ]
}

fn timed(name: &str, mut ask: impl FnMut()) {
    let mut took: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            ask();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    took.sort_by(f64::total_cmp);
    println!("{name:12} {:6.1} {:6.1}", took[ROUNDS / 2], took[ROUNDS - 1]);
}

fn url(id: u64) -> Url {
    let (host, page) = (id / URLS_OF_HOST, id % URLS_OF_HOST);
    // Spread over the keys as names of sites are, not in the order of numbers.
    let name = (host + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Url::parse(&format!("http://{name:016x}.test/some/path/of/a/page/{page}")).expect("a URL")
}

/// Of each host's URLs two in five are fetched, one in twenty is a copy of the host before, one in
/// twenty is refused, and the others wait.
fn fill(dir: &Path, urls: u64) {
    let home = Home::open(&dir.join("state")).expect("a store");
    let (mut state, _) =
        LocalState::open(home, 1, ArchivePosition::default()).expect("a new store");
    let mut rows = Vec::with_capacity(BATCH + 4);
    let mut counters = Counters { run: 1, known: urls, next_url: urls, ..Counters::default() };
    for id in 0..urls {
        let status = match id % 20 {
            0..8 => RecordStatus::Fetched,
            8 => RecordStatus::Duplicate,
            9 => RecordStatus::Refused(Refusal::Robots),
            _ => RecordStatus::Queued,
        };
        let mut record = UrlRecord::new(UrlId(id), status, 1, 0, Time(1));
        record.class = (id % 7) as u8;
        if status == RecordStatus::Duplicate {
            record.past.duplicate_of = Some(url(id.saturating_sub(URLS_OF_HOST)));
        }
        let at = url(id);
        if status == RecordStatus::Queued {
            let place = Place::Now { class: record.class, rank: id, id };
            record.place = Some(place);
            let entry = Some(Entry { url: at.clone(), record: record.clone() });
            rows.push(Row::Queue { host: at.host_key(), place, entry });
            counters.queued += 1;
        }
        counters.pages +=
            u64::from(matches!(status, RecordStatus::Fetched | RecordStatus::Duplicate));
        if id % URLS_OF_HOST == 0 {
            counters.hosts += 1;
            rows.push(Row::Host { key: at.host_key(), record: host_record(id) });
        }
        rows.push(Row::Url { key: at.key(), record });
        if rows.len() >= BATCH {
            state.commit(&mut rows, ArchivePosition::default()).expect("a commit");
            if state.wants_sync() {
                state.sync().expect("a sync");
            }
        }
    }
    rows.push(Row::Seed { url: url(0), weight: 1.0 });
    rows.push(Row::Counters(Box::new(counters.clone())));
    state.commit(&mut rows, ArchivePosition::default()).expect("a commit");
    state.sync().expect("a sync");
    let stopped_because = Some("finished".to_owned());
    CrawlReport { stopped_because, ..CrawlReport::at_rest(&counters, None) }
        .write(dir)
        .expect("a report");
}

fn host_record(id: u64) -> HostRecord {
    HostRecord {
        admitted: URLS_OF_HOST,
        queued: URLS_OF_HOST / 2,
        pages: URLS_OF_HOST * 9 / 20,
        answers: URLS_OF_HOST / 2,
        last_took: Span::millis(50 + id % 400),
        ..HostRecord::default()
    }
}
