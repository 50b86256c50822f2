//! Depth is the shortest way from a seed, and a long honest chain is no trap.

use crate::scripted::{Scripted, html, not_found};
use std::sync::{Arc, Mutex};

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

/// Of `/one` and `/other`, the one that is asked for first leads to `/deep` by a long way, and the
/// other by a short one. What was asked for, in order.
fn two_ways(order: Arc<Mutex<Vec<String>>>) -> Scripted {
    Scripted::serve(move |asked| {
        let mut order = order.lock().unwrap();
        let ends = ["/one", "/other"];
        let is_first = !order.iter().any(|path| ends.contains(&path.as_str()));
        order.push(asked.path.clone());
        match asked.path.as_str() {
            "/" => html("<p>Two ways.<a href=/one>one</a><a href=/other>other</a>"),
            "/one" | "/other" if is_first => html("<p>Long.<a href=/a>a</a>"),
            "/one" | "/other" => html("<p>Short.<a href=/deep>deep</a>"),
            "/a" => html("<p>On.<a href=/b>b</a>"),
            "/b" => html("<p>On and on.<a href=/deep>deep</a>"),
            "/deep" => html("<p>Deep.<a href=/deeper>deeper</a>"),
            "/deeper" => html("<p>Deeper."),
            _ => not_found(),
        }
    })
}

#[test]
fn what_was_too_deep_by_the_first_way_is_fetched_once_a_shorter_one_is_found() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let site = two_ways(Arc::clone(&order));
    let report = site.crawl(&["--max-depth", "4", "--order", "dfs"]);
    let order = order.lock().unwrap().clone();
    let at = |path: &str| order.iter().position(|asked| asked == path);
    let second = at("/one").max(at("/other"));
    assert!(at("/deep") < second, "the long way came first: {order:?}");
    assert!(at("/deeper") > second, "{order:?}");
    assert_eq!(report["pages"], 7, "{report}");
}
