//! Pages that scripts make: named and counted wherever a crawl speaks of its pages, and read where
//! the data of the scripts came along.

use crate::binary;
use crate::scripted::{Scripted, html, not_found};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROSE: &str = "The tables say when the tide comes in and how high it will be, for a year in \
                     advance and for every harbour of the coast.";

fn shells() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../extract/tests/shells");
    let mut shells: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    shells.sort();
    shells
}

/// A page with links to shells, to a page with a tracker, and to one whose data came along.
fn site() -> Scripted {
    let bodies: Vec<Vec<u8>> = shells().iter().map(|path| fs::read(path).unwrap()).collect();
    Scripted::serve(move |asked| match asked.path.as_str() {
        "/" => {
            let links: String =
                (0..bodies.len()).map(|n| format!("<a href=/s{n}>{n}</a>")).collect();
            html(format!(
                "<h1>Harbours</h1><p>{PROSE}</p>{links}<a href=/note>n</a><a href=/data>d</a>"
            ))
        }
        "/note" => html("<p>Short note.</p><script>track()</script>"),
        "/data" => html(format!(
            "<div id=__next></div><script src=/_next/m.js defer></script><script id=__NEXT_DATA__ \
             type=application/json>{{\"text\":\"{PROSE} And more.\",\"to\":\"/found\"}}</script>"
        )),
        "/found" => html("<p>Found in the data of another page.</p>"),
        path => match path.strip_prefix("/s").and_then(|n| n.parse::<usize>().ok()) {
            Some(n) if n < bodies.len() => html(&bodies[n]),
            _ => not_found(),
        },
    })
}

fn run(arguments: &[&str]) -> Output {
    Command::new(binary::rhumb()).args(arguments).output().unwrap()
}

fn said(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn shells_are_counted_and_named_and_what_came_along_is_read() {
    let site = site();
    let output = site.command(&["--extract"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["pages"], &report["scripted"]), (&12.into(), &8.into()), "{report}");
    assert!(site.asked().contains(&"/found".to_owned()), "{:?}", site.asked());
    let dir = site.crawl_dir();
    let dir = dir.to_str().unwrap();
    let urls = said(&run(&["urls", dir, "--state", "fetched"]).stdout);
    let named: Vec<&str> = urls.lines().filter(|line| line.contains("scripted")).collect();
    assert!(named.len() == 8 && named.iter().all(|line| line.contains("/s")), "{urls}");
    // The count survives the run.
    let status = said(&run(&["status", dir]).stdout);
    assert!(status.contains("made by scripts") && status.contains(" 8 "), "{status}");
    let status: Value = serde_json::from_slice(&run(&["status", dir, "--json"]).stdout).unwrap();
    assert_eq!(status["scripted"], 8);
    let rows = fs::File::open(site.crawl_dir().join("extract.jsonl.zst")).unwrap();
    let rows = String::from_utf8(zstd::decode_all(rows).unwrap()).unwrap();
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scripted = rows.iter().filter(|row| row["scripted"] == true).count();
    assert_eq!(scripted, 8, "{rows:?}");
    let data = rows.iter().find(|row| row["id"] == site.url("/data").as_str()).unwrap();
    assert!(data["text"].as_str().unwrap().contains("when the tide comes in"), "{data}");
    assert_eq!(data["method"], "embedded-state");
}

#[test]
fn one_page_that_scripts_make_is_said_not_to_have_come() {
    let site = site();
    let get = |path: &str, format: &str| {
        let url = site.url(path);
        let rules = ["--allow-private", "--delay", "0s", "--delay-factor", "0", "--proxy", "none"];
        run(&[&["--quiet", "get", &url, "--format", format], &rules[..]].concat())
    };
    for format in ["markdown", "text", "json"] {
        let output = get("/s0", format);
        assert_eq!(output.status.code(), Some(1), "{format}");
        let why = said(&output.stderr);
        assert!(why.contains("its scripts make what it says") && why.lines().count() == 1, "{why}");
        let data = get("/data", format);
        assert_eq!((data.status.code(), said(&data.stderr)), (Some(0), String::new()), "{format}");
        assert!(said(&data.stdout).contains("when the tide comes in"));
    }
    assert_eq!(get("/s0", "html").status.code(), Some(0), "it came as it is");
    let row: Value = serde_json::from_slice(&get("/s0", "json").stdout).unwrap();
    assert_eq!((&row["scripted"], &row["error"]), (&true.into(), &Value::Null), "{row}");
    let row: Value = serde_json::from_slice(&get("/data", "json").stdout).unwrap();
    assert_eq!(row["links"], serde_json::json!([site.url("/found")]));
    assert_eq!(row["scripted"], Value::Null);
    assert_eq!(get("/note", "markdown").status.code(), Some(0), "a tracker makes no shell");
}
