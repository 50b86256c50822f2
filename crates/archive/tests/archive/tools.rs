//! What the archive tools of PyPI make of our files.

use std::path::{Path, PathBuf};
use std::process::Command;

use rhumb_archive::{Profile, RecordReader, Sha1Digest, WriterLimits, write_index};

use crate::captures::{
    every_kind, open, packed, records, resource, revisited, scratch, warc_paths,
};

#[test]
fn warcio_and_cdxj_indexer_accept_every_kind_of_capture() {
    let dir = scratch();
    write_every_kind(dir.path(), WriterLimits::default());
    let paths = warc_paths(dir.path());
    assert_eq!(paths.len(), 1);

    let check = run("warcio", &["check".as_ref(), "-v".as_ref(), paths[0].as_ref()]);
    let passed = check.matches("digest pass").count();
    let unchecked = check.matches("digest present but not checked (revisit)").count();
    assert_eq!(passed + unchecked, records(&paths[0]).len(), "{check}");
    assert_eq!(unchecked, 2 * every_kind().len());

    let theirs = run("cdxj-indexer", &["-s".as_ref(), paths[0].as_ref()]);
    let ours = std::fs::read_to_string(dir.path().join("index.cdxj")).unwrap();
    assert_eq!(ours, theirs);
    assert_eq!(ours.lines().count(), 3 * every_kind().len() + 1);
}

#[test]
fn an_archive_in_many_files_is_indexed_as_cdxj_indexer_does() {
    let dir = scratch();
    let limits = WriterLimits { file_bytes_max: 3000, buffer_bytes_max: 100 };
    write_every_kind(dir.path(), limits);
    let paths = warc_paths(dir.path());
    assert!(paths.len() > 10);
    let sizes = paths.iter().map(|path| path.metadata().unwrap().len());
    assert_eq!(sizes.filter(|size| *size > limits.file_bytes_max).count(), 1, "the binary one");
    for path in &paths {
        assert_eq!(records(path)[0].1, "warcinfo");
    }
    let check: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    run("warcio", &[&["check".as_ref()], check.as_slice()].concat());
    let theirs = run("cdxj-indexer", &["-s".as_ref(), dir.path().join("warc").as_ref()]);
    let ours = std::fs::read_to_string(dir.path().join("index.cdxj")).unwrap();
    assert_eq!(ours, theirs);
}

#[test]
fn blocks_are_kept_as_received() {
    let dir = scratch();
    write_every_kind(dir.path(), WriterLimits::default());
    let records =
        RecordReader::open(&warc_paths(dir.path())[0]).unwrap().map(|record| record.unwrap());
    let responses: Vec<_> = records.filter(|record| record.kind() == "response").collect();
    let pages = every_kind();
    assert_eq!(responses.len(), pages.len());
    for (page, response) in pages.iter().zip(&responses) {
        assert_eq!(response.target(), Some(page.url.as_str()));
        assert_eq!(response.block, page.response, "{}", page.url);
    }
}

#[test]
fn the_digest_of_a_chunked_body_without_its_framing_is_noted() {
    let dir = scratch();
    write_every_kind(dir.path(), WriterLimits::default());
    let records =
        RecordReader::open(&warc_paths(dir.path())[0]).unwrap().map(|record| record.unwrap());
    let noted: Vec<(String, String)> = records
        .filter(|record| record.kind() == "metadata")
        .filter_map(|record| {
            let fields = String::from_utf8(record.block.clone()).unwrap();
            let digest = fields.lines().find_map(|line| line.strip_prefix("entityDigest: "))?;
            Some((record.target()?.to_string(), digest.to_string()))
        })
        .collect();
    let digest = |bytes: &[u8]| Sha1Digest::of(bytes).to_string();
    assert!(noted.contains(&(
        "https://www.example.com/chunked?b=2&a=1".to_string(),
        digest(b"Hello, world")
    )));
    assert!(noted.contains(&("http://example.com/trailers".to_string(), digest(b"hi"))));
    assert_eq!(noted.len(), 3, "none for broken framing, bare bodies or revisits: {noted:?}");
}

fn write_every_kind(dir: &Path, limits: WriterLimits) {
    let mut writer = open(dir, limits);
    let pages = every_kind();
    let mut second = 0;
    for page in &pages {
        writer.append(&packed(page, second)).unwrap();
        second += 1;
    }
    for profile in [Profile::IdenticalPayload, Profile::NotModified] {
        for (index, page) in pages.iter().enumerate() {
            writer.append(&revisited(page, index as u64, second, profile)).unwrap();
            second += 1;
        }
    }
    writer.append(&resource("file:///etc/motd", "text/plain; a=b", b"hello\n", second)).unwrap();
    writer.sync().unwrap();
    drop(writer);
    write_index(dir, 1 << 20).unwrap();
}

/// Runs a tool of the workspace's Python environment, which must succeed; returns what it printed.
fn run(tool: &str, arguments: &[&Path]) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let made = Command::new(root.join("scripts/python-env")).status().unwrap();
    assert!(made.success(), "scripts/python-env cannot install warcio and cdxj-indexer");
    let output = Command::new(root.join(".venv/bin").join(tool)).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool}: {printed}{errors}");
    printed
}
