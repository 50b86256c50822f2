//! `--events`: what happens, a line of JSON each.

use crate::scripted::{Asked, Scripted, answer, html, not_found};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A page of every fate; `/ill` fails for good, and at once.
fn site() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer("200 OK", &[], "User-agent: *\nDisallow: /private\n"),
        "/" => html(
            "<a href=/a>1</a><a href=/private>2</a><a href=/old>3</a><a href=/ill>4</a>\
             <a href=http://elsewhere.example/>5</a>",
        ),
        "/a" => html("<p>words of a</p><a href=/copy>1</a><a href=/lost>2</a>"),
        "/copy" => html("<p>words of a</p><a href=/copy>1</a><a href=/lost>2</a>"),
        "/old" => answer("301 Moved", &[("Location", "/a")], ""),
        "/ill" => answer("500 Ill", &[], ""),
        _ => not_found(),
    })
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// The line about a URL, without what the clock says.
fn about(lines: &[Value], event: &str, url: &str) -> Value {
    let mut found = lines.iter().filter(|line| line["event"] == event && line["url"] == url);
    let mut line =
        found.next().unwrap_or_else(|| panic!("no {event} of {url}: {lines:#?}")).clone();
    assert!(found.next().is_none(), "{event} of {url} is told twice: {lines:#?}");
    let fields = line.as_object_mut().unwrap();
    assert!(fields.remove("time").is_some_and(|time| time.as_str().unwrap().ends_with('Z')));
    for of_the_clock in ["took_ms", "bytes"] {
        fields.remove(of_the_clock);
    }
    line
}

#[test]
fn everything_that_happens_is_told_once_in_a_file_that_each_run_appends_to() {
    let site = site();
    let (file, config) = (site.dir.path().join("events.jsonl"), site.dir.path().join("retry.toml"));
    fs::write(&config, "[retry]\ntries_max = 1\n").unwrap();
    // As a run that was killed leaves it.
    fs::write(&file, "{\"event\":\"st").unwrap();
    let arguments = ["--events", file.to_str().unwrap(), "--config", config.to_str().unwrap()];
    let report = site.crawl(&arguments);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.strip_prefix("{\"event\":\"st\n").expect("a new line is begun")).unwrap();
    let told = lines(&file);
    let url = |path: &str| site.url(path);
    let fetched = |path: &str, kind: &str, status: u16| {
        let wanted = json!({"event": "fetched", "url": url(path), "kind": kind, "status": status});
        assert_eq!(about(&told, "fetched", &url(path)), wanted);
    };
    fetched("/", "page", 200);
    fetched("/a", "page", 200);
    fetched("/copy", "duplicate", 200);
    fetched("/lost", "gone", 404);
    let moved = about(&told, "fetched", &url("/old"));
    assert_eq!((&moved["kind"], &moved["to"]), (&json!("moved"), &json!(url("/a"))));
    let failed = about(&told, "failed", &url("/ill"));
    assert_eq!((&failed["kind"], &failed["status"]), (&json!("server_error"), &json!(500)));
    assert_eq!(failed["again"], Value::Null);
    assert_eq!(about(&told, "refused", &url("/private"))["why"], "robots");
    assert_eq!(about(&told, "refused", "http://elsewhere.example/")["why"], "scope");
    let robots = told.iter().find(|line| line["event"] == "robots").unwrap();
    assert_eq!((&robots["answer"], &robots["host"]), (&json!("rules"), &json!(url(""))));
    assert_eq!(told[0]["event"], "started");
    assert_eq!(told.last().unwrap()["reason"], report["stopped_because"]);

    site.crawl(&arguments);
    let both = lines(&file);
    assert_eq!(both[..told.len()], told);
    assert_eq!(both[told.len()]["event"], "started");
}

/// A crawl from the first page without a report on standard output.
fn without_json(site: &Scripted, arguments: &[&str]) -> Command {
    let usual = site.command(arguments);
    let mut command = Command::new(usual.get_program());
    command.args(usual.get_args().filter(|argument| *argument != "--json"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The second page is not answered before the first one's event was read.
#[test]
fn events_come_on_standard_output_while_the_crawl_runs() {
    const PATIENCE: Duration = Duration::from_secs(120);
    let (tell, told) = channel();
    let told = Mutex::new(told);
    let site = Scripted::serve(move |asked: &Asked| match asked.path.as_str() {
        "/" => html("<a href=/second>2</a>"),
        "/second" => match told.lock().unwrap().recv_timeout(PATIENCE) {
            Ok(()) => html("<p>second</p>"),
            Err(_) => not_found(),
        },
        _ => not_found(),
    });
    let mut child = without_json(&site, &["--events", "-"]).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut fetched = Vec::new();
    for line in lines {
        let line: Value = serde_json::from_str(&line).unwrap();
        if line["event"] == "fetched" && line["kind"] == "page" {
            fetched.push(line["url"].clone());
            let _ = tell.send(());
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(fetched, [json!(site.url("/")), json!(site.url("/second"))]);
}

#[test]
fn events_go_to_standard_output_if_asked() {
    let site = site();
    let output = without_json(&site, &["--events", "-", "--max-pages", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["reason"]), (&json!("stopped"), &json!("max_pages")));
}
