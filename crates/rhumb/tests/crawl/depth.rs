//! Depth is the shortest way from a seed, and a long honest chain is no trap.

use crate::scripted::{Scripted, html, not_found};
use std::sync::{Arc, Condvar, Mutex};

const CHAIN: usize = 700;

#[test]
fn a_chain_of_seven_hundred_next_links_is_followed_to_its_end() {
    let site = Scripted::serve(|asked| {
        match asked.path.trim_start_matches("/chapter/").parse::<usize>() {
            Ok(n) if n <= CHAIN => {
                html(format!("<p>Chapter {n}.<a href=/chapter/{}>next</a>", n + 1))
            }
            _ if asked.path == "/" => html("<p>A book.<a href=/chapter/1>begin</a>"),
            _ => not_found(),
        }
    });
    let report = site.crawl(&[]);
    assert_eq!((&report["pages"], &report["stopped_because"]), (&701.into(), &"finished".into()));
}

/// A long way to `/deep`, and a short one by a page of another host, which does not answer before
/// `/deep` was asked for.
fn two_ways() -> Scripted {
    let deep = Arc::new((Mutex::new(false), Condvar::new()));
    Scripted::serve(move |asked| {
        let host = asked.header("host").unwrap_or_default();
        let port = host.rsplit(':').next().unwrap_or_default();
        let (was_asked, told) = &*deep;
        match asked.path.as_str() {
            "/" if host.starts_with("127.0.0.1:") => html(format!(
                "<p>Two ways.<a href=/a>long</a><a href=http://127.0.0.2:{port}/late>short</a>"
            )),
            "/a" => html("<p>On.<a href=/b>b</a>"),
            "/b" => html("<p>On and on.<a href=/deep>deep</a>"),
            "/deep" => {
                *was_asked.lock().unwrap() = true;
                told.notify_all();
                html("<p>Deep.<a href=/deeper>deeper</a>")
            }
            "/late" => {
                let asked = was_asked.lock().unwrap();
                drop(told.wait_while(asked, |was_asked| !*was_asked).unwrap());
                html(format!("<p>Short.<a href=http://127.0.0.1:{port}/deep>deep</a>"))
            }
            "/deeper" => html("<p>Deeper."),
            _ => not_found(),
        }
    })
}

#[test]
fn what_was_too_deep_by_the_first_way_is_fetched_once_a_shorter_one_is_found() {
    let site = two_ways();
    site.also_at("127.0.0.2");
    let report = site.crawl(&["--max-depth", "3", "--scope", "any"]);
    assert_eq!(site.asked(), ["/", "/a", "/b", "/deep", "/deeper", "/late"]);
    assert_eq!(report["pages"], 6, "{report}");
}
