//! One crawl by several engines in one process.

use crate::binary;
use crate::killed::web;
use crate::site::{
    Site, assert_polite, assert_tools_accept, pages_in_archive, reachable, report_of,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn rhumb(arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(binary::rhumb()).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// Nothing waits or is on its way between partitions: all importance is proven, or lost to robots.
fn assert_all_is_covered_or_lost(coverage: &Value) {
    let share = |value: &Value| value.as_f64().expect("a share");
    let told = share(&coverage["bound"]) + share(&coverage["lost"]["robots"]);
    assert!((0.999..=1.001).contains(&told), "{coverage}");
}

#[test]
fn four_partitions_find_every_page_that_one_finds_and_none_twice() {
    let site = Site::serve(web(2_000));
    let report = report_of(site.crawl(&["--partitions", "4"]).spawn().unwrap());
    let (web, requests) = (&site.served.web, site.requests());
    assert_polite(web, &requests);
    assert_eq!(pages_in_archive(web, &site.crawl_dir()), reachable(web));
    assert_eq!(report["stopped_because"], "finished");
    assert_eq!(report["queued"], 0);
    let asked: BTreeSet<(&str, &str)> =
        requests.iter().map(|r| (r.host.as_str(), r.path.as_str())).collect();
    assert_eq!(asked.len(), requests.len(), "nothing is asked for twice");
    assert_tools_accept(&site.crawl_dir());
    assert_all_is_covered_or_lost(&report["coverage"]);

    // What others read of the directory.
    let dir = site.crawl_dir().display().to_string();
    let (ok, status, stderr) = rhumb(&["status", &dir, "--json"]);
    assert!(ok, "{stderr}");
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["pages"], report["pages"]);
    assert_eq!(status["known_urls"], report["known_urls"]);
    let (ok, fetched, stderr) = rhumb(&["urls", &dir, "--state", "fetched,duplicate"]);
    assert!(ok, "{stderr}");
    assert_eq!(fetched.lines().count() as u64, report["pages"].as_u64().unwrap());
    let (ok, covered, stderr) = rhumb(&["coverage", &dir, "--json"]);
    assert!(ok, "{stderr}");
    let covered: Value = serde_json::from_str(&covered).unwrap();
    assert_all_is_covered_or_lost(&covered);

    // A later run knows how many there are, and another number is refused.
    let again = report_of(site.crawl(&[]).spawn().unwrap());
    assert_eq!(again["pages"], report["pages"]);
    let refused = site.crawl(&["--partitions", "2"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("--partitions 4"), "{stderr}");
}

#[test]
fn a_limit_on_pages_holds_for_all_partitions_together_and_is_used_up() {
    let site = Site::serve(web(2_000));
    for max in [37_u64, 250, 251] {
        let limit = max.to_string();
        let arguments = ["--partitions", "4", "--max-pages", limit.as_str()];
        let report = report_of(site.crawl(&arguments).spawn().unwrap());
        assert_eq!(report["stopped_because"], "max_pages");
        assert_eq!(report["pages"], max);
    }
}

#[test]
fn a_crawl_of_one_partition_is_not_divided_later() {
    let site = Site::serve(web(300));
    report_of(site.crawl(&["--max-pages", "5"]).spawn().unwrap());
    let refused = site.crawl(&["--partitions", "4"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("--partitions 1"), "{stderr}");
    assert!(fs::exists(site.crawl_dir().join("state/FORMAT")).unwrap());
}
