//! Runs on the directory of an earlier one: with other rules, or after failures.

use crate::scripted::{Scripted, html, not_found};

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
