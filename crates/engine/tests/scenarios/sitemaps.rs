//! Sitemaps: fetched before pages and outside the order, bounded, and never a page.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::admit::{Reach, SITEMAP_HOPS_MAX, Scope};
use rhumb_engine::config::{Config, Order, Sitemaps};
use rhumb_engine::event::StopReason;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal, Role};

pub fn sitemap(pages: &[&str], further: &[&str]) -> [Reply; 1] {
    let urls = |texts: &[&str]| texts.iter().map(|text| url(text)).collect();
    [Reply::Sitemap(urls(pages), urls(further))]
}

/// A crawl of the site a.test.
fn of_site() -> Config {
    let mut scope = Scope::new(Reach::Host);
    scope.add(&url("a.test/"));
    Config { scope, ..Config::default() }
}

#[test]
fn a_sitemap_is_read_before_any_page_whatever_its_name_and_is_no_page() {
    let config = Config { pages_max: Some(3), ..of_site() };
    let mut stage = Stage::new(config)
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/list\n")])
        .answers("a.test/list", &sitemap(&["a.test/p", "a.test/q"], &[]))
        .page("a.test/", &[])
        .page("a.test/p", &[])
        .page("a.test/q", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Pages);
    let pages = stage.pages();
    let list = pages.iter().position(|page| *page == "a.test/list").expect("the sitemap");
    assert!(list <= 1, "the seed at most was known before it: {pages:?}");
    assert_eq!(pages.len(), 4, "three pages and the sitemap: {pages:?}");
    let counters = stage.engine.counters();
    assert_eq!((counters.pages, counters.sitemaps, counters.listed), (3, 1, 2));
    let record = stage.record("a.test/list");
    assert_eq!((record.role, record.status), (Role::Sitemap, RecordStatus::Fetched));
}

#[test]
fn a_crawl_of_few_pages_fetches_its_seeds_before_what_a_sitemap_lists() {
    let seeds = ["a.test/", "a.test/second", "a.test/third"];
    for order in [Order::Settled, Order::RankMass, Order::Bfs] {
        let listed: Vec<String> = (0..50).map(|n| format!("a.test/listed/{n}")).collect();
        let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
        let mut stage = Stage::new(Config { pages_max: Some(3), order, ..of_site() })
            .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/list\n")])
            .answers("a.test/list", &sitemap(&listed, &[]));
        for page in seeds.iter().chain(&listed) {
            stage = stage.page(page, &[]);
        }
        let mut stage = stage.seed(&seeds);
        assert_eq!(stage.run(), StopReason::Pages);
        let mut pages: Vec<&str> = stage.pages();
        pages.retain(|page| *page != "a.test/list");
        pages.sort_unstable();
        assert_eq!(pages, seeds, "{order:?}");
    }
}

#[test]
fn what_sitemaps_list_moves_no_importance() {
    let bound = |sitemaps: bool| {
        let named = Sitemaps { named: sitemaps, tried: false, ..Sitemaps::default() };
        let mut stage = Stage::new(Config { sitemaps: named, pages_max: Some(2), ..of_site() })
            .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/list\n")])
            .answers("a.test/list", &sitemap(&["a.test/x", "a.test/y", "a.test/z"], &[]))
            .page("a.test/", &["a.test/p", "a.test/q"])
            .page("a.test/p", &["a.test/"])
            .page("a.test/q", &["a.test/"])
            .seed(&["a.test/"]);
        stage.run();
        stage.engine.mass().coverage().expect("a seed").bound
    };
    assert_eq!(bound(true).to_bits(), bound(false).to_bits());
}

