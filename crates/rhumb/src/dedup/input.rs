//! What is read: JSON lines, a WARC file, or a crawl's directory, in portions for several threads.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rhumb_archive::{Record, RecordReader};

use rhumb_node::settings::open_input;

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

impl Portion {
    /// How much it holds.
    pub fn bytes(&self) -> usize {
        match &self.raw {
            Raw::Lines { bytes, .. } => bytes.len(),
            Raw::Records(records) => records.iter().map(|record| record.block.len()).sum(),
        }
    }
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
    Lines(Lines),
    Warcs { left: std::vec::IntoIter<PathBuf>, current: Option<RecordReader> },
}

struct Lines {
    name: String,
    reader: Box<dyn BufRead + Send>,
    /// The next one.
    line: u64,
    /// The rest cannot be read.
    is_damaged: bool,
}

impl Input {
    pub fn open(path: &Path) -> io::Result<Input> {
        let source = if path.is_dir() {
            Source::Warcs { left: Input::files(path)?.into_iter(), current: None }
        } else if is_warc(path) {
            fs::File::open(path)?;
            Source::Warcs { left: vec![path.to_owned()].into_iter(), current: None }
        } else {
            let reader = Box::new(BufReader::with_capacity(PORTION_BYTES, open_input(path)?));
            let name = path.display().to_string();
            Source::Lines(Lines { name, reader, line: 1, is_damaged: false })
        };
        Ok(Input { source, portions: 0 })
    }

    /// The files that it consists of.
    pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
        if path.is_dir() { warcs_of(path) } else { Ok(vec![path.to_owned()]) }
    }

    /// Leaves out so many portions: they were worked through before.
    pub fn skip(&mut self, portions: u64) -> io::Result<()> {
        while self.portions < portions && self.next()?.is_some() {}
        Ok(())
    }

    /// The next portion; none at the end. What is damaged ends its file, with a word about it.
    pub fn next(&mut self) -> io::Result<Option<Portion>> {
        let mut problems = Vec::new();
        let raw = match &mut self.source {
            Source::Lines(lines) => {
                let first = lines.line;
                let bytes = lines.next(&mut problems)?;
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

impl Lines {
    /// About as many as make a portion; none at the end.
    fn next(&mut self, problems: &mut Vec<String>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(PORTION_BYTES + PORTION_BYTES / 8);
        while bytes.len() < PORTION_BYTES && !self.is_damaged {
            let start = bytes.len();
            match append_line(&mut self.reader, &mut bytes) {
                Ok(0) => break,
                Ok(length) if length > LINE_BYTES_MAX => {
                    let problem = format!("longer than {LINE_BYTES_MAX} bytes, skipped");
                    problems.push(format!("line {}: {problem}", self.line));
                    bytes.truncate(start);
                    bytes.shrink_to(PORTION_BYTES);
                    bytes.push(b'\n');
                }
                Ok(_) => {}
                Err(error) => {
                    let said = format!("{}: after line {}: {error}", self.name, self.line - 1);
                    // The system's errors have a number; those of what is unpacked have none.
                    if error.raw_os_error().is_some() {
                        return Err(io::Error::new(error.kind(), said));
                    }
                    problems.push(format!("{said}: damaged, the rest of this file is not read"));
                    bytes.truncate(start);
                    self.is_damaged = true;
                }
            }
            self.line += 1;
        }
        Ok(bytes)
    }
}

/// How long the line is, its end included; of one that is too long only the beginning is there.
fn append_line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let length = reader.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', bytes)?;
    if length > LINE_BYTES_MAX && bytes.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    Ok(length)
}

fn next_records(
    left: &mut std::vec::IntoIter<PathBuf>,
    current: &mut Option<RecordReader>,
    problems: &mut Vec<String>,
) -> io::Result<Option<Raw>> {
    let mut records = Vec::new();
    let mut bytes = 0;
    while bytes < PORTION_BYTES && records.len() < RECORDS_MAX {
        let Some(reader) = current else {
            let Some(path) = left.next() else { break };
            *current = Some(
                RecordReader::open(&path).map_err(|error| io::Error::other(error.to_string()))?,
            );
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
