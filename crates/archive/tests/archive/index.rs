//! `index.cdxj` over several runs, and without anything but the WARC files.

use std::fs;
use std::path::Path;

use rhumb_archive::{RecordReader, WriterLimits, lookup, rebuild, write_index};

use crate::captures::{html, open, packed, scratch, warc_paths};

/// So little that every few lines are a run, and runs are merged in several passes.
const MEMORY_BYTES: usize = 1000;

#[test]
fn the_index_grows_over_runs_and_equals_one_rebuilt_from_warc_alone() {
    let dir = scratch();
    let limits = WriterLimits { file_bytes_max: 20_000, buffer_bytes_max: 5000 };
    for run in 0..4 {
        let mut writer = open(dir.path(), limits);
        for n in 0..100 {
            let page = html(&format!("http://h{}.com/{}", n % 7, n * 31 % 100), "same text");
            writer.append(&packed(&page, run * 100 + n)).unwrap();
        }
        writer.sync().unwrap();
        drop(writer);
        write_index(dir.path(), MEMORY_BYTES).unwrap();
        let lines = index_lines(dir.path());
        assert_eq!(lines.len() as u64, (run + 1) * 100);
        assert!(lines.is_sorted());
        let parts = fs::read_dir(dir.path().join("index")).unwrap().count();
        assert_eq!(parts, 1, "only the last file's part is left");
    }
    assert!(warc_paths(dir.path()).len() > 4);
    let written = index_lines(dir.path());
    rebuild(dir.path(), MEMORY_BYTES).unwrap();
    assert_eq!(index_lines(dir.path()), written);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    fs::remove_file(dir.path().join("index.cdxj")).unwrap();
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    assert_eq!(index_lines(dir.path()), written);
}

#[test]
fn a_capture_is_found_by_its_key_and_read_at_its_place() {
    let dir = scratch();
    let mut writer = open(dir.path(), WriterLimits { file_bytes_max: 5000, buffer_bytes_max: 100 });
    let pages: Vec<_> =
        (0..40).map(|n| html(&format!("http://a.com/{n}"), &format!("page {n}"))).collect();
    for (n, page) in pages.iter().enumerate() {
        let location = writer.append(&packed(page, n as u64)).unwrap();
        assert!(location.file >= 1 && location.offset > 0);
    }
    writer.sync().unwrap();
    drop(writer);
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    for page in &pages {
        let surt = page.url.surt();
        let found = lookup(&dir.path().join("index.cdxj"), surt.as_str(), 10).unwrap();
        assert_eq!(found.len(), 1);
        let warc = dir.path().join("warc").join(&found[0].filename);
        let record =
            RecordReader::open_at(&warc, found[0].offset).unwrap().next().unwrap().unwrap();
        assert_eq!(record.length, found[0].length);
        assert_eq!(record.block, page.response);
    }
}

#[test]
fn an_empty_crawl_has_an_empty_index() {
    let dir = scratch();
    drop(open(dir.path(), WriterLimits::default()));
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    assert!(index_lines(dir.path()).is_empty());
}

fn index_lines(dir: &Path) -> Vec<String> {
    fs::read_to_string(dir.join("index.cdxj")).unwrap().lines().map(String::from).collect()
}

#[test]
fn files_that_are_full_are_sorted_while_the_crawl_goes_on_and_merged_when_they_are_many() {
    let dir = scratch();
    let mut writer = open(dir.path(), WriterLimits { file_bytes_max: 1000, buffer_bytes_max: 100 });
    for n in 0..600 {
        writer
            .append(&packed(&html(&format!("http://a.com/{}", n * 37 % 600), "text"), n))
            .unwrap();
    }
    let files = warc_paths(dir.path()).len() as u32;
    assert!(files > 300, "{files}");
    // All but the last file's lines are in segments, some of sixteen and of 256 files.
    wait_until(|| names(&dir.path().join("index"), "part").len() == 1);
    writer.sync().unwrap();
    drop(writer);
    let segments = names(&dir.path().join("index"), "sorted");
    assert!(segments.contains(&"00001-00256.sorted".to_string()), "{segments:?}");
    assert!(segments.len() <= 1 + 16 + 16, "{segments:?}");
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    let written = index_lines(dir.path());
    assert_eq!(written.len(), 600);
    assert!(written.is_sorted());
    assert_eq!(fs::read_dir(dir.path().join("index")).unwrap().count(), 1);
    rebuild(dir.path(), MEMORY_BYTES).unwrap();
    assert_eq!(index_lines(dir.path()), written);
}

#[test]
fn whatever_a_kill_leaves_of_parts_and_segments_the_index_is_whole() {
    let dir = scratch();
    let limits = WriterLimits { file_bytes_max: 1000, buffer_bytes_max: 100 };
    let mut writer = open(dir.path(), limits);
    for n in 0..80 {
        writer.append(&packed(&html(&format!("http://a.com/{n}"), "text"), n)).unwrap();
    }
    writer.sync().unwrap();
    let index = dir.path().join("index");
    wait_until(|| names(&index, "part").len() == 1);
    drop(writer);
    // Killed between a segment and the removal of what it was made of; and while writing others.
    let segments = names(&index, "sorted");
    fs::copy(index.join(&segments[0]), index.join("00003-00003.sorted")).unwrap();
    let lines = fs::read(index.join(&segments[0])).unwrap();
    fs::write(index.join("00040-00041.sorted.new"), &lines[..lines.len() / 2]).unwrap();
    fs::write(index.join("sort-000001.run"), &lines[..lines.len() / 3]).unwrap();
    let mut writer = open(dir.path(), limits);
    writer.append(&packed(&html("http://a.com/after", "text"), 99)).unwrap();
    writer.sync().unwrap();
    drop(writer);
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    let written = index_lines(dir.path());
    assert_eq!(written.len(), 81);
    rebuild(dir.path(), MEMORY_BYTES).unwrap();
    assert_eq!(index_lines(dir.path()), written);
}

/// Names of files that end so.
fn names(dir: &Path, end: &str) -> Vec<String> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let named = paths.filter(|path| path.extension().is_some_and(|other| other == end));
    let mut names: Vec<String> =
        named.map(|path| path.file_name().unwrap().to_str().unwrap().to_string()).collect();
    names.sort();
    names
}

/// Another thread gets there, or the test never ends.
fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}
