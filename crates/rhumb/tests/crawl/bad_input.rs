//! Nothing that a user, a disk or a server does is met with a panic, a hang or a shrug.

use crate::binary;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};

fn rhumb(arguments: &[&str]) -> Output {
    Command::new(binary::rhumb()).arg("--quiet").args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_seed_that_is_no_url_and_a_seeds_file_that_is_not_there_are_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = dir.path().join("crawl");
    for arguments in [
        &["crawl", "http://exa mple/", "--dir", text(&crawl)][..],
        &["crawl", "--seeds", "/nowhere/seeds.txt", "--dir", text(&crawl)][..],
        &["crawl", "--dir", text(&crawl)][..],
    ] {
        let output = rhumb(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stderr(&output).trim().lines().count(), 1, "{}", stderr(&output));
    }
    assert!(!crawl.exists(), "nothing was begun");
}

#[test]
fn a_directory_of_another_version_is_left_alone_with_a_word_on_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join("FORMAT"), "rhumb state 99\n").unwrap();
    let output = rhumb(&["crawl", "http://a.test/", "--dir", text(dir.path())]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("rhumb state 99"), "{}", stderr(&output));
}

#[test]
fn a_port_in_use_is_said_before_anything_is_fetched() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let crawl = dir.path().join("crawl");
    let output = rhumb(&["crawl", "http://a.test/", "--metrics", &address, "--dir", text(&crawl)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(&address), "{}", stderr(&output));
}

#[test]
fn private_addresses_are_refused_unless_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = dir.path().join("crawl");
    let output = rhumb(&["crawl", "http://127.0.0.1:9/", "--json", "--dir", text(&crawl)]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failing_hosts"][0]["kind"], "address_refused", "{report}");
    assert!(stderr(&output).contains("add --allow-private"), "{}", stderr(&output));
}

#[test]
fn a_robots_txt_and_a_body_without_end_are_cut_and_the_crawl_goes_on() {
    let server = endless();
    let dir = tempfile::tempdir().unwrap();
    let (crawl, config) = (dir.path().join("crawl"), dir.path().join("limits.toml"));
    fs::write(&config, "[limits]\nbody_bytes_max = \"1MB\"\n").unwrap();
    let seed = format!("http://{server}/");
    let output = rhumb(&[
        "crawl",
        &seed,
        "--json",
        "--allow-private",
        "--delay",
        "0s",
        "--delay-factor",
        "0",
        "--config",
        text(&config),
        "--dir",
        text(&crawl),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The root, and the page that it links to; /private is forbidden at the top of robots.txt.
    assert_eq!(report["pages"], 2, "{report}");
    assert_eq!(report["robots_denied"], 1, "{report}");
    assert!(report["bytes"].as_u64().unwrap() < 8_000_000, "{report}");
}

/// A server whose every answer goes on for ever after a useful beginning.
fn endless() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // The client hangs up when it has enough.
                let _ = answer_for_ever(stream);
            });
        }
    });
    address
}

fn answer_for_ever(mut stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let (kind, beginning, filler) = match first.contains("/robots.txt") {
        true => ("text/plain", "User-agent: *\nDisallow: /private\n", "# more\n"),
        false => ("text/html", "<a href=/next>n</a> <a href=/private>p</a>\n", "words and \n"),
    };
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{first}\n{beginning}")?;
    let filler = filler.repeat(1_000);
    loop {
        stream.write_all(filler.as_bytes())?;
    }
}

#[test]
fn what_a_robots_txt_says_to_terminals_is_not_passed_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("robots.txt");
    fs::write(&file, "User-agent: *\nDisallow: /a\u{1b}]0;owned\u{7} \u{9b}2J\n").unwrap();
    let arguments =
        ["robots", "--agent", "bot", "--file", text(&file), "/a%1B]0;owned%07%20%C2%9B2J"];
    let output = rhumb(&arguments);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.starts_with("denied") && shown.contains("line 2"), "{shown:?}");
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
}
