//! A crawl that goes on, and hosts that fail or change their rules.

use crate::stage::{DAWN, Reply, Stage};
use rhumb_engine::config::{Config, Continuous, MinorChanges};
use rhumb_engine::event::StopReason;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::refresh::budget::RequestBudget;
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::time::Span;

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;

fn days(count: u64) -> Span {
    Span::secs(count * DAY_S)
}

pub fn going_on() -> Config {
    let continuous = Continuous {
        objective: Objective::Harmonic,
        budget: RequestBudget { requests: 48, period: days(1) },
        interval_max: days(90),
        by_importance: false,
        minor_changes: MinorChanges::Count,
    };
    Config { continuous: Some(continuous), ..Config::default() }
}

/// Days since dawn at which anything was asked of a host.
fn asked(stage: &Stage, host: &str) -> Vec<f64> {
    let log = stage.log.iter().filter(|(_, url)| url.host() == host);
    log.map(|(at, _)| at.since(DAWN).as_secs_f64() / DAY_S as f64).collect()
}

#[test]
fn a_host_that_fails_for_long_rests_ever_longer_and_then_goes_on_as_before() {
    let mut stage = Stage::new(going_on())
        .page("a.test/", &[])
        .page("b.test/", &[])
        .silent("a.test", days(2), days(12))
        .seed(&["a.test/", "b.test/"]);
    stage.run_for(days(30));
    let asked = asked(&stage, "a.test");
    let down: Vec<f64> = asked.iter().copied().filter(|at| (2.0..12.0).contains(at)).collect();
    assert!(down.len() < 20, "{} requests to a host that is down: {down:?}", down.len());
    let gaps: Vec<f64> = asked.windows(2).map(|w| w[1] - w[0]).collect();
    let rests: Vec<f64> = gaps.into_iter().filter(|gap| *gap > 0.99).map(f64::floor).collect();
    // The last one ends after the host is back: 2 + 1 + 2 + 4 + 8 days.
    assert_eq!(rests, [1.0, 2.0, 4.0, 8.0], "{asked:?}");
    let after = asked.iter().filter(|at| **at > 18.0).count();
    assert!(after > 100, "{after} requests in the last twelve days");
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn a_host_that_never_answered_keeps_no_crawl_alive_and_is_asked_again_after_ever_longer_pauses() {
    let mut stage = Stage::new(going_on())
        .page("a.test/", &[])
        .page("a.test/1", &[])
        .page("b.test/", &[])
        .silent("a.test", Span::ZERO, days(2))
        .seed(&["a.test/", "b.test/"]);
    stage.run_for(days(1));
    let tried = asked(&stage, "a.test").len();
    assert!((10..20).contains(&tried), "{tried} requests to a host that is down");
    assert_eq!(stage.record("a.test/").status, RecordStatus::Queued);
    stage.send_seeds(&["a.test/1"], Span::ZERO);
    stage.run_for(Span::secs(60));
    assert_eq!(asked(&stage, "a.test").len(), tried, "new work does not hurry it");
    stage.run_for(days(3));
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
    assert_eq!(stage.record("a.test/1").status, RecordStatus::Fetched);
    let mut alone = Stage::new(going_on()).silent("a.test", Span::ZERO, days(9)).seed(&["a.test/"]);
    assert_eq!(alone.run(), StopReason::HostsFailing);
}

#[test]
fn pages_that_robots_forbid_are_looked_at_after_a_week_and_cost_no_request_until_then() {
    let no = Reply::Rules("User-agent: *\nDisallow: /p");
    let yes = Reply::Rules("");
    let mut stage = Stage::new(going_on())
        // Read once a day: /p is allowed on the first and from the sixth on.
        .answers("a.test/robots.txt", &[yes.clone(), no.clone(), no.clone(), no.clone(), no, yes])
        .page("a.test/", &["a.test/p"])
        .page("a.test/p", &[])
        .seed(&["a.test/"]);
    stage.run_for(days(3));
    assert_eq!(stage.record("a.test/p").status, RecordStatus::Refused(Refusal::Robots));
    let visits = |stage: &Stage| stage.pages().iter().filter(|page| page.ends_with("/p")).count();
    let before = visits(&stage);
    assert!(before > 3, "{before} visits on the first day");
    stage.run_for(days(4));
    assert_eq!(visits(&stage), before, "forbidden, or not looked at again");
    stage.run_for(days(4));
    assert!(visits(&stage) > before + 3, "{} after {before}", visits(&stage));
    assert_eq!(stage.record("a.test/p").status, RecordStatus::Fetched);
}
