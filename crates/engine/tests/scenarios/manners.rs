//! Waiting: delays, back-off, Retry-After, robots.txt and its redirects.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::config::{Config, Polite};
use rhumb_engine::event::StopReason;
use rhumb_engine::log::{FetchedAs, Happening, RobotsWord};
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::Span;

#[test]
fn a_host_is_asked_for_robots_first_and_then_once_a_delay() {
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &["a.test/1", "b.test/"])
        .page("a.test/1", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let told = ["0.0 a.test/robots.txt", "1.1 a.test/", "1.2 b.test/robots.txt"];
    assert_eq!(stage.told()[..3], told);
    assert_eq!(stage.told()[3..], ["2.2 a.test/1", "2.3 b.test/"]);
    assert_eq!(stage.record("b.test/").status, RecordStatus::Gone);
}

#[test]
fn a_slow_host_is_asked_less_often() {
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &["a.test/1"])
        .takes("a.test/", Span::secs(4))
        .seed(&["a.test/"]);
    stage.run();
    assert_eq!(stage.told()[2], "25.1 a.test/1", "five times four seconds later");
}

#[test]
fn crawl_delay_is_obeyed_from_the_first_page_on() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Rules("User-agent: *\nCrawl-delay: 7")])
        .page("a.test/", &["a.test/1"])
        .seed(&["a.test/"]);
    stage.run();
    assert_eq!(stage.told(), ["0.0 a.test/robots.txt", "7.1 a.test/", "14.2 a.test/1"]);
}

#[test]
fn a_failing_page_is_tried_again_after_waits_that_double_and_then_given_up() {
    let mut stage =
        Stage::new(Config::default()).answers("a.test/", &[Reply::Status(500)]).seed(&["a.test/"]);
    stage.run();
    let told = ["1.1 a.test/", "16.2 a.test/", "46.3 a.test/", "106.4 a.test/"];
    assert_eq!(stage.told()[1..], told);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Failed(FailKind::ServerError));
    let counters = stage.engine.counters();
    assert_eq!((counters.retries, counters.failed[FailKind::ServerError as usize]), (3, 1));
}

#[test]
fn retry_after_holds_the_whole_host_back_and_no_other() {
    let later = Reply::Later(429, Span::secs(120));
    let mut stage = Stage::new(Config::default())
        .answers("a.test/", &[later, Reply::Links(Vec::new())])
        .seed(&["a.test/", "a.test/1", "b.test/", "b.test/1"]);
    stage.run();
    let of_a: Vec<String> = stage.told().into_iter().filter(|l| l.contains(" a.test")).collect();
    assert_eq!(of_a[1..3], ["1.1 a.test/", "121.2 a.test/1"], "the other page waits as well");
    assert_eq!(of_a[3], "122.3 a.test/");
    assert!(stage.told().contains(&"2.2 b.test/1".to_owned()), "{:?}", stage.told());
}

#[test]
fn robots_that_cannot_be_had_are_never_taken_for_permission() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Status(503)])
        .page("a.test/", &[])
        .seed(&["a.test/", "a.test/1"]);
    assert_eq!(stage.run(), StopReason::HostsFailing);
    let waits = ["0.0", "15.1", "45.2", "105.3", "225.4", "465.5"];
    assert_eq!(stage.told(), waits.map(|at| format!("{at} a.test/robots.txt")));
    for at in ["a.test/", "a.test/1"] {
        assert_eq!(stage.record(at).status, RecordStatus::Queued);
    }
}

#[test]
fn rules_that_another_host_keeps_are_fetched_there_under_its_own_politeness() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Moved(url("b.test/rules.txt"))])
        .answers("b.test/rules.txt", &[Reply::Rules("User-agent: *\nDisallow: /1")])
        .page("a.test/", &["a.test/1", "a.test/2"])
        .page("b.test/", &["b.test/1"])
        .seed(&["a.test/", "b.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/1").status, RecordStatus::Refused(Refusal::Robots));
    let mut pages = stage.pages();
    pages.sort_unstable();
    let expected = ["a.test/", "a.test/2", "b.test/", "b.test/1", "b.test/rules.txt"];
    assert_eq!(pages, expected, "b's own robots.txt forbids nothing");
}

