//! What a migration keeps, and that the crawl goes on.

use crate::fixture::{CONTINUOUS, FORMATS, Fixture, INTERRUPTED};
use crate::site::{LARGE, MAIN, OUTSIDE, Site, pages_to_keep, url};
use rhumb_archive::RecordReader;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal, UrlRecord};
use rhumb_page::url::Url;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// What `rhumb status --json` tells of a crawl at rest that is the same in both versions.
const COUNTS: [&str; 15] = [
    "pages",
    "bytes",
    "hosts",
    "known_urls",
    "admitted",
    "queued",
    "robots_denied",
    "exact_duplicates",
    "near_duplicates",
    "unchanged",
    "moved",
    "gone",
    "revisits",
    "discoveries",
    "answers",
];

#[test]
fn a_migrated_crawl_counts_what_it_counted() {
    let all = FORMATS.into_iter().flat_map(|format| [(format, INTERRUPTED), (format, CONTINUOUS)]);
    for (format, name) in all {
        let fixture = Fixture::unpack(format, name);
        let output = fixture.rhumb(&["status", "--json"]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "one line of log: {stderr}");
        assert!(stderr.contains("migrating the state"), "{stderr}");
        let (before, after) = (&fixture.status, parsed(&output.stdout));
        for count in COUNTS {
            assert_eq!(after[count], before[count], "{format} {name}: {count}");
        }
        for (map, (cause, count)) in ["refused", "failed"]
            .iter()
            .flat_map(|map| before[map].as_object().unwrap().iter().map(move |pair| (map, pair)))
        {
            assert_eq!(&after[map][cause], count, "{format} {name}: {map} {cause}");
        }
        let again = fixture.rhumb(&["status", "--json"]).output().unwrap();
        assert!(again.stderr.is_empty(), "{}", String::from_utf8_lossy(&again.stderr));
        assert_eq!(parsed(&again.stdout)["known_urls"], before["known_urls"]);
        let left: BTreeSet<String> = names(&fixture.dir.join("state"));
        // Of format 9 the fingerprint of the rules, which is a row today, stays behind.
        let expected =
            ["FORMAT", "LOCK", "format-11"].into_iter().chain((format == 9).then_some("RULES"));
        let expected: BTreeSet<String> = expected.map(str::to_owned).collect();
        assert_eq!(left, expected, "the old store is gone");
    }
}

#[test]
fn a_migrated_record_says_what_it_said() {
    FORMATS.into_iter().for_each(record_says_what_it_said);
}

fn record_says_what_it_said(format: u32) {
    let fixture = Fixture::unpack(format, INTERRUPTED);
    let reader = LocalReader::open(&fixture.dir.join("state")).unwrap();
    let record = |host, path: &str| -> UrlRecord {
        let key = Url::parse(&url(host, path)).unwrap().key();
        reader.snapshot().url(&key).unwrap().unwrap_or_else(|| panic!("{path} is not known"))
    };
    let expected = [
        ("/", RecordStatus::Fetched),
        ("/copy", RecordStatus::Fetched),
        ("/page/3", RecordStatus::Duplicate),
        ("/moved", RecordStatus::Moved),
        ("/gone", RecordStatus::Gone),
        ("/missing", RecordStatus::Gone),
        // In the fixture of format 10 it had one more try before it.
        (
            "/error",
            if format == 9 {
                RecordStatus::Failed(FailKind::ServerError)
            } else {
                RecordStatus::Queued
            },
        ),
        ("/private/a", RecordStatus::Refused(Refusal::Robots)),
        ("/filtered/a", RecordStatus::Refused(Refusal::Filter)),
        ("/a/a/a/a/a/a/a", RecordStatus::Refused(Refusal::Trap)),
        ("/deep/8", RecordStatus::Refused(Refusal::Depth)),
        ("/hop/4", RecordStatus::Refused(Refusal::Hops)),
    ];
    for (path, status) in expected {
        assert_eq!(record(MAIN, path).status, status, "{path}");
    }
    assert_eq!(record(OUTSIDE, "/").status, RecordStatus::Refused(Refusal::Scope));
    assert_eq!(record(LARGE, "/many/119").status, RecordStatus::Refused(Refusal::HostBudget));
    let original = record(MAIN, "/page/3").past.duplicate_of.clone().expect("whose copy it is");
    assert_eq!(original.as_str(), url(MAIN, "/copy"));
    let near = record(MAIN, "/page/4").past.near.clone().expect("what it resembles");
    assert_eq!(near.url.as_str(), url(MAIN, "/near"));
    assert!(near.permille > 800);
    let (moved, page) = (record(MAIN, "/moved"), record(MAIN, "/page/3"));
    assert_eq!((moved.http_status, moved.past.visits, page.http_status), (301, 1, 200));
    assert!(page.past.content.is_some() && page.past.visited >= Some(page.found));
    let seeds: BTreeSet<String> =
        reader.seeds().unwrap().iter().map(|(url, _)| url.to_string()).collect();
    assert_eq!(seeds, BTreeSet::from([url(MAIN, "/"), url(LARGE, "/")]));
    let mass = reader.mass().unwrap().coverage().expect("seeds").bound;
    assert!(mass > 0.1, "its links are there: {mass}");
}

