//! Nobody who has work is forgotten: each scenario was once a way to wait for ever.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::config::{Config, Polite, Retry};
use rhumb_engine::event::{Question, StopReason};
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::Span;

#[test]
fn a_host_that_lies_down_while_others_are_being_woken_is_remembered() {
    // The third host is woken for the second's sake, by name, while the first lies down.
    let mut stage = Stage::new(Config::default())
        .answers("a.test/", &[Reply::Later(503, Span::secs(60)), Reply::Links(Vec::new())])
        .answers("b.test/robots.txt", &[Reply::Moved(url("c.test/robots.txt"))])
        .seed(&["a.test/", "b.test/"]);
    stage.answers_after = |question| match question {
        Question::Wake(_) => Span::secs(2),
        _ => Span::ZERO,
    };
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn every_host_comes_back_whatever_the_store_is_busy_with_when_it_lies_down() {
    // Many retries at many moments, with a store that takes its time.
    let config = Config { concurrency: 3, hosts_awake_max: 3, ..Config::default() };
    let hosts: Vec<String> = (0..40).map(|n| format!("h{n}.test/")).collect();
    let seeds: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut stage = Stage::new(config).seed(&seeds);
    for (n, host) in hosts.iter().enumerate() {
        let later = Reply::Later(503, Span::millis(31_000 + 700 * n as u64));
        stage = stage.answers(host, &[later, Reply::Links(Vec::new())]);
    }
    stage.answers_after = |question| match question {
        Question::Wake(_) => Span::millis(1_700),
        _ => Span::millis(300),
    };
    assert_eq!(stage.run(), StopReason::Finished);
    assert!(hosts.iter().all(|host| stage.record(host).status == RecordStatus::Fetched));
}

#[test]
fn an_errand_reaches_a_host_that_woke_by_itself_meanwhile() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Moved(url("b.test/rules.txt"))])
        .answers("b.test/rules.txt", &[Reply::Rules("User-agent: *\nDisallow: /no")])
        .page("a.test/", &[])
        .page("b.test/", &[])
        .seed(&["a.test/"]);
    stage.answers_after = |question| match question {
        Question::Wake(_) => Span::secs(3),
        _ => Span::ZERO,
    };
    stage.send_seeds(&["b.test/", "b.test/1", "b.test/2", "b.test/3"], Span::secs(1));
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn a_host_woken_for_an_errand_that_gets_work_is_found_again_after_a_crash() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Moved(url("b.test/rules.txt")), Reply::Status(404)])
        .takes("b.test/rules.txt", Span::secs(10))
        .page("b.test/", &[])
        .seed(&["a.test/"]);
    stage.send_seeds(&["b.test/"], Span::secs(2));
    stage.run_for(Span::secs(4));
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("b.test/").status, RecordStatus::Fetched);
}

#[test]
fn a_redirect_of_robots_within_a_host_is_followed_though_its_delay_is_long() {
    let polite = Polite { delay: Span::secs(45), ..Polite::default() };
    let mut stage = Stage::new(Config { polite, ..Config::default() })
        .answers("a.test/robots.txt", &[Reply::Moved(url("a.test/en/robots.txt"))])
        .answers("a.test/en/robots.txt", &[Reply::Rules("User-agent: *\nAllow: /")])
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    stage.run_for(Span::secs(600));
    assert_eq!(stage.engine.over(), Some(StopReason::Finished), "{:?}", stage.told());
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn the_next_in_line_at_an_address_goes_when_the_first_has_moved_away() {
    let polite = Polite { per_address: 1, ..Polite::default() };
    let shared = |ttl| Ok(([9; 4], Span::secs(ttl)));
    let mut stage = Stage::new(Config { polite, ..Config::default() })
        .takes("a.test/robots.txt", Span::secs(100))
        .resolves("a.test", &[shared(6_000)])
        .resolves("b.test", &[shared(70), Ok(([8; 4], Span::secs(6_000)))])
        .resolves("c.test", &[shared(6_000)])
        .page("a.test/", &[])
        .page("b.test/", &[])
        .page("c.test/", &[])
        .seed(&["a.test/"]);
    stage.send_seeds(&["b.test/"], Span::millis(10));
    stage.send_seeds(&["c.test/"], Span::millis(20));
    stage.run_for(Span::secs(110));
    let at = |host: &str| stage.log.iter().find(|(_, url)| url.host() == host).map(|(at, _)| *at);
    let (b, c) = (at("b.test").expect("b was asked"), at("c.test").expect("c was asked"));
    assert_eq!(b, c, "c need not wait for anything once a is done");
}

#[test]
fn an_answer_of_the_name_server_that_is_good_for_no_time_at_all_is_good_for_a_request() {
    let mut stage = Stage::new(Config::default())
        .resolves("a.test", &[Ok(([9; 4], Span::ZERO))])
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn the_name_server_is_asked_again_only_after_the_wait_that_its_failure_earned() {
    let failed = Err(FailKind::DnsTemporary);
    let mut stage = Stage::new(Config::default())
        .resolves("a.test", &[failed, failed, failed, Ok(([9; 4], Span::secs(600)))])
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let first = stage.resolved[0].0;
    let waits: Vec<f64> =
        stage.resolved.iter().map(|(at, _)| at.since(first).as_secs_f64()).collect();
    assert_eq!(waits, [0.0, 15.0, 45.0, 105.0]);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn new_work_wakes_a_host_that_sleeps_until_a_revisit() {
    let config = Config { revisit_after: Some(Span::secs(6 * 3_600)), ..Config::default() };
    let mut stage = Stage::new(config).page("a.test/", &[]).page("a.test/1", &[]);
    stage.send_seeds(&["a.test/"], Span::ZERO);
    stage.send_seeds(&["a.test/1"], Span::secs(300));
    stage.run_for(Span::secs(400));
    assert_eq!(stage.record("a.test/1").status, RecordStatus::Fetched, "{:?}", stage.told());
}

#[test]
fn new_work_does_not_wake_a_host_that_asked_to_be_left_alone() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/", &[Reply::Later(503, Span::secs(900)), Reply::Links(Vec::new())])
        .page("a.test/1", &[])
        .seed(&["a.test/"]);
    stage.send_seeds(&["a.test/1"], Span::secs(300));
    assert_eq!(stage.run(), StopReason::Finished);
    assert!(stage.log[2].0.since(stage.log[1].0) >= Span::secs(900), "{:?}", stage.told());
}

#[test]
fn an_errand_to_a_host_that_rests_comes_back_at_once() {
    let retry = Retry { host_failures_max: 1, ..Retry::default() };
    let config = Config { retry, ..Config::default() };
    let pages: Vec<String> = (0..60).map(|n| format!("dead.test/{n}")).collect();
    let mut seeds: Vec<&str> = pages.iter().map(String::as_str).collect();
    seeds.push("a.test/");
    let mut stage = Stage::new(config)
        .answers("dead.test/0", &[Reply::Fails(FailKind::Connect)])
        .takes("a.test/robots.txt", Span::millis(1_150))
        .answers("a.test/robots.txt", &[Reply::Moved(url("dead.test/rules.txt"))])
        .seed(&seeds);
    for page in &pages {
        stage = stage.answers(page, &[Reply::Fails(FailKind::Connect)]);
    }
    stage.answers_after = |question| match question {
        Question::Refill { .. } => Span::secs(40),
        _ => Span::ZERO,
    };
    assert_eq!(stage.run(), StopReason::HostsFailing);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Queued);
}
