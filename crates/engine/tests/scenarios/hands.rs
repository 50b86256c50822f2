//! What the owner asks of a crawl that runs.

use crate::stage::{DAWN, Reply, Stage, url};
use rhumb_engine::ceilings::Ceilings;
use rhumb_engine::config::{Config, Polite};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::hands::{HANDS_KEPT, Hand};
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::{Span, Time};
use rhumb_page::url::Rules;

/// A site with this many pages below its front page.
fn wide(pages: usize) -> Stage {
    let links: Vec<String> = (0..pages).map(|n| format!("a.test/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let stage = Stage::new(Config::default()).page("a.test/", &links);
    let stage = links.iter().fold(stage, |stage, link| stage.page(link, &[]));
    stage.seed(&["a.test/"])
}

fn tell(stage: &mut Stage, hand: Hand) {
    stage.send(Span::ZERO, Event::Told(hand));
}

fn exclusion(pattern: &str) -> Hand {
    let rules = Rules::new(&[], &[pattern.to_owned()]).expect("a pattern");
    Hand::Exclude { pattern: pattern.to_owned(), rules }
}

#[test]
fn a_paused_crawl_asks_for_nothing_and_goes_on_when_it_is_resumed() {
    let mut stage = wide(10);
    stage.run_for(Span::secs(5));
    tell(&mut stage, Hand::Pause);
    stage.run_for(Span::secs(2));
    let before = stage.log.len();
    stage.run_for(Span::secs(600));
    assert_eq!(stage.log.len(), before, "{:?}", stage.told());
    let snapshot = stage.engine.snapshot(stage.now);
    assert!(snapshot.paused && snapshot.why_idle().is_some_and(|why| why.contains("paused")));
    assert_eq!(stage.engine.over(), None);
    tell(&mut stage, Hand::Resume);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 11);
}

#[test]
fn an_engine_waits_at_its_allowance_and_goes_on_when_it_is_given_more() {
    let mut stage = wide(10);
    let allow = |stage: &mut Stage, allowance| {
        stage.send(Span::ZERO, Event::Bounded(allowance));
    };
    allow(&mut stage, Ceilings { pages: 4, ..Ceilings::default() });
    stage.run_for(Span::secs(600));
    assert_eq!(stage.engine.counters().pages, 4, "no page more than the ceiling");
    assert_eq!(stage.engine.over(), None, "it waits and does not stop");
    let asked = stage.engine.counters().asked;
    allow(&mut stage, Ceilings { requests: asked + 3, ..Ceilings::default() });
    stage.run_for(Span::secs(600));
    assert_eq!(stage.engine.counters().asked, asked + 3);
    allow(&mut stage, Ceilings { is_held: true, ..Ceilings::default() });
    stage.run_for(Span::secs(600));
    assert_eq!(stage.engine.counters().asked, asked + 3);
    allow(&mut stage, Ceilings::default());
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 11);
}

#[test]
fn a_pause_that_finds_nothing_left_waits_for_seeds_and_ends_with_its_run() {
    let mut stage = wide(1).page("b.test/", &[]);
    tell(&mut stage, Hand::Pause);
    stage.run_for(Span::secs(60));
    assert!(stage.log.is_empty(), "{:?}", stage.told());
    tell(&mut stage, Hand::Seed { url: url("b.test/"), weight: 1.0 });
    stage.run_for(Span::secs(60));
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    assert!(stage.pages().contains(&"b.test/"), "{:?}", stage.told());
    assert_eq!(stage.pages().len(), 3);
}

#[test]
fn what_is_excluded_by_hand_is_refused_when_its_turn_comes_and_not_before_that() {
    let mut stage = wide(12);
    stage.run_for(Span::secs(4));
    let before = stage.pages().len();
    assert!((2..6).contains(&before), "{:?}", stage.told());
    tell(&mut stage, exclusion("/1?[0-9]$"));
    assert_eq!(stage.run(), StopReason::Finished);
    assert!(stage.pages().len() <= before + 1, "{:?}", stage.told());
    let counters = stage.engine.counters();
    assert_eq!(counters.queued, 0);
    assert!(counters.refused.iter().sum::<u64>() >= 8, "{counters:?}");
    assert_eq!(stage.record("a.test/11").status, RecordStatus::Refused(Refusal::Filter));
}

