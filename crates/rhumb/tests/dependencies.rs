//! What others wrote and we ship: licences that go with ours, and no crate in two versions but for
//! those that are known.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licences that ask for nothing but to be named.
const LICENCES: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that our dependencies want in several versions. The list may only shrink: each costs
/// build time and size. Half of it came with SlateDB (docs/decisions/0053-slatedb.md): its settings
/// are read by an older `toml`, and several of the others are for systems that we do not build on.
const DOUBLES: [&str; 35] = [
    "bit-vec",
    "bitflags",
    "block-buffer",
    "core-foundation",
    "cpufeatures",
    "crypto-common",
    "digest",
    "foldhash",
    "getrandom",
    "hashbrown",
    "heck",
    "itertools",
    "md-5",
    "nom",
    "num-bigint",
    "quick-xml",
    "r-efi",
    "rand",
    "rand_core",
    "serde_spanned",
    "sha2",
    "spin",
    "syn",
    "synstructure",
    "thiserror",
    "thiserror-impl",
    "toml",
    "toml_datetime",
    "toml_edit",
    "windows-core",
    "windows-link",
    "windows-result",
    "windows-strings",
    "windows-sys",
    "winnow",
];

/// All crates that Cargo.lock pins.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Whether one of the alternatives of a licence expression asks for licences of the list alone.
/// Every expression in use is flat, or a choice joined with AND; `A/B` is an old way to say OR.
fn is_free(expression: &str) -> bool {
    let choices = expression.replace('/', " OR ");
    let known = |licence: &str| LICENCES.contains(&licence.trim());
    choices.split(" AND ").all(|part| part.trim_matches(['(', ')', ' ']).split(" OR ").any(known))
}

#[test]
fn every_licence_goes_with_ours() {
    let packages = packages();
    let wrong: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(is_free))
        .map(|package| {
            format!("{} {}: {}", package["name"], package["version"], package["license"])
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(packages.len() > 100, "only {} crates were looked at", packages.len());
    assert!(is_free("MIT/Apache-2.0") && is_free("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!is_free("AGPL-3.0") && !is_free("MIT AND GPL-2.0-only"));
}

#[test]
fn no_crate_is_built_in_two_versions_but_for_those_known() {
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for package in packages() {
        *versions.entry(package["name"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let doubles = versions.iter().filter(|(_, count)| **count > 1).map(|(name, _)| name.as_str());
    assert_eq!(doubles.collect::<BTreeSet<_>>(), DOUBLES.into_iter().collect());
}

#[test]
fn every_version_of_what_others_wrote_is_named_in_the_table_of_the_workspace() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut own = Vec::new();
    for room in std::fs::read_dir(root.join("crates")).unwrap() {
        let path = room.unwrap().path().join("Cargo.toml");
        let manifest: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let platforms = manifest.get("target").and_then(toml::Value::as_table);
        let of_platforms =
            platforms.iter().flat_map(|all| all.values()).filter_map(|t| t.as_table());
        for table in std::iter::once(&manifest).chain(of_platforms) {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let Some(wanted) = table.get(kind).and_then(toml::Value::as_table) else {
                    continue;
                };
                // Our own crates lie beside each other.
                let elsewhere = wanted.iter().filter(|(name, how)| {
                    how.get("workspace").is_none() && !name.starts_with("rhumb-")
                });
                own.extend(elsewhere.map(|(name, _)| format!("{}: {name}", path.display())));
            }
        }
    }
    assert!(own.is_empty(), "versions outside the table of the workspace: {own:#?}");
}
