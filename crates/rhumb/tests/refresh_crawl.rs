//! A crawl that goes on, over loopback, with days of eight seconds: it keeps its budget, also when
//! it is killed.

mod binary;
#[allow(dead_code)]
#[path = "crawl/site.rs"]
mod site;

use rhumb_lab::serve::Logged;
use rhumb_node::watch::status;
use rhumb_sim::web::WebConfig;
use site::{Site, report_of};
use std::time::Duration;

const DAY_US: u64 = 8_000_000;
const BUDGET: usize = 240;
/// Requests in flight: so many may be asked for in one day and arrive in the next.
const CONCURRENCY: usize = 2;
/// Looks at the crawl at rest until something is overdue.
const LOOKS_MAX: usize = 1_000;
/// A little more than a day.
const RUN: &str = "9s";

#[test]
fn the_budget_is_kept_over_a_compressed_day_and_through_a_kill() {
    let config = WebConfig {
        latency_us_mean: 1_000,
        change_period_us: 2_000_000,
        ..WebConfig::plain(6, 60)
    };
    let site = Site::serve(config);
    let (budget, concurrency) = (format!("{BUDGET}/8s"), CONCURRENCY.to_string());
    let going_on =
        ["--continuous", "--budget", budget.as_str(), "--concurrency", concurrency.as_str()];
    let mut child = site.crawl(&going_on).spawn().unwrap();
    // A day and a half, counted in requests, then it dies.
    while site.served.answers() < BUDGET as u64 * 3 / 2 {
        assert!(child.try_wait().unwrap().is_none(), "a crawl that goes on does not end");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let killed_at = site.requests().len();
    let last = [&going_on[..], &["--max-time", RUN]].concat();
    let report = report_of(site.crawl(&last).spawn().unwrap());
    assert_eq!(report["stopped_because"], "max_time");
    let all = site.requests();
    // Whatever day one looks at, also across the kill: never more than the budget and its burst.
    let most = busiest_day(&all);
    let after = busiest_day(&all[killed_at..]);
    println!(
        "{killed_at} requests, killed, {after} in the best day after; at most {most} in a day"
    );
    assert!(most as f64 <= BUDGET as f64 * 1.02 + 2.0 * CONCURRENCY as f64, "{most} in one day");
    // That all of it is used is shown in virtual time (`crates/lab/tests/refresh_whole.rs`): what a
    // machine stands still for is lost here. Half of it is used on any machine.
    assert!(after > BUDGET / 2, "{after} in the best day after the kill");
    assert!(report["collection"]["changes_seen"].as_u64().unwrap() > 0, "{report}");
    let freshness = report["collection"]["freshness"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&freshness), "{report}");
    // On a machine that keeps up, nothing may be overdue in that very moment.
    assert!(report["most_overdue"].as_array().unwrap().len() <= 10, "{report}");
    status_tells(&site);
}

/// The most requests in any stretch of a day.
fn busiest_day(requests: &[Logged]) -> usize {
    let mut starts: Vec<u64> = requests.iter().map(|request| request.start_us).collect();
    starts.sort_unstable();
    let within = |from: usize| starts.partition_point(|at| *at < starts[from] + DAY_US) - from;
    (0..starts.len()).map(within).max().unwrap_or_default()
}

/// Of the crawl at rest: the budget, what is overdue, and what is believed of one page.
fn status_tells(site: &Site) {
    let dir = site.crawl_dir();
    // Pages fall due all the time, whether anybody visits them or not.
    let mut status = status::of_dir(&dir).unwrap();
    for _ in 0..LOOKS_MAX {
        if !status.report.most_overdue.is_empty() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
        status = status::of_dir(&dir).unwrap();
    }
    let kept = status.report.collection.as_ref().expect("it goes on");
    assert_eq!((kept.budget.requests, kept.budget.period_s), (BUDGET as u64, 8.0));
    let used = kept.budget.used.expect("a share of the last day");
    assert!(used > 0.0 && used <= 1.05, "{kept:?}");
    let overdue = &status.report.most_overdue;
    assert!(!overdue.is_empty() && overdue.len() <= 10, "{overdue:?}");
    assert!(overdue.is_sorted_by(|a, b| a.overdue_s >= b.overdue_s), "{overdue:?}");
    let page = status::of_dir_and_url(&dir, &overdue[0].url).unwrap();
    let history = page.record.expect("a page that was visited");
    let belief = history.belief.expect("what its visits taught");
    // Pages of this web change every two seconds or so: thousands of times a day.
    assert!(belief.changes_per_day > 100.0, "{belief:?}");
    assert!(belief.fresh < 1.0 && belief.age_s > 0.0, "{belief:?}");
    assert!(belief.recent.len() >= 2 && belief.recent.chars().all(|c| "x.".contains(c)));
    let text = status::describe(&dir, None, false).unwrap();
    assert!(text.contains("most overdue") && text.contains("fresh, estimated"), "{text}");
    let text = status::describe(&dir, Some(&overdue[0].url), false).unwrap();
    assert!(text.contains("changes a day") && text.contains("next visit"), "{text}");
}
