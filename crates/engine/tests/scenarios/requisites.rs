//! Requisites: of whatever host, beside the pages, bounded, and never a page.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::admit::{Forgotten, Reach, Scope};
use rhumb_engine::config::{Config, Sitemaps};
use rhumb_engine::event::StopReason;
use rhumb_engine::forget::Takedown;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal, Role};
use rhumb_engine::time::Span;
use rhumb_page::url::Rules;

/// A crawl of the host a.test with what its pages are shown with.
fn with_requisites() -> Config {
    let mut scope = Scope::new(Reach::Host);
    scope.add(&url("a.test/"));
    let sitemaps = Sitemaps { named: false, tried: false, ..Sitemaps::default() };
    Config { scope, sitemaps, requisites_max: Some(1_000), ..Config::default() }
}

fn numbered(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{name}{n}")).collect()
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

#[test]
fn requisites_come_from_any_host_are_no_pages_and_exclude_holds_for_them() {
    let no_ads = Rules::new(&["a\\.test/$".to_owned()], &["/ads/".to_owned()]).expect("patterns");
    let config = Config { rules: no_ads, host_pages_max: Some(1), ..with_requisites() };
    let mut stage = Stage::new(config)
        .page("a.test/", &["c.test/linked.png"])
        .page("a.test/i.png", &[])
        .page("b.test/s.css", &[])
        .page("b.test/f.woff", &[])
        .page("c.test/linked.png", &[])
        .page("c.test/frame", &["a.test/deeper"])
        .shows(
            "a.test/",
            &[
                "a.test/i.png",
                "@b.test/s.css",
                "c.test/linked.png",
                "c.test/ads/x",
                "#c.test/frame",
            ],
        )
        .shows("b.test/s.css", &["b.test/f.woff", "@b.test/s.css"])
        .shows("c.test/frame", &["c.test/of-frame.png"])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let mut asked = stage.pages();
    asked.sort_unstable();
    let expected = [
        "a.test/",
        "a.test/i.png",
        "b.test/f.woff",
        "b.test/s.css",
        "c.test/frame",
        "c.test/linked.png",
    ];
    assert_eq!(asked, expected);
    let (counters, requisites) = (stage.engine.counters(), stage.engine.requisites());
    assert_eq!((counters.pages, requisites.fetched, requisites.waiting), (1, 5, 0));
    assert_eq!(stage.record("b.test/s.css").role, Role::OutsideStylesheet);
    assert_eq!(stage.record("a.test/i.png").depth, 0);
}

#[test]
fn a_host_with_many_requisites_gives_every_other_request_to_its_pages() {
    let images = numbered("a.test/i", 300);
    let pages = numbered("a.test/p", 100);
    let mut stage = Stage::new(with_requisites())
        .page("a.test/", &texts(&pages))
        .shows("a.test/", &texts(&images))
        .seed(&["a.test/"]);
    for page in &pages {
        stage = stage.page(page, &[]);
    }
    assert_eq!(stage.run(), StopReason::Finished);
    let asked = stage.pages();
    let last = asked.iter().rposition(|page| page.starts_with("a.test/p")).expect("pages");
    assert!(last <= 2 * pages.len() + 4, "pages wait for images: the last is request {last}");
    let images_before = asked[..last].iter().filter(|page| page.starts_with("a.test/i")).count();
    assert!(images_before >= pages.len() - 4, "images wait for pages: {images_before}");
    assert_eq!(asked.len(), 401);
}

#[test]
fn a_crawl_that_has_its_pages_fetches_their_requisites_and_waits_for_no_host_that_fails() {
    let config = Config { pages_max: Some(2), ..with_requisites() };
    let pages = numbered("a.test/p", 50);
    let mut stage = Stage::new(config)
        .page("a.test/", &texts(&pages))
        .page("a.test/p0", &[])
        .page("a.test/p1", &[])
        .page("a.test/i", &[])
        .page("b.test/s.css", &[])
        .page("b.test/f.woff", &[])
        .shows("a.test/", &["a.test/i", "dead.test/x"])
        .shows("a.test/p0", &["@b.test/s.css"])
        .shows("a.test/p1", &["@b.test/s.css"])
        .shows("b.test/s.css", &["b.test/f.woff"])
        .answers("dead.test/robots.txt", &[Reply::Fails(FailKind::Connect)])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Pages);
    let asked = stage.pages();
    for requisite in ["a.test/i", "b.test/s.css", "b.test/f.woff"] {
        assert!(asked.contains(&requisite), "{requisite} of {asked:?}");
    }
    assert_eq!((stage.engine.counters().pages, stage.engine.requisites().fetched), (2, 3));
    assert_eq!(stage.engine.requisites().waiting, 1);
    // The next run goes on with the pages, and tries the host that failed.
    stage.reopen(with_requisites());
    assert_eq!(stage.run(), StopReason::HostsFailing);
    assert_eq!(stage.record("dead.test/x").status, RecordStatus::Queued);
    assert_eq!(stage.record("a.test/p49").status, RecordStatus::Gone);
}

