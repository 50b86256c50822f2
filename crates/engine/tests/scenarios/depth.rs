//! Depth is the length of the shortest way, whichever way was found first.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::config::{Config, Order};
use rhumb_engine::event::StopReason;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::Span;

fn bounded() -> Stage {
    Stage::new(Config { depth_max: Some(4), order: Order::Bfs, ..Config::default() })
}

/// A page that is busy at first, and then has these links.
fn late(links: &[&str]) -> [Reply; 2] {
    let links = links.iter().map(|link| url(link)).collect();
    [Reply::Later(503, Span::secs(120)), Reply::Links(links)]
}

#[test]
fn what_lies_behind_a_page_that_a_shorter_way_leads_to_later_is_fetched() {
    // By the long way the hub is at depth 4, and what it links to too deep; by the short one at 2.
    let mut stage = bounded()
        .page("a.test/", &["a.test/1", "late.test/"])
        .page("a.test/1", &["a.test/2"])
        .page("a.test/2", &["a.test/3"])
        .page("a.test/3", &["a.test/hub"])
        .page("a.test/hub", &["a.test/x"])
        .page("a.test/x", &["a.test/y"])
        .page("a.test/y", &["a.test/z"])
        .answers("late.test/", &late(&["a.test/hub"]))
        .page("a.test/z", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let pages = stage.pages();
    let at = |page: &str| pages.iter().position(|p| *p == page).expect("a page");
    assert!(at("a.test/hub") < pages.iter().rposition(|p| *p == "late.test/").unwrap());
    for page in ["a.test/x", "a.test/y"] {
        assert_eq!(stage.record(page).status, RecordStatus::Fetched, "{page}: {pages:?}");
    }
    assert_eq!(stage.record("a.test/y").depth, 4);
    assert_eq!(stage.record("a.test/z").status, RecordStatus::Refused(Refusal::Depth));
    let fetched: std::collections::BTreeSet<_> = pages.iter().collect();
    assert_eq!(fetched.len() + 1, pages.len(), "only the late page was asked for twice: {pages:?}");
}

#[test]
fn a_redirect_on_the_shorter_way_is_no_link() {
    let mut stage = bounded()
        .page("a.test/", &["a.test/1", "late.test/"])
        .page("a.test/1", &["a.test/2"])
        .page("a.test/2", &["a.test/3"])
        .page("a.test/3", &["a.test/hub"])
        .page("a.test/hub", &["a.test/x"])
        .page("a.test/x", &["a.test/y"])
        .page("a.test/y", &[])
        .answers("late.test/", &late(&["a.test/moved"]))
        .answers("a.test/moved", &[Reply::Moved(url("a.test/hub"))])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/y").status, RecordStatus::Fetched, "{:?}", stage.told());
}

#[test]
fn a_chain_of_a_thousand_pages_is_followed_to_its_end_and_a_bound_on_it_can_be_set() {
    let chain = |mut stage: Stage| {
        for n in 0..1_000 {
            let next = format!("a.test/{}", n + 1);
            stage = stage.page(&format!("a.test/{n}"), &[&next]);
        }
        stage.page("a.test/1000", &[]).seed(&["a.test/0"])
    };
    let mut free = chain(Stage::new(Config::default()));
    assert_eq!(free.run(), StopReason::Finished);
    assert_eq!(free.record("a.test/1000").status, RecordStatus::Fetched);
    let mut config = Config::default();
    config.traps.depth_max = 500;
    let mut bound = chain(Stage::new(config));
    assert_eq!(bound.run(), StopReason::Finished);
    assert_eq!(bound.record("a.test/501").status, RecordStatus::Refused(Refusal::Trap));
}
