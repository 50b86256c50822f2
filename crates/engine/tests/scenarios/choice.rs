//! What is admitted, in what order it is fetched, and when the crawl ends.

use crate::revisits::going_on;
use crate::stage::{Reply, Stage, url};
use regex::Regex;
use rhumb_engine::admit::{Reach, Scope};
use rhumb_engine::config::{Config, Order, Priority};
use rhumb_engine::event::{Event, Question, StopReason};
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::Span;
use rhumb_page::url::Rules;
use std::collections::BTreeSet;

/// A site of two levels: a page with `n` links, each with one more below it.
fn tree(config: Config, n: usize) -> Stage {
    let children: Vec<String> = (0..n).map(|k| format!("a.test/{k}")).collect();
    let links: Vec<&str> = children.iter().map(String::as_str).collect();
    let mut stage = Stage::new(config).page("a.test/", &links).seed(&["a.test/"]);
    for child in &children {
        stage = stage.page(child, &[&format!("{child}/below")]);
    }
    stage
}

#[test]
fn within_a_host_the_order_is_by_depth_or_the_last_found_first_or_by_lot() {
    let order = |order: Order, seed: u64| {
        let mut stage = tree(Config { order, seed, ..Config::default() }, 3);
        stage.run();
        let pages = stage.pages().into_iter().map(|p| p.trim_start_matches("a.test").to_owned());
        pages.collect::<Vec<_>>()
    };
    let bfs = order(Order::Bfs, 0);
    assert_eq!(bfs, ["/", "/0", "/1", "/2", "/0/below", "/1/below", "/2/below"]);
    let dfs = order(Order::Dfs, 0);
    assert_eq!(dfs, ["/", "/2", "/2/below", "/1", "/1/below", "/0", "/0/below"]);
    let mut orders: Vec<_> = (0..8).map(|seed| order(Order::Random, seed)).collect();
    assert_eq!(orders[0], order(Order::Random, 0), "by lot, but by the seed's lot");
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 3, "{orders:?}");
    for order in &mut orders {
        order.sort_unstable();
        assert_eq!(order.len(), 7);
    }
}

#[test]
fn the_first_priority_rule_that_matches_decides_the_class() {
    let rule = |pattern: &str, class, weight| Priority {
        pattern: Regex::new(pattern).unwrap(),
        class,
        weight,
        interval_max: None,
    };
    let priorities = vec![rule("/2$", Some(0), None), rule("/[12]$", None, Some(4.0))];
    let mut stage = tree(Config { priorities, ..Config::default() }, 4);
    stage.run();
    let first = ["a.test/", "a.test/2", "a.test/1", "a.test/0", "a.test/3"];
    assert_eq!(stage.pages()[..5], first);
}

#[test]
fn a_host_admits_no_more_than_its_budget() {
    let mut stage = tree(Config { host_pages_max: Some(3), ..Config::default() }, 6);
    stage = stage.seed(&["b.test/"]);
    stage.run();
    assert_eq!(stage.pages().iter().filter(|p| p.starts_with("a.test")).count(), 3);
    assert!(stage.pages().contains(&"b.test/"));
    let refused = stage.engine.counters().refused[Refusal::HostBudget as usize];
    assert_eq!(refused, 4 + 2, "links of the first page, then what is below the two admitted");
}

#[test]
fn what_depth_refused_is_admitted_when_it_is_found_by_a_shorter_way() {
    let config = Config { depth_max: Some(2), ..Config::default() };
    let mut stage = Stage::new(config)
        .page("a.test/", &["a.test/1"])
        .page("a.test/1", &["a.test/2"])
        .page("a.test/2", &["x.test/"])
        .page("slow.test/", &["slow.test/1"])
        .page("slow.test/1", &["x.test/"])
        .takes("slow.test/robots.txt", Span::secs(20))
        .page("x.test/", &["x.test/beyond"])
        .seed(&["a.test/", "slow.test/"]);
    stage.run_for(Span::secs(15));
    let is_found_on = |stage: &Stage, page| {
        stage.record("x.test/").found_on.page() == Some(stage.record(page).id)
    };
    assert_eq!(stage.record("x.test/").status, RecordStatus::Refused(Refusal::Depth));
    assert!(is_found_on(&stage, "a.test/2"));
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("x.test/").status, RecordStatus::Fetched);
    assert_eq!(stage.record("x.test/").depth, 2);
    assert!(is_found_on(&stage, "slow.test/1"));
    assert_eq!(stage.record("x.test/beyond").status, RecordStatus::Refused(Refusal::Depth));
    assert_eq!(stage.engine.counters().refused[Refusal::Depth as usize], 1);
}

