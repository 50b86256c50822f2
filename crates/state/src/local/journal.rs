//! The journal: every commit is appended to a file before anything else knows of it.
//!
//! A file holds frames, one per commit: its length, its number, how far the archive reached, a
//! checksum, and its rows. What follows the first frame that is not whole, or not next in number,
//! was never synced, or is damaged, which the mark tells: [`super::open`] compares the last number
//! with the one that was promised. Nor is a commit believed, beyond the mark, that speaks of more
//! than the archive holds. A file is synced before its rows are moved into fjall's tables, and
//! removed when they are there.

use super::file_error;
use super::follow::Follow;
use super::table::StateTable;
use rhumb_disk::sync_dir;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::turn::ArchivePosition;
use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Length, number, the archive's last file and its length, checksum.
const HEAD_BYTES: usize = 4 + 8 + (4 + 8) + 8;
/// Stands for the length of a value that there is none of.
const REMOVED: u32 = u32::MAX;
/// Room for a commit that is kept from one to the next.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// The rows of one commit, as bytes.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    rows: Vec<(StateTable, Range<usize>, Option<Range<usize>>)>,
}

impl Batch {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
        self.bytes.resize(HEAD_BYTES, 0);
        self.rows.clear();
    }

    /// A row whose value is written by `write` at the end of what it is given.
    pub fn put(&mut self, table: StateTable, key: &[u8], write: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        let key = self.key(table, key);
        let begins = self.bytes.len() + 4;
        self.bytes.extend_from_slice(&[0; 4]);
        self.bytes = write(std::mem::take(&mut self.bytes));
        let value = begins..self.bytes.len();
        let len = u32::try_from(value.len()).expect("a row is smaller than 4 GiB");
        self.bytes[begins - 4..begins].copy_from_slice(&len.to_le_bytes());
        self.rows.push((table, key, Some(value)));
    }

    pub fn remove(&mut self, table: StateTable, key: &[u8]) {
        let key = self.key(table, key);
        self.bytes.extend_from_slice(&REMOVED.to_le_bytes());
        self.rows.push((table, key, None));
    }

    fn key(&mut self, table: StateTable, key: &[u8]) -> Range<usize> {
        let len = u32::try_from(key.len()).expect("a key is smaller than 4 GiB");
        self.bytes.push(table as u8);
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(key);
        self.bytes.len() - key.len()..self.bytes.len()
    }

    pub fn rows(&self) -> impl Iterator<Item = (StateTable, &[u8], Option<&[u8]>)> {
        self.rows.iter().map(|(table, key, value)| {
            let value = value.as_ref().map(|value| &self.bytes[value.clone()]);
            (*table, &self.bytes[key.clone()], value)
        })
    }

    fn seal(&mut self, number: u64, archived: ArchivePosition) -> &[u8] {
        let len = u32::try_from(self.bytes.len() - HEAD_BYTES).expect("a commit is below 4 GiB");
        let sum = checksum(number, archived, &self.bytes[HEAD_BYTES..]);
        self.bytes[..4].copy_from_slice(&len.to_le_bytes());
        self.bytes[4..12].copy_from_slice(&number.to_le_bytes());
        self.bytes[12..16].copy_from_slice(&archived.file.to_le_bytes());
        self.bytes[16..24].copy_from_slice(&archived.length.to_le_bytes());
        self.bytes[24..HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
        &self.bytes
    }
}

/// One commit with these bytes for rows, whole by its checksum. Public, like [`rows_in`], for those
/// who try what bytes of any kind do (`fuzz/kept.rs`).
pub fn commit_of(rows: &[u8]) -> Vec<u8> {
    let mut batch = Batch { bytes: vec![0; HEAD_BYTES], rows: Vec::new() };
    batch.bytes.extend_from_slice(rows);
    batch.seal(1, ArchivePosition::default()).to_vec()
}

