//! A crawl says why: what it could not do, and what to do about it.

use crate::binary;
use crate::scripted::{Scripted, html};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Output, Stdio};

/// A site without end.
fn endless() -> Scripted {
    Scripted::serve(|asked| {
        let number: u64 = asked.path[1..].parse().unwrap_or(0);
        html(format!("<p>page {number}</p> <a href=/{}>next</a>", number + 1))
    })
}

/// `rhumb crawl` as people run it, without waits.
fn start(site: &Scripted, arguments: &[&str]) -> Child {
    Command::new(binary::rhumb())
        .args(["crawl", "--allow-private", "--delay", "0s", "--delay-factor", "0"])
        .arg(site.url("/"))
        .arg("--dir")
        .arg(site.crawl_dir())
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_crawl_that_stops_at_a_limit_says_how_to_go_on() {
    let site = endless();
    let output = start(&site, &["--max-pages", "2"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let dir = site.crawl_dir().display().to_string();
    let wanted = format!("stopped at --max-pages; to go on: rhumb crawl --dir {dir}");
    assert_eq!(last_line(&output), wanted);
}

#[test]
fn a_crawl_that_is_interrupted_says_how_to_go_on() {
    let site = endless();
    let child = start(&site, &[]);
    while site.asked().is_empty() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let dir = site.crawl_dir().display().to_string();
    let wanted = format!("interrupted, nothing is lost; to go on: rhumb crawl --dir {dir}");
    assert_eq!(last_line(&output), wanted);
}
