//! What is fetched: types and sizes by the head of an answer, archives, lists of pages, paths.

use crate::binary;
use crate::scripted::{Scripted, answer, head, html, not_found};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// What is never read to its end: whoever reads it waits for the rest.
fn endless(content_type: &str, length: u64) -> Vec<u8> {
    let length = length.to_string();
    let mut bytes = head("200 OK", &[("Content-Type", content_type), ("Content-Length", &length)]);
    bytes.extend_from_slice(&[b'x'; 4_000]);
    bytes
}

fn site() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html(
            "<a href=/page>1</a><a href=/file>2</a><a href=/big>3</a><a href=/a.tar.gz>4</a>\
             <a href=/packed>5</a><a href=/guide/>6</a>",
        ),
        "/page" => html("<p>a page</p>"),
        "/guide/" => html("<a href=/guide/one>7</a><a href=/page>8</a>"),
        "/guide/one" => html("<p>one</p>"),
        "/file" => endless("application/pdf", 9_000_000),
        "/big" => endless("text/html", 90_000_000),
        "/packed" => endless("application/zip", 9_000_000),
        "/a.tar.gz" => answer("200 OK", &[("Content-Type", "application/gzip")], "not read"),
        _ => not_found(),
    })
}

fn refused(report: &Value, why: &str) -> u64 {
    report["refused"][why].as_u64().unwrap()
}

#[test]
fn types_sizes_and_archives_are_refused_by_the_head_and_fetched_when_the_rules_change() {
    let site = site();
    let config = site.dir.path().join("limits.toml");
    fs::write(&config, "[limits]\nbody_bytes_max = \"10MB\"\n[retry]\ntries_max = 1\n").unwrap();
    let report = site.crawl(&["--types", "html", "--config", config.to_str().unwrap()]);
    assert_eq!(report["pages"], 4, "{report}");
    let why = ["media_type", "size", "archive"].map(|why| refused(&report, why));
    // The zip offends both rules, of which types come first; the tar by its name is not asked for.
    assert_eq!(why, [2, 1, 1], "{report}");
    assert!(report["bytes"].as_u64().unwrap() < 20_000, "{report}");
    let report = site.crawl(&["--types", "none"]);
    assert_eq!(["media_type", "archive"].map(|why| refused(&report, why)), [0, 2], "{report}");
    let report = site.crawl(&["--lift-traps", "archive"]);
    assert_eq!(refused(&report, "archive"), 0, "{report}");
    assert!(site.asked().contains(&"/a.tar.gz".to_owned()), "{:?}", site.asked());
}

#[test]
fn a_list_of_pages_is_fetched_alone_and_below_a_path_nothing_above_it() {
    let site = site();
    site.crawl(&["--only-seeds"]);
    assert_eq!(site.asked(), ["/"]);
    let mut below = Command::new(binary::rhumb());
    below
        .args(["--quiet", "crawl", "--allow-private", "--json", "--below"])
        .args(["--delay", "0s", "--delay-factor", "0", "--dir"])
        .arg(site.dir.path().join("below"))
        .arg(site.url("/guide/"));
    let report: Value = serde_json::from_slice(&below.output().unwrap().stdout).unwrap();
    assert_eq!(refused(&report, "scope"), 1, "{report}");
    assert_eq!(site.asked(), ["/", "/guide/", "/guide/one"]);
}
