//! Every order passes the same crawl: stopped, killed, taken up again, polite and complete, with
//! the same importance covered in the end.

use crate::binary;
use crate::site::{Site, assert_polite, pages_in_archive, reachable, report_of};
use rhumb_engine::record::RecordStatus;
use rhumb_sim::web::{Oddities, WebConfig};
use rhumb_state::local::LocalReader;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const ORDERS: [&str; 10] = [
    "settled",
    "rankmass",
    "windowed",
    "lneighbor",
    "opic",
    "backlink",
    "partialpr",
    "bfs",
    "dfs",
    "random",
];

fn web() -> WebConfig {
    let oddities = Oddities { copies: 60, redirects: 60, private: 60, ..Oddities::default() };
    WebConfig { network: 127, oddities, latency_us_mean: 500, ..WebConfig::plain(40, 240) }
}

fn certificate(dir: &Path) -> Value {
    let output =
        Command::new(binary::rhumb()).args(["coverage", "--json"]).arg(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one JSON value")
}

fn share(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no share"))
}

#[test]
fn every_order_crawls_all_politely_through_a_stop_and_a_kill_and_proves_the_same() {
    let mut bounds = Vec::new();
    for order in ORDERS {
        let site = Site::serve(web());
        let stopped = site.crawl(&["--order", order, "--max-pages", "60"]).spawn().unwrap();
        assert_eq!(report_of(stopped)["stopped_because"], "max_pages", "{order}");
        let partly = certificate(&site.crawl_dir());
        let mut killed = site.crawl(&["--order", order]).spawn().unwrap();
        let before = site.served.answers();
        while site.served.answers() < before + 60 {
            assert!(killed.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        let report = report_of(site.crawl(&["--order", order]).spawn().unwrap());
        let web = &site.served.web;
        assert_polite(web, &site.requests());
        assert_eq!(pages_in_archive(web, &site.crawl_dir()), reachable(web), "{order}");
        let (live, tight) = (&report["coverage"], certificate(&site.crawl_dir()));
        assert_eq!(live["order"], order);
        let bound = share(&live["bound"]);
        assert!(bound <= share(&tight["bound"]) + 1e-6, "{order}: {live} but {tight}");
        assert!(bound > share(&tight["bound"]) - 1e-4, "{order}: {live} but {tight}");
        assert!(share(&partly["bound"]) < bound, "{order}: {partly} and then {live}");
        assert!(share(&live["lost"]["robots"]) > 0.0, "{order}: {live}");
        assert!((share(&live["ceiling"]) - bound).abs() < 1e-4, "{order}: {live}");
        bounds.push(share(&tight["bound"]));
    }
    // The same web, the same links: whatever the order, the same is proven in the end.
    let (least, most) = bounds.iter().fold((1.0f64, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    assert!(most - least < 1e-5, "{bounds:?}");
}

#[test]
fn the_mass_of_a_url_is_told_before_it_is_fetched() {
    let site = Site::serve(web());
    report_of(site.crawl(&["--max-pages", "60"]).spawn().unwrap());
    let waiting: Vec<String> = {
        let reader = LocalReader::open(&site.crawl_dir().join("state")).unwrap();
        let rows = reader.urls().map(|row| row.unwrap());
        let waiting = rows.filter(|(_, record)| record.status == RecordStatus::Queued);
        waiting.map(|(key, _)| key.url().to_string()).collect()
    };
    let told = |url: &String| {
        let output = Command::new(binary::rhumb())
            .args(["status", "--json", "--url", url])
            .arg(site.crawl_dir())
            .output()
            .unwrap();
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(status["state"], "queued");
        share(&status["mass"])
    };
    // Every one of them was found by a link of a page that has mass, or by a redirect to it.
    let masses: Vec<f64> = waiting.iter().take(5).map(told).collect();
    assert!(
        masses.len() == 5 && masses.iter().all(|mass| *mass > 0.0 && *mass < 0.1),
        "{masses:?}"
    );
}

#[test]
fn a_crawl_stops_when_enough_is_proven_and_when_it_never_will_be() {
    let site = Site::serve(web());
    let report = report_of(site.crawl(&["--coverage", "0.4"]).spawn().unwrap());
    assert_eq!(report["stopped_because"], "coverage");
    assert!(share(&report["coverage"]["bound"]) >= 0.4, "{report}");
    assert!(report["queued"].as_u64().unwrap() > 0, "{report}");
    let report = report_of(site.crawl(&["--coverage", "1"]).spawn().unwrap());
    assert_eq!(report["stopped_because"], "coverage_out_of_reach", "{report}");
    assert!(share(&report["coverage"]["ceiling"]) < 1.0, "{report}");
    for wrong in ["0", "1.5", "-1", "much", "NaN"] {
        let output = site.crawl(&[&format!("--coverage={wrong}")]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
