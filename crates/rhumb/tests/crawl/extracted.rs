//! `rhumb crawl --extract`: a row for every page in the archive, also after a kill.

use crate::binary;
use crate::site::{Site, report_of};
use rhumb_sim::web::{Oddities, WebConfig};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// 300 pages over 30 hosts, with copies, which have no record of their own, and redirects.
fn web() -> WebConfig {
    let oddities = Oddities { copies: 20, redirects: 20, ..Oddities::default() };
    WebConfig { network: 127, oddities, latency_us_mean: 2_000, ..WebConfig::plain(30, 300) }
}

#[test]
fn rows_are_the_same_when_they_are_made_anew_from_the_archive() {
    let site = Site::serve(web());
    // Each page is to be kept before the next of its host is read, however busy this machine is.
    report_of(site.crawl_with_delay(200, &["--extract"]).spawn().unwrap());
    let dir = site.crawl_dir();
    let written = rows(&read_zst(&dir.join("extract.jsonl.zst")));
    assert!(written.len() >= 250, "{} rows", written.len());
    assert!(written.iter().all(|row| row["text"] != "" && row["error"].is_null()));
    assert_eq!(written, rebuilt(&dir, &["--threads", "2"]));
    let into = dir.join("again.jsonl.zst");
    assert!(rebuilt(&dir, &["--out", into.to_str().unwrap()]).is_empty());
    assert_eq!(written, rows(&read_zst(&into)));
}

#[test]
fn a_killed_crawl_ends_with_a_row_for_every_page_it_kept() {
    let site = Site::serve(web());
    let file = site.crawl_dir().join("extract.jsonl.zst");
    for answers in [120, 240] {
        let mut child = site.crawl(&["--extract"]).spawn().unwrap();
        while site.served.answers() < answers {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What a kill in the middle of a write leaves.
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - whole.len().min(9)]).unwrap();
    }
    report_of(site.crawl(&["--extract"]).spawn().unwrap());
    let whose = |rows: Vec<Value>| -> Vec<(Value, Value)> {
        rows.into_iter().map(|row| (row["id"].clone(), row["fetched"].clone())).collect()
    };
    let (written, kept) = (rows(&read_zst(&file)), rebuilt(&site.crawl_dir(), &[]));
    assert!(kept.len() >= 250, "{} pages", kept.len());
    assert_eq!(whose(written), whose(kept));
}

#[test]
fn rows_are_written_without_an_archive_too() {
    let site = Site::serve(web());
    report_of(site.crawl(&["--extract", "--archive", "none"]).spawn().unwrap());
    let written = rows(&read_zst(&site.crawl_dir().join("extract.jsonl.zst")));
    assert!(written.len() >= 250, "{} rows", written.len());
}

pub fn read_zst(path: &Path) -> Vec<u8> {
    zstd::decode_all(fs::File::open(path).unwrap()).unwrap()
}

/// Rows without how long they took.
pub fn rows(lines: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(lines).unwrap().lines();
    let mut rows: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.iter_mut().for_each(|row| row["us"] = Value::Null);
    rows
}

/// What `rhumb extract` prints of a crawl's directory.
fn rebuilt(dir: &Path, arguments: &[&str]) -> Vec<Value> {
    let mut extract = Command::new(binary::rhumb());
    let output = extract.arg("extract").arg(dir).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    rows(&output.stdout)
}
