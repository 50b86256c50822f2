//! What a site may take of a run: pages and bytes, by what it proved worth.

use crate::stage::{DAWN, Stage};
use rhumb_engine::config::{Config, Lifted, Traps};
use rhumb_engine::event::StopReason;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::Span;
use std::collections::BTreeSet;

const HOSTS: usize = 40;
const PAGES: usize = 10;

/// Forty names of one site with ten pages each, all of which link to each other's front pages.
fn farm(stage: Stage) -> Stage {
    let roots: Vec<String> = (0..HOSTS).map(|n| format!("f{n}.farm.test/")).collect();
    let mut stage = stage.page("farm.test/", &refs(&roots));
    for n in 0..HOSTS {
        let pages: Vec<String> = (1..PAGES).map(|p| format!("f{n}.farm.test/{p}")).collect();
        let links = [&roots[..], &pages[..]].concat();
        stage = stage.page(&roots[n], &refs(&links));
        stage = pages.iter().fold(stage, |stage, page| stage.page(page, &refs(&roots)));
    }
    stage
}

fn refs(urls: &[String]) -> Vec<&str> {
    urls.iter().map(String::as_str).collect()
}

/// A site of so many pages that its front page names, and `more` beside them.
fn site(stage: Stage, name: &str, pages: usize, more: &[&str]) -> Stage {
    let urls: Vec<String> = (1..pages).map(|n| format!("{name}/article-{n}")).collect();
    let links = [&refs(&urls)[..], more].concat();
    let stage = stage.page(&format!("{name}/"), &links);
    urls.iter().fold(stage, |stage, page| stage.page(page, &[]))
}

/// Requests for different pages of a site.
fn pages_of(stage: &Stage, site: &str) -> usize {
    let pages = stage.log.iter().filter(|(_, url)| url.path() != "/robots.txt");
    let of_site = pages.filter(|(_, url)| url.site().as_str() == site);
    of_site.map(|(_, url)| url.as_str()).collect::<BTreeSet<&str>>().len()
}

fn bounded(lifted: Lifted) -> Config {
    let traps = Traps { lifted, ..Traps::default() };
    Config { host_pages_max: Some(20), traps, ..Config::default() }
}

#[test]
fn a_site_of_many_names_has_the_bound_of_one_host_and_the_rest_waits_for_another_run() {
    let open = |lifted| {
        let stage = site(Stage::new(bounded(lifted)), "good.test", 20, &["farm.test/"]);
        farm(stage).seed(&["good.test/"])
    };
    let mut stage = open(Lifted::default());
    assert_eq!(stage.run(), StopReason::Finished, "what waits does not fail");
    assert_eq!(pages_of(&stage, "good.test"), 20);
    assert_eq!(pages_of(&stage, "farm.test"), 20);
    let snapshot = stage.engine.snapshot(stage.now);
    assert!(snapshot.hosts_spent > 0, "{snapshot:#?}");
    let waits = stage.state.rows.urls.values();
    let waits = waits.filter(|record| record.status == RecordStatus::Queued).count();
    assert!(waits > 0, "nothing is refused");
    stage.reopen(bounded(Lifted::default()));
    assert_eq!(stage.run(), StopReason::Finished);
    let both = pages_of(&stage, "farm.test");
    assert!((21..=40).contains(&both), "the next run goes on: {both}");
    let mut stage = open(Lifted::default().with(Refusal::SiteBudget));
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(pages_of(&stage, "farm.test"), 1 + HOSTS * PAGES);
}

#[test]
fn names_that_other_sites_name_have_a_bound_each_and_seeds_have_no_budget() {
    let names = ["a.wide.test", "b.wide.test", "c.wide.test"];
    let roots = names.map(|name| format!("{name}/"));
    let web = |stage: Stage| {
        let stage = site(stage, "good.test", 5, &refs(&roots));
        names.iter().fold(stage, |stage, name| site(stage, name, 20, &[]))
    };
    let mut stage = web(Stage::new(bounded(Lifted::default()))).seed(&["good.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(pages_of(&stage, "wide.test"), 60);

    let stage = farm(Stage::new(bounded(Lifted::default()))).seed(&["farm.test/"]);
    let mut stage = stage;
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(pages_of(&stage, "farm.test"), 1 + HOSTS * PAGES);
}

#[test]
fn copies_are_worth_no_pages_and_a_large_site_that_says_something_loses_none() {
    let patterns = Lifted::default().with(Refusal::Pattern);
    let traps = Traps { lifted: patterns, ..Traps::default() };
    let config = Config { traps, ..Config::default() };
    let stage = site(Stage::new(config), "good.test", 50, &["copies.test/", "large.test/"]);
    let stage = site(site(stage, "copies.test", 2_000, &[]), "large.test", 2_000, &[]);
    let copies: Vec<String> = (1..2_000).map(|n| format!("copies.test/article-{n}")).collect();
    let mut stage = stage.same_bytes(&refs(&copies)).seed(&["good.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(pages_of(&stage, "large.test"), 2_000);
    let copied = pages_of(&stage, "copies.test");
    assert!((1_024..1_100).contains(&copied), "{copied} of 2,000 copies");
}

#[test]
fn pages_of_many_megabytes_take_bounded_bytes_of_a_site_and_small_ones_all_they_weigh() {
    let fetched = |bytes| {
        let stage = site(Stage::new(Config::default()), "docs.test", 200, &[]);
        let stage = site(stage.weighs("docs.test", bytes), "good.test", 5, &["docs.test/"]);
        let mut stage = stage.seed(&["good.test/"]);
        assert_eq!(stage.run(), StopReason::Finished);
        pages_of(&stage, "docs.test")
    };
    assert_eq!(fetched(1 << 20), 200);
    let bulk = fetched(5 << 20);
    assert!((10..20).contains(&bulk), "{bulk} pages of 5 MiB");
}

/// Six hundred names of one site that need no leave, where 512 hosts may be awake.
#[test]
fn a_site_of_many_names_holds_a_part_of_the_hosts_awake_and_all_of_it_is_crawled() {
    let config = || Config { hosts_awake_max: 512, ..Config::default() };
    let lifted = Lifted::default().with(Refusal::Names);
    let traps = Traps { lifted, ..Traps::default() };
    let names: Vec<String> = (0..600).map(|n| format!("n{n}.many.test/")).collect();
    let mut stage = site(Stage::new(Config { traps, ..config() }), "good.test", 100, &[]);
    stage = names.iter().fold(stage, |stage, name| stage.page(name, &[]));
    stage = stage.page("many.test/", &refs(&names)).seed(&["good.test/", "many.test/"]);
    let mut awake = 0;
    for _ in 0..120 {
        stage.run_for(Span::millis(500));
        awake = awake.max(stage.engine.hosts_awake());
    }
    assert!((65..=160).contains(&awake), "{awake} hosts awake");
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(pages_of(&stage, "many.test"), 601);
    assert_eq!(pages_of(&stage, "good.test"), 100);
    assert!(stage.now > DAWN);
}
