//! Where seeds lead.

use crate::scripted::{Asked, Scripted, answer, html, not_found};

/// The old host sends its first page to the new one, which has two.
fn moved(asked: &Asked, status: &str) -> Vec<u8> {
    let host = asked.header("host").unwrap_or_default();
    let port = host.rsplit(':').next().unwrap_or_default();
    let new = format!("http://127.0.0.2:{port}/");
    match (host.starts_with("127.0.0.2:"), asked.path.as_str()) {
        (false, "/") => answer(status, &[("Location", &new)], ""),
        (true, "/") => html("<p>The new place.<a href=/more>more</a>"),
        (true, "/more") => html("<p>More of it."),
        _ => not_found(),
    }
}

#[test]
fn the_scope_follows_a_seed_that_has_moved_for_good_and_no_other() {
    for (status, pages) in [("301 Moved Permanently", 2), ("302 Found", 0)] {
        let site = Scripted::serve(move |asked| moved(asked, status));
        site.also_at("127.0.0.2");
        let output = site.command(&["--scope", "host"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["pages"], pages, "{status}: {report}");
        assert_eq!(output.status.code(), Some(if pages > 0 { 0 } else { 1 }));
        assert_eq!(report["stopped_because"], "finished");
    }
}
