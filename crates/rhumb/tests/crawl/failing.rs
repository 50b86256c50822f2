//! Hosts that fail: nothing that waits there is lost, the run ends and says whom it is about, and
//! the next one goes on.

use crate::binary;
use crate::server::{Answer, HTML, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PAGES: usize = 6;

/// A page of links to all others.
fn page() -> Answer {
    let links: String = (0..PAGES).map(|n| format!("<a href=\"/{n}\">{n}</a>\n")).collect();
    Answer::ok(HTML, links)
}

fn busy() -> Answer {
    Answer { status: "503 Service Unavailable", headers: Vec::new(), body: Vec::new() }
}

/// Crawls the server with hasty retries; what it printed and its report.
fn crawl(server: &Server, dir: &Path, arguments: &[&str]) -> (Output, Value) {
    let config = dir.join("retry.toml");
    fs::write(&config, "[retry]\nwait_min = \"10ms\"\nhost_failures_max = 3\n").unwrap();
    let output = Command::new(binary::rhumb())
        .args(["crawl", "--json", "--delay", "1ms", "--delay-factor", "0"])
        .arg(format!("http://{}/0", server.address))
        .arg("--config")
        .arg(config)
        .arg("--dir")
        .arg(dir.join("crawl"))
        .args(arguments)
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout).expect("--json prints one JSON value");
    (output, report)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_server_that_was_busy_in_one_run_gives_all_its_pages_to_the_next() {
    for robots_is_there in [true, false] {
        let recovered = Arc::new(AtomicBool::new(false));
        let is_up = Arc::clone(&recovered);
        let server = Server::start(move |path| match path {
            "/robots.txt" if robots_is_there => Answer::not_found(),
            _ if !is_up.load(Ordering::SeqCst) => busy(),
            "/robots.txt" => Answer::not_found(),
            _ => page(),
        });
        let dir = tempfile::tempdir().unwrap();
        let (output, report) = crawl(&server, dir.path(), &["--allow-private"]);
        assert_eq!(output.status.code(), Some(1), "no page was had: {}", stderr(&output));
        assert_eq!(report["stopped_because"], "hosts_failing");
        let kind = if robots_is_there { "throttled" } else { "robots_unreachable" };
        let host = format!("http://{}", server.address);
        // The page, and beside it the sitemap that is tried unasked, once robots.txt was read.
        let queued = &report["failing_hosts"][0]["queued"];
        assert!([1, 2].contains(&queued.as_u64().unwrap()), "{report}");
        let named = json!([{ "host": &host, "kind": kind, "queued": queued }]);
        assert_eq!((&report["hosts_failing"], &report["failing_hosts"]), (&json!(1), &named));
        assert!(stderr(&output).contains(&host), "{}", stderr(&output));
        recovered.store(true, Ordering::SeqCst);
        let (output, report) = crawl(&server, dir.path(), &["--allow-private"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(report["stopped_because"], "finished");
        assert_eq!((&report["pages"], &report["queued"]), (&json!(PAGES), &json!(0)));
        assert_eq!(report["hosts_failing"], 0);
    }
}

#[test]
fn a_forgotten_allow_private_costs_nothing_but_another_run() {
    let server = Server::start(|path| match path {
        "/robots.txt" => Answer::not_found(),
        _ => page(),
    });
    let dir = tempfile::tempdir().unwrap();
    let (_, report) = crawl(&server, dir.path(), &[]);
    assert_eq!(report["stopped_because"], "hosts_failing");
    assert_eq!(report["failing_hosts"][0]["kind"], "address_refused");
    assert!(server.requested().is_empty(), "{:?}", server.requested());
    let (output, report) = crawl(&server, dir.path(), &["--allow-private"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((&report["stopped_because"], &report["pages"]), (&json!("finished"), &json!(PAGES)));
}

#[test]
fn a_server_that_goes_down_half_way_keeps_its_pages_for_the_next_run() {
    let recovered = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&recovered);
    let server = Server::start(move |path| match path {
        "/robots.txt" => Answer::not_found(),
        "/0" | "/1" | "/2" => page(),
        _ if is_up.load(Ordering::SeqCst) => page(),
        _ => busy(),
    });
    let dir = tempfile::tempdir().unwrap();
    let (output, report) = crawl(&server, dir.path(), &["--allow-private"]);
    assert_eq!(output.status.code(), Some(0), "some pages were had: {}", stderr(&output));
    assert_eq!(report["stopped_because"], "hosts_failing");
    assert!(stderr(&output).contains(&server.address.to_string()), "{}", stderr(&output));
    let before = report["pages"].as_u64().unwrap();
    assert!((1..=3).contains(&before), "{report}");
    recovered.store(true, Ordering::SeqCst);
    let (output, report) = crawl(&server, dir.path(), &["--allow-private"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((&report["stopped_because"], &report["pages"]), (&json!("finished"), &json!(PAGES)));
}
