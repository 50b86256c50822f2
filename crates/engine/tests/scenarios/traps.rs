//! Traps: patterns that bring nothing are held back, junk is left out, and both can be lifted.

use crate::sitemaps::sitemap;
use crate::stage::{Reply, Stage, url};
use rhumb_engine::config::{Config, Lifted, Traps};
use rhumb_engine::event::StopReason;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::traps::learnt::BARREN_MIN;

const MONTHS: usize = 300;

/// A site of twenty pages and a calendar, each month of which leads to the next and says the same.
fn calendar(config: Config) -> Stage {
    let names: Vec<String> = (0..20).map(|n| format!("a.test/page-{n}")).collect();
    let mut links: Vec<&str> = names.iter().map(String::as_str).collect();
    links.push("a.test/calendar/0");
    let mut stage = Stage::new(config).page("a.test/", &links);
    for name in &names {
        stage = stage.page(name, &[]);
    }
    let months: Vec<String> = (0..=MONTHS).map(|n| format!("a.test/calendar/{n}")).collect();
    for pair in months.windows(2) {
        stage = stage.page(&pair[0], &[&pair[1]]);
    }
    let months: Vec<&str> = months.iter().map(String::as_str).collect();
    stage.page(months[MONTHS], &[]).same_text(&months).seed(&["a.test/"])
}

fn lifted(rule: Refusal) -> Config {
    let traps = Traps { lifted: Lifted::default().with(rule), ..Traps::default() };
    Config { traps, ..Config::default() }
}

fn months_of(stage: &Stage) -> usize {
    stage.pages().iter().filter(|page| page.contains("/calendar/")).count()
}

#[test]
fn a_calendar_without_end_comes_last_and_is_held_back() {
    let mut stage = calendar(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    let months = months_of(&stage);
    assert!((BARREN_MIN as usize..100).contains(&months), "{months} months");
    assert_eq!(stage.engine.counters().refused[Refusal::Pattern as usize], 1, "the next month");
    for n in 0..20 {
        assert_eq!(stage.record(&format!("a.test/page-{n}")).status, RecordStatus::Fetched);
    }
}

#[test]
fn a_pattern_that_is_lifted_is_fetched_to_its_end_in_the_next_run() {
    let mut stage = calendar(Config::default());
    stage.run();
    stage.reopen(lifted(Refusal::Pattern));
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(months_of(&stage), MONTHS + 1);
    assert_eq!(stage.engine.counters().refused, [0; Refusal::ALL.len()]);
}

#[test]
fn pages_that_differ_only_in_numbers_and_all_say_something_are_all_fetched() {
    let names: Vec<String> = (0..2_000).map(|n| format!("a.test/topic/{n}?page=1")).collect();
    let links: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut stage = Stage::new(Config::default()).page("a.test/", &links).seed(&["a.test/"]);
    for name in &names {
        stage = stage.page(name, &[]);
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.engine.counters().pages, 2_001);
    assert_eq!(stage.engine.counters().refused, [0; Refusal::ALL.len()]);
}

/// A shop: its products differ in a number and a price, and only its sitemap names them.
#[test]
fn what_a_sitemap_lists_is_fetched_though_all_of_its_pattern_says_the_same() {
    let names: Vec<String> = (0..300).map(|n| format!("a.test/product/{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/list\n")])
        .answers("a.test/list", &sitemap(&names, &[]))
        .page("a.test/", &[]);
    for name in &names {
        stage = stage.page(name, &[]);
    }
    let mut stage = stage.same_text(&names).seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.engine.counters().pages, 301);
    assert_eq!(stage.engine.counters().refused, [0; Refusal::ALL.len()]);
}

/// A blog: its sitemap lists the posts, and archives by day and short links lead to them, too.
#[test]
fn what_a_sitemap_lists_comes_before_patterns_of_which_it_lists_nothing() {
    let posts: Vec<String> = (0..200).map(|n| format!("a.test/2026/post-{n}/")).collect();
    let days: Vec<String> = (0..200).map(|n| format!("a.test/2026/{}/{n}/", n % 12)).collect();
    let short: Vec<String> = (0..200).map(|n| format!("a.test/?p={n}")).collect();
    let posts: Vec<&str> = posts.iter().map(String::as_str).collect();
    // Junk first: where all are as important, what was found first is fetched first.
    let front: Vec<&str> = days.iter().chain(&short).map(String::as_str).collect();
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/list\n")])
        .answers("a.test/list", &sitemap(&posts, &[]))
        .page("a.test/", &front);
    for (n, post) in posts.iter().enumerate() {
        stage = stage
            .page(post, &[])
            .page(&days[n], &[post])
            .answers(&short[n], &[Reply::Moved(url(post))]);
    }
    let mut stage = stage.seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let pages = stage.pages();
    let last = pages.iter().rposition(|page| posts.contains(page)).unwrap();
    assert!(last < 260, "the posts were complete after {last} of {} requests", pages.len());
    assert_eq!(pages.len(), 602, "nothing is lost");
}

