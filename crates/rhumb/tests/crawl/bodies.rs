//! Bodies that are not what their heads announce.

use crate::extracted::{read_zst, rows};
use crate::manners::status_of;
use crate::scripted::{Scripted, answer, head, html, not_found};
use rhumb_archive::RecordReader;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

/// Enough to be read at once, with links at its beginning.
fn page(links: &str) -> String {
    format!("<title>Tides</title><p>{links}</p><p>{}</p>", "The sea rises and falls. ".repeat(40))
}

#[test]
fn a_page_shorter_than_announced_keeps_what_came_and_its_links() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => {
            let body = page("<a href=/a>1</a><a href=/b>2</a>");
            let length = (body.len() + 1_000).to_string();
            let headers = [("Content-Type", "text/html"), ("Content-Length", &length)];
            [head("200 OK", &headers), body.into_bytes()].concat()
        }
        "/a" => {
            let body = page("<a href=/c>3</a>");
            let headers = [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")];
            let size = format!("{:x}\r\n", body.len() + 1_000).into_bytes();
            [head("200 OK", &headers), size, body.into_bytes()].concat()
        }
        "/b" => [head("200 OK", &[("Content-Length", "100")]), Vec::new()].concat(),
        "/c" => html(page("the end")),
        _ => not_found(),
    });
    let config = site.dir.path().join("short.toml");
    fs::write(&config, "[retry]\nwait_min = \"10ms\"\nwait_max = \"20ms\"\n").unwrap();
    let report = site.crawl(&["--extract", "--config", config.to_str().unwrap()]);
    assert_eq!(report["pages"], 3, "{report}");
    // What comes as short as before is all there is; of /b nothing ever came.
    assert_eq!(site.asked(), ["/", "/", "/a", "/a", "/b", "/b", "/b", "/b", "/c"]);
    assert_eq!(report["failed"]["closed"], 1, "{report}");
    for (path, state, marks) in [
        ("/", "fetched", json!(["truncated"])),
        ("/a", "fetched", json!(["truncated"])),
        ("/b", "failed", json!([])),
        ("/c", "fetched", json!([])),
    ] {
        let status = status_of(&site, path);
        assert_eq!((&status["state"], &status["marks"]), (&json!(state), &marks), "{status}");
    }
    let rows = rows(&read_zst(&site.crawl_dir().join("extract.jsonl.zst")));
    let is_cut = |path: &str| {
        let row = rows.iter().find(|row| row["id"] == site.url(path)).expect(path);
        assert!(row["text"].as_str().unwrap().contains("The sea rises"), "{row}");
        row["oddities"] == json!(["the body was cut"])
    };
    assert_eq!(["/", "/a", "/c"].map(is_cut), [true, true, false]);
    let cut = truncations(&site);
    for path in ["/", "/a"] {
        assert_eq!(cut.get(&site.url(path)).map(String::as_str), Some("disconnect"), "{cut:?}");
    }
    assert!(!cut.contains_key(&site.url("/c")), "{cut:?}");
}

#[test]
fn links_of_pages_in_other_charsets_are_asked_for_as_browsers_ask() {
    let link = |path: &str, query: &[u8]| {
        [format!("<a href='{path}?q=").as_bytes(), query, b"'>x</a>"].concat()
    };
    let site = Scripted::serve(move |asked| {
        let page = |charset: &str, body: Vec<u8>| {
            let kind = format!("text/html; charset={charset}");
            answer("200 OK", &[("Content-Type", &kind)], body)
        };
        match asked.path.as_str() {
            "/" => {
                html("<a href=/euc>1</a><a href=/latin>2</a><a href=/gb>3</a><a href=/utf>4</a>")
            }
            "/euc" => page("euc-jp", link("/1", b"\xC6\xFC\xCB\xDC")),
            "/latin" => page("iso-8859-1", link("/2", b"caf\xE9&#1046;")),
            "/gb" => page("gb18030", link("/3", b"\xD6\xD0\xCE\xC4")),
            "/utf" => page("utf-8", link("/4", "caf\u{e9}".as_bytes())),
            _ => not_found(),
        }
    });
    site.crawl(&[]);
    let asked = site.asked();
    let asked: Vec<&str> = asked.iter().filter_map(|path| path.strip_prefix('/')).collect();
    assert_eq!(
        asked[1..5],
        ["1?q=%C6%FC%CB%DC", "2?q=caf%E9%26%231046%3B", "3?q=%D6%D0%CE%C4", "4?q=caf%C3%A9"]
    );
}

/// What WARC-Truncated says of pages, by URL.
fn truncations(site: &Scripted) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(site.crawl_dir().join("warc")).unwrap() {
        for record in RecordReader::open(&entry.unwrap().path()).unwrap() {
            let record = record.expect("a whole record");
            if let ("response", Some(why)) = (record.kind(), record.field("WARC-Truncated")) {
                found.insert(record.target().unwrap().to_owned(), why.to_owned());
            }
        }
    }
    found
}
