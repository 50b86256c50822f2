//! From seeds to WARC in one go.

use crate::site::{
    Site, assert_polite, assert_tools_accept, pages_in_archive, reachable, report_of,
};
use rhumb_sim::web::{Oddities, WebConfig};
use std::collections::BTreeSet;

/// 3,000 pages over 300 hosts and more, with copies, redirects, robots and dead links.
fn web() -> WebConfig {
    let calm = Oddities { traps: 0, slow_sites: 0, crawl_delays: 0, flaky: 0, ..Oddities::usual() };
    let oddities = Oddities { odd_robots: 0, dead_links: 0, ..calm };
    WebConfig { oddities, ghosts: 0, latency_us_mean: 500, ..WebConfig::demo() }
}

#[test]
fn every_reachable_page_is_fetched_once_politely_and_kept() {
    let site = Site::serve(web());
    let report = report_of(site.crawl(&[]).spawn().unwrap());
    let (web, requests) = (&site.served.web, site.requests());
    assert_polite(web, &requests);
    let mut seen = BTreeSet::new();
    for request in &requests {
        assert!(seen.insert((&request.host, &request.path)), "fetched twice: {request:?}");
    }
    let kept = pages_in_archive(web, &site.crawl_dir());
    assert_eq!(kept, reachable(web));
    assert_eq!(report["stopped_because"], "finished");
    assert_eq!(report["queued"], 0);
    assert!(report["pages"].as_u64().unwrap() >= kept.len() as u64, "{report}");
    assert!(report["exact_duplicates"].as_u64().unwrap() > 0, "{report}");
    assert!(report["robots_denied"].as_u64().unwrap() > 0, "{report}");
    assert_tools_accept(&site.crawl_dir());
}
