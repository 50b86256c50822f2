//! What pages are shown with: fetched from any host, bounded, in the archive and no page anywhere;
//! and real documentation, replayed whole in a real browser.

use crate::binary;
use crate::scripted::{Asked, Scripted, answer, html, not_found};
use rhumb_archive::RecordReader;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Where the second host of the sites below is.
const OTHER_HOST: &str = "127.0.0.2";

fn site(asked: &Asked) -> Vec<u8> {
    let css = |text: &str| answer("200 OK", &[("Content-Type", "text/css")], text);
    let other = asked.header("Host").and_then(|host| host.split_once(':')).map_or("", |(_, p)| p);
    match asked.path.as_str() {
        "/" => html(format!(
            "<title>Shown</title><link rel=stylesheet href=/s.css><link rel=icon href=/icon>\
             <img src=/logo srcset='/logo-2x 2x'><img src=http://{OTHER_HOST}:{other}/far>\
             <img src=/no><script src=/code.js></script><a href=/gallery>All of them</a>"
        )),
        "/gallery" => {
            let images: String = (0..10_000).map(|n| format!("<img src=/i{n}>")).collect();
            html(format!("<title>Many</title><link rel=icon href=/icon><p>{images}"))
        }
        "/s.css" => css("@import '/s.css'; @import '/t.css'; p{background:url(/in-css)}"),
        "/t.css" => css("@import '/s.css'; @font-face{src:url(/font)}"),
        "/code.js" => answer("200 OK", &[("Content-Type", "text/javascript")], "'<a href=/js>'"),
        "/no" => not_found(),
        _ => {
            answer("200 OK", &[("Content-Type", "image/png")], format!("\u{89}PNG {}", asked.path))
        }
    }
}

#[test]
fn requisites_are_bounded_told_apart_and_in_the_archive_alone() {
    let site = Scripted::serve(site);
    site.also_at(OTHER_HOST);
    let report = site.crawl(&["--requisites", "--max-requisites-per-page", "50", "--extract"]);
    let asked = site.asked();
    for path in ["/s.css", "/t.css", "/in-css", "/font", "/logo", "/logo-2x", "/far", "/code.js"] {
        assert_eq!(asked.iter().filter(|a| *a == path).count(), 1, "{path} of {asked:?}");
    }
    let images = asked.iter().filter(|path| path.starts_with("/i") && path.len() < 5).count();
    assert_eq!((&report["pages"], images), (&2.into(), 49), "the icon is one of fifty");
    assert_eq!(report["requisites_beyond"], 10_001 - 50);
    assert_eq!((&report["requisites_waiting"], &report["queued"]), (&0.into(), &0.into()));
    assert_eq!(report["requisites"], asked.len() as u64 - 3, "but two pages and what is not there");
    let lines = run(&["urls", "--json"], &site.crawl_dir());
    let urls: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pages = urls.iter().filter(|url| url["requisite"] != true && url["state"] == "fetched");
    assert_eq!(pages.count(), 2, "{lines}");
    assert!(urls.iter().all(|url| url["requisite"] != true || url["found_on"].is_string()));
    // In the archive they are marked, and no rows are made of them, now or later.
    let mut marked = Vec::new();
    for warc in std::fs::read_dir(site.crawl_dir().join("warc")).unwrap() {
        for record in RecordReader::open(&warc.unwrap().path()).unwrap().map(Result::unwrap) {
            let kind = record.field("WARC-Resource-Type").map(str::to_owned);
            marked.extend(kind.filter(|_| record.kind() == "response"));
        }
    }
    assert_eq!(marked.iter().filter(|kind| *kind == "stylesheet").count(), 2);
    assert_eq!(marked.len(), asked.len() - 2, "all but two pages");
    let rows = std::fs::File::open(site.crawl_dir().join("extract.jsonl.zst")).unwrap();
    let rows = String::from_utf8(zstd::decode_all(rows).unwrap()).unwrap();
    assert!(rows.lines().count() <= 2, "{rows}");
    let rows = run(&["extract"], &site.crawl_dir());
    assert!(rows.lines().count() <= 2, "{rows}");
}

#[test]
fn a_crawl_of_one_page_has_all_that_the_page_needs_and_one_without_the_flag_nothing() {
    let whole = Scripted::serve(site);
    whole.also_at(OTHER_HOST);
    let report = whole.crawl(&["--requisites", "--max-pages", "1"]);
    assert_eq!((&report["pages"], &report["stopped_because"]), (&1.into(), &"max_pages".into()));
    for path in ["/s.css", "/t.css", "/in-css", "/font", "/logo", "/far", "/code.js", "/icon"] {
        assert!(whole.asked().contains(&path.to_owned()), "{path} of {:?}", whole.asked());
    }
    let bare = Scripted::serve(site);
    bare.crawl(&[]);
    assert_eq!(bare.asked(), ["/", "/gallery"]);
}

#[test]
fn the_apache_manual_replays_whole() {
    replays_whole("apache");
}

#[test]
fn the_python_documentation_replays_whole() {
    replays_whole("python");
}

#[test]
fn the_postgresql_documentation_replays_whole() {
    replays_whole("postgresql");
}

/// Exit code of scripts that find no Chromium.
const NO_BROWSER: i32 = 3;

fn replays_whole(name: &str) {
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(tree) = rhumb_given::debian_docs(build, name) else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("sh").arg(root.join("scripts/python-env")).status().unwrap();
    assert!(made.success(), "scripts/python-env failed");
    let mut replay = Command::new(root.join(".venv/bin/python"));
    replay.arg(root.join("scripts/whole_pages.py")).arg(binary::rhumb()).arg(tree);
    let replayed = replay.output().unwrap();
    if replayed.status.code() == Some(NO_BROWSER) {
        return rhumb_given::absent("there is no Chromium");
    }
    let [said, errors] = [&replayed.stdout, &replayed.stderr].map(|s| String::from_utf8_lossy(s));
    assert!(replayed.status.success(), "{said}{errors}");
    println!("{said}");
}

fn run(arguments: &[&str], dir: &Path) -> String {
    let output = Command::new(binary::rhumb()).args(arguments).arg(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
