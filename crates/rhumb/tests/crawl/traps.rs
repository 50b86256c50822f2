//! Traps and junk over real sockets: each is bounded, named and explained, and can be lifted.

use crate::binary;
use crate::server::{Answer, HTML, Server};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

fn crawl(server: &Server, dir: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", "--json", "--allow-private", "--scope", "host"])
        .args(["--delay", "0ms", "--delay-factor", "0", "--archive", "none"])
        .arg(format!("http://{}/", server.address))
        .arg("--dir")
        .arg(dir)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one JSON value")
}

/// Words that no other page has.
fn words(page: usize) -> String {
    (0..60).fold(String::new(), |mut text, n| {
        let _ = write!(text, "{} ", ["ka", "lo", "mi", "ne", "su"][(page >> (n % 13)) % 5]);
        let _ = write!(text, "w{} ", (page * 31 + n * 17) % 997);
        text
    })
}

/// Twenty pages, each with a login that comes back to it; and a calendar without end.
fn site() -> Server {
    const MONTHS: [&str; 5] = ["January", "February", "March", "April", "May"];
    Server::start(|path| {
        let number = path.rsplit(['/', '=']).next().and_then(|n| n.parse::<usize>().ok());
        let login = format!("<a href=\"/user/login/?next={path}\">Log in</a>");
        match (path, number) {
            ("/robots.txt", _) => Answer::not_found(),
            ("/", _) => {
                let pages: String =
                    (0..20).map(|n| format!("<a href=/page-{n}/>{n}</a> ")).collect();
                Answer::ok(HTML, format!("{pages}<a href=/calendar?month=0>Calendar</a>{login}"))
            }
            (_, Some(month)) if path.starts_with("/calendar?") => {
                let (name, next) = (MONTHS[month % 5], month + 1);
                let text = format!("<h1>{name} {month}</h1><p>Nothing happens in this month.");
                Answer::ok(HTML, format!("{text}<a href=/calendar?month={next}>Next</a>{login}"))
            }
            _ if path.starts_with("/page-") => {
                let page = path.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
                Answer::ok(HTML, format!("<p>{}{login}", words(page)))
            }
            _ => Answer::ok(HTML, format!("<p>Please log in.{login}")),
        }
    })
}

#[test]
fn a_calendar_and_a_login_without_end_cost_a_bounded_number_of_requests_and_no_page() {
    let server = site();
    let dir = tempfile::tempdir().unwrap();
    let crawl_dir = dir.path().join("crawl");
    let report = crawl(&server, &crawl_dir, &[]);
    let requested = server.requested();
    for n in 0..20 {
        assert!(requested.contains(&format!("/page-{n}/")), "page {n}");
    }
    assert!(!requested.iter().any(|path| path.contains("login")), "{requested:?}");
    assert!(requested.len() < 100, "{} requests", requested.len());
    assert_eq!(report["refused"]["pattern"], 1, "{report}");
    assert!(report["refused"]["login"].as_u64() > Some(20), "{report}");
    // Each is listed with its rule, and explained.
    let rhumb = |arguments: &[&str]| {
        let output = Command::new(binary::rhumb()).args(arguments).arg(&crawl_dir).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let refused = rhumb(&["urls", "--state", "refused"]);
    let held = refused.lines().find(|line| line.contains("\tpattern\t")).expect("the calendar");
    let url = held.split('\t').nth(2).unwrap();
    let status = rhumb(&["status", "--url", url]);
    assert!(status.contains("pages like /calendar?month brought anything new"), "{status}");
    assert!(status.contains("--lift-traps pattern"), "{status}");
    // Lifted, it goes on; then it is most of what was fetched, and status says how to leave it out.
    let report = crawl(&server, &crawl_dir, &["--lift-traps", "pattern", "--max-pages", "300"]);
    assert_eq!(report["stopped_because"], "max_pages", "{report}");
    let status: Value = serde_json::from_str(&rhumb(&["status", "--json"])).unwrap();
    let most = &status["most_fetched"];
    assert_eq!(most["pattern"], "/calendar?month", "{status}");
    let exclude = most["exclude"].as_str().unwrap();
    let status = rhumb(&["status"]);
    assert!(status.contains(&format!("--exclude '{exclude}'")), "{status}");
    let report = crawl(&server, &crawl_dir, &["--lift-traps", "pattern", "--exclude", exclude]);
    assert_eq!(report["stopped_because"], "finished", "{report}");
    assert!(report["pages"].as_u64() < Some(310), "{report}");
}
