//! Names are free: sites that invent hosts get one site's share, and cost no other site its pace.

use crate::stage::{DAWN, Stage};
use rhumb_engine::config::{Config, Lifted, Traps};
use rhumb_engine::event::StopReason;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::Refusal;
use rhumb_engine::time::Span;

/// A healthy site whose front page links to 200 others.
fn healthy(stage: Stage) -> Stage {
    let links: Vec<String> = (0..200).map(|n| format!("good.test/{n}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    let stage = stage.page("good.test/", &links);
    links.iter().fold(stage, |stage, page| stage.page(page, &[])).seed(&["good.test/"])
}

/// When the healthy site was done, and how many of its pages there are.
fn paced(stage: &Stage) -> (Span, usize) {
    let pages = stage.log.iter().filter(|(_, url)| url.host() == "good.test");
    let last = pages.clone().map(|(at, _)| at.since(DAWN)).max().unwrap();
    (last, pages.filter(|(_, url)| url.path() != "/robots.txt").count())
}

/// A front page on which a thousand invented hosts are named, each with a page of its own.
fn inventive(stage: Stage, names: usize) -> Stage {
    let hosts: Vec<String> = (0..names).map(|n| format!("n{n}.wild.test/")).collect();
    let links: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let stage = stage.wildcard("wild.test").page("wild.test/", &links).seed(&["wild.test/"]);
    hosts.iter().fold(stage, |stage, page| stage.page(page, &[]))
}

fn contacted(stage: &Stage, site: &str) -> usize {
    let robots = stage.log.iter().filter(|(_, url)| url.path() == "/robots.txt");
    robots.filter(|(_, url)| url.site().as_str() == site).count()
}

#[test]
fn a_site_that_invents_names_is_asked_for_few_and_the_rest_waits_for_another_run() {
    let alone = {
        let mut stage = healthy(Stage::new(Config::default()));
        stage.run();
        paced(&stage)
    };
    let mut stage = inventive(healthy(Stage::new(Config::default())), 1_000);
    assert_eq!(stage.run(), StopReason::Finished, "what waits does not fail");
    let names = contacted(&stage, "wild.test");
    assert!((65..=90).contains(&names), "{names} of 1,000 names were asked");
    let (took, pages) = paced(&stage);
    assert_eq!(pages, alone.1);
    assert!(
        DAWN + took <= DAWN + alone.0 + Span::secs(2),
        "{took:?} beside the flood, {:?} alone",
        alone.0
    );
    let first: Vec<_> = stage
        .log
        .iter()
        .filter(|(_, url)| url.path() == "/robots.txt" && url.host().starts_with('n'))
        .collect();
    let early = first.windows(2).filter(|w| w[1].0.since(w[0].0) < Span::secs(1)).count();
    assert_eq!(early, 0, "first contacts are a delay apart");
    assert_eq!(stage.engine.snapshot(stage.now).hosts_held as usize + names, 1_001);
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    let more = contacted(&stage, "wild.test") - names;
    assert!((60..=90).contains(&more), "the next run goes on: {more}");
}

#[test]
fn a_site_whose_hosts_are_worth_it_is_crawled_whole() {
    let hosts: Vec<String> = (0..150).map(|n| format!("h{n}.wide.test")).collect();
    let roots: Vec<String> = hosts.iter().map(|host| format!("{host}/")).collect();
    let mut stage = Stage::new(Config::default());
    let links: Vec<&str> = roots.iter().map(String::as_str).collect();
    stage = stage.page("wide.test/", &links).seed(&["wide.test/"]);
    for host in &hosts {
        let pages: Vec<String> = (0..3).map(|n| format!("{host}/{n}")).collect();
        let links: Vec<&str> = pages.iter().map(String::as_str).collect();
        stage = stage.page(&format!("{host}/"), &links);
        stage = links.iter().fold(stage, |stage, page| stage.page(page, &[]));
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 1 + 150 * 4);
    assert_eq!(stage.engine.snapshot(stage.now).hosts_held, 0);
}

#[test]
fn hosts_that_the_owner_names_need_no_leave() {
    let seeds: Vec<String> = (0..200).map(|n| format!("s{n}.owned.test/")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let mut stage = Stage::new(Config::default()).seed(&seeds);
    stage.run();
    assert_eq!(contacted(&stage, "owned.test"), 200);
    assert!(stage.now.since(DAWN) < Span::secs(60));
}

#[test]
fn names_that_never_answer_keep_no_other_host_waiting() {
    let names: Vec<String> = (0..3_000).map(|n| format!("x{n}.hole{}.test/", n % 20)).collect();
    let links: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut stage = healthy(Stage::new(Config::default())).page("hole.test/", &links);
    for n in 0..3_000 {
        let host = format!("x{n}.hole{}.test", n % 20);
        stage = stage.resolves(&host, &[Err(FailKind::DnsTemporary)]);
    }
    stage.resolving_takes = Span::secs(10);
    stage = stage.seed(&["hole.test/"]);
    assert_eq!(stage.run(), StopReason::HostsFailing);
    let (took, pages) = paced(&stage);
    assert_eq!(pages, 201);
    assert!(took < Span::secs(260), "{took:?}");
}

/// A thousand sites that answer robots.txt at once and their page after five minutes.
#[test]
fn sites_that_hang_hold_no_slot_that_a_site_needs_which_answers() {
    let pits: Vec<String> = (0..1_000).map(|n| format!("pit{n}.test/")).collect();
    let links: Vec<&str> = pits.iter().map(String::as_str).collect();
    let mut stage = healthy(Stage::new(Config::default())).page("pits.test/", &links);
    for pit in &pits {
        stage = stage.page(pit, &[]).takes(pit, Span::secs(300));
    }
    let mut stage = stage.seed(&["pits.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let (took, pages) = paced(&stage);
    assert_eq!(pages, 201);
    // A delay of a second, and a tenth for each answer.
    assert!(took < Span::secs(230), "{took:?}");
    let pits = stage.pages().iter().filter(|page| page.starts_with("pit")).count();
    assert_eq!(pits, 1_001, "they wait, and nothing of them is lost");
}

#[test]
fn who_lifts_the_rule_on_names_has_all_hosts_of_a_site() {
    let hosts: Vec<String> = (0..200).map(|n| format!("h{n}.many.test/")).collect();
    let links: Vec<&str> = hosts.iter().map(String::as_str).collect();
    for (lifted, all) in
        [(Lifted::default(), false), (Lifted::default().with(Refusal::Names), true)]
    {
        let traps = Traps { lifted, ..Traps::default() };
        let stage = Stage::new(Config { traps, ..Config::default() });
        let mut stage = stage.page("many.test/", &links).seed(&["many.test/"]);
        assert_eq!(stage.run(), StopReason::Finished);
        let held = stage.engine.snapshot(stage.now).hosts_held as usize;
        assert_eq!(contacted(&stage, "many.test") + held, 201);
        assert_eq!(held == 0, all);
    }
}
