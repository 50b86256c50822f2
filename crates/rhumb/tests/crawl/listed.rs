//! `rhumb urls`: every URL by its state, with the cause and the page that it was found on.

use crate::binary;
use crate::scripted::{Scripted, answer, html, not_found};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::process::{Command, Output};

/// One site with a page of every fate.
fn site() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer("200 OK", &[], "User-agent: *\nDisallow: /private\n"),
        "/" => html("<a href=/a>a</a> <a href=/private/b>b</a> <a href=/old>c</a>"),
        "/a" => html("<p>words of a</p> <a href=/lost>1</a> <a href=/copy>2</a> <a href=/x.zip>"),
        "/copy" => {
            html("<p>words of a</p> <a href=/lost>1</a> <a href=/copy>2</a> <a href=/x.zip>")
        }
        "/old" => answer("301 Moved", &[("Location", "/a")], ""),
        _ => not_found(),
    })
}

fn urls(site: &Scripted, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary::rhumb());
    command.arg("urls").arg(site.crawl_dir()).args(arguments).output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn every_url_is_listed_with_its_state_its_cause_and_the_page_it_was_found_on() {
    let site = site();
    site.crawl(&["--exclude", "zip"]);
    let at = |path: &str| site.url(path);
    let row = |state: &str, cause: &str, path: &str, found_on: &str| {
        let found_on = if found_on == "-" { "-".to_owned() } else { at(found_on) };
        format!("{state}\t{cause}\t{}\t{found_on}", at(path))
    };
    let all = [
        row("fetched", "-", "/", "-"),
        row("fetched", "-", "/a", "/"),
        row("duplicate", "same_bytes", "/copy", "/a"),
        row("gone", "http_404", "/lost", "/a"),
        row("moved", "http_301", "/old", "/"),
        row("refused", "robots", "/private/b", "/"),
        row("refused", "filter", "/x.zip", "/a"),
    ];
    assert_eq!(lines(&urls(&site, &[])), all);
    assert_eq!(lines(&urls(&site, &["--state", "gone,failed"])), all[3..4]);
    assert_eq!(lines(&urls(&site, &["--state", "refused"])), all[5..]);
    assert_eq!(lines(&urls(&site, &["--limit", "2"])), all[..2]);
    assert!(lines(&urls(&site, &["--host", "example.org"])).is_empty());
    assert_eq!(lines(&urls(&site, &["--host", "127.0.0.1"])), all);
    assert!(lines(&urls(&site, &["--state", "queued"])).is_empty());
}

#[test]
fn a_link_to_a_host_that_does_not_answer_is_in_the_report_of_broken_links() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dead = format!("http://{nobody}/page");
    let links = format!("<a href=/lost>1</a> <a href={dead}>2</a>");
    let site = Scripted::serve(move |asked| match asked.path.as_str() {
        "/" => html(&links),
        _ => not_found(),
    });
    let config = site.dir.path().join("impatient.toml");
    fs::write(&config, "[retry]\nwait_min = \"1ms\"\nwait_max = \"1ms\"\n").unwrap();
    let report = site.crawl(&["--scope", "any", "--config", config.to_str().unwrap()]);
    assert_eq!(report["stopped_because"], "hosts_failing", "{report}");
    let (root, lost) = (site.url("/"), site.url("/lost"));
    let mut wanted =
        [format!("failed\tconnect\t{dead}\t{root}"), format!("gone\thttp_404\t{lost}\t{root}")];
    let mut broken = lines(&urls(&site, &["--state", "gone,failed"]));
    wanted.sort();
    broken.sort();
    assert_eq!(broken, wanted);
    assert!(lines(&urls(&site, &["--state", "queued"])).is_empty());
    let mut status = Command::new(binary::rhumb());
    let status = status.arg("status").arg(site.crawl_dir()).args(["--url", &dead]);
    let text = String::from_utf8(status.output().unwrap().stdout).unwrap();
    assert!(text.contains("its host fails: no connection; the next run tries it again"), "{text}");
}

#[test]
fn urls_are_listed_as_json_lines_for_machines() {
    let site = site();
    site.crawl(&["--max-depth", "1"]);
    let listed = lines(&urls(&site, &["--json", "--state", "refused,moved"]));
    let rows: Vec<Value> = listed.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = |path: &str, state: &str, cause: &str, on: &str, depth: u16, status: Value| {
        json!({"url": site.url(path), "state": state, "cause": cause,
               "found_on": site.url(on), "depth": depth, "status": status})
    };
    let wanted = [
        row("/copy", "refused", "depth", "/a", 2, Value::Null),
        row("/lost", "refused", "depth", "/a", 2, Value::Null),
        row("/old", "moved", "http_301", "/", 1, json!(301)),
        row("/private/b", "refused", "robots", "/", 1, Value::Null),
        row("/x.zip", "refused", "archive", "/a", 2, Value::Null),
    ];
    assert_eq!(rows, wanted);
}
