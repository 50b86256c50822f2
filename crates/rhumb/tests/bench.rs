//! The benches as a user runs them, at sizes that measure nothing: do they run, and is what they
//! print what they say?

mod binary;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What a bench printed; its scratch directory must be gone.
fn bench(arguments: &[&str]) -> Value {
    let tmp = tempfile::tempdir().unwrap();
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "bench"])
        .args(arguments)
        .args(["--json".as_ref(), "--tmp".as_ref(), tmp.path().as_os_str()])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(is_empty(tmp.path()), "something is left behind");
    serde_json::from_slice(&output.stdout).expect("one JSON value on standard output")
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().next().is_none()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn every_contender_of_a_crawl_bench_fetches_every_page() {
    let size = ["--pages", "120", "--hosts", "12", "--page-bytes", "2000", "--rounds", "2"];
    let outcome = bench(&[&["crawl", "--alone"], &size[..]].concat());
    assert_eq!((&outcome["pages"], &outcome["hosts"]), (&120.into(), &12.into()), "{outcome}");
    assert!(outcome["beside_wrk"].is_null() && outcome["absent"] == Value::Array(Vec::new()));
    let standings = outcome["standings"].as_array().unwrap();
    let names: Vec<&str> = standings.iter().map(|s| s["contender"].as_str().unwrap()).collect();
    let crawls = ["crawl_without_archive", "crawl_with_warc"];
    let simple = ["simply_without_archive", "simply_with_warc"];
    assert_eq!(names, [&["plain"], &crawls[..], &simple[..]].concat());
    for standing in standings {
        let laps = standing["laps"].as_array().unwrap();
        let is_plain = standing["contender"] == "plain";
        // Before and after each of the others.
        assert_eq!(laps.len(), if is_plain { 2 * standings.len() } else { 2 }, "{standing}");
        for lap in laps.iter().chain([&standing["median"]]) {
            assert_eq!(lap["pages"], 120, "{standing}");
            for key in ["seconds", "pages_per_s", "ratio"] {
                assert!(number(lap, key) > 0.0, "{key} in {lap}");
            }
        }
    }
    assert_eq!(standings[0]["median"]["ratio"], 1.0);
}

#[test]
fn another_build_crawls_in_turns_with_this_one() {
    let program = binary::rhumb();
    let size = ["--pages", "120", "--hosts", "12", "--page-bytes", "2000", "--rounds", "1"];
    let outcome = bench(&[&["crawl", "--alone", "--against", &program], &size[..]].concat());
    let standings = outcome["standings"].as_array().unwrap();
    let names: Vec<&str> = standings.iter().map(|s| s["contender"].as_str().unwrap()).collect();
    let crawls = ["crawl_without_archive", "crawl_with_warc"];
    let others = ["other_without_archive", "other_with_warc"];
    assert_eq!(names, [&["plain"], &crawls[..], &others[..]].concat());
    let against = outcome["against"].as_array().unwrap();
    assert_eq!(against.len(), 2, "{outcome}");
    for (ratio, crawl) in against.iter().zip(crawls) {
        assert_eq!(ratio["contender"], crawl);
        assert!(number(ratio, "pages_per_s") > 0.0 && number(ratio, "peak_rss_bytes") > 0.0);
    }
}

#[test]
fn a_memory_bench_knows_the_urls_it_was_asked_for_and_resumes() {
    let levels = bench(&["memory", "--urls", "1000,60000"]);
    let levels = levels.as_array().unwrap();
    assert_eq!(levels.len(), 2);
    assert!(levels[0]["bytes_per_further_url"].is_null(), "{levels:?}");
    assert!(levels[1]["bytes_per_further_url"].is_number(), "{levels:?}");
    for (level, urls) in levels.iter().zip([1_000.0, 60_000.0]) {
        assert!(number(level, "known_urls") >= urls, "{level}");
        for key in ["seconds", "resume_seconds", "peak_rss_bytes", "resumed_peak_rss_bytes"] {
            assert!(number(level, key) > 0.0, "{key} in {level}");
        }
    }
}
