//! Cached copies: what was kept, without its scripts, from another origin; texts side by side; and
//! search.

use serde_json::Value;

use crate::site::{Crawl, Dashboard, encoded};

/// Where a path of the dashboard sends the viewer.
fn sent_to(dashboard: &Dashboard, path: &str) -> String {
    let (status, head, _) = dashboard.get(path);
    assert_eq!(status, 307, "{path}: {head}");
    let line = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    line.to_owned()
}

#[test]
fn a_copy_is_shown_from_another_origin_and_runs_nothing() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let place = sent_to(&dashboard, &format!("/copy/2026/{}/", crawl.origin));
    let copies = Dashboard::at(&place);
    assert_ne!(copies.addr, dashboard.addr);
    let (status, head, body) = copies.get(&format!("/copy/2026/{}/", crawl.origin));
    assert_eq!(status, 200, "{body}");
    assert!(
        head.contains("content-security-policy: sandbox allow-same-origin; default-src 'none'"),
        "{head}"
    );
    assert!(body.contains("Copy of <b>") && body.contains("/copy/20"), "{body}");
    assert!(body.contains(&format!("{}/a\"", crawl.origin)), "links lead to copies: {body}");
    assert!(!body.contains("<script"), "{body}");
    let status = |path: &str| copies.get(path).0;
    assert_eq!(status(&format!("/copy/2026/{}/nowhere", crawl.origin)), 404);
    assert_eq!(status("/copy/2026/javascript:alert(1)"), 404);
    assert_eq!(status("/"), 404);
    let port = copies.addr.port();
    let other = "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    assert_eq!(copies.ask(other).0, 421);
    assert_eq!(copies.ask(&format!("POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n")).0, 405);
    let url = dashboard.get(&format!("/url?url={}", encoded(&format!("{}/a", crawl.origin)))).2;
    assert!(url.contains("fetched (200) and kept") && url.contains("the copy"), "{url}");
}

#[test]
fn two_pages_are_held_against_each_other() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let pair = |a: &str, b: &str| {
        let of = |path: &str| encoded(&(crawl.origin.clone() + path));
        format!("?a={}&b={}", of(a), of(b))
    };
    let (status, _, body) = dashboard.get(&format!("/pair{}", pair("/a", "/near")));
    assert!(status == 200 && body.matches("<mark>").count() >= 2, "{body}");
    let told: Value = dashboard.json(&format!("/pair.json{}", pair("/a", "/near")));
    let alike = told["similarity"].as_f64().unwrap();
    assert!((0.5..1.0).contains(&alike), "{told}");
    assert_eq!(dashboard.json(&format!("/pair.json{}", pair("/a", "/a")))["similarity"], 1.0);
    assert_eq!(dashboard.get(&format!("/pair{}", pair("/a", "/nowhere"))).0, 404);
    assert_eq!(dashboard.get("/pair").0, 400);
}

#[test]
fn pages_are_searched_where_there_is_an_index_and_else_it_is_said_how_to_make_one() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let (status, _, body) = dashboard.get("/search?q=moon");
    assert!(status == 404 && body.contains("rhumb index"), "{body}");
    let crawl = Crawl::finished_with(&["--index"]);
    let dashboard = Dashboard::of(&crawl.dir);
    let (status, _, body) = dashboard.get("/search?q=moon");
    assert!(status == 200 && body.contains("drawn by the moon"), "{body}");
    assert!(body.contains(">copy</a>") && body.contains("nearly the same"), "{body}");
    let told = dashboard.json("/search.json?q=moon");
    assert!(told["results"][0]["omitted"].as_u64() > Some(0), "{told}");
    let nothing = dashboard.get("/search?q=%3Cnowherez%3E").2;
    assert!(nothing.contains("No page matches") && !nothing.contains("<nowherez"), "{nothing}");
}
