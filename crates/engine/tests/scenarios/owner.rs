//! What the owner, or a site's owner, asks for: hours, a rate, types, lists of pages, takedowns.

use crate::stage::{DAWN, Reply, Stage, url};
use regex::Regex;
use rhumb_engine::admit::{Forgotten, Reach, Scope};
use rhumb_engine::config::{Config, Lifted, Traps};
use rhumb_engine::event::StopReason;
use rhumb_engine::hours::{Daily, Hours, HoursRule, Zone};
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::{Span, Time};

const HOUR: Span = Span::secs(3_600);

/// So many hours behind dawn, rounded to the minute before.
fn minute_after_dawn(hours: u64) -> u16 {
    let at = DAWN + HOUR.times(hours as f64);
    (at.0 / 60_000_000 % (24 * 60)) as u16
}

/// What matches may be asked from so many hours after dawn on, for so many.
fn hours(pattern: &str, from: u64, length: u64) -> Hours {
    let daily = Daily::new(minute_after_dawn(from), minute_after_dawn(from + length));
    let pattern = Regex::new(pattern).expect("a good pattern");
    Hours { rules: vec![HoursRule { pattern, daily: daily.unwrap(), zone: Zone::fixed(0) }] }
}

fn with_hours(pattern: &str, from: u64, length: u64) -> Config {
    Config { hours: hours(pattern, from, length), ..Config::default() }
}

fn asked(stage: &Stage, host: &str) -> Vec<Time> {
    let of_host = stage.log.iter().filter(|(_, url)| url.host() == host);
    of_host.map(|(at, _)| *at).collect()
}

#[test]
fn a_host_outside_its_hours_is_asked_for_nothing_and_keeps_the_run_alive() {
    let mut stage = Stage::new(with_hours("//a[.]test", 3, 2))
        .page("a.test/", &["a.test/1", "b.test/"])
        .page("b.test/", &[])
        .seed(&["a.test/", "b.test/"]);
    stage.run_for(HOUR);
    assert_eq!(asked(&stage, "a.test"), []);
    assert_eq!(stage.pages(), ["b.test/"]);
    let snapshot = stage.engine.snapshot(stage.now);
    let wait = snapshot.opens.expect("an hour").since(stage.now);
    assert!(snapshot.hosts_closed == 1 && wait <= HOUR.times(2.0), "{snapshot:?}");
    assert!(snapshot.why_idle().expect("a reason").contains("outside their hours"));
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(asked(&stage, "a.test").len(), 3, "robots.txt and two pages");
    assert!(stage.now.since(DAWN) < HOUR.times(3.1));
}

#[test]
fn what_is_not_done_when_hours_end_goes_on_when_they_begin_again() {
    let pages: Vec<String> = (0..2_000).map(|n| format!("a.test/{n}")).collect();
    let links: Vec<&str> = pages.iter().map(String::as_str).collect();
    let delay = rhumb_engine::config::Polite { delay: Span::secs(3), ..Config::default().polite };
    let config = Config { polite: delay, ..with_hours("a[.]test", 0, 1) };
    let rule = config.hours.rules[0].clone();
    let mut stage = Stage::new(config.clone()).page("a.test/", &links).seed(&["a.test/"]);
    for page in &links {
        stage = stage.page(page, &[]);
    }
    stage.run_for(HOUR.times(5.0));
    // The process dies within the closed hours: the next one waits for them as well.
    stage.reopen(config);
    assert_eq!(stage.run(), StopReason::Finished);
    let times = asked(&stage, "a.test");
    assert_eq!(stage.pages().len(), 2_001, "robots.txt is read again on the second day");
    assert!(times.iter().all(|at| rule.opens(*at).is_none()));
    assert!(stage.now.since(DAWN) > HOUR.times(24.0), "1,200 an hour");
}

#[test]
fn hours_that_are_lifted_hold_nobody_up() {
    let mut stage =
        Stage::new(with_hours("a[.]test", 9, 1)).page("a.test/", &[]).seed(&["a.test/"]);
    stage.run_for(HOUR);
    assert_eq!(stage.log.len(), 0);
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    assert!(stage.now.since(DAWN) < HOUR.times(1.1));
}

