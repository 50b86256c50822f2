//! What an interrupted run leaves for the next one, if it was told to: a file that only grows.
//!
//! After a line that says what it is come records: a hash, a length, a payload. The first one says
//! of which input and settings all others are. Whatever ends the process, and wherever, the records
//! before the last are whole; a last one that is not is cut off. Nothing is synced: if the machine
//! itself stops, what did not reach the disk fails its hash and is done again.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::DedupFailure;

const MAGIC: &[u8] = b"rhumb dedup journal 1\n";
/// Hash and length.
const HEAD_BYTES: u64 = 16;

pub struct DedupJournal {
    path: PathBuf,
    file: BufReader<File>,
    /// Where the next record begins, to be read or to be written.
    at: u64,
    /// Bytes of the file; more than `at` while there may be records to read.
    end: u64,
}

impl DedupJournal {
    /// Of a job that `manifest` tells from all others, a line for each thing that matters.
    pub fn open(path: &Path, manifest: &str) -> Result<DedupJournal, DedupFailure> {
        let said = |what: &dyn fmt::Display| DedupFailure(format!("{}: {what}", path.display()));
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| said(&error))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => said(&"another process is at work with this journal"),
            TryLockError::Error(error) => said(&error),
        })?;
        let end = file.metadata().map_err(|error| said(&error))?.len();
        let mut journal =
            DedupJournal { path: path.into(), file: BufReader::new(file), at: 0, end };
        if !journal.begin().map_err(|error| said(&error))? {
            return Err(said(&"exists and is no journal of rhumb dedup: name another file"));
        }
        match journal.next()? {
            None => journal.append(manifest.as_bytes())?,
            Some(earlier) if earlier == manifest.as_bytes() => {}
            Some(earlier) => {
                return Err(said(&unlike(&String::from_utf8_lossy(&earlier), manifest)));
            }
        }
        Ok(journal)
    }

    /// The next record of an earlier run; none after the last one.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, DedupFailure> {
        let record = self.read().and_then(|record| {
            if record.is_none() && self.at < self.end {
                self.file.get_ref().set_len(self.at)?;
                self.end = self.at;
            }
            Ok(record)
        });
        record.map_err(|error| self.failure(&error))
    }

    /// Appends a record, when all earlier ones were read.
    pub fn append(&mut self, payload: &[u8]) -> Result<(), DedupFailure> {
        assert_eq!(self.at, self.end, "records are read before others are written");
        let hash = xxh3_64_with_seed(payload, self.at).to_le_bytes();
        let length = payload.len() as u64;
        let file = self.file.get_ref();
        let written = file
            .write_all_at(&[hash, length.to_le_bytes()].concat(), self.at)
            .and_then(|()| file.write_all_at(payload, self.at + HEAD_BYTES));
        written.map_err(|error| self.failure(&error))?;
        self.at += HEAD_BYTES + length;
        self.end = self.at;
        Ok(())
    }

    /// The job is done.
    pub fn remove(self) -> Result<(), DedupFailure> {
        fs::remove_file(&self.path).map_err(|error| self.failure(&error))
    }

    /// Something is not as this program writes it.
    pub fn strange(&self) -> DedupFailure {
        let path = self.path.display();
        DedupFailure(format!("{path}: was not written by this version: remove it and start anew"))
    }

    /// Reads the first line, or writes it; false if the file is something else.
    fn begin(&mut self) -> io::Result<bool> {
        let mut magic = Vec::new();
        self.file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        if magic != MAGIC && MAGIC.starts_with(&magic) {
            self.file.get_ref().write_all_at(MAGIC, 0)?;
            self.end = MAGIC.len() as u64;
        }
        self.at = MAGIC.len() as u64;
        Ok(MAGIC.starts_with(&magic))
    }

    fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(left) = (self.end - self.at).checked_sub(HEAD_BYTES) else { return Ok(None) };
        let [mut hash, mut length] = [[0; 8]; 2];
        self.file.read_exact(&mut hash)?;
        self.file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > left {
            return Ok(None);
        }
        let mut payload = vec![0; length as usize];
        self.file.read_exact(&mut payload)?;
        if xxh3_64_with_seed(&payload, self.at) != u64::from_le_bytes(hash) {
            return Ok(None);
        }
        self.at += HEAD_BYTES + length;
        Ok(Some(payload))
    }

    fn failure(&self, error: &io::Error) -> DedupFailure {
        DedupFailure(format!("{}: {error}", self.path.display()))
    }
}

/// The first thing that is not as it was.
fn unlike(earlier: &str, now: &str) -> String {
    let differing = earlier.lines().zip(now.lines()).find(|(earlier, now)| earlier != now);
    let (earlier, now) = differing.unwrap_or(("fewer or more files", "other files"));
    format!(
        "holds the work on something else ({earlier:?}, now {now:?}): remove it, or name another"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_or_spoiled_is_as_if_it_had_not_been_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let records: [&[u8]; 4] = [b"first", b"", b"a third one", &[7; 20_000]];
        let written = |path: &Path| -> Vec<Vec<u8>> {
            let mut journal = DedupJournal::open(path, "input a\nthreshold 0.8\n").unwrap();
            let mut found = Vec::new();
            while let Some(record) = journal.next().unwrap() {
                found.push(record);
            }
            // What comes after is readable, whatever was there before.
            for record in &records[found.len()..] {
                journal.append(record).unwrap();
            }
            found
        };
        assert_eq!(written(&path).len(), 0);
        assert_eq!(written(&path), records);
        let whole = fs::read(&path).unwrap();
        for end in (0..whole.len()).filter(|end| end % 997 == 0 || *end < 200) {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(written(&path).len() < records.len(), "cut at {end}");
            assert_eq!(fs::read(&path).unwrap(), whole, "cut at {end}");
            let mut spoiled = whole.clone();
            spoiled[end] ^= 1;
            fs::write(&path, &spoiled).unwrap();
            if end >= MAGIC.len() {
                written(&path);
                assert_eq!(fs::read(&path).unwrap(), whole, "spoiled at {end}");
            } else {
                assert!(DedupJournal::open(&path, "").is_err(), "no journal: spoiled at {end}");
                assert_eq!(fs::read(&path).unwrap(), spoiled, "left alone");
            }
        }
        fs::write(&path, &whole).unwrap();
        let Err(DedupFailure(said)) = DedupJournal::open(&path, "input b\nthreshold 0.8\n") else {
            panic!("of another input")
        };
        assert!(said.contains(r#"("input a", now "input b")"#), "{said}");
    }
}