#[test]
fn what_a_rule_refused_is_admitted_when_the_rules_widen() {
    let rules = Rules::new(&[], &["/2".to_owned()]).unwrap();
    let mut stage = tree(Config { rules, ..Config::default() }, 4);
    stage.run();
    assert_eq!(stage.record("a.test/2").status, RecordStatus::Refused(Refusal::Filter));
    let before = stage.log.len();
    stage.reopen(Config::default());
    // The crawl is not over before the answer comes.
    stage.answers_after = review_comes_late;
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/2").status, RecordStatus::Fetched);
    let again: Vec<&str> = stage.log[before..].iter().map(|(_, url)| url.path()).collect();
    assert_eq!(again, ["/2", "/2/below"], "and nothing else is fetched again");
    assert_eq!(stage.engine.counters().refused, [0; Refusal::ALL.len()]);
}

#[test]
fn new_rules_stand_in_the_rows_only_when_all_that_was_refused_is_judged_by_them() {
    let rules = Rules::new(&[], &["/2".to_owned()]).unwrap();
    let mut stage = tree(Config { rules, ..Config::default() }, 4);
    stage.run();
    let old = stage.state.rows.rules_fingerprint;
    assert!(old.is_some(), "the first run wrote its rules");
    // Stopped before the review has an answer, and while the sieve judges what it found.
    for late in [review_comes_late as fn(&Question) -> Span, sieve_comes_late] {
        stage.reopen(Config::default());
        stage.answers_after = late;
        stage.send(Span::secs(1), Event::Stopped(StopReason::Interrupted));
        assert_eq!(stage.run(), StopReason::Interrupted);
        assert_eq!(stage.state.rows.rules_fingerprint, old);
    }
    stage.reopen(Config::default());
    stage.answers_after = |_| Span::ZERO;
    assert_eq!(stage.run(), StopReason::Finished);
    assert_ne!(stage.state.rows.rules_fingerprint, old);
    assert_eq!(stage.record("a.test/2").status, RecordStatus::Fetched);
    stage.reopen(Config::default());
    let turns = stage.turns;
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.turns, turns + 1, "the same rules: nothing is read again");
}

fn review_comes_late(question: &Question) -> Span {
    Span::secs(if matches!(question, Question::Review { .. }) { 60 } else { 0 })
}

fn sieve_comes_late(question: &Question) -> Span {
    Span::secs(if matches!(question, Question::Sift { .. }) { 60 } else { 0 })
}

#[test]
fn a_seed_named_later_admits_what_its_host_was_refused_for() {
    let scope = Scope::new(Reach::Host);
    let mut stage = Stage::new(Config { scope, ..Config::default() })
        .page("a.test/", &["a.test/1", "b.test/1"])
        .page("a.test/1", &[])
        .page("b.test/", &[])
        .page("b.test/1", &[])
        .seed(&["a.test/"]);
    stage.send_seeds(&["b.test/"], Span::secs(60));
    stage.run_for(Span::secs(30));
    assert_eq!(stage.record("b.test/1").status, RecordStatus::Refused(Refusal::Scope));
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("b.test/1").status, RecordStatus::Fetched);
}

#[test]
fn the_crawl_stops_at_its_pages_and_goes_on_from_there() {
    let hosts: Vec<String> = (0..20).map(|n| format!("h{n}.test/")).collect();
    let seeds: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let limited = Config { pages_max: Some(7), concurrency: 4, ..Config::default() };
    let mut stage = Stage::new(limited).seed(&seeds);
    for host in &seeds {
        stage = stage.page(host, &[]);
    }
    assert_eq!(stage.run(), StopReason::Pages);
    assert_eq!(stage.engine.counters().pages, 7, "what is in flight counts beforehand");
    stage.now = stage.now + Span::secs(60);
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    let mut pages = stage.pages();
    pages.sort_unstable();
    let all = pages.len();
    pages.dedup();
    assert_eq!((all, pages.len()), (20, 20), "every page once");
}

