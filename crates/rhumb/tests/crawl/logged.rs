//! Logs: `-v` tells changes of the crawl's state, `-vv` pages, `-vvv` steps of the loop.

use crate::scripted::{Scripted, html};
use std::process::{Command, Stdio};

/// What a crawl of two pages logs.
fn log_of(verbosity: &str) -> String {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<a href=/second>the second page</a>"),
        _ => html("<p>the end</p>"),
    });
    let output = Command::new(crate::binary::rhumb())
        .args(["crawl", verbosity, "--allow-private", "--delay", "0s", "--delay-factor", "0"])
        .arg(site.url("/"))
        .arg("--dir")
        .arg(site.crawl_dir())
        .env_remove("RHUMB_LOG")
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    log
}

#[test]
fn each_v_tells_more_changes_of_state_then_pages_then_steps() {
    let has = |log: &str, what: &str| log.lines().any(|line| line.contains(what));
    let levels = ["--verbose", "-vv", "-vvv"].map(log_of);
    for log in &levels {
        for change in ["INFO", "crawl opened", "WARC file begun", "crawl ended reason=\"finished\""]
        {
            assert!(has(log, change), "{change} is not in:\n{log}");
        }
    }
    let page = |log: &str| log.lines().any(|l| l.contains("DEBUG") && l.contains("/second"));
    assert_eq!(levels.each_ref().map(|log| page(log)), [false, true, true], "pages from -vv on");
    let step = |log: &str| has(log, "TRACE") && has(log, "commit");
    assert_eq!(levels.each_ref().map(|log| step(log)), [false, false, true], "steps with -vvv");
    assert!(!levels[0].contains("http://"), "URLs are never above debug:\n{}", levels[0]);
}
