//! A crawl that goes on, over loopback, with days of eight seconds: it keeps its budget, also when
//! it is killed.

#[allow(dead_code)]
#[path = "crawl/site.rs"]
mod site;

use rhumb::watch::status;
use rhumb_sim::web::WebConfig;
use site::{Site, report_of};
use std::time::Duration;

const DAY_US: u64 = 8_000_000;
const BUDGET: usize = 240;

#[test]
fn the_budget_is_kept_over_a_compressed_day_and_through_a_kill() {
    let config = WebConfig {
        latency_us_mean: 1_000,
        change_period_us: 2_000_000,
        ..WebConfig::plain(6, 60)
    };
    let site = Site::serve(config);
    let budget = format!("{BUDGET}/8s");
    let going_on = ["--continuous", "--budget", budget.as_str(), "--concurrency", "8"];
    let mut child = site.crawl(&going_on).spawn().unwrap();
    // A day and a half, counted in requests, then it dies.
    while site.served.answers() < BUDGET as u64 * 3 / 2 {
        assert!(child.try_wait().unwrap().is_none(), "a crawl that goes on does not end");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let killed_at = site.requests().len();
    let last = [&going_on[..], &["--max-time", "17s"]].concat();
    let report = report_of(site.crawl(&last).spawn().unwrap());
    assert_eq!(report["stopped_because"], "max_time");
    let mut starts: Vec<u64> = site.requests().iter().map(|request| request.start_us).collect();
    starts.sort_unstable();
    // Whatever day one looks at, also across the kill: never more than the budget and its burst.
    let most = starts.iter().enumerate().map(|(at, start)| {
        starts[at..].iter().take_while(|other| **other < start + DAY_US).count()
    });
    let most = most.max().unwrap_or_default();
    let second = starts.len() - killed_at;
    println!("{killed_at} requests, killed, {second} more; at most {most} in a day of {BUDGET}");
    assert!(most as f64 <= BUDGET as f64 * 1.02 + 2.0, "{most} in one day");
    // Two whole days after the kill, less the delays of a crawl that opens again.
    let day = starts.iter().filter(|start| **start >= starts[starts.len() - 1] - DAY_US).count();
    assert!(day as f64 >= BUDGET as f64 * 0.98, "{day} in the last day");
    assert!(report["collection"]["changes_seen"].as_u64().unwrap() > 0, "{report}");
    let freshness = report["collection"]["freshness"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&freshness), "{report}");
    status_tells(&site);
}

/// Of the crawl at rest: the budget, what is overdue, and what is believed of one page.
fn status_tells(site: &Site) {
    let dir = site.crawl_dir();
    let status = status::of_dir(&dir).unwrap();
    let kept = status.report.collection.as_ref().expect("it goes on");
    assert_eq!((kept.budget.requests, kept.budget.period_s), (BUDGET as u64, 8.0));
    let used = kept.budget.used.expect("a share of the last day");
    assert!((0.9..=1.1).contains(&used), "{kept:?}");
    let overdue = &status.most_overdue;
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
