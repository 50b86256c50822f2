//! The guide: what it says of settings is made from their definitions, and its links lead
//! somewhere.

mod binary;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_configuration_reference_is_what_the_program_prints() {
    let output = Command::new(binary::rhumb()).args(["man", "--configuration"]).output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let path = root().join("docs/guide/configuration.md");
    let kept = fs::read_to_string(&path).unwrap();
    assert!(
        kept == printed,
        "docs/guide/configuration.md is old: make it anew with \
         cargo run --release -- man --configuration > docs/guide/configuration.md"
    );
}

#[test]
fn every_link_in_the_documentation_leads_to_a_file_of_ours_or_to_the_web() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    markdown_below(&root().join("docs"), &mut pages);
    let mut broken = Vec::new();
    let mut links = 0;
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap();
            if path.is_empty() || path.contains("://") || path.contains(' ') {
                continue;
            }
            links += 1;
            if !page.parent().unwrap().join(path).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(links >= 10, "only {links} links were found");
}

/// A name of a test has this many words at least; shorter ones in code quotes are settings.
const TEST_WORDS_MIN: usize = 6;

#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let text = fs::read_to_string(root().join("THREAT_MODEL.md")).unwrap();
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let quoted = text.split('`').skip(1).step_by(2).filter(|name| name.chars().all(is_word));
    let tests: Vec<&str> =
        quoted.filter(|name| name.split('_').count() >= TEST_WORDS_MIN).collect();
    assert!(tests.len() >= 30, "only {} tests are named", tests.len());
    let mut sources = String::new();
    rust_below(&root().join("crates"), &mut sources);
    let missing: Vec<&&str> =
        tests.iter().filter(|name| !sources.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn rust_below(dir: &Path, sources: &mut String) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_below(&path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            *sources += &fs::read_to_string(path).unwrap();
        }
    }
}

fn markdown_below(dir: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown_below(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}
