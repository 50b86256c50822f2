//! Pages with the bytes of another: their relative links lead elsewhere, and are followed.

use crate::scripted::{Scripted, html, not_found};
use serde_json::Value;

const PAGE: &str = "<a href='one'>1</a><a href='two'>2</a>";

fn pages(report: &Value) -> (u64, u64) {
    let number = |key: &str| report[key].as_u64().unwrap();
    (number("pages"), number("exact_duplicates"))
}

#[test]
fn two_hosts_with_the_same_front_page_are_both_crawled() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html(PAGE),
        "/one" | "/two" => html(format!("<p>{} {:?}</p>", asked.path, asked.header("host"))),
        _ => not_found(),
    });
    let other = site.also_at("127.0.0.2");
    let report = site.crawl(&[&other]);
    assert_eq!(pages(&report), (6, 1), "{report}");
    assert_eq!(site.asked(), ["/", "/", "/one", "/one", "/two", "/two"]);
}

#[test]
fn two_versions_of_a_manual_with_the_same_first_page_are_both_crawled() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<a href='/v1/'>1</a><a href='/v2/'>2</a><a href='/v3/'>3</a>"),
        "/v1/" | "/v2/" | "/v3/" => html(PAGE),
        path if path.starts_with("/v") => html(format!("<p>This is {path}</p>")),
        _ => not_found(),
    });
    let report = site.crawl(&[]);
    assert_eq!(pages(&report), (1 + 3 * 3, 2), "{report}");
}

#[test]
fn frames_of_the_same_frameset_in_two_directories_are_all_found() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<a href='/en/'>English</a><a href='/de/'>Deutsch</a>"),
        "/en/" | "/de/" => html("<frameset><frame src='menu'><frame src='text'></frameset>"),
        "/en/menu" | "/de/menu" => html(format!("<a href='more'>{}</a>", asked.path)),
        "/en/text" | "/de/text" | "/en/more" | "/de/more" => html(&asked.path),
        _ => not_found(),
    });
    let report = site.crawl(&[]);
    assert_eq!(pages(&report), (1 + 2 * 4, 1), "{report}");
}

/// Its relative links make ever longer paths, all answered with the same page.
#[test]
fn a_site_that_answers_every_path_with_one_page_comes_to_an_end() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => not_found(),
        _ => html("<a href='a/'>a</a><a href='b/'>b</a><a href='c/'>c</a>"),
    });
    let report = site.crawl(&["--max-pages", "1000", "--lift-traps", "pattern"]);
    assert_eq!(report["stopped_because"], "finished", "{report}");
    let (pages, copies) = pages(&report);
    // The first and 32 copies of it are followed, each to three more.
    assert_eq!((pages, copies), (1 + 33 * 3, 33 * 3), "{report}");
}