#[test]
fn stylesheets_that_import_each_other_end() {
    let sheets = numbered("b.test/s", 20);
    let mut stage = Stage::new(with_requisites())
        .page("a.test/", &[])
        .shows("a.test/", &["@b.test/s0", "@b.test/loop"])
        .page("b.test/loop", &[])
        .shows("b.test/loop", &["@b.test/loop2", "@b.test/loop"])
        .page("b.test/loop2", &[])
        .shows("b.test/loop2", &["@b.test/loop", "@b.test/loop2"])
        .seed(&["a.test/"]);
    for pair in sheets.windows(2) {
        stage = stage.page(&pair[0], &[]).shows(&pair[0], &[&format!("@{}", pair[1])]);
    }
    assert_eq!(stage.run(), StopReason::Finished);
    let asked = stage.pages();
    assert_eq!(asked.iter().filter(|page| page.starts_with("b.test/loop")).count(), 2);
    let chain = asked.iter().filter(|page| page.starts_with("b.test/s")).count();
    assert_eq!(chain, 6, "one of the page, and five imports behind it");
}

#[test]
fn requisites_move_no_importance() {
    let bound = |requisites_max: Option<u32>| {
        let config = Config { requisites_max, ..with_requisites() };
        let mut stage = Stage::new(config)
            .page("a.test/", &["a.test/p", "a.test/q", "c.test/out"])
            .page("a.test/p", &["a.test/"])
            .page("a.test/q", &["a.test/linked.png"])
            .page("a.test/linked.png", &[])
            .page("a.test/i", &[])
            .page("c.test/out", &[])
            .shows("a.test/", &["a.test/i", "c.test/out", "@b.test/s"])
            .shows("a.test/q", &["a.test/linked.png"])
            .seed(&["a.test/"]);
        stage.run();
        stage.engine.mass().coverage().expect("a seed").bound
    };
    let (without, with) = (bound(None), bound(Some(1_000)));
    assert!((without - with).abs() < 1e-6, "{without} without, {with} with them");
}

#[test]
fn a_requisite_that_was_refused_as_a_page_is_fetched_and_one_without_the_flag_is_not() {
    let stage = |config: Config| {
        let mut stage = Stage::new(config)
            .page("a.test/", &["c.test/out", "a.test/p"])
            .page("a.test/p", &[])
            .page("c.test/out", &[])
            .shows("a.test/p", &["c.test/out"])
            .takes("a.test/p", Span::secs(5))
            .seed(&["a.test/"]);
        stage.run();
        stage.pages().contains(&"c.test/out")
    };
    assert!(stage(with_requisites()));
    assert!(!stage(Config { requisites_max: None, ..with_requisites() }));
}

#[test]
fn a_crawl_of_one_page_has_what_the_page_is_shown_with() {
    let mut stage = Stage::new(Config { pages_max: Some(1), ..with_requisites() })
        .page("a.test/", &["a.test/two"])
        .page("a.test/s.css", &[])
        .page("a.test/i", &[])
        .page("a.test/in-css", &[])
        .shows("a.test/", &["@a.test/s.css", "a.test/i"])
        .shows("a.test/s.css", &["a.test/in-css"])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Pages);
    let requisites = stage.engine.requisites();
    assert_eq!((requisites.fetched, requisites.waiting), (3, 0), "{:?}", stage.told());
}

#[test]
fn requisites_that_are_taken_down_wait_no_more_and_no_host_loses_sitemaps_by_them() {
    let sitemaps = Sitemaps { named: true, tried: false, ..Sitemaps::default() };
    let config = Config { sitemaps, ..with_requisites() };
    let mut stage = Stage::new(config.clone())
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/map.xml")])
        .answers("a.test/map.xml", &[Reply::Sitemap(vec![], vec![])])
        .page("a.test/", &[])
        .page("a.test/i", &[])
        .shows("a.test/", &["a.test/i", "dead.test/x"])
        .answers("dead.test/robots.txt", &[Reply::Fails(FailKind::Connect)])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::HostsFailing);
    let sitemaps =
        |stage: &Stage| stage.state.rows.hosts.get(&url("a.test/").host_key()).map(|h| h.sitemaps);
    assert_eq!((stage.engine.requisites().waiting, sitemaps(&stage)), (1, Some(1)));

    let mut forgotten = Forgotten::default();
    forgotten.add_host("dead.test");
    forgotten.add_url(&url("a.test/i"));
    let opening = stage.state.reopen();
    let mut takedown = Takedown::new(&forgotten, opening.counters, opening.requisites);
    let mut rows = Vec::new();
    for (key, record) in stage.state.rows.urls.sorted() {
        takedown.take_url(key, record, &mut rows);
    }
    for (key, record) in stage.state.rows.hosts.sorted() {
        takedown.take_host(key, record, &mut rows);
    }
    takedown.finish(&mut rows);
    stage.state.commit(&mut rows);
    assert_eq!(sitemaps(&stage), Some(1));
    stage.reopen(Config { forgotten, ..config });
    assert_eq!(stage.run(), StopReason::Finished);
    let counters = stage.engine.counters();
    assert_eq!((counters.queued, stage.engine.requisites().waiting), (0, 0));
    assert_eq!((counters.refused[Refusal::Forgotten as usize], counters.admitted), (2, 2));
}
