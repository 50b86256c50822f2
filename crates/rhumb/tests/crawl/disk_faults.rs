//! A disk that fails: each system call that changes files or their names fails in its turn, for
//! want of space or otherwise. Whatever a run makes of that, the next one goes on and loses
//! nothing.

use crate::scripted::{Asked, Scripted, answer, html, not_found};
use crate::site::{assert_tools_accept, report_of};
use crate::traced::can_trace;
use rhumb_archive::RecordReader;
use rhumb_engine::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PAGES: usize = 48;
/// So that three WARC files are begun.
const PAGE_BYTES: usize = 60_000;
/// Pages of the run before the one whose disk fails.
const PAGES_BEFORE: usize = 30;
/// What fails, and how.
const FAULTS: [(&str, &str); 11] = [
    ("write", "ENOSPC"),
    ("writev", "ENOSPC"),
    ("pwrite64", "ENOSPC"),
    ("fsync", "EIO"),
    ("fdatasync", "EIO"),
    ("openat", "ENOSPC"),
    ("mkdir", "ENOSPC"),
    ("rename", "ENOSPC"),
    ("renameat2", "ENOSPC"),
    ("ftruncate", "EIO"),
    ("unlink", "EIO"),
];
/// A run that hangs is a failure, too; nothing here takes a tenth of it.
const SECONDS_MAX: &str = "120";

/// Pages that no gzip makes smaller, each with a link to the next.
fn page(asked: &Asked) -> Vec<u8> {
    let number = match asked.path.as_str() {
        "/" => Some(0),
        path => path[1..].parse().ok(),
    };
    let Some(number) = number.filter(|number| *number < PAGES) else { return not_found() };
    if number == PAGES - 1 {
        return answer("200 OK", &[("Content-Type", "text/html")], "<p>The last one.");
    }
    let mut rng = Rng::new(number as u64);
    let noise: String = (0..PAGE_BYTES / 16).map(|_| format!("{:016x}", rng.draw())).collect();
    html(format!(
        "<a href=/{}>next</a> <a href=/{}>next but one</a> {noise}",
        number + 1,
        number + 2
    ))
}

struct Bed {
    site: Scripted,
    /// In memory, where the system has such a place: a test syncs thousands of times.
    scratch: tempfile::TempDir,
    config: PathBuf,
}

impl Bed {
    fn new() -> Bed {
        let memory = Path::new("/dev/shm");
        let scratch = match memory.is_dir() {
            true => tempfile::TempDir::new_in(memory).unwrap(),
            false => tempfile::TempDir::new().unwrap(),
        };
        let config = scratch.path().join("config.toml");
        std::fs::write(&config, "warc_bytes_max = \"1MB\"\nextract = true\n").unwrap();
        Bed { site: Scripted::serve(page), scratch, config }
    }

    fn crawl(&self, dir: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::binary::rhumb());
        command
            .args(["--quiet", "crawl", "--allow-private", "--json", "--delay", "0s"])
            .args(["--delay-factor", "0", "--config"])
            .arg(&self.config)
            .arg(self.site.url("/"))
            .arg("--dir")
            .arg(dir)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A directory whose crawl has not begun, or stopped half-way.
    fn base(&self, is_begun: bool) -> PathBuf {
        let dir = self.scratch.path().join(if is_begun { "begun" } else { "new" });
        if is_begun {
            let bound = PAGES_BEFORE.to_string();
            report_of(self.crawl(&dir, &["--max-pages", &bound]).spawn().unwrap());
        }
        dir
    }

    fn copied(&self, base: &Path) -> PathBuf {
        let dir = self.scratch.path().join("crawl");
        let _ = std::fs::remove_dir_all(&dir);
        if base.exists() {
            let copied = Command::new("cp").arg("-r").args([base, &dir]).status().unwrap();
            assert!(copied.success());
        }
        dir
    }

    /// A run under strace.
    fn traced(&self, dir: &Path, options: &[&str]) -> Output {
        let crawl = self.crawl(dir, &[]);
        let trace = self.scratch.path().join("trace");
        let calls: Vec<&str> = FAULTS.iter().map(|(call, _)| *call).collect();
        Command::new("timeout")
            .args([SECONDS_MAX, "strace", "-f", "-qq", "-s", "0", "-e", "signal=none"])
            .args(["-e", &format!("trace={}", calls.join(","))])
            .args(options)
            .arg("-o")
            .arg(trace)
            .arg(crawl.get_program())
            .args(crawl.get_args())
            .output()
            .unwrap()
    }