#[test]
fn the_usual_sitemap_is_tried_where_none_is_named_and_its_absence_is_no_failure() {
    let mut stage = Stage::new(of_site()).page("a.test/", &[]).seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert!(stage.pages().contains(&"a.test/sitemap.xml"), "{:?}", stage.told());
    let counters = stage.engine.counters();
    assert_eq!((counters.pages, counters.gone, counters.sitemaps), (1, 0, 0));
    assert_eq!(counters.failed.iter().sum::<u64>(), 0);
    // A page in its place is no page either, and a redirect to the front page leads nowhere.
    for reply in [Reply::Links(vec![url("a.test/no")]), Reply::Moved(url("a.test/other"))] {
        let mut stage = Stage::new(of_site())
            .page("a.test/", &[])
            .answers("a.test/sitemap.xml", &[reply])
            .seed(&["a.test/"]);
        assert_eq!(stage.run(), StopReason::Finished);
        assert_eq!(stage.pages().len(), 2, "{:?}", stage.told());
        let counters = stage.engine.counters();
        assert_eq!((counters.pages, counters.moved, counters.gone), (1, 0, 0));
    }
    // Nor is it tried where nobody wants whole sites, or robots.txt forbids it.
    let anywhere = Stage::new(Config::default());
    let forbidden = Stage::new(of_site())
        .answers("a.test/robots.txt", &[Reply::Rules("User-agent: *\nDisallow: /sitemap\n")]);
    for stage in [anywhere, forbidden] {
        let mut stage = stage.page("a.test/", &[]).seed(&["a.test/"]);
        assert_eq!(stage.run(), StopReason::Finished);
        assert_eq!(stage.pages(), ["a.test/"]);
        assert_eq!(stage.engine.counters().refused, [0; Refusal::ALL.len()]);
    }
}

