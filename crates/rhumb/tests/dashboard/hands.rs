//! What viewers and the command line change of a crawl that runs, and who may.

use std::fs;
use std::thread;

use serde_json::Value;

use crate::site::{Crawl, Dashboard, Running, encoded, run};

/// Waits until the page says so, which it does within a second.
fn until(running: &Running, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
    loop {
        let value = running.dashboard.json(path);
        if holds(&value) {
            return value;
        }
        thread::yield_now();
    }
}

#[test]
fn a_crawl_is_paused_and_resumed_from_the_terminal_and_the_log_says_so() {
    let mut running = Running::start("1s", &[]);
    let dir = running.dir.to_str().unwrap().to_owned();
    assert_eq!(run(&["pause", &dir]).0, 0);
    let why = |now: &Value| now["why_nothing_is_fetched"].as_str().unwrap_or("").to_owned();
    let paused = until(&running, "/index.json", |now| why(now).contains("paused"));
    let again = until(&running, "/index.json", |now| now["seconds"] != paused["seconds"]);
    assert_eq!(again["pages"], paused["pages"], "nothing is fetched");
    assert_eq!(run(&["resume", &dir]).0, 0);
    until(&running, "/index.json", |now| now["pages"].as_u64() > paused["pages"].as_u64());
    let told: Vec<String> = running
        .dashboard
        .json("/hands.json")
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["what"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, ["pause", "resume"]);
    assert_eq!(run(&["stop", &dir]).0, 0);
    assert_eq!(running.wait(), Some(130));
    // At rest there is nothing to steer, and nothing is changed.
    let (code, said) = run(&["pause", &dir]);
    assert!(code == 1 && said.contains("no crawl runs on"), "{said}");
    assert_eq!(run(&["pause", "/nowhere"]).0, 1);
    assert_eq!(run(&["exclude", &dir]).0, 2);
}

#[test]
fn seeds_and_exclusions_are_obeyed_and_kept_for_later_runs() {
    let running = Running::start("1s", &[]);
    let dir = running.dir.to_str().unwrap().to_owned();
    let url = |path: &str| format!("/url.json?url={}", encoded(&(running.origin.clone() + path)));
    assert_eq!(run(&["exclude", &dir, "/copy$"]).0, 0);
    until(&running, &url("/copy"), |known| known["state"] == "refused");
    let (code, said) = run(&["exclude", &dir, "("]);
    assert!(code == 1 && said.contains("unclosed group"), "{said}");
    let seed = format!("{}/a?seed=1", running.origin);
    assert_eq!(run(&["seed", &dir, &seed]).0, 0);
    until(&running, &url("/a?seed=1"), |known| known["visits"].as_u64() > Some(0));
    let (code, said) = run(&["seed", &dir, "gopher://x"]);
    assert!(code == 1 && said.contains("is no seed"), "{said}");
    let kept = fs::read_to_string(running.dir.join("crawl.toml")).unwrap();
    assert!(kept.contains("/copy$") && kept.contains("/a?seed=1"), "{kept}");
    assert!(!kept.contains("gopher") && !kept.contains("\"(\""), "{kept}");
}

#[test]
fn a_page_is_fetched_on_demand_and_a_host_rests() {
    let running = Running::start("1h", &[]);
    let dir = running.dir.to_str().unwrap().to_owned();
    let page = format!("{}/a", running.origin);
    let path = format!("/url.json?url={}", encoded(&page));
    until(&running, &path, |known| known["visits"] == 1);
    assert_eq!(run(&["fetch-now", &dir, &page]).0, 0);
    let known = until(&running, &path, |known| known["visits"] == 2);
    assert_eq!(known["captures"].as_array().unwrap().len(), 2, "{known}");
    assert_eq!(run(&["rest", &dir, &running.origin, "3h"]).0, 0);
    let host = format!("/host.json?key={}", encoded(&running.origin));
    until(&running, &host, |host| host["known"]["not_before"].is_string());
    let (code, said) = run(&["rest", &dir, "other.example", "3h"]);
    assert!(code == 1 && said.contains("no host that this crawl knows"), "{said}");
    assert_eq!(run(&["rest", &dir, &running.origin, "99d"]).0, 1);
}

#[test]
fn forms_change_a_crawl_only_where_that_is_permitted_and_only_from_our_own_pages() {
    let running = Running::start("1s", &["--dashboard-control"]);
    let dashboard = &running.dashboard;
    let secret = dashboard.secret();
    let origin = format!("Origin: http://127.0.0.1:{}\r\n", dashboard.addr.port());
    let form = |secret: &str, rest: &str| format!("form={secret}&{rest}");
    let (status, _, body) = dashboard.post(&origin, &form(&secret, "hand=pause"));
    assert!(status == 200 && body.contains("no further request"), "{status} {body}");
    until(&running, "/index.json", |now| now["run"]["paused"] == true);
    let mistakes = [
        (origin.as_str(), form("0123456789abcdef0123456789abcdef", "hand=resume"), 403),
        ("", form(&secret, "hand=resume"), 403),
        ("Origin: http://evil.example\r\n", form(&secret, "hand=resume"), 403),
        ("Origin: null\r\n", form(&secret, "hand=resume"), 403),
        (origin.as_str(), form(&secret, "hand=burn"), 400),
        (origin.as_str(), form(&secret, "hand=rest&value=nowhere.example&minutes=9"), 400),
        (origin.as_str(), form(&secret, &"a".repeat(1 << 20)), 400),
    ];
    for (origin, form, expected) in mistakes {
        let (status, _, body) = dashboard.post(origin, &form);
        let is_refused = status == expected || (form.len() > 1000 && matches!(status, 413 | 0));
        assert!(is_refused, "{origin} {}: {status} {body}", &form[..form.len().min(90)]);
    }
    assert_eq!(dashboard.json("/index.json")["run"]["paused"], true, "still");
    let (status, ..) = dashboard.post(&origin, &form(&secret, "hand=resume"));
    assert_eq!(status, 200);
    until(&running, "/index.json", |now| now["run"]["paused"] == false);
    let tried = dashboard.get("/what-if?exclude=copy").2;
    assert!(tried.contains("Exclude these"), "{tried}");
    let crawl = Crawl::finished();
    let shows = Dashboard::of(&crawl.dir);
    assert!(!shows.get("/hands").2.contains("<button"), "no form without the right");
    let origin = format!("Origin: http://127.0.0.1:{}\r\n", shows.addr.port());
    let (status, _, body) = shows.post(&origin, "hand=pause");
    assert!(status == 403 && body.contains("--dashboard-control"), "{body}");
}