#[test]
fn copies_of_another_host_are_no_reason_to_hold_anything_back() {
    let mut stage = Stage::new(Config::default());
    for host in ["mirror.test", "a.test"] {
        let names: Vec<String> = (0..200).map(|n| format!("{host}/?id={n}")).collect();
        let links: Vec<&str> = names.iter().map(String::as_str).collect();
        stage = stage.page(&format!("{host}/"), &links).seed(&[&format!("{host}/")]);
        for name in &names {
            stage = stage.page(name, &[]);
        }
    }
    for n in 0..200 {
        for host in ["mirror.test", "a.test"] {
            stage = stage.text(&format!("{host}/?id={n}"), 1_000 + n);
        }
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.engine.counters().refused[Refusal::Pattern as usize], 0);
}

#[test]
fn junk_is_left_out_by_name_and_let_in_when_its_rule_is_lifted() {
    let login = "a.test/user/login/?next=/topic/1/";
    let stage = |config: Config| {
        Stage::new(config)
            .page("a.test/", &[login, "a.test/wiki/Lee?action=history", "a.test/wiki/Lee"])
            .page("a.test/wiki/Lee", &[])
            .page(login, &[])
            .answers("a.test/wiki/Lee?action=history", &[Reply::Links(Vec::new())])
            .seed(&["a.test/"])
    };
    let mut usual = stage(Config::default());
    assert_eq!(usual.run(), StopReason::Finished);
    assert_eq!(usual.record(login).status, RecordStatus::Refused(Refusal::Login));
    let history = "a.test/wiki/Lee?action=history";
    assert_eq!(usual.record(history).status, RecordStatus::Refused(Refusal::WikiView));
    assert_eq!(usual.engine.counters().pages, 2);
    let bound = usual.engine.mass().coverage().expect("a seed").bound;
    assert!(bound > 0.99, "junk is no part of the web that the owner meant: {bound}");
    usual.reopen(lifted(Refusal::Login));
    assert_eq!(usual.run(), StopReason::Finished);
    assert_eq!(usual.record(login).status, RecordStatus::Fetched);
    assert_eq!(usual.record(history).status, RecordStatus::Refused(Refusal::WikiView));
    // A person may name what is junk to others.
    let mut named = stage(Config::default()).seed(&[history]);
    assert_eq!(named.run(), StopReason::Finished);
    assert_eq!(named.record(history).status, RecordStatus::Fetched);
}

/// Every path answers with the same text and relative links: `about/team/about/news/…`.
#[test]
fn relative_links_that_make_ever_longer_paths_of_words_come_to_an_end() {
    let words = ["about", "team", "news"];
    let mut paths = vec![String::from("a.test/")];
    for depth in 0..8 {
        let deepest: Vec<String> =
            paths.iter().filter(|path| path.matches('/').count() == depth + 1).cloned().collect();
        paths.extend(deepest.iter().flat_map(|path| words.map(|word| format!("{path}{word}/"))));
    }
    let mut stage = Stage::new(Config::default());
    for path in &paths {
        let links = words.map(|word| format!("{path}{word}/"));
        stage = stage.page(path, &links.each_ref().map(String::as_str));
    }
    let honest: Vec<String> = (0..300).map(|n| format!("b.test/{}", name_of(n))).collect();
    let honest: Vec<&str> = honest.iter().map(String::as_str).collect();
    stage = honest.iter().fold(stage.page("b.test/", &honest), |stage, page| stage.page(page, &[]));
    let same: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut stage = stage.same_text(&same).seed(&["a.test/", "b.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let trapped = stage.pages().iter().filter(|page| page.starts_with("a.test")).count();
    assert!(trapped < 900, "{trapped} of {}", paths.len());
    assert_eq!(stage.pages().len() - trapped, 301, "a tree of words has nothing to lose");
}

/// A number in letters alone.
fn name_of(n: usize) -> String {
    n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}