#[test]
fn a_chain_of_redirects_ends_at_its_bound() {
    let config = Config { redirects_max: 3, ..Config::default() };
    let mut stage = Stage::new(config).seed(&["a.test/0"]);
    for n in 0..9 {
        let to = Reply::Moved(url(&format!("a.test/{}", n + 1)));
        stage = stage.answers(&format!("a.test/{n}"), &[to]);
    }
    stage.run();
    assert_eq!(stage.pages(), ["a.test/0", "a.test/1", "a.test/2", "a.test/3"]);
    assert_eq!(stage.record("a.test/4").status, RecordStatus::Refused(Refusal::Hops));
}

#[test]
fn an_address_serves_no_more_hosts_at_once_than_it_may() {
    let hosts = ["a.test/", "b.test/", "c.test/", "d.test/", "e.test/"];
    let mut stage = Stage::new(Config::default()).seed(&hosts);
    for host in hosts {
        stage = stage.resolves(host.trim_end_matches('/'), &[Ok(([9; 4], Span::secs(600)))]);
    }
    stage.run();
    let begun: Vec<&str> = stage.log.iter().map(|(_, url)| url.host()).collect();
    assert_eq!(stage.log.iter().filter(|(at, _)| *at == stage.log[0].0).count(), 2);
    assert_eq!(begun.len(), 10, "robots.txt and one page each");
    let polite = Polite { per_address: 1, address_delay: Span::secs(2), ..Polite::default() };
    let mut stage = Stage::new(Config { polite, ..Config::default() }).seed(&hosts);
    for host in hosts {
        stage = stage.resolves(host.trim_end_matches('/'), &[Ok(([9; 4], Span::secs(600)))]);
    }
    stage.run();
    let apart = stage.log.windows(2).all(|w| w[1].0.since(w[0].0) >= Span::millis(2_100));
    assert!(apart, "{:?}", stage.told());
    assert_eq!(stage.log.len(), 10);
}

#[test]
fn after_a_restart_every_host_waits_its_full_delay() {
    let mut stage = Stage::new(Config::default()).page("a.test/", &["a.test/1"]).seed(&["a.test/"]);
    stage.run_for(Span::millis(1_150));
    stage.reopen(Config::default());
    let reopened = stage.now;
    stage.run();
    let next = &stage.log[2];
    assert_eq!((next.0.since(reopened), next.1.path()), (Span::secs(1), "/"));
}

#[test]
fn what_happens_is_logged_if_asked_and_only_then() {
    let run = |logs: bool| {
        let rules = Reply::Rules("User-agent: *\nDisallow: /no");
        let mut stage = Stage::new(Config { logs, ..Config::default() })
            .answers("a.test/robots.txt", &[rules])
            .page("a.test/", &["a.test/no", "a.test/ill"])
            .answers("a.test/ill", &[Reply::Status(500), Reply::Links(Vec::new())])
            .seed(&["a.test/"]);
        stage.run();
        stage.logged
    };
    assert!(run(false).is_empty());
    let logged = run(true);
    let told: Vec<String> = logged
        .iter()
        .map(|what| match what {
            Happening::Fetched { url, status, kind: FetchedAs::Page, .. } => {
                format!("{url} {status}")
            }
            Happening::Failed { url, kind, status, again: Some(_), .. } => {
                format!("{url} {} {status}, again", kind.word())
            }
            Happening::Refused { url, why } => format!("{url} {}", why.word()),
            Happening::Robots { host, answer: RobotsWord::Rules } => {
                format!("{} rules", host.origin())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let wanted = [
        "http://a.test rules",
        "http://a.test/ 200",
        "http://a.test/no robots",
        "http://a.test/ill server_error 500, again",
        "http://a.test/ill 200",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_host_that_fails_is_logged_each_time_and_once_when_it_answers_again() {
    let fails = Reply::Fails(FailKind::Connect);
    let mut stage = Stage::new(Config { logs: true, ..Config::default() })
        .page("a.test/", &["a.test/1"])
        .answers("a.test/1", &[fails.clone(), fails, Reply::Links(Vec::new())])
        .seed(&["a.test/"]);
    stage.run();
    let told: Vec<String> = stage
        .logged
        .iter()
        .filter_map(|what| match what {
            Happening::HostFailing { host, kind, failures, .. } => {
                Some(format!("{} {} {failures}", host.origin(), kind.word()))
            }
            Happening::HostRecovered { host } => Some(format!("{} recovered", host.origin())),
            Happening::Failed { url, again: Some(_), .. } => Some(format!("{url} waits")),
            _ => None,
        })
        .collect();
    let wanted = [
        "http://a.test connect 1",
        "http://a.test/1 waits",
        "http://a.test connect 2",
        "http://a.test/1 waits",
        "http://a.test recovered",
    ];
    assert_eq!(told, wanted);
}