/// Rows in the whole commits that these bytes begin with; none if one of them cannot be read.
pub fn rows_in(mut bytes: &[u8]) -> Option<usize> {
    let mut rows = 0;
    while let Some((frame, after)) = take_frame(bytes) {
        rows += parse(frame.rows)?.len();
        bytes = after;
    }
    Some(rows)
}

fn checksum(number: u64, ArchivePosition { file, length }: ArchivePosition, rows: &[u8]) -> u64 {
    let head = [number, u64::from(file), length].map(u64::to_le_bytes).concat();
    xxh3_64_with_seed(rows, xxh3_64(&head))
}

/// The file that commits are appended to.
pub struct Journal {
    dir: PathBuf,
    file: File,
    path: PathBuf,
    number: u64,
    /// Bytes in the file.
    bytes: u64,
    /// A commit was written in part, or could not be synced: nothing may follow it.
    is_broken: bool,
    followed: Option<Follow>,
}

impl Journal {
    /// Begins a new file, after all that are there.
    pub fn begin(dir: &Path, followed: Option<Follow>) -> Result<Journal, Error> {
        let number = files(dir)?.last().map_or(0, |(number, _)| number + 1);
        let (path, file) = create(dir, number)?;
        if let Some(follow) = &followed {
            follow.begun(number, &path);
        }
        let dir = dir.to_owned();
        Ok(Journal { dir, file, path, number, bytes: 0, is_broken: false, followed })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a commit: once this returns, the death of the process does not undo it.
    pub fn append(
        &mut self,
        batch: &mut Batch,
        commit: u64,
        archived: ArchivePosition,
    ) -> Result<(), Error> {
        self.check()?;
        let frame = batch.seal(commit, archived);
        self.is_broken = true;
        self.file.write_all(frame).map_err(|e| file_error(&self.path, e))?;
        self.is_broken = false;
        let bytes = frame.len() as u64;
        self.bytes += bytes;
        if let Some(follow) = &self.followed {
            follow.appended(bytes, commit, archived);
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        match self.is_broken {
            true => {
                let what = "state: a commit could not be written, and nothing can follow it";
                Err(Error::new(ErrorKind::Retry, what))
            }
            false => Ok(()),
        }
    }

    /// Begins another file; the path of the one that ends, all of which must have been synced.
    pub fn turn_over(&mut self) -> Result<PathBuf, Error> {
        let (path, file) = create(&self.dir, self.number + 1)?;
        self.number += 1;
        self.bytes = 0;
        self.file = file;
        if let Some(follow) = &self.followed {
            follow.begun(self.number, &path);
        }
        Ok(std::mem::replace(&mut self.path, path))
    }

    /// Makes all commits so far survive the death of the machine: earlier files were synced when
    /// they ended.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.check()?;
        // What could not be synced once may look as if it were, the next time.
        self.is_broken = true;
        self.file.sync_data().map_err(|e| file_error(&self.path, e))?;
        self.is_broken = false;
        Ok(())
    }
}

pub fn file_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:012}.journal"))
}

fn create(dir: &Path, number: u64) -> Result<(PathBuf, File), Error> {
    let path = file_path(dir, number);
    let file = File::create_new(&path).map_err(|e| file_error(&path, e))?;
    sync_dir(dir).map_err(|e| file_error(dir, e))?;
    Ok((path, file))
}

/// The files of the journal and their numbers, oldest first. Makes the directory.
pub fn files(dir: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let read = || -> std::io::Result<Vec<(u64, PathBuf)>> {
        fs::create_dir_all(dir)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let is_ours = path.extension().is_some_and(|end| end == "journal");
            let number = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
            files.extend(number.filter(|_| is_ours).map(|number| (number, path)));
        }
        files.sort();
        Ok(files)
    };
    read().map_err(|e| file_error(dir, e))
}

/// A commit in a file.
pub struct Frame<'a> {
    pub number: u64,
    pub archived: ArchivePosition,
    pub rows: &'a [u8],
}

