//! Migrations that are cut short: the process is killed at one of its calls, or the disk is full
//! from one of them on. The next opening begins again, and every row is there.

use crate::binary;
use crate::fixture::{FORMATS, Fixture, INTERRUPTED};
use crate::strace::can_trace;
use rhumb_engine::record::UrlRecord;
use rhumb_engine::rng::Rng;
use rhumb_state::local::LocalReader;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// By which files and their names change.
const CALLS: [&str; 14] = [
    "write",
    "writev",
    "pwrite64",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "openat",
    "mkdir",
    "rename",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
];
/// Those that want room.
const FILLING: [&str; 6] = ["write", "writev", "pwrite64", "fallocate", "openat", "mkdir"];
/// Of one kind of call that is made more often than this, so many are drawn.
const DRAWN: usize = 2;
/// A run that hangs is a failure, too; nothing here takes a tenth of it.
const SECONDS_MAX: &str = "120";

/// A fixture, and a copy of it that a run migrates.
struct Bed {
    fixture: Fixture,
    /// In memory, where the system has such a place.
    scratch: tempfile::TempDir,
}

/// All that is known of URLs.
type UrlRows = BTreeMap<String, UrlRecord>;

impl Bed {
    fn new(format: u32) -> Bed {
        let memory = Path::new("/dev/shm");
        let scratch = match memory.is_dir() {
            true => tempfile::TempDir::new_in(memory).unwrap(),
            false => tempfile::TempDir::new().unwrap(),
        };
        Bed { fixture: Fixture::unpack(format, INTERRUPTED), scratch }
    }

    fn copied(&self) -> PathBuf {
        let dir = self.scratch.path().join("crawl");
        let _ = fs::remove_dir_all(&dir);
        let copied = Command::new("cp").arg("-r").args([&self.fixture.dir, &dir]).status();
        assert!(copied.unwrap().success());
        dir
    }

    /// `rhumb status`, which migrates, under strace.
    fn traced(&self, dir: &Path, options: &[&str]) -> Output {
        Command::new("timeout")
            .args([SECONDS_MAX, "strace", "-f", "-qq", "-s", "0", "-e", "signal=none"])
            .args(["-e", &format!("trace={}", CALLS.join(","))])
            .args(options)
            .arg("-o")
            .arg(self.trace())
            .arg(binary::rhumb())
            .args(["--quiet", "status", "--json"])
            .arg(dir)
            .output()
            .unwrap()
    }

    fn trace(&self) -> PathBuf {
        self.scratch.path().join("trace")
    }

    /// How often each call was made, by the thread that made it most often: strace counts by
    /// thread.
    fn calls(&self) -> BTreeMap<String, u64> {
        let trace = fs::read_to_string(self.trace()).unwrap();
        let mut by_thread: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for line in trace.lines().filter(|line| !line.contains("resumed>")) {
            let call = line
                .split_once(' ')
                .and_then(|(thread, call)| Some((thread, call.trim_start().split_once('(')?.0)));
            *by_thread.entry(call.unwrap_or_default()).or_default() += 1;
        }
        let mut calls = BTreeMap::new();
        for ((_, call), count) in by_thread {
            let most: &mut u64 = calls.entry(call.to_owned()).or_default();
            *most = count.max(*most);
        }
        calls
    }

    /// What a migration that nothing disturbs makes of it, and the calls that it takes.
    fn undisturbed(&self) -> (UrlRows, BTreeMap<String, u64>) {
        let dir = self.copied();
        let whole = self.traced(&dir, &[]);
        assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
        (rows(&dir), self.calls())
    }

    /// The next run, with nothing in its way.
    fn again(&self, dir: &Path, expected: &UrlRows, what: &str) {
        let again =
            Command::new(binary::rhumb()).args(["--quiet", "status", "--json"]).arg(dir).output();
        let again = again.unwrap();
        assert!(again.status.success(), "{what}: {}", String::from_utf8_lossy(&again.stderr));
        let status: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
        for count in ["pages", "bytes", "known_urls", "queued", "gone", "moved"] {
            assert_eq!(status[count], self.fixture.status[count], "{what}: {count}");
        }
        assert!(rows(dir) == *expected, "{what}: rows are missing, or others");
        let state = dir.join("state");
        let names = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name());
        let stores = names.filter(|name| name.to_string_lossy().starts_with("format-")).count();
        assert_eq!(stores, 1, "{what}: what was cut short is gone, and so is the old store");
    }
}

fn rows(dir: &Path) -> UrlRows {
    let reader = LocalReader::open(&dir.join("state")).unwrap();
    reader.urls().map(Result::unwrap).map(|(key, record)| (key.url().to_string(), record)).collect()
}

/// All calls of a kind, or some of many.
fn some(count: u64, rng: &mut Rng) -> Vec<u64> {
    match count {
        0..=2 => (1..=count).collect(),
        _ => (0..DRAWN).map(|_| 1 + rng.draw() % count).collect(),
    }
}

#[test]
fn a_migration_that_was_killed_begins_again_and_loses_nothing() {
    if !can_trace() {
        return;
    }
    let mut rng = Rng::new(19);
    for format in FORMATS {
        let bed = Bed::new(format);
        let (expected, calls) = bed.undisturbed();
        let (mut tried, mut killed) = (0, 0);
        for (call, count) in &calls {
            for nth in some(*count, &mut rng) {
                let dir = bed.copied();
                let kill = format!("inject={call}:signal=SIGKILL:when={nth}");
                let cut = bed.traced(&dir, &["-e", &kill]);
                (tried, killed) = (tried + 1, killed + usize::from(!cut.status.success()));
                bed.again(&dir, &expected, &format!("format {format}, killed at {call} {nth}"));
            }
        }
        // How often a thread makes a call differs a little from run to run.
        assert!(2 * killed >= tried, "{killed} of {tried} killed: {calls:?}");
    }
}

#[test]
fn a_migration_onto_a_full_disk_leaves_the_old_state_and_goes_on_when_there_is_room() {
    if !can_trace() {
        return;
    }
    let mut rng = Rng::new(23);
    for format in FORMATS {
        let bed = Bed::new(format);
        let (expected, calls) = bed.undisturbed();
        for (call, count) in calls.iter().filter(|(call, _)| FILLING.contains(&call.as_str())) {
            for nth in some(*count, &mut rng) {
                let dir = bed.copied();
                let what = format!("format {format}, full from {call} {nth} on");
                let full = format!("inject={call}:error=ENOSPC:when={nth}+");
                let failed = bed.traced(&dir, &["-e", &full]);
                let said = String::from_utf8_lossy(&failed.stderr);
                // 127 is the linker's, which could not open a library.
                let code = failed.status.code();
                assert!(matches!(code, Some(0 | 1 | 2 | 127)), "{what}: {code:?}: {said}");
                assert!(!said.contains("panicked"), "{what}: {said}");
                bed.again(&dir, &expected, &what);
            }
        }
    }
}
