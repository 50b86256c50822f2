//! The demo as a user runs it, on a small web.

mod binary;

use std::fs;
use std::process::Command;

use serde_json::Value;

#[test]
fn a_demo_finds_every_page_and_leaves_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let taken = dir.path().join("demo");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("letter"), "dear").unwrap();
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "demo", "--pages", "150", "--seed", "3", "--json", "--dir"])
        .arg(&taken)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let demo: Value = serde_json::from_slice(&output.stdout).expect(&stderr);
    let checks = demo["checks"].as_array().unwrap();
    assert!(checks.len() >= 6 && checks.iter().all(|check| check["holds"] == true), "{demo:#}");
    assert!(output.status.success(), "{stderr}");
    assert_eq!(demo["report"]["stopped_because"], "hosts_failing");
    assert_eq!(fs::read_to_string(taken.join("letter")).unwrap(), "dear");
    assert_eq!(fs::read_dir(&taken).unwrap().count(), 1, "what was there is left alone");
    let left = dir.path().join("demo-2");
    for file in ["report.json", "crawl.toml", "index.cdxj", "warc", "state"] {
        assert!(left.join(file).exists(), "{file}");
    }
}
