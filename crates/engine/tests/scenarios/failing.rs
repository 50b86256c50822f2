//! Hosts that fail: nothing that waits at them is lost, and they hold no run up for ever.

use crate::stage::{DAWN, Reply, Stage};
use rhumb_engine::config::{Config, Retry};
use rhumb_engine::event::StopReason;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::Span;

/// Minutes since dawn at which a host was asked for anything.
fn asked(stage: &Stage, host: &str) -> Vec<f64> {
    let log = stage.log.iter().filter(|(_, url)| url.host() == host);
    log.map(|(at, _)| at.since(DAWN).as_secs_f64() / 60.0).collect()
}

/// A host of three pages, and its seed.
fn three_pages() -> Stage {
    Stage::new(Config::default())
        .page("a.test/", &["a.test/1", "a.test/2"])
        .page("a.test/1", &[])
        .page("a.test/2", &[])
        .seed(&["a.test/"])
}

fn assert_all_fetched(stage: &Stage) {
    for page in ["a.test/", "a.test/1", "a.test/2"] {
        assert_eq!(stage.record(page).status, RecordStatus::Fetched, "{page}: {:?}", stage.told());
    }
}

#[test]
fn a_host_that_recovers_loses_no_page() {
    // Down after its first page, for ten minutes; another host keeps the run busy for longer.
    let others: Vec<String> = (0..1_200).map(|n| format!("b.test/{n}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let mut stage = three_pages().silent("a.test", Span::secs(2), Span::secs(600));
    stage.send_seeds(&others, Span::ZERO);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_all_fetched(&stage);
}

#[test]
fn when_only_hosts_that_fail_have_work_the_run_is_over_and_the_next_one_tries_them_at_once() {
    let mut stage = three_pages().silent("a.test", Span::secs(2), Span::secs(950));
    assert_eq!(stage.run(), StopReason::HostsFailing);
    for page in ["a.test/1", "a.test/2"] {
        assert_eq!(stage.record(page).status, RecordStatus::Queued, "{page}");
    }
    let tried = asked(&stage, "a.test").len();
    assert_eq!(tried, 8, "robots.txt and a page, then six failures: {:?}", stage.told());
    // It is still down: as many tries again, none of which uses up a page.
    stage.reopen(Config::default());
    let opened = stage.now;
    assert_eq!(stage.run(), StopReason::HostsFailing);
    assert_eq!(stage.log[tried].0.since(opened), Span::secs(1), "{:?}", stage.told());
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished, "{:?}", stage.told());
    assert_all_fetched(&stage);
}

#[test]
fn no_kind_of_failure_is_final() {
    use FailKind::{AddressRefused, Connect, DnsNotFound, DnsTemporary, Tls};
    let found = Ok(([9; 4], Span::secs(600)));
    let tries = |kind| match kind {
        AddressRefused => 1,
        DnsNotFound => 2,
        _ => 6,
    };
    for kind in [DnsNotFound, DnsTemporary, AddressRefused] {
        let mut answers = vec![Err(kind); tries(kind)];
        answers.push(found);
        let mut stage = three_pages().resolves("a.test", &answers);
        assert_eq!(stage.run(), StopReason::HostsFailing, "{kind:?}");
        stage.reopen(Config::default());
        assert_eq!(stage.run(), StopReason::Finished, "{kind:?}");
        assert_all_fetched(&stage);
    }
    for (kind, tries) in [(Connect, 6), (Tls, 2)] {
        let mut robots = vec![Reply::Fails(kind); tries];
        robots.push(Reply::Status(404));
        let mut stage = three_pages().answers("a.test/robots.txt", &robots);
        assert_eq!(stage.run(), StopReason::HostsFailing, "{kind:?}");
        stage.reopen(Config::default());
        assert_eq!(stage.run(), StopReason::Finished, "{kind:?}");
        assert_all_fetched(&stage);
    }
}

#[test]
fn a_server_that_says_not_now_to_every_page_is_failing_though_robots_is_there() {
    for status in [429, 502, 503, 504] {
        let mut replies = vec![Reply::Status(status); 6];
        replies.push(Reply::Links(Vec::new()));
        let mut stage =
            Stage::new(Config::default()).answers("a.test/", &replies).seed(&["a.test/"]);
        assert_eq!(stage.run(), StopReason::HostsFailing, "{status}: {:?}", stage.told());
        assert_eq!(stage.record("a.test/").status, RecordStatus::Queued, "{status}");
        stage.reopen(Config::default());
        assert_eq!(stage.run(), StopReason::Finished, "{status}");
        assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched, "{status}");
    }
}

