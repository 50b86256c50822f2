//! `rhumb get`: pages to standard output, by the rules of a crawl.

use crate::binary;
use crate::scripted::{Scripted, answer, html};
use serde_json::Value;
use std::process::{Command, Output};

const ARTICLE: &str = "<html><head><title>On rivers</title></head><body>\
    <h1>On rivers</h1><p>A river begins where water gathers, and nobody has ever seen the place \
    twice.</p><p>It ends in the sea, or in a desert, or in another river, which is the usual \
    way.</p><p><a href=/b>The next page</a> tells of lakes.</p></body></html>";

fn served() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer("200 OK", &[], "User-agent: *\nDisallow: /private\n"),
        "/old" => answer("301 Moved Permanently", &[("Location", "/article")], ""),
        "/round" => answer("302 Found", &[("Location", "/round")], ""),
        "/article" => html(ARTICLE),
        "/away" => answer("302 Found", &[("Location", "/private/x")], ""),
        "/picture" => answer("200 OK", &[("Content-Type", "image/png")], "\u{1}png"),
        "/ill" => answer("500 Internal Server Error", &[], ""),
        _ => answer("404 Not Found", &[], ""),
    })
}

fn get(arguments: &[&str]) -> Output {
    Command::new(binary::rhumb())
        .args(["--quiet", "get", "--allow-private", "--delay", "0s", "--delay-factor", "0"])
        .args(["--proxy", "none"])
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn one_page_is_printed_in_each_format() {
    let site = served();
    let url = site.url("/article");
    let printed = |format: &str| {
        let output = get(&[&url, "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let markdown = text(&get(&[&url]).stdout);
    assert!(markdown.contains("A river begins where water gathers"), "{markdown}");
    assert!(markdown.contains("[The next page]("), "{markdown}");
    assert!(!printed("text").contains('<') && printed("text").contains("It ends in the sea"));
    assert_eq!(printed("html"), format!("{ARTICLE}\n"));
    let json: Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!((&json["title"], &json["status"]), (&"On rivers".into(), &200.into()), "{json}");
    assert_eq!((&json["url"], &json["id"]), (&url.as_str().into(), &url.as_str().into()));
    assert_eq!(json["links"], serde_json::json!([site.url("/b")]));
    let warc = printed("warc");
    assert!(warc.starts_with("WARC/1.1\r\n") && warc.contains("WARC-Type: request"), "{warc}");
    assert!(warc.contains(&format!("WARC-Target-URI: {url}")) && warc.contains(ARTICLE), "{warc}");
}

#[test]
fn many_pages_come_in_order_and_what_did_not_come_is_said_by_line() {
    let site = served();
    let elsewhere = site.also_at("127.0.0.2");
    let paths =
        ["/missing", "/old", "/private/a", "/away", "/round", "/ill", "/picture", "/article"];
    let mut urls: Vec<String> = paths.iter().map(|path| site.url(path)).collect();
    urls.push(format!("{elsewhere}article"));
    urls.push("http://127.0.0.1:1/".to_owned());
    let list = site.dir.path().join("urls.txt");
    std::fs::write(&list, urls.join("\n")).unwrap();
    let output = get(&["--seeds", list.to_str().unwrap(), "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let rows: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let titles: Vec<&str> = rows.iter().map(|row| row["title"].as_str().unwrap_or("")).collect();
    assert_eq!(titles, ["", "On rivers", "", "", "", "", "", "On rivers", "On rivers", ""]);
    assert_eq!(rows[1]["url"], site.url("/article").as_str(), "where it was in the end");
    let errors: Vec<&str> = rows.iter().map(|row| row["error"].as_str().unwrap_or("")).collect();
    for (row, wanted) in [
        (0, "the server says that it is not there (404)"),
        (2, "line 2 of its robots.txt forbids it: Disallow: /private"),
        (3, "/private/x: line 2 of its robots.txt forbids it"),
        (4, "its redirects lead in a circle"),
        (5, "the server failed (500)"),
        (6, "it is image/png, of which there is no text"),
        (9, "no connection; check that the server runs"),
    ] {
        assert!(errors[row].contains(wanted), "{row}: {:?}", errors[row]);
    }
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 7, "{said}");
    assert!(said.lines().all(|line| line.starts_with("rhumb: http://127.0.0.")), "{said}");
    let asked = site.asked();
    assert!(!asked.iter().any(|path| path.starts_with("/private")), "{asked:?}");
}

#[test]
fn the_rules_of_a_crawl_hold_here_too() {
    let site = served();
    let url = site.url("/article");
    let output = Command::new(binary::rhumb()).args(["--quiet", "get", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("its address is private"), "{}", text(&output.stderr));
    let own = get(&[&site.url("/private/a"), "--own-site", "127.0.0.1"]);
    assert!(text(&own.stderr).contains("not there (404)"), "{}", text(&own.stderr));
    for arguments in [&[][..], &["http://"], &[&url, "--format", "pdf"], &["ftp://a.org/"]] {
        assert_eq!(get(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
