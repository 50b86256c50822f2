//! What was kept of a URL? Its captures, and what one of them holds.
//!
//! Captures are found in `index.cdxj`, which is whole at the end of a run. What came since is found
//! by reading the latest WARC files, a bounded part of them: whoever looks at a copy does not wait
//! for an index to be made.

mod capture;

pub use capture::{CopyCapture, KeptCopy};

use crate::extract::{ExtractBody, Wish};
use rhumb_archive::{CdxjEntry, Record, RecordReader, lookup, warc_files};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_page::robots::Directives;
use rhumb_page::url::Url;
use std::fs::File;
use std::path::Path;

const INDEX_FILE: &str = "index.cdxj";
/// Captures of one URL that are told.
pub const CAPTURES_MAX: usize = 1_000;
/// Bytes of WARC files that are read for captures which are not in the index: below a second.
const READ_BYTES_MAX: u64 = 64 << 20;
/// Revisits refer to a response; one that refers to a revisit was written by others.
const REFERENCES_MAX: usize = 3;
const WISH: Wish = Wish { keeps_all: false, markdown: false };

/// Captures of a URL, in the order of time.
pub fn captures(dir: &Path, url: &Url) -> Result<Vec<CopyCapture>, Error> {
    Ok(captures_of_each(dir, std::slice::from_ref(url))?.remove(0))
}

/// Captures of each of some URLs, in the order of time; what is not in the index is read once.
pub fn captures_of_each(dir: &Path, urls: &[Url]) -> Result<Vec<Vec<CopyCapture>>, Error> {
    let mut all: Vec<Vec<CopyCapture>> = Vec::with_capacity(urls.len());
    for url in urls {
        all.push(indexed(dir, url)?.iter().map(CopyCapture::of_entry).collect());
    }
    each_recent(dir, |record, file| {
        for (url, captures) in urls.iter().zip(&mut all) {
            if is_of(record, url) && captures.len() < CAPTURES_MAX {
                captures.extend(CopyCapture::of_record(record, file));
            }
        }
        all.iter().any(|captures| captures.len() < CAPTURES_MAX)
    })?;
    for captures in &mut all {
        captures.sort_by(|a, b| a.timestamp.cmp(&b.timestamp));
        captures.dedup_by(|a, b| a.timestamp == b.timestamp);
    }
    Ok(all)
}

/// The capture of a URL that is nearest to a time (digits of a year and what follows it, the last
/// if there are none), with its payload.
pub fn nearest(dir: &Path, url: &Url, time: &str) -> Result<Option<KeptCopy>, Error> {
    let (mut url, mut time) = (url.clone(), time.to_owned());
    for _ in 0..REFERENCES_MAX {
        let Some(record) = record_near(dir, &url, &time)? else { return Ok(None) };
        let refers = record.field("WARC-Refers-To-Target-URI").and_then(|at| Url::parse(at).ok());
        match refers.filter(|_| record.kind() == "revisit") {
            Some(at) => {
                let date = record.field("WARC-Refers-To-Date").unwrap_or_default();
                (url, time) = (at, digits(date));
            }
            None => return Ok(KeptCopy::of(&record)),
        }
    }
    Ok(None)
}

/// The main text of a URL's last capture.
pub fn text(dir: &Path, url: &Url) -> Result<Option<String>, Error> {
    let Some(copy) = nearest(dir, url, "")? else { return Ok(None) };
    let body = ExtractBody {
        url,
        fetched: "",
        content_type: copy.content_type.as_deref(),
        asks: Directives::default(),
        token: "",
        bytes: &copy.body,
        is_cut: false,
    };
    Ok(body.row(None, WISH).map(|row| row.text))
}

fn record_near(dir: &Path, url: &Url, time: &str) -> Result<Option<Record>, Error> {
    let mut best: Option<(u64, Record)> = None;
    let distance = |timestamp: &str| moment(timestamp).abs_diff(moment(time));
    if let Some(entry) = indexed(dir, url)?.into_iter().min_by_key(|e| distance(&e.timestamp)) {
        let path = dir.join("warc").join(&entry.filename);
        let file = File::open(&path).map_err(|error| {
            Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
        })?;
        let record =
            Record::read_at(&path, &file, entry.offset, entry.length).map_err(archive_error)?;
        best = Some((distance(&entry.timestamp), record));
    }
    each_recent(dir, |record, _| {
        let far = distance(&digits(record.field("WARC-Date").unwrap_or_default()));
        if is_of(record, url) && best.as_ref().is_none_or(|(least, _)| far < *least) {
            best = Some((far, record.clone()));
        }
        true
    })?;
    Ok(best.map(|(_, record)| record))
}

/// What the index has of a URL; nothing if there is none yet.
fn indexed(dir: &Path, url: &Url) -> Result<Vec<CdxjEntry>, Error> {
    let index = dir.join(INDEX_FILE);
    if !index.is_file() {
        return Ok(Vec::new());
    }
    let found = lookup(&index, url.surt().as_str(), CAPTURES_MAX).map_err(archive_error)?;
    Ok(found.into_iter().filter(|entry| entry.url == url.as_str()).collect())
}

/// Reads the records of WARC files that the index is older than, the latest files first; `take` is
/// told the file's name.
fn each_recent(dir: &Path, mut take: impl FnMut(&Record, &str) -> bool) -> Result<(), Error> {
    let written = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    let indexed = written(&dir.join(INDEX_FILE));
    let mut left = READ_BYTES_MAX;
    for (_, path) in warc_files(dir).map_err(archive_error)?.into_iter().rev() {
        let bytes = path.metadata().map_or(0, |data| data.len());
        if (indexed.is_some() && written(&path) <= indexed) || bytes > left {
            break;
        }
        left -= bytes;
        let Ok(records) = RecordReader::open(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The last record of a file that is being written may be torn.
        for record in records.map_while(Result::ok) {
            if !take(&record, &name) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn is_of(record: &Record, url: &Url) -> bool {
    let is_capture = matches!(record.kind(), "response" | "revisit" | "resource");
    is_capture && record.target() == Some(url.as_str())
}

/// 14 digits, as a CDXJ has them, of a date as WARC writes it.
fn digits(date: &str) -> String {
    date.chars().filter(char::is_ascii_digit).take(14).collect()
}

/// Fourteen digits as a number; the end of all times, if there are none.
fn moment(timestamp: &str) -> u64 {
    let digits: String = timestamp.chars().filter(char::is_ascii_digit).take(14).collect();
    match digits.is_empty() {
        true => u64::MAX,
        false => format!("{digits:0<14}").parse().unwrap_or(u64::MAX),
    }
}

fn archive_error(error: rhumb_archive::ArchiveError) -> Error {
    Error::new(ErrorKind::Corrupt, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_whatever_their_length() {
        assert_eq!(digits("2026-11-18T16:02:11.480Z"), "20261118160211");
        assert_eq!(moment("2026"), 20_260_000_000_000);
        assert!(
            moment("20261118160211").abs_diff(moment("2026")) < moment("").abs_diff(moment("2026"))
        );
    }
}
