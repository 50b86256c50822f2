//! Reads WARC files record by record, each a gzip member with its offset and length: to repair, to
//! rebuild the index, and for programs that work on the archive.
//!
//! Memory is bounded by one record. Bytes that are no whole record give an error with the file and
//! the offset, and end the reading.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use memchr::memmem;

use crate::error::{ArchiveError, ArchiveErrorKind};
use crate::http::head_len;
use crate::pack::BLOCK_BYTES_MAX;

/// Longest header of a record: fields we write are a few hundred bytes, URLs at most some 2 kB.
const HEADER_BYTES_MAX: usize = 64 * 1024;

const BUFFER_BYTES: usize = 256 * 1024;
const RECORD_END: &[u8] = b"\r\n\r\n";
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b, 0x08];
/// Of a record that is not compressed, as others write them.
const PLAIN_MAGIC: &[u8] = b"WARC/";

#[derive(Clone, Debug)]
pub struct Record {
    /// Where its member begins in the file, and how long that is.
    pub offset: u64,
    pub length: u64,
    pub block: Vec<u8>,
    fields: Vec<(String, String)>,
}

impl Record {
    /// The first field of that name, in any case: `WARC-Type`, `WARC-Target-URI`, …
    pub fn field(&self, name: &str) -> Option<&str> {
        let named = |field: &&(String, String)| field.0.eq_ignore_ascii_case(name);
        self.fields.iter().find(named).map(|(_, value)| value.as_str())
    }

    /// `WARC-Type`, empty if it has none.
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or_default()
    }

    pub fn target(&self) -> Option<&str> {
        self.field("WARC-Target-URI")
    }

    /// Status line and headers of an HTTP message; empty for other content.
    pub fn http_head(&self) -> &[u8] {
        let http = self.field("Content-Type").unwrap_or_default().starts_with("application/http");
        if http { &self.block[..head_len(&self.block)] } else { &[] }
    }

    /// What follows the head, with its codings.
    pub fn payload(&self) -> &[u8] {
        &self.block[self.http_head().len()..]
    }
}

impl Record {
    /// Reads the record whose member lies there, as the index tells.
    pub fn read_at(
        path: &Path,
        file: &File,
        offset: u64,
        length: u64,
    ) -> Result<Record, ArchiveError> {
        let corrupt = |what: String| ArchiveError::corrupt(path, offset, what);
        let bytes = usize::try_from(length).unwrap_or(usize::MAX);
        if bytes > HEADER_BYTES_MAX + BLOCK_BYTES_MAX {
            return Err(corrupt("longer than any record of ours".to_owned()));
        }
        let mut packed = vec![0; bytes];
        file.read_exact_at(&mut packed, offset).map_err(|error| match error.raw_os_error() {
            Some(_) => ArchiveError::io(path, "read", error),
            None => corrupt(format!("no whole record: {error}")),
        })?;
        let mut input = packed.as_slice();
        let is_plain = input.starts_with(PLAIN_MAGIC);
        let read = if is_plain { plain_record(&mut input) } else { member(&mut input) };
        let plain = read.map_err(|error| corrupt(format!("no whole record: {error}")))?;
        let (fields, block) = parse(plain).map_err(|what| corrupt(what.to_string()))?;
        Ok(Record { offset, length, block, fields })
    }
}

pub struct RecordReader {
    path: PathBuf,
    input: BufReader<File>,
    offset: u64,
    ended: bool,
}

impl RecordReader {
    pub fn open(path: &Path) -> Result<RecordReader, ArchiveError> {
        RecordReader::open_at(path, 0)
    }

    /// Begins at the record at that offset.
    pub fn open_at(path: &Path, offset: u64) -> Result<RecordReader, ArchiveError> {
        let io = |error| ArchiveError::io(path, "read", error);
        let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io)?);
        input.seek(SeekFrom::Start(offset)).map_err(io)?;
        Ok(RecordReader { path: path.into(), input, offset, ended: false })
    }

    fn read(&mut self) -> Result<Option<Record>, ArchiveError> {
        let io = |error| ArchiveError::io(&self.path, "read", error);
        if self.input.fill_buf().map_err(io)?.is_empty() {
            return Ok(None);
        }
        let corrupt = |what: String| ArchiveError::corrupt(&self.path, self.offset, what);
        let is_plain = self.input.buffer().starts_with(PLAIN_MAGIC);
        let read = if is_plain { plain_record(&mut self.input) } else { member(&mut self.input) };
        let plain = read.map_err(|error| match error.raw_os_error() {
            Some(_) => ArchiveError::io(&self.path, "read", error),
            None if is_plain => corrupt(format!("no whole record: {error}")),
            None => corrupt(format!("no whole gzip member: {error}")),
        })?;
        let (fields, block) = parse(plain).map_err(|what| corrupt(what.to_string()))?;
        let end = self.input.stream_position().map_err(io)?;
        let record = Record { offset: self.offset, length: end - self.offset, block, fields };
        self.offset = end;
        Ok(Some(record))
    }
}

impl Iterator for RecordReader {
    type Item = Result<Record, ArchiveError>;

