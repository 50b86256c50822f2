//! Real documentation trees, as Debian packs them, behind a plain server: every file that links
//! reach is fetched once and kept, and nothing else. What links reach is read by `reachable.py`,
//! with none of our own code.

use crate::binary;
use crate::server::{Answer, HTML, Server};
use rhumb_archive::RecordReader;
use rhumb_page::url::Url;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Languages are directories of links to files of other languages: hundreds of pages are copies of
/// others, and their relative links lead to pages that nothing else links to.
#[test]
fn the_apache_manual_is_crawled_to_the_last_page() {
    crawl_to_the_last_page("apache");
}

#[test]
fn the_python_documentation_is_crawled_to_the_last_page() {
    crawl_to_the_last_page("python");
}

fn crawl_to_the_last_page(name: &str) {
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(tree) = rhumb_given::debian_docs(build, name) else { return };
    let reachable = reachable(&tree);
    assert!(reachable.len() > 500, "{} files of {name} are not a manual", reachable.len());
    let root = tree.clone();
    let server = Server::start(move |path| answer(&root, path));
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("crawl");
    let report = crawl(&format!("http://{}/", server.address), &dir, &[]);
    let requested = server.requested();
    let distinct: BTreeSet<&String> = requested.iter().collect();
    assert_eq!(distinct.len(), requested.len(), "no request is repeated");
    let served: BTreeSet<PathBuf> = requested.iter().filter_map(|path| file(&tree, path)).collect();
    let lost: Vec<&PathBuf> = reachable.difference(&served).collect();
    let some = &lost[..lost.len().min(9)];
    assert!(lost.is_empty(), "{} of {} files lost: {some:?} …", lost.len(), reachable.len());
    assert_eq!(served, reachable);
    assert_eq!(kept(&tree, &dir), reachable);
    assert_eq!((&report["stopped_because"], &report["queued"]), (&"finished".into(), &0.into()));
}

/// A crawl of a tree, with more arguments: its directory, which is removed with what comes along.
pub fn crawled(name: &str, arguments: &[&str]) -> Option<(PathBuf, tempfile::TempDir)> {
    let tree = rhumb_given::debian_docs(Path::new(env!("CARGO_TARGET_TMPDIR")), name)?;
    let server = Server::start(move |path| answer(&tree, path));
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("crawl");
    crawl(&format!("http://{}/", server.address), &dir, arguments);
    Some((dir, temporary))
}

fn reachable(tree: &Path) -> BTreeSet<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crawl/reachable.py");
    let output = Command::new("python3").arg(script).arg(tree).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(PathBuf::from).collect()
}

fn answer(tree: &Path, path: &str) -> Answer {
    if !path.ends_with('/') && tree.join(path.trim_start_matches('/')).is_dir() {
        return Answer::moved_to(&format!("{path}/"));
    }
    let Some(file) = file(tree, path) else { return Answer::not_found() };
    let content_type = match file.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => HTML,
        Some("txt" | "py") => "text/plain",
        _ => "application/octet-stream",
    };
    Answer::ok(content_type, fs::read(tree.join(file)).unwrap())
}

/// The file of a path as it is sent, from the root of the tree.
fn file(tree: &Path, path: &str) -> Option<PathBuf> {
    let path = decoded(path.split('?').next()?.trim_start_matches('/'))?;
    let index = if path.is_empty() || path.ends_with('/') { "index.html" } else { "" };
    let file = PathBuf::from(format!("{path}{index}"));
    tree.join(&file).is_file().then_some(file)
}

fn decoded(path: &str) -> Option<String> {
    let (plain, escaped) = path.split_once('%').unwrap_or((path, ""));
    let mut bytes = plain.as_bytes().to_vec();
    for part in escaped.split('%').filter(|part| !part.is_empty()) {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

fn crawl(seed: &str, dir: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", seed, "--scope", "host", "--allow-private", "--json"])
        .args(["--delay", "0s", "--delay-factor", "0", "--dir"])
        .arg(dir)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// Files with a response or a revisit record.
fn kept(tree: &Path, dir: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(dir.join("warc")).unwrap() {
        for record in RecordReader::open(&entry.unwrap().path()).unwrap() {
            let record = record.expect("a whole record");
            let url = record.target().and_then(|url| Url::parse(url).ok());
            if let (Some(url), "response" | "revisit") = (url, record.kind()) {
                files.extend(file(tree, url.path_and_query()));
            }
        }
    }
    files
}