#[test]
fn hours_of_single_urls_put_off_those_alone() {
    let mut stage = Stage::new(with_hours("/big/", 2, 1))
        .page("a.test/", &["a.test/big/1", "a.test/2"])
        .seed(&["a.test/"]);
    stage.run_for(HOUR);
    assert_eq!(stage.pages(), ["a.test/", "a.test/2"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().last(), Some(&"a.test/big/1"));
}

#[test]
fn a_robots_txt_that_moved_to_a_closed_host_is_waited_for() {
    let mut stage = Stage::new(with_hours("//b[.]test", 2, 3))
        .answers("a.test/robots.txt", &[Reply::Moved(url("b.test/robots.txt"))])
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    stage.run_for(HOUR);
    assert_eq!(stage.told(), ["0.0 a.test/robots.txt"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages(), ["a.test/"]);
}

#[test]
fn no_more_bytes_come_than_the_rate_gives() {
    let hosts: Vec<String> = (0..400).map(|n| format!("h{n}.test/")).collect();
    let seeds: Vec<&str> = hosts.iter().map(String::as_str).collect();
    // Of 1,000 bytes each, robots.txt and page: 800 kB.
    let config = Config { bytes_per_s: Some(10_000), ..Config::default() };
    let mut stage = Stage::new(config).seed(&seeds);
    assert_eq!(stage.run(), StopReason::Finished);
    let took = stage.now.since(DAWN).as_secs_f64();
    assert!((76.0..=82.0).contains(&took), "{took} s");
    let mut free = Stage::new(Config::default()).seed(&seeds);
    free.run();
    assert!(free.now.since(DAWN).as_secs_f64() < 10.0);
}

#[test]
fn what_its_head_refuses_is_asked_for_again_when_the_rules_change_and_not_before() {
    let unwanted = |why| Reply::Unwanted(why);
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &["a.test/doc", "a.test/file"])
        .answers("a.test/doc", &[unwanted(Refusal::MediaType), Reply::Links(Vec::new())])
        .answers("a.test/file", &[unwanted(Refusal::Archive)])
        .seed(&["a.test/"]);
    stage.run();
    assert_eq!(stage.record("a.test/doc").status, RecordStatus::Refused(Refusal::MediaType));
    assert_eq!(stage.record("a.test/file").status, RecordStatus::Refused(Refusal::Archive));
    let counters = stage.engine.counters();
    assert_eq!(counters.refused[Refusal::MediaType as usize], 1);
    assert_eq!((counters.admitted, counters.queued), (1, 0));
    let asked = stage.log.len();
    stage.reopen(Config::default());
    stage.send_seeds(&["a.test/"], Span::ZERO);
    stage.run();
    assert_eq!(stage.log.len(), asked);
    let lifted = Traps { lifted: Lifted::default().with(Refusal::Feed), ..Traps::default() };
    stage.reopen(Config { traps: lifted, ..Config::default() });
    stage.run();
    assert_eq!(stage.record("a.test/doc").status, RecordStatus::Fetched);
}

#[test]
fn a_list_of_pages_is_fetched_without_what_they_link_to() {
    let config = Config { follows_links: false, ..Config::default() };
    let mut stage = Stage::new(config)
        .page("a.test/", &["a.test/1", "b.test/"])
        .answers("c.test/", &[Reply::Moved(url("c.test/new"))])
        .page("c.test/new", &["c.test/2"])
        .seed(&["a.test/", "c.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let mut pages = stage.pages();
    pages.sort_unstable();
    assert_eq!(pages, ["a.test/", "c.test/", "c.test/new"]);
    assert_eq!(stage.engine.counters().known, 3, "links leave no row");
}

#[test]
fn below_a_path_sitemaps_of_the_host_are_read() {
    let mut scope = Scope::new(Reach::Below);
    scope.add(&url("a.test/guide/"));
    let mut stage = Stage::new(Config { scope, ..Config::default() })
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/sitemap.xml")])
        .answers(
            "a.test/sitemap.xml",
            &[Reply::Sitemap(vec![url("a.test/guide/3"), url("a.test/news")], Vec::new())],
        )
        .page("a.test/guide/", &["a.test/guide/1", "a.test/", "b.test/guide/"])
        .seed(&["a.test/guide/"]);
    stage.run();
    let mut pages = stage.pages();
    pages.sort_unstable();
    let wanted = ["a.test/guide/", "a.test/guide/1", "a.test/guide/3", "a.test/sitemap.xml"];
    assert_eq!(pages, wanted);
    assert_eq!(stage.record("a.test/news").status, RecordStatus::Refused(Refusal::Scope));
}

#[test]
fn what_was_taken_down_is_not_fetched_by_whatever_way_it_comes() {
    let mut forgotten = Forgotten::default();
    forgotten.add_host("b.test");
    forgotten.add_url(&url("a.test/private"));
    let config = Config { forgotten: forgotten.clone(), ..Config::default() };
    let mut stage = Stage::new(config)
        .page("a.test/", &["a.test/private", "a.test/moved", "b.test/1", "a.test/2"])
        .answers("a.test/moved", &[Reply::Moved(url("b.test/new"))])
        .seed(&["a.test/", "b.test/", "a.test/private"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let mut pages = stage.pages();
    pages.sort_unstable();
    assert_eq!(pages, ["a.test/", "a.test/2", "a.test/moved"]);
    assert_eq!(asked(&stage, "b.test"), [], "not even for its robots.txt");
    for gone in ["a.test/private", "b.test/", "b.test/1", "b.test/new"] {
        assert_eq!(stage.record(gone).status, RecordStatus::Refused(Refusal::Forgotten), "{gone}");
    }
    stage.reopen(Config { depth_max: Some(9), forgotten, ..Config::default() });
    stage.run();
    assert_eq!(asked(&stage, "b.test"), [], "by other rules");
}
