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
        for lap in laps {
            assert_eq!(lap["pages"], 120, "{standing}");
            let rate = 120.0 / number(lap, "seconds");
            assert!((number(lap, "pages_per_s") / rate - 1.0).abs() < 1e-9, "{rate}: {lap}");
            let rss = number(lap, "peak_rss_bytes");
            // Of a process of its own, where there is one: more than its code, less than 4 GB.
            assert!(is_plain || (4e6..4e9).contains(&rss), "{lap}");
        }
        for key in ["seconds", "pages_per_s", "ratio", "client_cpu_us_per_page"] {
            let mut of_laps: Vec<f64> = laps.iter().map(|lap| number(lap, key)).collect();
            of_laps.sort_by(f64::total_cmp);
            let middle = of_laps[(of_laps.len() - 1) / 2];
            assert_eq!(number(&standing["median"], key), middle, "{key}: {standing}");
        }
    }
    assert_eq!(standings[0]["median"]["ratio"], 1.0);
    // To the plain client right before and right after: laps of it are in the order of rounds.
    let plain = |lap: usize| number(&standings[0]["laps"][lap], "pages_per_s");
    for round in 0..2 {
        for (at, crawl) in standings[1..].iter().enumerate() {
            let before = round * standings.len() + at;
            let lap = &crawl["laps"][round];
            let beside = (plain(before) + plain(before + 1)) / 2.0;
            let ratio = number(lap, "pages_per_s") / beside;
            assert!((number(lap, "ratio") / ratio - 1.0).abs() < 1e-9, "{ratio}: {lap}");
        }
    }
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
    for (at, (ratio, crawl)) in against.iter().zip(crawls).enumerate() {
        assert_eq!(ratio["contender"], crawl);
        let [ours, theirs] = [at + 1, at + 3].map(|at| &standings[at]["median"]);
        for key in ["pages_per_s", "client_cpu_us_per_page", "peak_rss_bytes"] {
            let expected = number(ours, key) / number(theirs, key);
            assert!((number(ratio, key) / expected - 1.0).abs() < 1e-9, "{key}: {outcome}");
        }
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
        // What was asked for, and no more than the front pages beside it.
        assert!((urls..urls * 1.1 + 1_000.0).contains(&number(level, "known_urls")), "{level}");
        for key in ["peak_rss_bytes", "resumed_peak_rss_bytes"] {
            assert!((4e6..4e9).contains(&number(level, key)), "{key} in {level}");
        }
    }
    let peak = |at: usize| number(&levels[at], "peak_rss_bytes");
    let further = number(&levels[1], "known_urls") - number(&levels[0], "known_urls");
    let expected = (peak(1) - peak(0)) / further;
    let found = number(&levels[1], "bytes_per_further_url");
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, not {expected}");
}
