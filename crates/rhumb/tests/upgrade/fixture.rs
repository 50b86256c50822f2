//! The fixtures: how they were made, and how a test gets at them.

use crate::binary;
use crate::site::{LARGE, MAIN, Site, url};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the program that made a fixture said of it, in the fixture.
const STATUS: &str = "status.json";

/// The formats that have fixtures; the last is the one before this program's, and made anew by it.
pub const FORMATS: [u32; 2] = [9, 10];

/// A crawl that is killed in mid-crawl, in its second run.
pub const INTERRUPTED: &str = "interrupted";
/// One that goes on for ever, and has seen pages change.
pub const CONTINUOUS: &str = "continuous";

/// A fixture, unpacked.
pub struct Fixture {
    _temporary: tempfile::TempDir,
    pub dir: PathBuf,
    /// What its maker said of it.
    pub status: Value,
}

impl Fixture {
    pub fn unpack(format: u32, name: &str) -> Fixture {
        let temporary = tempfile::tempdir().unwrap();
        let packed = zstd::Decoder::new(File::open(packed(format, name)).unwrap()).unwrap();
        let mut tar = Command::new("tar")
            .args(["-x", "-C"])
            .arg(temporary.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("tar");
        std::io::copy(&mut { packed }, &mut tar.stdin.take().unwrap()).unwrap();
        assert!(tar.wait().unwrap().success());
        let dir = temporary.path().join("crawl");
        let status = serde_json::from_slice(&fs::read(dir.join(STATUS)).unwrap()).unwrap();
        Fixture { _temporary: temporary, dir, status }
    }

    /// `rhumb` with these arguments, and its directory.
    pub fn rhumb(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary::rhumb());
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        match arguments.contains(&"crawl") {
            true => command.arg("--dir").arg(&self.dir),
            false => command.arg(&self.dir),
        };
        command
    }
}

fn packed(format: u32, name: &str) -> PathBuf {
    let file = format!("tests/fixtures/format-{format}-{name}.tar.zst");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Run by `tests/fixtures/make`, with a program of the format before this one.
#[test]
#[ignore = "fixtures are made once, with an old program"]
fn make_fixtures() {
    let version = Arc::new(AtomicUsize::new(0));
    let site = Site::serve(Arc::clone(&version));
    make(INTERRUPTED, |dir| {
        let first = crawl(dir, &["--max-pages", "25"]).status().unwrap();
        assert!(first.success());
        let until = site.answers() + 50;
        let mut second = crawl(dir, &[]).spawn().unwrap();
        while site.answers() < until {
            assert!(second.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        second.kill().unwrap();
        second.wait().unwrap();
    });
    make(CONTINUOUS, |dir| {
        let often = ["--continuous", "--budget", "20000000/day", "--archive", "none"];
        for _ in 0..2 {
            assert!(crawl(dir, &often).args(["--max-time", "2s"]).status().unwrap().success());
            version.fetch_add(1, Ordering::Relaxed);
        }
    });
}

fn crawl(dir: &Path, arguments: &[&str]) -> Command {
    let config = dir.with_file_name("config.toml");
    fs::write(&config, "[retry]\nwait_min = \"20ms\"\ntries_max = 2\n").unwrap();
    let mut command = Command::new(binary::rhumb());
    command
        .args(["--quiet", "crawl", "--scope", "host", "--allow-private", "--exclude", "/filtered/"])
        .args(["--delay", "5ms", "--delay-factor", "0", "--max-depth", "8"])
        .args(["--max-pages-per-host", "100", "--max-redirects", "3", "--config"])
        .arg(config)
        .args([url(MAIN, "/"), url(LARGE, "/")])
        .arg("--dir")
        .arg(dir)
        .args(arguments);
    command
}

/// Packs what `fill` left in a directory, with what its maker says of it.
fn make(name: &str, fill: impl FnOnce(&Path)) {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("crawl");
    fill(&dir);
    // Of a copy: to look at a store moves its journal into its tables.
    let copy = temporary.path().join("copy");
    assert!(Command::new("cp").arg("-r").args([&dir, &copy]).status().unwrap().success());
    let status = Command::new(binary::rhumb()).args(["status", "--json"]).arg(&copy).output();
    fs::write(dir.join(STATUS), status.unwrap().stdout).unwrap();
    let tar = Command::new("tar")
        .args(["-c", "--sort=name", "--owner=0", "--group=0", "--sparse", "-C"])
        .arg(temporary.path())
        .arg("crawl")
        .output()
        .expect("tar");
    assert!(tar.status.success(), "{}", String::from_utf8_lossy(&tar.stderr));
    let [.., newest] = FORMATS;
    fs::write(packed(newest, name), zstd::encode_all(&tar.stdout[..], 19).unwrap()).unwrap();
}
