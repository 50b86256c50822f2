//! `index.cdxj` over several runs, and without anything but the WARC files.

use std::fs;
use std::path::Path;

use rhumb_archive::{Limits, Reader, lookup, rebuild, write_index};

use crate::captures::{html, open, packed, scratch, warc_paths};

/// So little that every few lines are a run, and runs are merged in several passes.
const MEMORY_BYTES: usize = 1000;

#[test]
fn the_index_grows_over_runs_and_equals_one_rebuilt_from_warc_alone() {
    let dir = scratch();
    let limits = Limits { file_bytes_max: 20_000, buffer_bytes_max: 5000 };
    for run in 0..4 {
        let mut writer = open(dir.path(), limits);
        for n in 0..100 {
            let page = html(&format!("http://h{}.com/{}", n % 7, n * 31 % 100), "same text");
            writer.append(&packed(&page, run * 100 + n)).unwrap();
        }
        writer.sync().unwrap();
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
    let mut writer = open(dir.path(), Limits { file_bytes_max: 5000, buffer_bytes_max: 100 });
    let pages: Vec<_> =
        (0..40).map(|n| html(&format!("http://a.com/{n}"), &format!("page {n}"))).collect();
    for (n, page) in pages.iter().enumerate() {
        let location = writer.append(&packed(page, n as u64)).unwrap();
        assert!(location.file >= 1 && location.offset > 0);
    }
    writer.sync().unwrap();
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    for page in &pages {
        let surt = page.url.surt();
        let found = lookup(&dir.path().join("index.cdxj"), surt.as_str(), 10).unwrap();
        assert_eq!(found.len(), 1);
        let warc = dir.path().join("warc").join(&found[0].filename);
        let record = Reader::open_at(&warc, found[0].offset).unwrap().next().unwrap().unwrap();
        assert_eq!(record.length, found[0].length);
        assert_eq!(record.block, page.response);
    }
}

#[test]
fn an_empty_crawl_has_an_empty_index() {
    let dir = scratch();
    drop(open(dir.path(), Limits::default()));
    write_index(dir.path(), MEMORY_BYTES).unwrap();
    assert!(index_lines(dir.path()).is_empty());
}

fn index_lines(dir: &Path) -> Vec<String> {
    fs::read_to_string(dir.join("index.cdxj")).unwrap().lines().map(String::from).collect()
}
