//! The same crawl, killed three times on its way, or two hundred times.

use crate::site::{
    DELAY_MS, Site, assert_polite, assert_tools_accept, pages_in_archive, reachable, report_of,
};
use rhumb_engine::rng::Rng;
use rhumb_lab::serve::Logged;
use rhumb_sim::web::{Oddities, WebConfig};
use std::collections::BTreeMap;

const CONCURRENCY: usize = 16;
/// Each process dies when the server has answered so many of its requests.
const KILLED_AFTER: [u64; 3] = [700, 800, 900];

/// Of the long test: so many kills, each so many answers after the one before at most.
const KILLS: usize = 200;
const ANSWERS_BETWEEN_MAX: u64 = 60;

/// So many pages over 300 hosts, with copies, redirects and robots.
pub fn web(pages: u32) -> WebConfig {
    let oddities = Oddities { copies: 60, redirects: 60, private: 40, ..Oddities::default() };
    WebConfig { network: 127, oddities, latency_us_mean: 2_000, ..WebConfig::plain(300, pages) }
}

#[test]
fn a_crawl_killed_three_times_ends_with_the_same_pages_and_repeats_only_what_was_in_flight() {
    crawl_killed(web(3_000), KILLED_AFTER, &[]);
}

#[test]
fn four_partitions_killed_three_times_end_with_the_same_pages() {
    crawl_killed(web(3_000), KILLED_AFTER, &["--partitions", "4"]);
}

#[test]
#[ignore = "takes some minutes: 200 kills"]
fn a_crawl_killed_two_hundred_times_loses_no_page() {
    let mut rng = Rng::new(17);
    let kills = (0..KILLS).map(|_| 1 + rng.draw() % ANSWERS_BETWEEN_MAX);
    crawl_killed(web(9_000), kills, &[]);
}

fn crawl_killed(web: WebConfig, kills: impl IntoIterator<Item = u64>, more: &[&str]) {
    let site = Site::serve(web);
    let concurrency = CONCURRENCY.to_string();
    let arguments = [&["--concurrency", concurrency.as_str()], more].concat();
    let mut lives_end_us = Vec::new();
    for answers in kills {
        let answers = site.served.answers() + answers;
        let mut child = site.crawl(&arguments).spawn().unwrap();
        // By progress, not by time: the server itself says how far it is.
        while site.served.answers() < answers {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // The next process waits a delay before its first request to any host: what arrives
        // sooner was sent by this one.
        lives_end_us.push(site.served.log().unwrap().now_us() + DELAY_MS * 1_000);
    }
    let report = report_of(site.crawl(&arguments).spawn().unwrap());
    let (web, requests) = (&site.served.web, site.requests());
    assert_polite(web, &requests);
    assert_eq!(pages_in_archive(web, &site.crawl_dir()), reachable(web));
    assert_eq!(report["stopped_because"], "finished");
    assert_eq!(report["queued"], 0);
    let repeats = repeats(&requests, &lives_end_us);
    println!("{} requests; repeated after each kill: {repeats:?}", requests.len());
    for (life, repeated) in repeats {
        // Requests in flight, and as many answers that were received and not yet committed.
        assert!(repeated <= 2 * CONCURRENCY, "{repeated} repeated after kill {life}");
    }
    assert_tools_accept(&site.crawl_dir());
}

/// How many requests of each life were made again in a later one. Within a life there are none.
fn repeats(requests: &[Logged], lives_end_us: &[u64]) -> BTreeMap<usize, usize> {
    let mut lives: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for request in requests {
        let life = lives_end_us.partition_point(|&end_us| end_us < request.start_us);
        lives.entry((&request.host, &request.path)).or_default().push(life);
    }
    let mut repeats = BTreeMap::new();
    for (what, mut lives) in lives {
        lives.sort_unstable();
        for pair in lives.windows(2) {
            assert!(pair[0] < pair[1], "fetched twice in one life: {what:?}");
            *repeats.entry(pair[0] + 1).or_default() += 1;
        }
    }
    repeats
}
