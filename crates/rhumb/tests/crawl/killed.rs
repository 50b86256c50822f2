//! The same crawl, killed three times on its way.

use crate::site::{Site, assert_polite, pages_in_archive, reachable, report_of};
use rhumb_sim::web::{Oddities, WebConfig};
use std::collections::BTreeMap;

#[test]
fn a_crawl_killed_three_times_ends_with_the_same_pages_and_repeats_only_what_was_in_flight() {
    let oddities = Oddities { copies: 60, redirects: 60, private: 40, ..Oddities::default() };
    let config =
        WebConfig { network: 127, oddities, latency_us_mean: 2_000, ..WebConfig::plain(60, 1_200) };
    let site = Site::serve(config);
    const CONCURRENCY: usize = 16;
    let concurrency = CONCURRENCY.to_string();
    let arguments = ["--concurrency", concurrency.as_str()];
    for kill in 1..=3 {
        let mut child = site.crawl(&arguments).spawn().unwrap();
        // By progress, not by time: the server's own log says how far it is.
        let log = site.served.log().unwrap();
        while log.requests().len() < kill * 300 {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let report = report_of(site.crawl(&arguments).spawn().unwrap());
    let (web, requests) = (&site.served.web, site.requests());
    assert_polite(web, &requests);
    assert_eq!(pages_in_archive(web, &site.crawl_dir()), reachable(web));
    assert_eq!(report["stopped_because"], "finished");
    let mut times: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for request in requests.iter().filter(|request| request.path != "/robots.txt") {
        *times.entry((&request.host, &request.path)).or_default() += 1;
    }
    let repeats: usize = times.values().map(|n| n - 1).sum();
    // In flight at a kill: requests, and pages received whose rows were not yet committed.
    assert!(repeats <= 3 * 2 * CONCURRENCY, "{repeats} repeated");
}
