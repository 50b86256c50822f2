//! What is read: JSON lines, a WARC file, or a crawl's directory, in portions for several threads.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rhumb_archive::{Reader, Record};

use crate::settings::open_input;

/// Bytes of a portion, roughly: much more than it costs to hand it over.
const PORTION_BYTES: usize = 1 << 20;
/// A line that is longer is skipped.
pub const LINE_BYTES_MAX: usize = 1 << 30;
/// Records of a portion: many records are small and are no pages.
const RECORDS_MAX: usize = 256;

/// Something to work on, in the order of its number.
pub struct Portion {
    pub number: u64,
    pub raw: Raw,
    /// What could not be read before it.
    pub problems: Vec<String>,
}

pub enum Raw {
    /// Whole lines; the number of the first, from 1.
    Lines {
        bytes: Vec<u8>,
        first: u64,
    },
    Records(Vec<Record>),
}

pub struct Input {
    source: Source,
    portions: u64,
}

enum Source {
    Lines { name: String, reader: Box<dyn BufRead + Send>, line: u64 },
    Warcs { left: std::vec::IntoIter<PathBuf>, current: Option<Reader> },
}

impl Input {
    pub fn open(path: &Path) -> io::Result<Input> {
        let source = if path.is_dir() {
            let warcs = warcs_of(path)?;
            Source::Warcs { left: warcs.into_iter(), current: None }
        } else if is_warc(path) {
            fs::File::open(path)?;
            Source::Warcs { left: vec![path.to_owned()].into_iter(), current: None }
        } else {
            let reader = Box::new(BufReader::with_capacity(PORTION_BYTES, open_input(path)?));
            Source::Lines { name: path.display().to_string(), reader, line: 1 }
        };
        Ok(Input { source, portions: 0 })
    }

    /// The next portion; none at the end. What is damaged ends its file, with a word about it.
    pub fn next(&mut self) -> io::Result<Option<Portion>> {
        let mut problems = Vec::new();
        let raw = match &mut self.source {
            Source::Lines { name, reader, line } => {
                let first = *line;
                let bytes = next_lines(reader, line, name, &mut problems)?;
                (!bytes.is_empty()).then_some(Raw::Lines { bytes, first })
            }
            Source::Warcs { left, current } => next_records(left, current, &mut problems)?,
        };
        if raw.is_none() && problems.is_empty() {
            return Ok(None);
        }
        self.portions += 1;
        let raw = raw.unwrap_or(Raw::Records(Vec::new()));
        Ok(Some(Portion { number: self.portions - 1, raw, problems }))
    }
}

/// Whether a file's name says that it is a WARC file.
pub fn is_warc(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".warc.gz") || name.ends_with(".warc")
}

/// The WARC files of a crawl's directory, or of a directory of WARC files, by name.
fn warcs_of(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let inner = dir.join("warc");
    let dir = if inner.is_dir() { &inner } else { dir };
    let entries = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut warcs: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    warcs.retain(|path| is_warc(path));
    warcs.sort();
    if warcs.is_empty() {
        return Err(io::Error::other("no WARC files in it"));
    }
    Ok(warcs)
}

fn next_lines(
    reader: &mut impl BufRead,
    line: &mut u64,
    name: &str,
    problems: &mut Vec<String>,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(PORTION_BYTES + PORTION_BYTES / 8);
    let described = |error: io::Error, line: u64| {
        io::Error::new(error.kind(), format!("{name}: after line {}: {error}", line - 1))
    };
    while bytes.len() < PORTION_BYTES {
        let start = bytes.len();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut bytes);
        if read.map_err(|error| described(error, *line))? == 0 {
            break;
        }
        if bytes.len() - start > LINE_BYTES_MAX {
            problems.push(format!("line {line}: longer than {LINE_BYTES_MAX} bytes, skipped"));
            bytes.truncate(start);
            bytes.push(b'\n');
            reader.skip_until(b'\n').map_err(|error| described(error, *line))?;
        }
        *line += 1;
    }
    Ok(bytes)
}

fn next_records(
    left: &mut std::vec::IntoIter<PathBuf>,
    current: &mut Option<Reader>,
    problems: &mut Vec<String>,
) -> io::Result<Option<Raw>> {
    let mut records = Vec::new();
    let mut bytes = 0;
    while bytes < PORTION_BYTES && records.len() < RECORDS_MAX {
        let Some(reader) = current else {
            let Some(path) = left.next() else { break };
            *current =
                Some(Reader::open(&path).map_err(|error| io::Error::other(error.to_string()))?);
            continue;
        };
        match reader.next() {
            Some(Ok(record)) => {
                bytes += record.block.len();
                records.push(record);
            }
            Some(Err(error)) => {
                problems.push(format!("{error}; the rest of this file is not read"));
                *current = None;
            }
            None => *current = None,
        }
    }
    Ok((!records.is_empty()).then_some(Raw::Records(records)))
}