#[test]
fn a_page_that_never_answers_fails_alone_and_its_host_is_not_failing() {
    let mut stage = three_pages().answers("a.test/1", &[Reply::Fails(FailKind::Timeout)]);
    assert_eq!(stage.run(), StopReason::Finished, "{:?}", stage.told());
    assert_eq!(stage.record("a.test/1").status, RecordStatus::Failed(FailKind::Timeout));
    assert_eq!(stage.record("a.test/2").status, RecordStatus::Fetched);
    let tries = stage.pages().iter().filter(|page| **page == "a.test/1").count();
    assert_eq!(tries, 4, "{:?}", stage.told());
}

#[test]
fn a_failing_host_is_tried_after_pauses_that_grow_to_a_day_as_long_as_the_run_goes_on() {
    let mut stage = three_pages().silent("a.test", Span::ZERO, Span::secs(40 * 86_400));
    // Another host that has little to do for a month keeps the run alive.
    let slow = "User-agent: *\nCrawl-delay: 300";
    let others: Vec<String> = (0..9_000).map(|n| format!("b.test/{n}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    stage = stage.answers("b.test/robots.txt", &[Reply::Rules(slow)]);
    stage.send_seeds(&others, Span::ZERO);
    stage.run_for(Span::secs(20 * 86_400));
    let asked = asked(&stage, "a.test");
    let pauses: Vec<f64> = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.windows(2).all(|pair| pair[1] > 0.99 * pair[0]), "{pauses:?}");
    let last = pauses.last().copied().unwrap_or_default();
    assert!((1_439.0..1_441.0).contains(&last), "{pauses:?}");
    assert!(asked.len() < 40, "{} requests to a host that is down", asked.len());
    assert_eq!(stage.record("a.test/").status, RecordStatus::Queued);
}

#[test]
fn a_host_that_wants_to_be_left_alone_is_left_alone_by_the_next_run_too() {
    let later = Reply::Later(503, Span::secs(7_200));
    let retry = Retry { host_failures_max: 1, ..Retry::default() };
    let config = Config { retry, ..Config::default() };
    let mut stage = Stage::new(config.clone())
        .answers("a.test/", &[later, Reply::Links(Vec::new())])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::HostsFailing);
    stage.reopen(config);
    assert_eq!(stage.run(), StopReason::Finished);
    let (first, second) = (stage.log[1].0, stage.log[2].0);
    assert!(second.since(first) >= Span::secs(7_200), "{:?}", stage.told());
}

#[test]
fn a_page_without_room_for_its_body_is_asked_for_again_and_nobody_is_blamed() {
    let crowded = |tries: usize| {
        let mut replies = vec![Reply::Crowded; tries];
        replies.push(Reply::Links(Vec::new()));
        let mut stage =
            Stage::new(Config::default()).answers("a.test/", &replies).seed(&["a.test/"]);
        assert_eq!(stage.run(), StopReason::Finished);
        stage
    };
    let stage = crowded(15);
    assert_eq!((stage.record("a.test/").status, stage.pages().len()), (RecordStatus::Fetched, 16));
    assert_eq!(stage.record("a.test/").tries, 0);
    assert!(stage.state.rows.hosts.values().all(|host| host.failures == 0));
    // So often, and then it is a failure like any other, and tried as often.
    let stage = crowded(16);
    assert_eq!((stage.record("a.test/").status, stage.pages().len()), (RecordStatus::Fetched, 17));
}
