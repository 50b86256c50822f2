//! `extract.jsonl.zst`: rows of a crawl, appended frame by frame.
//!
//! The file is plain zstd to all who read it: frames of some megabytes of rows with a checksum
//! each. After every frame stands a *mark*, a frame that readers skip: it tells which record of
//! the archive the last row came from. So a file that was torn by a crash is cut after its last
//! mark, and the rows that are missing are made anew from the records behind it. All of it can be
//! made anew from the archive: nothing here is ever synced.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// The file in a crawl's directory.
pub const EXTRACT_FILE: &str = "extract.jsonl.zst";
/// Rows gathered for a frame: enough to compress well.
const FRAME_BYTES: usize = 4 << 20;
const LEVEL: i32 = 3;
/// How far from the end a mark is looked for in a torn file: a frame holds a row more than
/// [`FRAME_BYTES`] at most, and rows are bounded by the text that is kept of a page.
const TORN_BYTES_MAX: u64 = 64 << 20;

/// A frame that decoders skip (RFC 8878, 3.1.2), its length, and whose it is.
const MARK_START: [u8; 16] = *b"\x5D\x2A\x4D\x18\x1C\0\0\0rhumbrow";
const MARK_BYTES: usize = 36;

/// A record of the archive: the serial number of its file, and where it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowsMark {
    pub file: u32,
    pub offset: u64,
}

impl RowsMark {
    fn bytes(self) -> [u8; MARK_BYTES] {
        let mut bytes = [0; MARK_BYTES];
        bytes[..16].copy_from_slice(&MARK_START);
        bytes[16..20].copy_from_slice(&self.file.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.offset.to_le_bytes());
        let check = xxh3_64(&bytes[..28]);
        bytes[28..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<RowsMark> {
        let bytes: &[u8; MARK_BYTES] = bytes.first_chunk()?;
        let file = u32::from_le_bytes(*bytes[16..].first_chunk()?);
        let mark = RowsMark { file, offset: u64::from_le_bytes(*bytes[20..].first_chunk()?) };
        (mark.bytes() == *bytes).then_some(mark)
    }
}

/// The rows of a crawl, open at their end.
pub struct RowsFile {
    path: PathBuf,
    file: File,
    /// Bytes that end with a mark.
    written: u64,
    rows: Vec<u8>,
    mark: RowsMark,
    compressor: Compressor<'static>,
}

impl RowsFile {
    /// Opens the rows of a crawl's directory; what a crash left torn is cut.
    pub fn open(dir: &Path) -> io::Result<RowsFile> {
        let path = dir.join(EXTRACT_FILE);
        let open = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let mut file = open.map_err(|error| named(&path, &error))?;
        let (written, mark) = last_mark(&mut file).map_err(|error| named(&path, &error))?;
        file.set_len(written).map_err(|error| named(&path, &error))?;
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(RowsFile { path, file, written, rows: Vec::new(), mark, compressor })
    }

    /// The record that the last row came from; all zero if there is none.
    pub fn mark(&self) -> RowsMark {
        self.mark
    }

    /// Forgets all rows.
    pub fn clear(&mut self) -> io::Result<()> {
        self.rows.clear();
        (self.written, self.mark) = (0, RowsMark::default());
        self.file.set_len(0).map_err(|error| named(&self.path, &error))
    }

    /// Takes a row, a line with its end, and where it came from.
    pub fn push(&mut self, row: &[u8], mark: Option<RowsMark>) -> io::Result<()> {
        self.rows.extend_from_slice(row);
        self.mark = mark.unwrap_or(self.mark);
        if self.rows.len() >= FRAME_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what was gathered. On a full disk the file stays as it was, and so do the rows.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut frame = self.compressor.compress(&self.rows)?;
        frame.extend_from_slice(&self.mark.bytes());
        if let Err(error) = self.file.write_all(&frame) {
            self.file.set_len(self.written)?;
            return Err(named(&self.path, &error));
        }
        self.written += frame.len() as u64;
        self.rows.clear();
        Ok(())
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Where the last mark ends, and what it says; the beginning of the file if there is none.
fn last_mark(file: &mut File) -> io::Result<(u64, RowsMark)> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut window = MARK_BYTES as u64;
    loop {
        let from = length.saturating_sub(window);
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        Read::take(&mut *file, length - from).read_to_end(&mut tail)?;
        let marks = memmem::rfind_iter(&tail, &MARK_START);
        let found = marks.filter_map(|at| Some((at, RowsMark::parse(&tail[at..])?))).next();
        if let Some((at, mark)) = found {
            return Ok((from + (at + MARK_BYTES) as u64, mark));
        }
        if from == 0 || window >= TORN_BYTES_MAX {
            return Ok((0, RowsMark::default()));
        }
        window = TORN_BYTES_MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_in(dir: &Path) -> String {
        let bytes = std::fs::read(dir.join(EXTRACT_FILE)).expect("a file");
        let plain = zstd::decode_all(bytes.as_slice()).expect("whole frames, marks skipped");
        String::from_utf8(plain).expect("text")
    }

    #[test]
    fn a_file_cut_anywhere_goes_on_after_its_last_whole_frame() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut ends = vec![(0, RowsMark::default())];
        let mut rows = RowsFile::open(dir.path()).expect("opened");
        for n in 1..=3 {
            rows.push(format!("row {n}\n").as_bytes(), Some(RowsMark { file: 1, offset: 10 * n }))
                .expect("taken");
            rows.flush().expect("written");
            ends.push((rows.written, rows.mark()));
        }
        let whole = std::fs::read(dir.path().join(EXTRACT_FILE)).expect("read");
        assert_eq!(rows_in(dir.path()), "row 1\nrow 2\nrow 3\n");
        for cut in 0..=whole.len() {
            std::fs::write(dir.path().join(EXTRACT_FILE), &whole[..cut]).expect("cut");
            let mut rows = RowsFile::open(dir.path()).expect("opened");
            let last = ends.iter().rposition(|(end, _)| *end as usize <= cut).expect("the first");
            assert_eq!((rows.written, rows.mark()), ends[last]);
            rows.push(b"after\n", None).expect("taken");
            rows.flush().expect("written");
            let before: String = (1..=last).map(|n| format!("row {n}\n")).collect();
            assert_eq!(rows_in(dir.path()), before + "after\n");
        }
    }

    #[test]
    fn a_file_of_something_else_is_begun_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join(EXTRACT_FILE), [0; 100]).expect("written");
        let mut rows = RowsFile::open(dir.path()).expect("opened");
        assert_eq!(rows.mark(), RowsMark::default());
        rows.push(b"row\n", None).expect("taken");
        rows.flush().expect("written");
        assert_eq!(rows_in(dir.path()), "row\n");
    }
}