/// Takes a commit and what follows it from the beginning of these bytes; none unless it is whole.
pub type TakeFrame = fn(&[u8]) -> Option<(Frame<'_>, &[u8])>;

/// Which commits are to be read.
#[derive(Clone, Copy)]
pub struct JournalReading {
    /// The last that the tables hold.
    pub flushed: u64,
    /// The last that was synced, and with it all that it speaks of.
    pub promised: u64,
    /// Where the archive ends, if that is known: what speaks of more, beyond the promised, is not
    /// believed.
    pub archive_end: Option<ArchivePosition>,
    pub take: TakeFrame,
}

impl JournalReading {
    fn believes(&self, frame: &Frame<'_>) -> bool {
        frame.number <= self.promised || self.archive_end.is_none_or(|end| frame.archived <= end)
    }
}

/// How far a file could be read.
pub struct Read {
    /// The number of the last commit so far.
    pub last: Option<u64>,
    /// To the end of the file.
    pub is_whole: bool,
    /// So many of its bytes.
    pub bytes: u64,
}

/// Reads the commits in a file up to the first that is not whole, not believed, or not the next
/// after `last`. What was flushed already is passed over; the very first may not be later than the
/// next after that.
pub fn read(
    path: &Path,
    mut last: Option<u64>,
    reading: JournalReading,
    mut row: impl FnMut(StateTable, &[u8], Option<&[u8]>),
) -> Result<Read, Error> {
    let bytes = fs::read(path).map_err(|e| file_error(path, e))?;
    let mut rest = bytes.as_slice();
    while let Some((frame, after)) = (reading.take)(rest) {
        let number = frame.number;
        let is_next = last.map_or(number <= reading.flushed + 1, |last| number == last + 1);
        if !is_next || !reading.believes(&frame) {
            break;
        }
        let rows = parse(frame.rows).ok_or_else(|| unreadable(path, number))?;
        if number > reading.flushed {
            rows.into_iter().for_each(|(table, key, value)| row(table, key, value));
        }
        (last, rest) = (Some(number), after);
    }
    let read = (bytes.len() - rest.len()) as u64;
    Ok(Read { last, is_whole: rest.is_empty(), bytes: read })
}

/// A frame as this format writes it.
pub fn take_frame(bytes: &[u8]) -> Option<(Frame<'_>, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let (file, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let (rows, after) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    let number = u64::from_le_bytes(*number);
    let archived =
        ArchivePosition { file: u32::from_le_bytes(*file), length: u64::from_le_bytes(*length) };
    let is_whole = checksum(number, archived, rows) == u64::from_le_bytes(*sum);
    is_whole.then_some((Frame { number, archived, rows }, after))
}

/// Every whole commit of a file, with its rows.
pub fn read_frames(
    path: &Path,
    mut frame: impl FnMut(u64, ArchivePosition, Vec<ParsedRow<'_>>) -> Result<(), Error>,
) -> Result<(), Error> {
    let bytes = fs::read(path).map_err(|e| file_error(path, e))?;
    let mut rest = bytes.as_slice();
    while let Some((Frame { number, archived, rows }, after)) = take_frame(rest) {
        let rows = parse(rows).ok_or_else(|| unreadable(path, number))?;
        frame(number, archived, rows)?;
        rest = after;
    }
    Ok(())
}

fn unreadable(path: &Path, number: u64) -> Error {
    let what = format!("{}: commit {number} cannot be read", path.display());
    Error::new(ErrorKind::Corrupt, what)
}

pub type ParsedRow<'a> = (StateTable, &'a [u8], Option<&'a [u8]>);

pub fn parse(mut bytes: &[u8]) -> Option<Vec<ParsedRow<'_>>> {
    let mut rows = Vec::new();
    while let Some((&table, rest)) = bytes.split_first() {
        let (key, rest) = part(rest)?;
        let (value, rest) = match rest.split_first_chunk::<4>()? {
            (len, rest) if u32::from_le_bytes(*len) == REMOVED => (None, rest),
            _ => part(rest).map(|(value, rest)| (Some(value), rest))?,
        };
        rows.push((*StateTable::ALL.get(usize::from(table))?, key, value));
        bytes = rest;
    }
    Some(rows)
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}
