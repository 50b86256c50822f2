//! Every page in headless Chromium, with scripts and without: no error on the console, no report
//! of the content security policy, nothing wider than a phone.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::site::{Crawl, Dashboard, HOSTILE, PAGES, Running, encoded};

/// There is no Chromium.
const ABSENT: i32 = 3;

/// What the browser tells of each page, if there is one.
fn opened(arguments: &[&str], urls: &[String]) -> Option<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/browser.py");
    let output =
        Command::new("python3").arg(script).args(arguments).args(urls).output().expect("python3");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(ABSENT) {
        rhumb_given::absent(said.trim());
        return None;
    }
    assert!(output.status.success(), "{said}");
    let lines = String::from_utf8(output.stdout).expect("text");
    Some(lines.lines().map(|line| serde_json::from_str(line).expect("a row")).collect())
}

fn pages(crawl: &Crawl, dashboard: &Dashboard) -> Vec<String> {
    let at = |path: &str| format!("http://{}{path}", dashboard.addr);
    let of = |path: &str| encoded(&(crawl.origin.clone() + path));
    let one = [
        format!("/url?url={}", of(HOSTILE)),
        format!("/url?url={}", of("/a")),
        format!("/host?key={}", of("")),
        format!("/pair?a={}&b={}", of("/a"), of("/near")),
        "/search?q=moon".to_owned(),
        "/search?q=hostile".to_owned(),
        "/what-if?exclude=copy&delay=0.5".to_owned(),
        format!("/copy/2026/{}/a", crawl.origin),
        format!("/copy/2026/{}/script", crawl.origin),
    ];
    PAGES.iter().map(|path| at(path)).chain(one.iter().map(|path| at(path))).collect()
}

#[test]
fn every_page_is_clean_in_a_real_browser_with_scripts_and_without_and_on_a_phone() {
    let crawl = Crawl::finished_with(&["--index"]);
    let dashboard = Dashboard::of(&crawl.dir);
    let urls = pages(&crawl, &dashboard);
    let phone = ["--width", "390", "--height", "844"];
    for arguments in [&["--dark"][..], &["--no-scripts"], &phone] {
        let Some(told) = opened(arguments, &urls) else { return };
        assert_eq!(told.len(), urls.len());
        for page in told {
            assert_eq!(page["status"], 200, "{page}");
            let complaints = page["complaints"].as_array().expect("a list");
            // A picture that was not kept is missing, which is said.
            let is_ours = |said: &&Value| !said.to_string().contains("/missing.png");
            assert_eq!(complaints.iter().filter(is_ours).count(), 0, "{page}");
            assert_ne!(page["overflows"], true, "{arguments:?}: {page}");
            let url = page["url"].as_str().unwrap_or_default();
            let ran = page["text"].as_str().unwrap_or_default().contains("a script ran");
            assert!(!ran, "{url}: nothing of a stranger runs");
        }
    }
}

#[test]
fn the_script_moves_figures_and_says_when_the_crawl_is_paused() {
    let running = Running::start("1s", &["--dashboard-control"]);
    let page = [format!("http://{}/", running.dashboard.addr)];
    let moves = "document.querySelector('[data-live=state]').textContent.includes('in flight')";
    let Some(told) = opened(&["--until", moves], &page) else { return };
    assert_eq!(told[0]["complaints"], Value::Array(Vec::new()), "{}", told[0]);
    // A form is sent as a person does it.
    let hands = [format!("http://{}/hands", running.dashboard.addr)];
    let press = "form:has(input[value=pause]) button";
    assert!(opened(&["--press", press], &hands).is_some());
    while running.dashboard.json("/index.json")["run"]["paused"] != true {
        std::thread::yield_now();
    }
    let paused = "document.querySelector('[data-live=state]').textContent === 'paused'";
    let told = opened(&["--until", paused], &page).expect("it was there before");
    assert_eq!(told[0]["complaints"], Value::Array(Vec::new()), "{}", told[0]);
}
