//! `rhumb forget`: nothing of what was taken down is left, nothing else is lost, and it does not
//! come back.

use crate::binary;
use crate::scripted::{Scripted, html, not_found};
use rhumb_archive::{RecordReader, warc_files};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SECRET: &str = "Zanzibarquokka";

/// A page of some words, one of which tells it.
fn page(word: &str, links: &str) -> Vec<u8> {
    let words = "the sea rises and falls twice a day as the moon goes by ".repeat(4);
    html(format!("<title>{word}</title><h1>{word}</h1><p>{words}{word}.</p>{links}"))
}

/// `/copy` has the bytes of `/secret`.
fn site() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/" => page("Harbour", "<a href=/secret>1</a><a href=/copy>2</a><a href=/open>3</a>"),
        "/secret" | "/copy" => page(SECRET, "<a href=/linked>4</a>"),
        "/open" => page("Openly", ""),
        "/linked" => page("Linked", ""),
        _ => not_found(),
    })
}

fn forget(dir: &Path, targets: &[&str]) -> Output {
    let mut command = Command::new(binary::rhumb());
    command.args(["--quiet", "forget", "--json"]).arg(dir).args(targets);
    command.output().unwrap()
}

fn done(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Kind, target and payload of every record that has a target.
fn records(dir: &Path) -> Vec<(String, String, Vec<u8>)> {
    let mut all = Vec::new();
    for (_, path) in warc_files(dir).unwrap() {
        for record in RecordReader::open(&path).unwrap() {
            let record = record.unwrap();
            let Some(target) = record.target() else { continue };
            let target = target.to_owned();
            all.push((record.kind().to_owned(), target, record.payload().to_vec()));
        }
    }
    all
}

fn state_of(dir: &Path, url: &str) -> Value {
    let mut command = Command::new(binary::rhumb());
    let output = command.args(["status", "--json", "--url", url]).arg(dir).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn search(dir: &Path, word: &str) -> u64 {
    let mut command = Command::new(binary::rhumb());
    let output = command.args(["search", "--json"]).arg(dir).arg(word).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    found["total"].as_u64().unwrap()
}

#[test]
fn a_page_is_gone_its_copy_replays_and_no_later_run_fetches_it() {
    let site = site();
    let report = site.crawl(&["--extract", "--index"]);
    assert_eq!(report["pages"], 5, "{report}");
    let dir = site.crawl_dir();
    let (secret, copy, open) = (site.url("/secret"), site.url("/copy"), site.url("/open"));
    // One of the two is a revisit of the other: the original is what goes.
    let original = records(&dir)
        .into_iter()
        .find(|(kind, target, _)| kind == "response" && (*target == secret || *target == copy));
    let (_, original, _) = original.expect("one with a payload");
    let other = if original == secret { &copy } else { &secret };
    let before = records(&dir);

    let said = done(&forget(&dir, &[&original]));
    assert_eq!((&said["urls"], &said["kept_anew"]), (&1.into(), &1.into()), "{said}");
    let after = records(&dir);
    assert!(after.iter().all(|(_, target, _)| *target != original));
    let responses = |url: &str| {
        let of_url = after.iter().filter(|(kind, target, _)| kind == "response" && target == url);
        of_url.map(|(_, _, payload)| payload.clone()).collect::<Vec<_>>()
    };
    let kept = responses(other);
    assert_eq!(kept.len(), 1);
    assert!(String::from_utf8_lossy(&kept[0]).contains(SECRET));
    let opened = before.iter().find(|(kind, target, _)| kind == "response" && *target == open);
    assert_eq!(responses(&open), [opened.unwrap().2.clone()]);
    let index = fs::read_to_string(dir.join("index.cdxj")).unwrap();
    assert!(!index.contains(&format!("\"{original}\"")) && index.contains(&format!("\"{other}\"")));
    let meaning = state_of(&dir, &original)["meaning"].as_str().unwrap().to_owned();
    assert!(meaning.contains("taken down with rhumb forget"), "{meaning}");
    assert_eq!(state_of(&dir, other)["state"], "fetched");

    // Forgotten as well: now no word of it is left anywhere.
    done(&forget(&dir, &[other]));
    assert!(records(&dir).iter().all(|(_, target, _)| target != other && *target != original));
    assert_eq!((search(&dir, SECRET), search(&dir, "Openly")), (0, 1));
    let rows = fs::read(dir.join("extract.jsonl.zst")).unwrap();
    let rows = String::from_utf8(zstd::decode_all(&rows[..]).unwrap()).unwrap();
    assert!(rows.contains("Openly") && !rows.contains(SECRET));

    let asked = site.asked().len();
    let report = site.crawl(&["--extract", "--index", "--max-depth", "9", "--retry-failed"]);
    assert_eq!(report["refused"]["forgotten"], 2, "{report}");
    assert_eq!(site.asked().len(), asked, "{:?}", site.asked());
    let again = done(&forget(&dir, &[&original]));
    assert_eq!((&again["urls"], &again["records"]), (&0.into(), &0.into()), "{again}");
}

#[test]
fn a_takedown_that_is_killed_is_finished_by_the_next_and_no_crawl_begins_before() {
    let site = site();
    site.crawl(&["--extract"]);
    let dir = site.crawl_dir();
    let mut child = Command::new(binary::rhumb());
    child.args(["--quiet", "forget"]).arg(&dir).arg("127.0.0.1").stdout(Stdio::null());
    let mut child = child.spawn().unwrap();
    // Its first mark on the disk: from here on it is under way.
    while !dir.join("forgetting.jsonl").exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if dir.join("forgetting.jsonl").exists() {
        let output = site.command(&[]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("was cut short"), "{said}");
        // A torn record, as a kill within the writing of one would leave it.
        let warc = &warc_files(&dir).unwrap()[0].1;
        assert!(fs::metadata(warc).unwrap().len() > 0);
    }
    done(&forget(&dir, &["127.0.0.1"]));
    assert!(records(&dir).is_empty());
    assert!(!dir.join("forgetting.jsonl").exists());
    let asked = site.asked().len();
    let output = site.command(&[]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["refused"]["forgotten"], &report["queued"]), (&6.into(), &0.into()));
    assert_eq!(site.asked().len(), asked);
}

#[test]
fn wrong_targets_and_directories_are_named() {
    let site = site();
    for (targets, says) in
        [(&["not/a/host"][..], "neither a URL (https://…) nor a host"), (&[][..], "holds no crawl")]
    {
        let output = forget(&site.crawl_dir(), targets);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains(says) || said.contains("nothing to forget"), "{said}");
    }
    let output = forget(&site.crawl_dir(), &["a.test"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("holds no crawl"), "{said}");
}