    /// How often each call was made, by the thread that made it most often: strace counts by
    /// thread.
    fn calls(&self) -> BTreeMap<String, usize> {
        let trace = std::fs::read_to_string(self.scratch.path().join("trace")).unwrap();
        let mut by_thread: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for line in trace.lines().filter(|line| !line.contains("resumed>")) {
            let words = line
                .split_once(' ')
                .and_then(|(thread, call)| Some((thread, call.trim_start().split_once('(')?.0)));
            *by_thread.entry(words.unwrap_or_default()).or_default() += 1;
        }
        let mut calls = BTreeMap::new();
        for ((_, call), count) in by_thread {
            let most: &mut usize = calls.entry(call.to_owned()).or_default();
            *most = count.max(*most);
        }
        calls
    }
}

/// The pages whose whole body is in the archive.
fn pages_in(dir: &Path) -> BTreeSet<usize> {
    let mut pages = BTreeSet::new();
    for entry in std::fs::read_dir(dir.join("warc")).unwrap() {
        for record in RecordReader::open(&entry.unwrap().path()).unwrap().map(Result::unwrap) {
            let path = record.target().and_then(|url| url.splitn(4, '/').nth(3)).unwrap_or("x");
            if record.kind() == "response" {
                pages.extend(if path.is_empty() { Some(0) } else { path.parse().ok() });
            }
        }
    }
    pages
}

/// Has one call fail, or with a plus all from one on, and runs again without faults.
fn fail_then_go_on(
    bed: &Bed,
    base: &Path,
    (call, error): (&str, &str),
    nth: &str,
) -> Result<(), String> {
    let dir = bed.copied(base);
    let inject = format!("inject={call}:error={error}:when={nth}");
    let failed = bed.traced(&dir, &["-e", &inject]);
    let said = String::from_utf8_lossy(&failed.stderr);
    match failed.status.code() {
        // 127 is the linker's, which could not open a library.
        Some(0 | 1 | 2 | 127) if !said.contains("panicked") => {}
        other => return Err(format!("{call} {nth}: ended with {other:?}: {said}")),
    }
    let again = bed.crawl(&dir, &[]).output().unwrap();
    let said_again = String::from_utf8_lossy(&again.stderr);
    if again.status.code() != Some(0) {
        return Err(format!("{call} {nth}: {said}then, without faults: {said_again}"));
    }
    let pages = pages_in(&dir);
    let lost: Vec<usize> = (0..PAGES).filter(|page| !pages.contains(page)).collect();
    if !lost.is_empty() {
        return Err(format!("{call} {nth}: lost {lost:?}; {said}"));
    }
    let report: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    if report["stopped_because"] != "finished" || report["queued"] != 0 {
        return Err(format!("{call} {nth}: {} is not the end", report["stopped_because"]));
    }
    Ok(())
}

/// Every fault of a run, or every so manieth of them from a random one on.
fn sweep(is_begun: bool, step: usize, seed: u64) {
    if !can_trace() {
        return;
    }
    let bed = Bed::new();
    let base = bed.base(is_begun);
    let dir = bed.copied(&base);
    let whole = bed.traced(&dir, &[]);
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    assert_tools_accept(&dir);
    let calls = bed.calls();
    let all = FAULTS.iter().flat_map(|fault| {
        let count = calls.get(fault.0).copied().unwrap_or(0);
        (1..=count).map(move |nth| (*fault, nth))
    });
    let first = (Rng::new(seed).draw() % step as u64) as usize;
    let some: Vec<_> = all.skip(first).step_by(step).collect();
    println!("{} of {calls:?}", some.len());
    let failed: Vec<String> = some
        .into_iter()
        .filter_map(|(fault, nth)| fail_then_go_on(&bed, &base, fault, &nth.to_string()).err())
        .collect();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    assert_tools_accept(&bed.scratch.path().join("crawl"));
}

/// Faults that a quick test leaves out between two that it tries.
const STEP: usize = 61;

#[test]
fn a_crawl_whose_disk_failed_when_it_began_goes_on() {
    sweep(false, STEP, 7);
}

#[test]
fn a_crawl_whose_disk_failed_when_it_went_on_goes_on() {
    sweep(true, STEP, 8);
}

#[test]
fn a_disk_that_stays_full_ends_the_run_and_the_next_one_with_room_loses_nothing() {
    if !can_trace() {
        return;
    }
    let bed = Bed::new();
    let base = bed.base(true);
    for nth in ["5+", "40+", "90+"] {
        fail_then_go_on(&bed, &base, ("write", "ENOSPC"), nth).unwrap();
    }
}

#[test]
#[ignore = "takes half an hour: each of some thousand calls fails in its turn"]
fn every_call_may_fail() {
    sweep(false, 1, 0);
    sweep(true, 1, 0);
}