#[test]
fn what_a_crawl_has_learnt_of_its_pages_is_migrated() {
    FORMATS.into_iter().for_each(what_was_learnt_is_migrated);
}

fn what_was_learnt_is_migrated(format: u32) {
    let fixture = Fixture::unpack(format, CONTINUOUS);
    let reader = LocalReader::open(&fixture.dir.join("state")).unwrap();
    let scheduler = reader.scheduler().unwrap().expect("the row of a crawl that goes on");
    assert_eq!(Some(scheduler.pages()), fixture.status["collection"]["pages"].as_u64());
    let key = Url::parse(&url(MAIN, "/page/3")).unwrap().key();
    let record = reader.snapshot().url(&key).unwrap().expect("a page");
    let learnt = record.past.learnt.expect("what visits taught");
    assert!(learnt.recent.visits().any(|changed| changed), "it has changed");
    drop(reader);
    let run = fixture.rhumb(&["--quiet", "crawl", "--max-time", "10ms"]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn a_migrated_crawl_goes_on_to_its_end_and_repeats_no_page() {
    let site = Site::serve(Arc::new(AtomicUsize::new(0)));
    FORMATS.into_iter().for_each(|format| goes_on_to_its_end(format, &site));
}

fn goes_on_to_its_end(format: u32, site: &Site) {
    let fixture = Fixture::unpack(format, INTERRUPTED);
    let fetched = fetched(&Fixture::unpack(format, INTERRUPTED).dir);
    assert!((30..120).contains(&fetched.len()), "{} pages in the fixture", fetched.len());
    let output = fixture.rhumb(&["--quiet", "crawl", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(parsed(&output.stdout)["stopped_because"], "finished");
    let requested = site.take_requested();
    let again: Vec<&String> = requested.iter().filter(|url| fetched.contains(*url)).collect();
    assert!(again.is_empty(), "fetched before: {again:?}");
    assert!(requested.contains(&url(MAIN, "/robots.txt")), "rules are read anew");
    let kept = kept(&fixture.dir);
    let missing: Vec<String> =
        pages_to_keep().into_iter().filter(|page| !kept.contains_key(page)).collect();
    assert!(missing.is_empty(), "not kept: {missing:?}");
    let large = kept.keys().filter(|page| page.starts_with(&url(LARGE, "/")));
    assert_eq!(large.count(), 100, "as many as were asked for of one host");
    let twice: Vec<_> = kept.iter().filter(|(_, records)| **records > 1).collect();
    assert!(twice.is_empty(), "kept twice: {twice:?}");
}

fn parsed(json: &[u8]) -> Value {
    serde_json::from_slice(json).expect("--json prints one JSON value")
}

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Pages that a crawl has, but for sitemaps.
fn fetched(dir: &Path) -> BTreeSet<String> {
    let reader = LocalReader::open(&dir.join("state")).unwrap();
    let rows = reader.urls().map(Result::unwrap);
    rows.filter(|(_, record)| {
        matches!(record.status, RecordStatus::Fetched | RecordStatus::Duplicate)
    })
    .map(|(key, _)| key.url().to_string())
    .filter(|url| !url.ends_with(".xml"))
    .collect()
}

/// Pages in the WARC files, and how many records each has.
fn kept(dir: &Path) -> BTreeMap<String, usize> {
    let mut kept = BTreeMap::new();
    for entry in fs::read_dir(dir.join("warc")).unwrap() {
        for record in RecordReader::open(&entry.unwrap().path()).unwrap() {
            let record = record.expect("a whole record");
            let is_page = matches!(record.kind(), "response" | "revisit")
                && record.http_head().starts_with(b"HTTP/1.1 200");
            let page = record.target().filter(|url| is_page && !url.ends_with(".xml"));
            if let Some(url) = page.filter(|url| !url.ends_with("/robots.txt")) {
                *kept.entry(url.to_owned()).or_default() += 1;
            }
        }
    }
    kept
}
