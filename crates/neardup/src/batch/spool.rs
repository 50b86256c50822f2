//! A temporary file that is appended to and read at offsets.
//!
//! It is created at the first write and unlinked at once, so no file is left behind, however the
//! process ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::BatchError;

const NUMBER_BYTES: usize = size_of::<u64>();
/// Numbers read or written at a time: more than most sets have.
const PIECE: usize = 128 << 10;

pub struct PairSpool {
    dir: PathBuf,
    file: Option<File>,
    end: u64,
}

impl PairSpool {
    pub fn new(dir: &Path) -> PairSpool {
        PairSpool { dir: dir.into(), file: None, end: 0 }
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Where the bytes begin.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, BatchError> {
        let start = self.end;
        self.write(start, bytes)?;
        self.end += bytes.len() as u64;
        Ok(start)
    }

    /// As [`PairSpool::append`], of numbers; where the first begins.
    pub fn append_numbers(&mut self, numbers: &[u64]) -> Result<u64, BatchError> {
        let start = self.end;
        self.write_numbers(start, numbers)?;
        self.end += (numbers.len() * NUMBER_BYTES) as u64;
        Ok(start)
    }

    /// Writes over what was appended before.
    ///
    /// # Panics
    ///
    /// If so much was never appended.
    pub fn overwrite_numbers(&mut self, start: u64, numbers: &[u64]) -> Result<(), BatchError> {
        let end = start + (numbers.len() * NUMBER_BYTES) as u64;
        assert!(end <= self.end, "only what was written is written over");
        self.write_numbers(start, numbers)
    }

    /// # Panics
    ///
    /// If nothing was ever written.
    pub fn read(&self, start: u64, bytes: &mut [u8]) -> Result<(), BatchError> {
        let file = self.file.as_ref().expect("what is read was written");
        file.read_exact_at(bytes, start).map_err(|error| BatchError::io(&self.dir, "read", &error))
    }

    /// Reads so many numbers, in place of what was there; `piece` is room to work in.
    pub fn read_numbers(
        &self,
        start: u64,
        count: usize,
        numbers: &mut Vec<u64>,
        piece: &mut Vec<u8>,
    ) -> Result<(), BatchError> {
        numbers.clear();
        numbers.reserve(count);
        while numbers.len() < count {
            let at = start + (numbers.len() * NUMBER_BYTES) as u64;
            piece.resize((count - numbers.len()).min(PIECE) * NUMBER_BYTES, 0);
            self.read(at, piece)?;
            let (raw, _) = piece.as_chunks::<NUMBER_BYTES>();
            numbers.extend(raw.iter().map(|raw| u64::from_le_bytes(*raw)));
        }
        Ok(())
    }

    /// Piece by piece: the set of a huge document is not held twice.
    fn write_numbers(&mut self, start: u64, numbers: &[u64]) -> Result<(), BatchError> {
        let mut bytes = Vec::with_capacity(numbers.len().min(PIECE) * NUMBER_BYTES);
        let mut at = start;
        for piece in numbers.chunks(PIECE) {
            bytes.clear();
            piece.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            self.write(at, &bytes)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), BatchError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                nameless(&self.dir).map_err(|error| BatchError::io(&self.dir, "make", &error))?
            }
        };
        let written = self.file.insert(file).write_all_at(bytes, at);
        written.map_err(|error| BatchError::io(&self.dir, "write", &error))
    }
}

fn nameless(dir: &Path) -> io::Result<File> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!(".neardup-{}-{number}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
