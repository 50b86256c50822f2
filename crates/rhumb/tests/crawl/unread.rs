//! Outputs that nobody can read: a full disk, a pipe whose reader left. No verb panics, a crawl
//! goes on to its end, and the exit code tells what standard output did not take.

use crate::binary;
use crate::scripted::{Scripted, html, not_found};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

const PANICKED: i32 = 101;
const FAILED: i32 = 1;

/// Where nothing can be written to.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

/// A pipe whose reader has left.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn site() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<p>one</p><a href=/two>two</a><a href=/ill>ill</a>"),
        "/two" => html("<p>two</p>"),
        _ => not_found(),
    })
}

fn code(mut command: Command) -> i32 {
    command.stdin(Stdio::null()).status().unwrap().code().expect("not ended by a signal")
}

/// The verbs that end by themselves, on a crawl that is there.
fn verbs(dir: &Path) -> Vec<Command> {
    let dir = dir.to_str().unwrap();
    let page = Path::new(dir).with_file_name("page.html");
    std::fs::write(&page, "<p>Some words about nothing.</p>").unwrap();
    let robots = Path::new(dir).with_file_name("robots.txt");
    std::fs::write(&robots, "User-agent: *\nDisallow: /a\n").unwrap();
    let (page, robots) = (page.to_str().unwrap(), robots.to_str().unwrap());
    let all: &[&[&str]] = &[
        &["--help"],
        &["--version"],
        &["crawl", "--help"],
        &["status", dir],
        &["status", dir, "--json"],
        &["urls", dir],
        &["coverage", dir],
        &["extract", page],
        &["robots", "--agent", "bot", "--file", robots, "http://a.test/a"],
        &["dedup", dir, "--json"],
        &["completions", "bash"],
        &["man"],
        &["sim", "run", "--seed", "1"],
        // Wrong usage, and a job that fails.
        &["crawl", "--no-such-flag"],
        &["status", "/no/such/crawl"],
    ];
    let command = |arguments: &&[&str]| {
        let mut command = Command::new(binary::rhumb());
        command.args(*arguments);
        command
    };
    all.iter().map(command).collect()
}

#[test]
fn no_verb_panics_where_its_output_cannot_be_written() {
    let site = site();
    site.crawl(&[]);
    for (number, usual) in verbs(&site.crawl_dir()).into_iter().enumerate() {
        let verb = format!("{:?}", usual.get_args().collect::<Vec<_>>());
        let again = |out: Stdio, err: Stdio| {
            let mut command = verbs(&site.crawl_dir()).swap_remove(number);
            command.stdout(out).stderr(err);
            code(command)
        };
        let usual = again(Stdio::null(), Stdio::null());
        assert_ne!(usual, PANICKED, "{verb}");
        // A full disk under the answer is a failure, unless there was another one before.
        let failed = if usual == 0 { FAILED } else { usual };
        assert_eq!(again(full(), Stdio::null()), failed, "{verb}: standard output is full");
        assert_eq!(again(full(), full()), failed, "{verb}: both are full");
        // That a reader has seen enough is no failure.
        assert_eq!(again(closed(), closed()), usual, "{verb}: both are closed");
        assert_eq!(again(Stdio::null(), full()), usual, "{verb}: standard error is full");
    }
}

#[test]
fn a_crawl_goes_on_where_nobody_reads_what_it_says() {
    type Nobody = fn() -> Stdio;
    for nobody in [full as Nobody, closed] {
        let site = site();
        let mut command = Command::new(binary::rhumb());
        command
            .args(["-vvv", "crawl", "--allow-private", "--delay", "0s", "--delay-factor", "0"])
            .args(["--events", "-"])
            .arg(site.url("/"))
            .arg("--dir")
            .arg(site.crawl_dir())
            .stdout(nobody())
            .stderr(nobody());
        assert_eq!(code(command), 0);
        assert_eq!(site.asked(), ["/", "/ill", "/two"]);
        let report = std::fs::read(site.crawl_dir().join("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        assert_eq!((&report["pages"], &report["stopped_because"]), (&2.into(), &"finished".into()));
    }
}