#[test]
fn a_tried_sitemap_that_moved_is_read_where_it_is() {
    let mut stage = Stage::new(of_site())
        .page("a.test/", &[])
        .answers("a.test/sitemap.xml", &[Reply::Moved(url("a.test/wp-sitemap.xml"))])
        .answers("a.test/wp-sitemap.xml", &sitemap(&["a.test/orphan"], &[]))
        .page("a.test/orphan", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/orphan").status, RecordStatus::Fetched);
    assert_eq!(stage.engine.counters().pages, 2);
}

/// One lost request must not cost a site all that its sitemap alone lists.
#[test]
fn a_tried_sitemap_that_fails_is_asked_for_again() {
    for failure in [Reply::Fails(FailKind::Closed), Reply::Fails(FailKind::Timeout)]
        .into_iter()
        .chain([500, 503, 429].map(Reply::Status))
    {
        let [list] = sitemap(&["a.test/orphan"], &[]);
        let what = format!("{failure:?}");
        let mut stage = Stage::new(of_site())
            .page("a.test/", &[])
            .answers("a.test/sitemap.xml", &[failure, list])
            .page("a.test/orphan", &[])
            .seed(&["a.test/"]);
        assert_eq!(stage.run(), StopReason::Finished, "{what}");
        assert_eq!(stage.record("a.test/orphan").status, RecordStatus::Fetched, "{what}");
        let record = stage.record("a.test/sitemap.xml");
        assert_eq!((record.status, record.past.visits), (RecordStatus::Fetched, 1), "{what}");
    }
}

#[test]
fn indexes_without_end_are_bounded_in_depth_and_number() {
    // Each names itself and two more of its kind.
    let limits = Sitemaps { per_host_max: 20, ..Sitemaps::default() };
    let mut stage = Stage::new(Config { sitemaps: limits, ..of_site() })
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/i1\n")])
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    for n in 1..200 {
        let own = format!("a.test/i{n}");
        let further = [own.clone(), format!("a.test/i{}", 2 * n), format!("a.test/i{}", 2 * n + 1)];
        let further: Vec<&str> = further.iter().map(String::as_str).collect();
        stage = stage.answers(&own, &sitemap(&[], &further));
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.engine.counters().sitemaps, 20);
    let refused = |stage: &Stage| stage.engine.counters().refused[Refusal::Sitemaps as usize];
    assert!(refused(&stage) > 0);
    // A chain.
    let mut stage = Stage::new(of_site())
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://a.test/c0\n")])
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    for n in 0..20 {
        let next = format!("a.test/c{}", n + 1);
        stage = stage.answers(&format!("a.test/c{n}"), &sitemap(&[], &[&next]));
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.engine.counters().sitemaps, u64::from(SITEMAP_HOPS_MAX) + 1);
    assert_eq!(refused(&stage), 1);
}

#[test]
fn a_robots_txt_may_name_a_sitemap_beyond_the_scope_and_only_what_is_within_is_fetched() {
    let mut stage = Stage::new(of_site())
        .answers("a.test/robots.txt", &[Reply::Rules("Sitemap: http://cdn.example/i\n")])
        .answers("cdn.example/robots.txt", &[Reply::Rules("Sitemap: http://cdn.example/own\n")])
        .answers("cdn.example/i", &sitemap(&[], &["cdn.example/s", "other.example/s"]))
        .answers("cdn.example/s", &sitemap(&["a.test/orphan", "cdn.example/page"], &[]))
        .page("a.test/", &[])
        .page("a.test/orphan", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/orphan").status, RecordStatus::Fetched);
    for outside in ["cdn.example/page", "other.example/s"] {
        assert_eq!(
            stage.record(outside).status,
            RecordStatus::Refused(Refusal::Scope),
            "{outside}"
        );
    }
    assert!(!stage.pages().contains(&"cdn.example/own"), "its own sitemaps are nothing to us");
}

#[test]
fn includes_do_not_speak_of_sitemaps_and_robots_txt_does() {
    let rules = |include: &str| rhumb_page::url::Rules::new(&[include.to_owned()], &[]).unwrap();
    let stage = |robots: &'static str| {
        let mut stage = Stage::new(Config { rules: rules("/p/"), ..of_site() })
            .answers("a.test/robots.txt", &[Reply::Rules(robots)])
            .answers("a.test/list", &sitemap(&["a.test/p/1", "a.test/q/1"], &[]))
            .page("a.test/", &[])
            .page("a.test/p/1", &[])
            .seed(&["a.test/"]);
        assert_eq!(stage.run(), StopReason::Finished);
        stage
    };
    let open = stage("Sitemap: http://a.test/list\n");
    assert_eq!(open.record("a.test/p/1").status, RecordStatus::Fetched);
    assert_eq!(open.record("a.test/q/1").status, RecordStatus::Refused(Refusal::Filter));
    let closed = stage("User-agent: *\nDisallow: /list\nSitemap: http://a.test/list\n");
    assert_eq!(closed.record("a.test/list").status, RecordStatus::Refused(Refusal::Robots));
}

/// A robots.txt, and an index, that name a hundred sitemaps of a site that has none.
#[test]
fn sitemaps_that_a_stranger_invents_cost_a_site_ten_requests_and_no_page() {
    let names: String = (0..100).map(|n| format!("Sitemap: http://a.test/s{n}\n")).collect();
    let names: &'static str = (names + "Sitemap: /index\n").leak();
    let invented: Vec<String> = (0..100).map(|n| format!("a.test/i{n}")).collect();
    let invented: Vec<&str> = invented.iter().map(String::as_str).collect();
    let pages: Vec<String> = (0..30).map(|n| format!("a.test/{n}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let mut stage = Stage::new(Config::default())
        .answers("evil.test/robots.txt", &[Reply::Rules(names)])
        .answers("evil.test/index", &sitemap(&[], &invented))
        .page("evil.test/", &[])
        .page("a.test/", &pages);
    stage = pages.iter().fold(stage, |stage, page| stage.page(page, &[]));
    let mut stage = stage.seed(&["a.test/", "evil.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let asked = stage.pages();
    assert!(asked.contains(&"evil.test/index"), "a path alone is of the host itself");
    let own: Vec<&&str> = asked.iter().filter(|page| page.starts_with("a.test/")).collect();
    let named = own.iter().filter(|page| page.starts_with("a.test/s")).count();
    assert_eq!(named, 10);
    // What the index names is asked for as pages are, in their order.
    let before = own.iter().position(|page| **page == "a.test/").unwrap();
    assert!(before <= 10, "{before} requests before its front page");
    assert!(pages.iter().all(|page| asked.contains(page)));
}