    fn next(&mut self) -> Option<Result<Record, ArchiveError>> {
        if self.ended {
            return None;
        }
        let read = self.read();
        self.ended = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// Where the whole records end, and what is wrong there if the file does not end with them.
pub(crate) struct Walked {
    pub end: u64,
    pub damage: Option<ArchiveError>,
}

/// Hands over the whole records from `start` on, up to the end or the first that is not whole.
pub(crate) fn whole_records(
    path: &Path,
    start: u64,
    mut take: impl FnMut(&Record) -> Result<(), ArchiveError>,
) -> Result<Walked, ArchiveError> {
    let mut end = start;
    for record in RecordReader::open_at(path, start)? {
        match record {
            Ok(record) => {
                end = record.offset + record.length;
                take(&record)?;
            }
            Err(error) if error.kind() == ArchiveErrorKind::Corrupt => {
                return Ok(Walked { end, damage: Some(error) });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Walked { end, damage: None })
}

impl Walked {
    /// Where the records end, which must not be before this offset.
    pub fn end_at_least(self, offset: u64) -> Result<u64, ArchiveError> {
        match self.damage {
            Some(error) if self.end < offset => Err(error),
            _ => Ok(self.end),
        }
    }

    /// Where the records end if only a torn one follows. If a whole one does, then this is not
    /// what a crash leaves, and nobody may cut it away.
    pub fn end_unless_damaged_within(self, path: &Path) -> Result<u64, ArchiveError> {
        match self.damage {
            Some(error) if whole_record_after(path, self.end)? => Err(error),
            _ => Ok(self.end),
        }
    }
}

/// Is there a whole record that begins after this offset?
fn whole_record_after(path: &Path, offset: u64) -> Result<bool, ArchiveError> {
    let io = |error| ArchiveError::io(path, "read", error);
    let mut file = File::open(path).map_err(io)?;
    let mut window = Vec::new();
    let mut start = offset + 1;
    loop {
        file.seek(SeekFrom::Start(start)).map_err(io)?;
        window.clear();
        file.by_ref().take(BUFFER_BYTES as u64).read_to_end(&mut window).map_err(io)?;
        for at in memmem::find_iter(&window, GZIP_MAGIC) {
            let mut reader = RecordReader::open_at(path, start + at as u64)?;
            if matches!(reader.next(), Some(Ok(_))) {
                return Ok(true);
            }
        }
        if window.len() < BUFFER_BYTES {
            return Ok(false);
        }
        // Windows overlap, so that no magic is missed across their edge.
        start += (window.len() - GZIP_MAGIC.len() + 1) as u64;
    }
}

/// Decompresses one gzip member and leaves the input right behind it.
fn member(input: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let limit = HEADER_BYTES_MAX + BLOCK_BYTES_MAX + RECORD_END.len();
    let mut decoder = GzDecoder::new(input);
    let mut plain = Vec::new();
    decoder.by_ref().take(limit as u64).read_to_end(&mut plain)?;
    if decoder.read(&mut [0])? != 0 {
        return Err(std::io::Error::other("longer than any record of ours"));
    }
    Ok(plain)
}

/// Reads one record that is not compressed, with the empty lines that end it.
fn plain_record(input: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    let mut length = 0u64;
    loop {
        let start = plain.len();
        let left = HEADER_BYTES_MAX.saturating_sub(start) as u64;
        input.by_ref().take(left).read_until(b'\n', &mut plain)?;
        let line = plain[start..].trim_ascii();
        if !plain.ends_with(b"\n") {
            return Err(std::io::Error::other("a header without end"));
        }
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(0));
        if name.eq_ignore_ascii_case(b"Content-Length") {
            let value = std::str::from_utf8(&value[1..]).unwrap_or_default().trim();
            length = value.parse().unwrap_or(u64::MAX);
        }
    }
    if length > BLOCK_BYTES_MAX as u64 {
        return Err(std::io::Error::other("longer than any record of ours"));
    }
    let whole = length + RECORD_END.len() as u64;
    if input.by_ref().take(whole).read_to_end(&mut plain)? as u64 != whole {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(plain)
}

type Parsed = (Vec<(String, String)>, Vec<u8>);

fn parse(mut plain: Vec<u8>) -> Result<Parsed, &'static str> {
    if !plain.starts_with(b"WARC/1.") {
        return Err("no WARC record");
    }
    let searched = &plain[..plain.len().min(HEADER_BYTES_MAX)];
    let header_len = memmem::find(searched, RECORD_END).ok_or("a header without end")?;
    let header = std::str::from_utf8(&plain[..header_len]).map_err(|_| "a header not in UTF-8")?;
    let fields: Vec<(String, String)> = header
        .split("\r\n")
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
        .collect();
    let length = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length"));
    let length: usize =
        length.and_then(|(_, value)| value.parse().ok()).ok_or("no Content-Length")?;
    let block_start = header_len + RECORD_END.len();
    if plain.len() - block_start < length {
        return Err("a block shorter than its Content-Length");
    }
    plain.truncate(block_start + length);
    plain.drain(..block_start);
    Ok((fields, plain))
}