#[test]
fn of_two_pages_with_the_same_bytes_one_is_a_copy_and_the_links_of_both_are_followed() {
    // In one batch, one after the other, and while the first is still being compared.
    for lag in [Span::ZERO, Span::secs(9), Span::millis(5)] {
        let mut stage = Stage::new(Config::default())
            .page("a.test/", &["a.test/1"])
            .page("b.test/", &["b.test/1"])
            .same_bytes(&["a.test/", "b.test/"])
            .takes("b.test/robots.txt", Span(100_000 + lag.0))
            .seed(&["a.test/", "b.test/"]);
        stage.answers_after = |_| Span::millis(20);
        stage.run();
        let states = ["a.test/", "b.test/"].map(|at| stage.record(at).status);
        assert!(states.contains(&RecordStatus::Fetched), "{lag:?} {states:?}");
        assert!(states.contains(&RecordStatus::Duplicate), "{lag:?} {states:?}");
        let known = |at: &str| stage.state.rows.urls.contains_key(&url(at).key());
        assert!(known("a.test/1") && known("b.test/1"), "{lag:?}");
        assert_eq!(stage.engine.counters().duplicates, 1);
    }
}

/// A site of 60 pages in a tree, and a page of another site that names 1,000 others of it, which are
/// not there: in plain words, so that they have no pattern.
fn invented_by_a_stranger(config: Config, is_listed: bool) -> Stage {
    let own = |n: usize| if n == 0 { "a.test/".to_owned() } else { format!("a.test/p/{n}") };
    let letter = |n: usize| char::from(b'a' + (n % 10) as u8);
    let invented = |n: usize| {
        let word: String = [n / 100, n / 10, n].map(letter).into_iter().collect();
        format!("a.test/{word}")
    };
    let invented: Vec<String> = (0..1_000).map(invented).collect();
    let mut stage = Stage::new(config).seed(&["a.test/"]);
    for n in 0..60 {
        let mut links: Vec<String> = (3 * n + 1..3 * n + 4).filter(|k| *k < 60).map(own).collect();
        if n == 0 {
            links.push("spam.test/".to_owned());
        }
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        stage = stage.page(&own(n), &links);
    }
    let links: Vec<_> = invented.iter().map(|at| url(at)).collect();
    let reply = if is_listed { Reply::Sitemap(links, Vec::new()) } else { Reply::Links(links) };
    stage.answers("spam.test/", &[reply])
}

#[test]
fn what_a_stranger_invents_of_a_host_takes_no_page_of_its_budget() {
    for order in [Config::default().order, Order::Bfs, Order::Dfs, Order::Random] {
        for is_listed in [false, true] {
            let config = Config { host_pages_max: Some(100), order, ..Config::default() };
            let mut stage = invented_by_a_stranger(config, is_listed);
            assert_eq!(stage.run(), StopReason::Finished);
            let pages = stage.pages();
            let own = pages.iter().filter(|at| **at == "a.test/" || at.starts_with("a.test/p/"));
            assert_eq!(own.count(), 60, "{order:?}");
            let asked = pages.iter().filter(|at| at.starts_with("a.test/")).count();
            assert_eq!(asked, 100, "{order:?}: and what is left of the budget is theirs");
            let refused = stage.engine.counters().refused[Refusal::HostBudget as usize];
            assert_eq!(refused, 960, "{order:?}");
        }
    }
}

#[test]
fn where_pages_are_visited_again_a_stranger_has_its_part_of_a_budget_and_no_more() {
    let config = Config { host_pages_max: Some(100), ..going_on() };
    let mut stage = invented_by_a_stranger(config, false);
    stage.run_for(Span::secs(30 * 86_400));
    let pages = stage.pages();
    let own: BTreeSet<_> = pages.iter().filter(|at| at.starts_with("a.test/p/")).collect();
    assert_eq!(own.len(), 59);
    let invented = |at: &&&str| at.starts_with("a.test/") && !at.starts_with("a.test/p/");
    let invented: BTreeSet<_> = pages.iter().filter(invented).collect();
    assert!(invented.len() <= 1 + 25, "{}", invented.len());
}
