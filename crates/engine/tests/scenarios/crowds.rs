//! Many links and many hosts: nobody is stalled, nobody starves, memory stays bounded.

use crate::stage::{Reply, Stage, url};
use regex::Regex;
use rhumb_engine::config::{Config, Polite, Priority};
use rhumb_engine::event::{Question, StopReason};
use rhumb_engine::time::Span;

#[test]
fn a_page_with_200k_links_is_sifted_in_parts_and_stalls_no_other_host() {
    let others: Vec<String> = (0..10).map(|n| format!("h{n}.test/")).collect();
    let links: Vec<_> = (0..200_000).map(|n| url(&format!("big.test/{n}"))).collect();
    let told = |links: &[rhumb_page::url::Url]| {
        let seeds: Vec<&str> = others.iter().map(String::as_str).chain(["big.test/"]).collect();
        let mut stage = Stage::new(Config::default())
            .answers("big.test/", &[Reply::Links(links.to_vec())])
            .seed(&seeds);
        for other in &others {
            let child = format!("{other}1");
            stage = stage.page(other, &[&child]).page(&child, &[&format!("{other}2")]);
        }
        // A slow sieve: the whole page takes it five seconds.
        stage.answers_after = |question| match question {
            Question::Sift { .. } => Span::millis(100),
            _ => Span::ZERO,
        };
        stage.run_for(Span::secs(12));
        let of_others = stage.told().into_iter().filter(|line| !line.contains("big"));
        (of_others.collect::<Vec<_>>(), stage)
    };
    let (calm, _) = told(&[]);
    let (beside, stage) = told(&links);
    assert!(stage.sift_peak <= 4_000, "{} at once", stage.sift_peak);
    assert_eq!(stage.engine.counters().admitted, 200_000 + 31);
    assert_eq!(beside.len(), calm.len());
    let first = |lines: &[String]| lines.iter().filter(|l| l.ends_with(".test/")).count();
    assert_eq!(first(&beside), first(&calm));
    let seconds = |lines: &[String]| -> Vec<f64> {
        lines.iter().map(|l| l.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    for (a, b) in seconds(&calm).iter().zip(seconds(&beside)) {
        // A link of another page waits for at most the parts that were found before it.
        assert!(b - a < 5.2, "{a} became {b}");
    }
}

#[test]
fn hosts_beyond_the_bound_all_get_their_turn_before_any_is_done() {
    let config = Config { concurrency: 2, hosts_awake_max: 4, ..Config::default() };
    let hosts: Vec<String> = (0..12).map(|n| format!("h{n}.test/")).collect();
    let seeds: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut stage = Stage::new(config.clone()).seed(&seeds);
    for host in &hosts {
        let pages: Vec<String> = (0..400).map(|n| format!("{host}{n}")).collect();
        let links: Vec<&str> = pages.iter().map(String::as_str).collect();
        stage = stage.page(host, &links);
        for page in &pages {
            stage = stage.page(page, &[]);
        }
    }
    // 4 hosts at a time, one page a second each, 64 requests a turn.
    stage.run_for(Span::secs(64 * 3 + 40));
    for host in &hosts {
        let pages = stage.pages().iter().filter(|page| page.starts_with(host.as_str())).count();
        assert!(pages > 10, "{host} got {pages} pages: {:#?}", stage.engine.snapshot(stage.now));
    }
    let bound = rhumb_engine::engine::Engine::heap_bound(&config, 400, 4_096);
    assert!(stage.heap_peak <= bound, "{} of {bound}", stage.heap_peak);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 12 * 401);
}

#[test]
fn better_work_that_comes_while_a_host_sleeps_is_found_first_when_it_wakes() {
    let urgent = Priority {
        pattern: Regex::new("urgent").unwrap(),
        class: Some(0),
        weight: None,
        interval_max: None,
    };
    let polite = Polite { delay: Span::secs(60), ..Polite::default() };
    let priorities = vec![urgent];
    let mut stage = Stage::new(Config { priorities, polite, ..Config::default() })
        .seed(&["a.test/1", "a.test/2", "a.test/3"]);
    stage.run_for(Span::secs(90));
    assert_eq!(stage.engine.snapshot(stage.now).hosts_awake, 0, "it naps between requests");
    stage.send_seeds(&["a.test/urgent"], Span::ZERO);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages(), ["a.test/1", "a.test/urgent", "a.test/2", "a.test/3"]);
}

#[test]
fn hosts_whose_time_has_come_get_a_turn_though_the_awake_ones_have_work_for_hours() {
    let config = Config { concurrency: 2, hosts_awake_max: 2, ..Config::default() };
    let pages: Vec<String> = (0..2_000).map(|n| format!("/{n}")).collect();
    let mut stage = Stage::new(config).seed(&["late.test/", "busy.test/", "bee.test/"]);
    for host in ["busy.test", "bee.test"] {
        let pages: Vec<String> = pages.iter().map(|page| format!("{host}{page}")).collect();
        let links: Vec<&str> = pages.iter().map(String::as_str).collect();
        stage = stage.page(&format!("{host}/"), &links);
    }
    stage =
        stage.answers("late.test/", &[Reply::Later(503, Span::secs(60)), Reply::Links(Vec::new())]);
    stage.run_for(Span::secs(400));
    let visits = stage.pages().iter().filter(|page| **page == "late.test/").count();
    assert_eq!(visits, 2, "it was to be asked again after a minute");
}

#[test]
fn memory_does_not_grow_with_the_hosts_that_sleep() {
    let polite = Polite { delay: Span::secs(5), ..Polite::default() };
    let config = Config { concurrency: 2, hosts_awake_max: 4, polite, ..Config::default() };
    let heap_peak = |hosts: usize| {
        let others: Vec<String> = (0..hosts).map(|n| format!("h{n}.test/")).collect();
        let links: Vec<&str> = others.iter().map(String::as_str).collect();
        let busy = ["a.test/", "b.test/", "c.test/", "d.test/"];
        let own: Vec<String> =
            busy.iter().flat_map(|host| (0..60).map(move |n| format!("{host}{n}"))).collect();
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        let mut stage = Stage::new(config.clone()).page("a.test/0", &links).seed(&own);
        stage.run_for(Span::secs(20));
        let mut heap = 0;
        for _ in 0..100 {
            stage.run_for(Span::secs(1));
            heap = heap.max(stage.engine.heap_bytes());
        }
        heap
    };
    let (few, many) = (heap_peak(100), heap_peak(20_000));
    assert!(many < 2 * few, "{few} bytes beside 100 hosts, {many} beside 20,000");
}
