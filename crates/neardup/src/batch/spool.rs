//! A temporary file that is only appended to and read at offsets.
//!
//! It is made when first needed and its name is taken away at once: whatever ends the process, no
//! file is left behind.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::Error;

pub struct Spool {
    dir: PathBuf,
    file: Option<File>,
    end: u64,
}

impl Spool {
    pub fn new(dir: &Path) -> Spool {
        Spool { dir: dir.into(), file: None, end: 0 }
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Where the bytes begin.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        if self.file.is_none() {
            let file = nameless(&self.dir);
            self.file = Some(file.map_err(|error| Error::io(&self.dir, "make", &error))?);
        }
        let start = self.end;
        if let Some(file) = &self.file {
            let written = file.write_all_at(bytes, start);
            written.map_err(|error| Error::io(&self.dir, "write", &error))?;
        }
        self.end += bytes.len() as u64;
        Ok(start)
    }

    /// Writes over what was appended before.
    ///
    /// # Panics
    ///
    /// If so much was never appended.
    pub fn overwrite(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        assert!(start + bytes.len() as u64 <= self.end, "only what was written is written over");
        match &self.file {
            Some(file) => file
                .write_all_at(bytes, start)
                .map_err(|error| Error::io(&self.dir, "write", &error)),
            None => Ok(()),
        }
    }

    /// # Panics
    ///
    /// If nothing was ever written.
    pub fn read(&self, start: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let file = self.file.as_ref().expect("what is read was written");
        file.read_exact_at(bytes, start).map_err(|error| Error::io(&self.dir, "read", &error))
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
