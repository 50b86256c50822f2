//! The mark: a small file, written after each sync, with the number of commits that a later opening
//! must find and the position to which the archive was synced. A store that opens with fewer
//! commits has lost data that was promised, and is refused.

use super::file_error;
use rhumb_disk::{Durable, replace};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::turn::ArchivePosition;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

const MARK_FILE: &str = "MARK";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateMark {
    pub commits: u64,
    pub archived: ArchivePosition,
}

impl StateMark {
    /// Nothing is promised where there is none.
    pub fn read(store: &Path) -> Result<StateMark, Error> {
        let path = store.join(MARK_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => StateMark::parse(&text).ok_or_else(|| {
                let what = format!("{} does not hold numbers", path.display());
                Error::new(ErrorKind::Corrupt, what)
            }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(StateMark::default()),
            Err(e) => Err(file_error(&path, e)),
        }
    }

    /// Until format 9 it did not say how far the archive was synced.
    fn parse(text: &str) -> Option<StateMark> {
        let mut words = text.split_whitespace();
        let commits = words.next()?.parse().ok()?;
        let archived = match (words.next(), words.next()) {
            (Some(file), Some(length)) => {
                ArchivePosition { file: file.parse().ok()?, length: length.parse().ok()? }
            }
            _ => ArchivePosition::default(),
        };
        Some(StateMark { commits, archived })
    }

    pub fn write(&self, store: &Path) -> Result<(), Error> {
        let path = store.join(MARK_FILE);
        let StateMark { commits, archived: ArchivePosition { file, length } } = self;
        // An old mark after a power cut promises less, which is still true.
        let written =
            replace(&path, Durable::Content, |new| writeln!(new, "{commits} {file} {length}"));
        written.map_err(|e| file_error(&path, e))
    }

    pub fn check(&self, store: &Path, commits: u64) -> Result<(), Error> {
        if commits >= self.commits {
            return Ok(());
        }
        let what = format!(
            "the store in {} opened with {commits} commits, but {} were written and synced: the \
             disk lost data; the WARC files are whole, so begin anew in another --dir",
            store.display(),
            self.commits
        );
        Err(Error::new(ErrorKind::Corrupt, what))
    }
}
