//! What must hold for whatever lies on disk or is put there: WARC files and their index.
//!
//! The targets are warc, cdxj and packed; `crates/archive/tests/archive/mutated.rs` runs
//! them on seeded mutations under `cargo test`.

use rhumb_archive::{Capture, Packer, Record, RecordContent, RecordReader, lookup, repair};
use rhumb_page::url::Url;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// As we name the first file of a crawl.
const FILE: &str = "rhumb-20260101000000000-00001-x.warc.gz";

thread_local! {
    static PLACE: TempDir = tempfile::tempdir().expect("a directory");
    static PACKER: RefCell<Packer> = RefCell::new(Packer::default());
}

fn write(name: &str, data: &[u8]) -> PathBuf {
    let path = PLACE.with(|place| place.path().join(name));
    fs::write(&path, data).expect("written");
    path
}

/// Any file is read record by record, each behind the one before and within the file; the second
/// way to read one gives the same; and what repair leaves is whole.
pub fn warc(data: &[u8]) {
    let path = write("any.warc.gz", data);
    let file = fs::File::open(&path).expect("opened");
    let mut end = 0;
    for record in RecordReader::open(&path).expect("opened").map_while(Result::ok) {
        assert_eq!(record.offset, end);
        end += record.length;
        assert!(record.length > 0 && end <= data.len() as u64);
        let again = Record::read_at(&path, &file, record.offset, record.length).expect("again");
        assert_eq!(again.block, record.block);
        let _ = (record.kind(), record.target(), record.http_head(), record.payload());
        assert!(record.http_head().len() + record.payload().len() == record.block.len());
    }
    repaired(&path, end);
}

/// A repair leaves the whole records, or says that there is more damage than a crash can do.
fn repaired(path: &Path, end: u64) {
    let dir = PLACE.with(|place| place.path().join("repaired"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("warc")).expect("made");
    let copy = dir.join("warc").join(FILE);
    fs::copy(path, &copy).expect("copied");
    if let Ok(Some(position)) = repair(&dir, None) {
        let left = fs::metadata(&copy).map_or(0, |meta| meta.len());
        assert_eq!((position.length, left), (end, end));
    }
}

/// Any lines can be searched, and those that are found are of that key.
pub fn cdxj(data: &[u8]) {
    let path = write("any.cdxj", data);
    let key = data.split(|byte| *byte == b' ' || *byte == b'\n').next().unwrap_or_default();
    let key = String::from_utf8_lossy(key);
    if let Ok(found) = lookup(&path, &key, 10) {
        assert!(found.iter().all(|entry| entry.surt == key));
    }
}

/// A response of any bytes is packed so that it can be read back to the byte, by our own encoder
/// and by a library's.
pub fn packed(data: &[u8]) {
    let url = Url::parse("http://a.test/").expect("a URL");
    let content = RecordContent::Http { request: b"GET / HTTP/1.1\r\n\r\n", response: data };
    let capture = Capture {
        protocol: None,
        resource_type: None,
        url: &url,
        fetched_us: 1_700_000_000_000_000,
        address: None,
        content,
        truncated: None,
        notes: &[],
    };
    let packed = PACKER.with_borrow_mut(|packer| packer.capture(&capture));
    let path = write("packed.warc.gz", &packed.bytes);
    let records: Vec<Record> = RecordReader::open(&path)
        .expect("opened")
        .collect::<Result<_, _>>()
        .expect("whole records");
    assert_eq!(records.len(), packed.records.len());
    assert_eq!(records[0].block, data);
}
