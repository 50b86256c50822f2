//! Sitemaps over real sockets: under any name, in any form, and all that they list.

use crate::binary;
use crate::server::{Answer, HTML, Server};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Crawls a server's front page; the report and the directory's URLs of a state.
fn crawl(server: &Server, arguments: &[&str]) -> (Value, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", "--json", "--allow-private", "--scope", "host"])
        .args(["--delay", "0ms", "--delay-factor", "0", "--archive", "none"])
        .arg(format!("http://{}/", server.address))
        .arg("--dir")
        .arg(dir.path().join("crawl"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (serde_json::from_slice(&output.stdout).expect("--json prints one JSON value"), dir)
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn urlset(host: &str, paths: impl Iterator<Item = String>) -> String {
    let mut text = String::from("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
    paths.for_each(|path| write!(text, "<url><loc>http://{host}{path}</loc></url>").unwrap());
    text + "</urlset>"
}

/// A server that knows its own address, which its sitemaps have to name.
fn with_host(answer: impl Fn(&str, &str) -> Answer + Send + Sync + 'static) -> Server {
    let host = Arc::new(OnceLock::<String>::new());
    let own = Arc::clone(&host);
    let server = Server::start(move |path| answer(own.get().expect("set below"), path));
    host.set(server.address.to_string()).unwrap();
    server
}

#[test]
fn sitemaps_that_robots_txt_names_are_read_whatever_they_are_called() {
    let server = with_host(|host, path| match path {
        "/robots.txt" => {
            let names = ["index", "lines"].map(|name| format!("Sitemap: http://{host}/{name}\n"));
            Answer::ok("text/plain", names.concat())
        }
        "/index" => {
            let parts = ["packed", "plain"]
                .map(|part| format!("<sitemap><loc>http://{host}/{part}</loc></sitemap>"));
            let text = format!("<sitemapindex>{}</sitemapindex>", parts.concat());
            Answer::ok("application/octet-stream", text)
        }
        "/packed" => {
            let text = urlset(host, (0..3).map(|n| format!("/gz/{n}")));
            Answer::ok("application/octet-stream", gzipped(&text))
        }
        "/plain" => Answer::ok("text/plain", urlset(host, (0..3).map(|n| format!("/xml/{n}")))),
        "/lines" => Answer::ok("text/plain", format!("http://{host}/a\nhttp://{host}/b\n")),
        "/missing" => Answer::not_found(),
        path => Answer::ok(HTML, format!("<p>This is the page at {path}.")),
    });
    let (report, _dir) = crawl(&server, &[]);
    assert_eq!(report["pages"], 9, "the front page and eight that are listed: {report}");
    assert_eq!((&report["sitemaps"], &report["gone"]), (&4.into(), &0.into()));
    let requested = server.requested();
    let listed = requested.iter().position(|path| path == "/gz/0").unwrap();
    assert!(requested[..listed].iter().any(|path| path == "/lines"), "{requested:?}");
}

#[test]
fn fifty_thousand_pages_of_a_sitemap_that_nobody_names_are_all_known_and_a_404_is_nothing() {
    let server = with_host(|host, path| match path {
        "/sitemap.xml" => {
            let text = urlset(host, (0..50_000).map(|n| format!("/product/{n}")));
            Answer::ok("application/xml", text)
        }
        "/robots.txt" => Answer::not_found(),
        path => Answer::ok(HTML, format!("<p>This is the page at {path}.")),
    });
    let (report, _dir) = crawl(&server, &["--exclude", "/product/[1-9]"]);
    assert_eq!(report["known_urls"], 50_002, "{report}");
    assert_eq!((&report["pages"], &report["sitemaps"]), (&2.into(), &1.into()));
    assert_eq!(report["refused"]["filter"], 49_999);
    let tried = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tried);
    let bare = Server::start(move |path| match path {
        "/sitemap.xml" => {
            count.fetch_add(1, Ordering::SeqCst);
            Answer::not_found()
        }
        "/" => Answer::ok(HTML, "<p>There is nothing else here."),
        _ => Answer::not_found(),
    });
    let (report, dir) = crawl(&bare, &[]);
    assert_eq!(tried.load(Ordering::SeqCst), 1);
    assert_eq!((&report["pages"], &report["gone"]), (&1.into(), &0.into()));
    assert_eq!(report["failed"], serde_json::json!({}));
    let mut urls = Command::new(binary::rhumb());
    let urls = urls.args(["urls", "--state", "gone,failed"]).arg(dir.path().join("crawl"));
    assert_eq!(String::from_utf8(urls.output().unwrap().stdout).unwrap(), "");
}

#[test]
fn a_crawl_that_is_killed_reads_no_sitemap_twice_and_loses_none() {
    let server = with_host(|host, path| match path {
        "/robots.txt" => {
            let names = (0..30).map(|n| format!("Sitemap: http://{host}/map-{n}\n"));
            Answer::ok("text/plain", names.collect::<String>())
        }
        path if path.starts_with("/map-") => {
            Answer::ok("text/plain", urlset(host, (0..2).map(|n| format!("/of{path}/{n}"))))
        }
        path => Answer::ok(HTML, format!("<p>This is the page at {path}.")),
    });
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary::rhumb());
    command
        .args(["--quiet", "crawl", "--json", "--allow-private", "--scope", "host"])
        .args(["--delay", "10ms", "--delay-factor", "0"])
        .arg(format!("http://{}/", server.address))
        .arg("--dir")
        .arg(dir.path());
    let mut first = command.spawn().unwrap();
    while server.requested().len() < 20 {
        assert!(first.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let output = command.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["pages"], 61, "{report}");
    let requested = server.requested();
    let maps: Vec<&String> = requested.iter().filter(|path| path.starts_with("/map-")).collect();
    let distinct: BTreeSet<&String> = maps.iter().copied().collect();
    assert_eq!(distinct.len(), 30);
    assert!(maps.len() <= 31, "only what was in flight is asked for again: {maps:?}");
}
