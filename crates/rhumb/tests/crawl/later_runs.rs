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

#[test]
fn a_filter_a_depth_and_a_budget_given_later_hold_for_what_waits() {
    for narrower in [["--exclude", "/p/"], ["--max-depth", "0"], ["--max-pages-per-host", "5"]] {
        let site = small_site(50);
        let cut = site.crawl(&["--max-pages", "5"]);
        assert_eq!((&cut["pages"], &cut["queued"]), (&5.into(), &46.into()), "{cut}");
        let narrow = site.crawl(&narrower);
        assert_eq!(narrow["stopped_because"], "finished", "{narrow}");
        assert_eq!((&narrow["pages"], &narrow["queued"]), (&5.into(), &0.into()), "{narrow}");
        assert_eq!(narrow["filtered"], 46, "{narrow}");
        assert_eq!(site.asked().len(), 5, "nothing was asked for in vain");
    }
}

#[test]
fn another_user_agent_obeys_its_own_rules_and_is_not_bound_by_the_last_ones() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer(
            "200 OK",
            &[("Content-Type", "text/plain")],
            "User-agent: first\nDisallow: /p/1\n\nUser-agent: second\nDisallow: /p/2\n",
        ),
        "/" => html(front_page(4)),
        path if path.starts_with("/p/") => html(format!("<p>{path}</p>")),
        _ => not_found(),
    });
    let first = site.crawl(&["--user-agent", "first/1.0", "--max-pages", "1"]);
    assert_eq!(first["robots_fetched"], 1, "{first}");
    let second = site.crawl(&["--user-agent", "second/1.0"]);
    assert_eq!(second["robots_denied"], 1, "{second}");
    assert_eq!(site.asked(), ["/", "/p/0", "/p/1", "/p/3"]);
    let third = site.crawl(&["--user-agent", "first/2.0"]);
    assert_eq!(third["robots_denied"], 0, "{third}");
    assert_eq!(site.asked(), ["/", "/p/0", "/p/1", "/p/2", "/p/3"]);
}
