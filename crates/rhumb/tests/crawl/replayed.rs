//! What pages ask of those who keep them, and what their later visits leave in the archive: records
//! that other tools can replay.

use crate::scripted::{Asked, Scripted, answer, head, not_found};
use rhumb_archive::{Record, RecordReader};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const TEXT: &str = "<!doctype html><title>A</title><p>This page says the same at every visit.";

fn site(asked: &Asked) -> Vec<u8> {
    let page = |headers: &[(&str, &str)], body: &str| {
        let html = [&[("Content-Type", "text/html")], headers].concat();
        answer("200 OK", &html, body)
    };
    let tag = asked.path.replace('/', "\"");
    let tagged = [("ETag", tag.as_str())];
    if asked.header("If-None-Match").is_some() {
        return head("304 Not Modified", &tagged);
    }
    match asked.path.as_str() {
        "/" => page(
            &[],
            "<a href=/a>a</a> <a href=/copy>b</a> <a href=/chunked>c</a> <a href=/meta>d</a> \
             <a href=/header>e</a> <a href=/unlisted>f</a> <a href=/moved>g</a> <a href=/no>h</a>",
        ),
        "/a" | "/copy" => page(&tagged, TEXT),
        "/chunked" => {
            let coding = ("Transfer-Encoding", "chunked");
            let mut bytes = head("200 OK", &[tagged[0], ("Content-Type", "text/html"), coding]);
            bytes.extend_from_slice(b"3\r\n<p>\r\n5\r\nchunk\r\n0\r\n\r\n");
            bytes
        }
        "/meta" => page(&tagged, "<meta name=robots content=noarchive><a href=/behind>x</a>"),
        "/header" => page(&[("X-Robots-Tag", "noarchive")], "<p>In a header. <a href=/behind>"),
        "/behind" => page(&[], "<p>Behind pages that are not kept."),
        "/unlisted" => page(&[("X-Robots-Tag", "noindex")], "<p>Not to be found by searching."),
        "/moved" => answer("301 Moved Permanently", &[("Location", "/a")], ""),
        _ => not_found(),
    }
}

fn records(dir: &Path) -> Vec<Record> {
    let mut warcs: Vec<PathBuf> =
        std::fs::read_dir(dir.join("warc")).unwrap().map(|entry| entry.unwrap().path()).collect();
    warcs.sort();
    warcs.iter().flat_map(|warc| RecordReader::open(warc).unwrap()).map(Result::unwrap).collect()
}

/// Of one kind, the paths of their URLs.
fn paths(records: &[Record], kind: &str) -> Vec<String> {
    let of_kind = records.iter().filter(|record| record.kind() == kind);
    let path = |url: &str| url.splitn(4, '/').nth(3).map(|path| format!("/{path}"));
    of_kind.filter_map(|record| path(record.target()?)).collect()
}