#[test]
fn a_host_that_is_laid_to_rest_is_not_asked_awake_or_asleep_also_after_a_crash() {
    for (hosts_awake_max, resumes) in [(1_000, false), (1, false), (1_000, true), (1, true)] {
        let config = Config { hosts_awake_max, ..Config::default() };
        let links = ["a.test/1", "a.test/2", "b.test/", "b.test/1"];
        let mut stage = Stage::new(config.clone()).page("a.test/", &links).seed(&["a.test/"]);
        stage = links.iter().fold(stage, |stage, link| stage.page(link, &[]));
        stage.run_for(Span::millis(1_500));
        let rest = Span::secs(7_200);
        for host in ["a.test/", "b.test/"] {
            tell(&mut stage, Hand::Rest { host: url(host).host_key(), span: rest });
        }
        let from = stage.now + Span::secs(5);
        stage.run_for(Span::secs(60));
        if resumes {
            stage.reopen(config);
        }
        stage.run_for(Span::secs(20_000));
        let asked: Vec<Time> =
            stage.log.iter().map(|(at, _)| *at).filter(|at| *at > from).collect();
        let until = DAWN + Span::millis(1_500) + rest;
        assert!(asked.iter().all(|at| *at >= until), "{hosts_awake_max}: {:?}", stage.told());
        assert_eq!(stage.pages().len(), 5, "{hosts_awake_max}: {:?}", stage.told());
    }
}

#[test]
fn what_the_owner_wants_now_comes_before_all_that_waits() {
    let mut stage = wide(40).page("a.test/unknown", &[]);
    stage.run_for(Span::secs(4));
    tell(&mut stage, Hand::FetchNow { url: url("a.test/39") });
    tell(&mut stage, Hand::FetchNow { url: url("a.test/unknown") });
    let before = stage.pages().len();
    stage.run_for(Span::secs(4));
    let next = stage.pages()[before..].to_vec();
    for wanted in ["a.test/39", "a.test/unknown"] {
        assert!(next.iter().take(4).any(|page| *page == wanted), "{next:?}");
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 42, "each once");
}

#[test]
fn a_page_that_was_fetched_and_one_that_failed_are_fetched_again_on_demand() {
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &["a.test/x", "a.test/gone", "b.test/y"])
        .page("a.test/x", &[])
        .page("b.test/y", &[])
        .answers("a.test/gone", &[Reply::Status(410), Reply::Links(vec![])])
        .seed(&["a.test/"]);
    stage.run_for(Span::secs(60));
    // Finished, were it not paused: both hosts have nothing left.
    for page in ["a.test/x", "a.test/gone", "b.test/y"] {
        tell(&mut stage, Hand::FetchNow { url: url(page) });
    }
    stage.run_for(Span::secs(60));
    let times = |page: &str| stage.pages().iter().filter(|at| **at == page).count();
    assert_eq!((times("a.test/x"), times("a.test/gone"), times("b.test/y")), (2, 2, 2));
    assert_eq!(stage.record("a.test/gone").status, RecordStatus::Fetched);
    assert_eq!(stage.record("a.test/x").past.visits, 2);
    let counters = stage.engine.counters();
    assert_eq!((counters.queued, counters.admitted), (0, 4));
    let queued: u64 = stage.state.rows.hosts.values().map(|host| host.queued).sum();
    assert_eq!(queued, 0);
}

#[test]
fn what_the_sieve_has_read_before_a_page_was_fetched_is_not_believed() {
    let config =
        Config { polite: Polite { delay: Span::ZERO, ..Polite::default() }, ..Config::default() };
    let links: Vec<String> = (0..20).map(|n| format!("a.test/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let mut stage = Stage::new(config).page("a.test/", &links).seed(&["a.test/"]);
    stage = links.iter().fold(stage, |stage, link| stage.page(link, &[]));
    stage.run_for(Span::millis(350));
    // Several pages come while the sieve thinks.
    stage.answers_after = |_| Span::millis(900);
    for link in &links {
        tell(&mut stage, Hand::FetchNow { url: url(link) });
    }
    assert_eq!(stage.run(), StopReason::Finished);
    let counters = stage.engine.counters();
    assert_eq!((counters.queued, counters.admitted), (0, 21));
    for link in &links {
        assert_eq!(stage.record(link).status, RecordStatus::Fetched, "{link}");
        assert!(stage.record(link).place.is_none(), "{link}");
    }
}

#[test]
fn the_log_of_hands_is_kept_in_the_rows_and_is_bounded() {
    let mut stage = wide(1);
    for n in 0..2 * HANDS_KEPT {
        tell(
            &mut stage,
            Hand::Seed { url: url(&format!("c.test/{n}{}", "x".repeat(900))), weight: 1.0 },
        );
    }
    tell(&mut stage, Hand::Stop);
    assert_eq!(stage.run(), StopReason::Interrupted);
    let lines = &stage.state.rows.hands;
    assert_eq!(lines.len(), HANDS_KEPT);
    assert_eq!(lines.last().expect("a line").what, "stop");
    assert!(lines.iter().all(|line| line.what.len() <= 300));
    stage.reopen(Config::default());
    tell(&mut stage, Hand::Pause);
    stage.run_for(Span::secs(1));
    assert_eq!(stage.state.rows.hands.last().expect("a line").what, "pause");
    assert_eq!(stage.state.rows.hands.len(), HANDS_KEPT);
}
