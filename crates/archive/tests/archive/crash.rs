//! What a run leaves when it is cut off at any byte, and what the next one makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use rhumb_archive::{
    ArchiveErrorKind, RecordReader, WarcWriter, Warcinfo, WriterLimits, rebuild, write_index,
};

use crate::captures::{html, open, packed, records, scratch, warc_paths};

const MEMORY_BYTES: usize = 1 << 16;

#[test]
fn a_torn_tail_is_cut_back_to_the_last_whole_record_at_every_byte() {
    for with_part in [true, false] {
        let dir = scratch();
        let synced = write_captures(dir.path(), 2, 1);
        let warc = warc_paths(dir.path()).remove(0);
        let whole = fs::read(&warc).unwrap();
        let part = part_of(dir.path());
        let part_bytes = fs::read(&part).unwrap();
        let starts: Vec<usize> = records(&warc).iter().map(|(at, ..)| *at as usize).collect();
        assert_eq!(starts.len(), 1 + 3 * 3);
        let ends: Vec<usize> = starts.into_iter().chain([whole.len()]).collect();
        for cut in synced..=whole.len() {
            fs::write(&warc, &whole[..cut]).unwrap();
            if with_part {
                fs::write(&part, &part_bytes).unwrap();
            } else {
                fs::remove_file(&part).unwrap();
            }
            let mut writer = open(dir.path(), WriterLimits::default());
            let kept = ends.iter().copied().filter(|end| *end <= cut).max().unwrap();
            assert_eq!(fs::read(&warc).unwrap(), whole[..kept], "cut at {cut}");
            writer.append(&packed(&html("http://a.com/next", "next"), 9)).unwrap();
            writer.sync().unwrap();
            assert_index_is_that_of_the_warc(dir.path());
            fs::remove_file(dir.path().join("index.cdxj")).unwrap();
        }
    }
}

#[test]
fn a_part_torn_at_any_byte_is_completed_from_its_warc() {
    let dir = scratch();
    write_captures(dir.path(), 2, 0);
    let part = part_of(dir.path());
    let whole = fs::read(&part).unwrap();
    for cut in 0..=whole.len() {
        fs::write(&part, &whole[..cut]).unwrap();
        drop(open(dir.path(), WriterLimits::default()));
        assert_eq!(fs::read(&part).unwrap(), whole, "cut at {cut}");
    }
}

/// Parts are not synced while their file grows.
#[test]
fn a_part_in_which_a_power_cut_left_a_hole_is_made_again() {
    let dir = scratch();
    write_captures(dir.path(), 3, 0);
    let part = part_of(dir.path());
    let whole = fs::read(&part).unwrap();
    for at in (0..whole.len()).step_by(7) {
        for length in [1, 20, 512] {
            let mut holed = whole.clone();
            let end = whole.len().min(at + length);
            holed[at..end].fill(0);
            fs::write(&part, holed).unwrap();
            drop(open(dir.path(), WriterLimits::default()));
            assert_eq!(fs::read(&part).unwrap(), whole, "{length} bytes at {at}");
        }
    }
}

#[test]
fn a_part_that_contradicts_its_warc_is_made_again() {
    let dir = scratch();
    write_captures(dir.path(), 2, 0);
    let part = part_of(dir.path());
    let whole = fs::read_to_string(&part).unwrap();
    let last = whole.lines().last().unwrap();
    let wrong = [
        last.replace("\"offset\": \"", "\"offset\": \"1"),
        last.replace("\"length\": \"", "\"length\": \"1"),
        last.replace("http://a.com/", "http://b.com/"),
        "no line".to_string(),
    ];
    for line in wrong {
        fs::write(&part, format!("{line}\n")).unwrap();
        drop(open(dir.path(), WriterLimits::default()));
        assert_eq!(fs::read_to_string(&part).unwrap(), whole, "{line}");
    }
}

#[test]
fn zeros_behind_the_last_record_are_cut_as_a_power_loss_leaves_them() {
    let dir = scratch();
    write_captures(dir.path(), 2, 0);
    let warc = warc_paths(dir.path()).remove(0);
    let whole = fs::read(&warc).unwrap();
    fs::write(&warc, [whole.as_slice(), &[0; 5000]].concat()).unwrap();
    drop(open(dir.path(), WriterLimits::default()));
    assert_eq!(fs::read(&warc).unwrap(), whole);
}

#[test]
fn a_file_begun_but_never_written_is_used() {
    let dir = scratch();
    drop(open(dir.path(), WriterLimits::default()));
    fs::write(dir.path().join("warc/rhumb-20251115210700-00007-test.warc.gz"), b"").unwrap();
    let mut writer = open(dir.path(), WriterLimits::default());
    let location = writer.append(&packed(&html("http://a.com/", "first"), 0)).unwrap();
    assert_eq!(location.file, 7);
    writer.sync().unwrap();
    let kinds: Vec<String> = records(&warc_paths(dir.path())[0]).into_iter().map(|r| r.1).collect();
    assert_eq!(kinds, ["warcinfo", "response", "request", "metadata"]);
}

#[test]
fn damage_before_whole_records_is_named_and_not_cut_away() {
    let dir = scratch();
    write_captures(dir.path(), 3, 0);
    let warc = warc_paths(dir.path()).remove(0);
    let (damaged, ..) = records(&warc)[4];
    let mut bytes = fs::read(&warc).unwrap();
    bytes[damaged as usize + 40] ^= 0x55;
    fs::write(&warc, &bytes).unwrap();
    fs::remove_file(part_of(dir.path())).unwrap();

    let error = WarcWriter::open(dir.path(), Warcinfo::default(), WriterLimits::default(), None)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ArchiveErrorKind::Corrupt);
    assert_eq!((error.file(), error.offset()), (warc.as_path(), Some(damaged)));
    assert!(error.to_string().contains(&format!("at byte {damaged}")), "{error}");
    assert_eq!(fs::read(&warc).unwrap(), bytes);

    let read: Vec<_> = RecordReader::open(&warc).unwrap().collect();
    assert_eq!(read.iter().filter(|record| record.is_ok()).count(), 4);
    assert_eq!(read.len(), 5, "reading ends at the damage");
}

/// Appends and syncs some captures, then flushes others; returns how long the synced file was.
fn write_captures(dir: &Path, synced: u64, flushed: u64) -> usize {
    let mut writer = open(dir, WriterLimits::default());
    let append = |writer: &mut WarcWriter, n: u64| {
        let page = html(&format!("http://a.com/{n}"), &format!("page {n} "));
        writer.append(&packed(&page, n)).unwrap();
    };
    (0..synced).for_each(|n| append(&mut writer, n));
    writer.sync().unwrap();
    let length = writer.position().unwrap().length as usize;
    (synced..synced + flushed).for_each(|n| append(&mut writer, n));
    writer.flush().unwrap();
    length
}

fn part_of(dir: &Path) -> PathBuf {
    let mut paths = fs::read_dir(dir.join("index")).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|end| end == "part")).unwrap()
}

fn assert_index_is_that_of_the_warc(dir: &Path) {
    write_index(dir, MEMORY_BYTES).unwrap();
    let written = fs::read(dir.join("index.cdxj")).unwrap();
    rebuild(dir, MEMORY_BYTES).unwrap();
    assert_eq!(written, fs::read(dir.join("index.cdxj")).unwrap());
}