/// A directory crawled again and again until each of these paths was asked for so many times.
fn visited_again(site: &Scripted, arguments: &[&str], wanted: &[(&str, usize)]) {
    let again = ["--revisit", "500ms"];
    let mut crawl = site.command(&[&again, arguments].concat()).spawn().unwrap();
    let is_done = || {
        let asked = site.asked();
        wanted.iter().all(|(path, times)| asked.iter().filter(|a| a == path).count() >= *times)
    };
    while !is_done() {
        assert!(crawl.try_wait().unwrap().is_none(), "it goes on until it is interrupted");
        std::thread::yield_now();
    }
    let told = Command::new("kill").args(["-INT", &crawl.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(crawl.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn every_revisit_refers_to_a_record_that_is_there_and_pywb_replays_every_line() {
    let site = Scripted::serve(site);
    let wanted = [("/a", 3), ("/copy", 3), ("/chunked", 3), ("/", 2), ("/meta", 2)];
    visited_again(&site, &[], &wanted);
    // Another run goes on, and still knows what was kept.
    visited_again(&site, &[], &[("/a", 5), ("/copy", 5)]);
    let records = records(&site.crawl_dir());
    let kept: BTreeMap<&str, &Record> = records
        .iter()
        .filter(|record| record.kind() == "response")
        .map(|record| (record.field("WARC-Record-ID").unwrap(), record))
        .collect();
    let revisits: Vec<&Record> = records.iter().filter(|r| r.kind() == "revisit").collect();
    let profile = |r: &Record| r.field("WARC-Profile").unwrap_or_default().to_owned();
    let is_304 = |r: &&&Record| profile(r).ends_with("server-not-modified");
    assert!(revisits.iter().filter(is_304).count() >= 4, "{} revisits", revisits.len());
    for revisit in revisits {
        let url = revisit.target().unwrap();
        let field = |name: &str| revisit.field(name).unwrap_or_default();
        let original = kept.get(field("WARC-Refers-To"));
        let original = original.unwrap_or_else(|| panic!("{url} refers to what is not there"));
        assert_eq!(Some(field("WARC-Refers-To-Target-URI")), original.target(), "{url}");
        assert_eq!(Some(field("WARC-Refers-To-Date")), original.field("WARC-Date"), "{url}");
        let digest = original.field("WARC-Payload-Digest");
        assert_eq!(Some(field("WARC-Payload-Digest")), digest, "{url}");
    }
    assert_replayed(&site.crawl_dir());
}

#[test]
fn a_page_that_asks_not_to_be_archived_leaves_its_links_and_a_note() {
    let site = Scripted::serve(site);
    let report = site.crawl(&["--extract"]);
    assert_eq!(report["stopped_because"], "finished");
    let records = records(&site.crawl_dir());
    let responses = paths(&records, "response");
    for hidden in ["/meta", "/header"] {
        assert!(!responses.contains(&hidden.to_owned()), "{hidden} is kept");
        let is_its = |r: &&Record| r.target() == Some(&site.url(hidden));
        let its: Vec<&Record> = records.iter().filter(is_its).collect();
        let [note] = its[..] else { panic!("{} records of {hidden}", its.len()) };
        let text = String::from_utf8_lossy(&note.block);
        assert_eq!(note.kind(), "metadata");
        assert!(text.contains("notArchived: noarchive\r\nhttpStatus: 200\r\n"), "{text}");
    }
    assert!(responses.contains(&"/behind".to_owned()), "links are followed");
    let rows = rows_of(&site.crawl_dir());
    let about = |path: &str| rows.iter().find(|row| row["id"] == site.url(path));
    assert!(about("/meta").is_none() && about("/header").is_none(), "no copy in rows, either");
    assert_replayed(&site.crawl_dir());
    // The owner of the site may say otherwise.
    let own = Scripted::serve(self::site);
    own.crawl(&["--noarchive", "ignore"]);
    let responses = paths(&self::records(&own.crawl_dir()), "response");
    assert!(["/meta", "/header"].iter().all(|path| responses.contains(&path.to_string())));
}

#[test]
fn a_page_that_is_not_to_be_indexed_is_kept_and_marked() {
    let site = Scripted::serve(site);
    site.crawl(&["--extract"]);
    let marked = |rows: &[Value]| -> Vec<(String, bool)> {
        let mark = |row: &Value| (row["id"].as_str().unwrap().to_owned(), row["noindex"] == true);
        rows.iter().map(mark).collect()
    };
    let rows = rows_of(&site.crawl_dir());
    assert!(marked(&rows).contains(&(site.url("/unlisted"), true)), "{rows:?}");
    assert_eq!(marked(&rows).iter().filter(|(_, mark)| *mark).count(), 1);
    // And so it is when rows are made of the archive.
    let dir = site.crawl_dir();
    let made = Command::new(crate::binary::rhumb()).arg("extract").arg(&dir).output().unwrap();
    let lines = String::from_utf8(made.stdout).unwrap();
    let again: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(marked(&again).contains(&(site.url("/unlisted"), true)), "{lines}");
    let records = records(&dir);
    let notes = records.iter().filter(|r| r.kind() == "metadata");
    let of_robots = notes.filter(|r| String::from_utf8_lossy(&r.block).contains("robots: noindex"));
    assert_eq!(of_robots.filter_map(Record::target).collect::<Vec<_>>(), [site.url("/unlisted")]);
}

#[test]
fn files_are_kept_as_resources() {
    let scratch = tempfile::tempdir().unwrap();
    let (root, crawl) = (scratch.path().join("tree"), scratch.path().join("crawl"));
    std::fs::create_dir(&root).unwrap();
    for (name, body) in [("index.html", "<a href=copy.html>"), ("copy.html", "<a href=copy.html>")]
    {
        std::fs::write(root.join(name), body).unwrap();
    }
    let root = root.canonicalize().unwrap();
    let crawled = Command::new(crate::binary::rhumb())
        .args(["--quiet", "crawl", "--delay", "0s", "--extract", "--dir"])
        .arg(&crawl)
        .arg("--allow-file")
        .arg(&root)
        .arg(format!("file://{}/index.html", root.display()))
        .output()
        .unwrap();
    assert!(crawled.status.success(), "{}", String::from_utf8_lossy(&crawled.stderr));
    let records = records(&crawl);
    assert_eq!(paths(&records, "response"), [] as [String; 0]);
    let files = records.iter().filter(|record| record.kind() == "resource");
    let files: Vec<(&str, &[u8])> =
        files.map(|r| (r.field("Content-Type").unwrap(), r.block.as_slice())).collect();
    assert_eq!(files, [("text/html", b"<a href=copy.html>".as_slice())]);
    assert_eq!(paths(&records, "revisit").len(), 1);
    assert_replayed(&crawl);
}

/// The rows that a crawl made of its pages.
fn rows_of(dir: &Path) -> Vec<Value> {
    let file = std::fs::File::open(dir.join("extract.jsonl.zst")).unwrap();
    let text = zstd::decode_all(file).unwrap();
    text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn assert_replayed(dir: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("sh").arg(root.join("scripts/python-env")).status().unwrap();
    assert!(made.success(), "scripts/python-env failed");
    let mut replay = Command::new(root.join(".venv/bin/python"));
    let replayed = replay.arg(root.join("scripts/replay_index.py")).arg(dir).output().unwrap();
    let [said, errors] = [&replayed.stdout, &replayed.stderr].map(|s| String::from_utf8_lossy(s));
    assert!(replayed.status.success(), "{said}{errors}");
    println!("{said}");
}
