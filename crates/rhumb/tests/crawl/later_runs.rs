//! Runs on the directory of an earlier one: with other rules, or after failures.

use crate::scripted::{Scripted, answer, html, not_found};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// A front page that links to so many pages, which link to nothing.
fn front_page(links: usize) -> String {
    (0..links).map(|n| format!("<a href='/p/{n}'>{n}</a>")).collect()
}

fn small_site(links: usize) -> Scripted {
    Scripted::serve(move |asked| match asked.path.as_str() {
        "/" => html(front_page(links)),
        path if path.starts_with("/p/") => html(format!("<p>{path}</p>")),
        _ => not_found(),
    })
}

#[test]
fn a_run_cut_short_does_not_forget_what_new_rules_admit() {
    let site = small_site(50);
    let narrow = site.crawl(&["--max-depth", "0"]);
    assert_eq!((&narrow["pages"], &narrow["filtered"]), (&1.into(), &50.into()), "{narrow}");
    // It has its page already, and stops before anything is judged by the new rules.
    let cut = site.crawl(&["--max-depth", "none", "--max-pages", "1"]);
    assert_eq!(cut["stopped_because"], "max_pages", "{cut}");
    let whole = site.crawl(&[]);
    assert_eq!((&whole["pages"], &whole["filtered"]), (&51.into(), &0.into()), "{whole}");
}

#[test]
fn what_failed_is_tried_again_by_the_next_run() {
    // Ill at the first request, and the second, and then well.
    let requests = AtomicU32::new(0);
    let site = Scripted::serve(move |asked| match asked.path.as_str() {
        "/" => html("<a href='/ill'>now and then</a>"),
        "/ill" if requests.fetch_add(1, Ordering::SeqCst) < 2 => answer("500 Oh", &[], ""),
        "/ill" => html("<a href='/below'>there</a>"),
        "/below" => html("<p>here</p>"),
        _ => not_found(),
    });
    let config = site.dir.path().join("retry.toml");
    fs::write(&config, "[retry]\ntries_max = 1\n").unwrap();
    let first = site.crawl(&["--config", config.to_str().unwrap()]);
    assert_eq!((&first["pages"], &first["failed"]["server_error"]), (&1.into(), &1.into()));
    let second = site.crawl(&[]);
    assert_eq!((&second["pages"], &second["failed"]["server_error"]), (&1.into(), &1.into()));
    let third = site.crawl(&["--retry-failed"]);
    assert_eq!((&third["pages"], third["failed"].as_object().unwrap().len()), (&3.into(), 0));
    assert_eq!(site.asked(), ["/", "/below", "/ill", "/ill", "/ill"]);
}
