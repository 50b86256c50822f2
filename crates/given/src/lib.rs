//! Where are the data that tests are given? Large public data (graphs, page corpora, test suites)
//! lie beside the workspace, in `../shared/data`, and may be absent.
//!
//! A test without its data has shown nothing. With `CI=true` in the environment it fails; elsewhere
//! it is left out, and `scripts/test` names it at the end of the run.
//!
//! Only tests and benches may use this crate.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the file that collects a line for each test left out; `scripts/test` sets it.
const LEFT_OUT: &str = "RHUMB_TESTS_LEFT_OUT";

/// The path of given data (`graphs/expected.json`), if they are there.
///
/// # Panics
///
/// If they are absent and `CI` is `true`.
pub fn data(name: &str) -> Option<PathBuf> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = dir.join(name);
    if path.exists() {
        return Some(path);
    }
    absent(&format!("../shared/data/{name} is absent"));
    None
}

/// Reports that the test of this thread is left out for want of what `scripts/test` provides.
///
/// # Panics
///
/// If `CI` is `true`.
pub fn absent(reason: &str) {
    assert!(!is_ci(std::env::var("CI").ok().as_deref()), "{reason}, and CI=true requires it");
    left_out(reason);
}

/// Programs that serve the real web (`nginx`, `tinyproxy`, `microsocks`, `nghttpd`): those of the
/// system, or as Debian packs them, unpacked into a directory of the build. None if they cannot be
/// had.
pub fn debian_servers(build: &Path) -> Option<DebianServers> {
    let root = run_script("debian-servers", &build.join("debian-servers"))?;
    Some(DebianServers { root })
}

/// Where programs of Debian packages are.
pub struct DebianServers {
    root: PathBuf,
}

impl DebianServers {
    /// A program, with the libraries that it came with.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.root.join("bin").join(name));
        command.env("LD_LIBRARY_PATH", self.root.join("lib"));
        command
    }
}

/// A real tree of documentation (`apache`, `python`, `postgresql`, `git`) as Debian packs it,
/// unpacked into a directory of the build (`CARGO_TARGET_TMPDIR`), if it can be had.
pub fn debian_docs(build: &Path, name: &str) -> Option<PathBuf> {
    Some(run_script("debian-docs", &build.join("debian-docs"))?.join(name))
}

/// Runs a script of ours that fills a directory.
fn run_script(name: &str, dir: &Path) -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(name);
    let output = Command::new("sh").arg(script).arg(dir).output();
    match output {
        Ok(output) if output.status.success() => Some(dir.to_owned()),
        Ok(output) => {
            left_out(String::from_utf8_lossy(&output.stderr).trim());
            None
        }
        Err(error) => {
            left_out(&format!("sh: {error}"));
            None
        }
    }
}

/// Reports that the test of this thread is left out: printed at once, and at the end of the run.
pub fn left_out(reason: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {reason}\n", thread.name().unwrap_or("a test"));
    print!("LEFT OUT {line}");
    if let Some(file) = std::env::var_os(LEFT_OUT) {
        append(Path::new(&file), &line);
    }
}

/// One write a line: tests of several processes append to the file at once.
fn append(file: &Path, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!("cannot append to {} ({LEFT_OUT}): {error}", file.display());
    }
}

fn is_ci(value: Option<&str>) -> bool {
    value == Some("true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_data_fail_a_test_only_where_ci_is_true() {
        assert!(is_ci(Some("true")));
        assert!(!is_ci(Some("false")) && !is_ci(Some("")) && !is_ci(None));
    }

    #[test]
    fn each_test_left_out_is_a_line_of_the_file() {
        let file = std::env::temp_dir().join(format!("rhumb-given-{}", std::process::id()));
        append(&file, "one: reason\n");
        append(&file, "two: reason\n");
        let lines = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(lines, "one: reason\ntwo: reason\n");
    }
}
