//! The index of a crawl, kept current: pages come in the order of their records.
//!
//! A commit carries the mark of the last record that is in it. What a crash tears off is made from
//! the records behind that mark when the index is opened again; everything is, if the index is
//! gone, or the archive has lost records that it holds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rhumb_archive::{Reader, SERIES_FILES, warc_files};
use rhumb_search::{IndexMark, Indexer, SearchError, WriterCounts};

use super::indexed::IndexedPage;
use crate::extract::Mark;

/// The index in a crawl's directory.
pub const INDEX_DIR: &str = "search";
/// Pages are found after this time, or when so many have come.
const COMMIT_EVERY: Duration = Duration::from_secs(10);
const COMMIT_PAGES: u32 = 5_000;

/// An index that takes pages.
pub struct CurrentIndex {
    indexer: Indexer,
    dir: PathBuf,
    mark: Mark,
    committed: Instant,
    /// Bytes of titles and texts that were taken.
    text_bytes: u64,
}

impl CurrentIndex {
    /// Opens the index of a directory, or begins one.
    pub fn open(dir: &Path) -> io::Result<CurrentIndex> {
        let indexer = Indexer::open(dir).map_err(failed)?;
        let IndexMark { file, offset } = indexer.mark();
        let (dir, mark) = (dir.to_owned(), Mark { file, offset });
        Ok(CurrentIndex { indexer, dir, mark, committed: Instant::now(), text_bytes: 0 })
    }

    /// Forgets everything.
    fn cleared(self) -> io::Result<CurrentIndex> {
        let dir = self.dir.clone();
        drop(self);
        fs::remove_dir_all(&dir)?;
        CurrentIndex::open(&dir)
    }

    /// Takes what the records of a crawl's archive hold behind the last one that was taken.
    pub fn catch_up(self, crawl: &Path, token: &str) -> io::Result<CurrentIndex> {
        let other = |error: rhumb_archive::Error| io::Error::other(error.to_string());
        let warcs = warc_files(crawl).map_err(other)?;
        let mut mark = self.mark;
        let is_there = |(serial, path): &(u32, PathBuf)| {
            *serial == mark.file && path.metadata().is_ok_and(|data| data.len() > mark.offset)
        };
        // Of several series, records may have come to any file since.
        let is_unsure = || mark.file >= SERIES_FILES || !warcs.iter().any(is_there);
        let has_lost = mark != Mark::default() && is_unsure();
        let mut current = if has_lost { self.cleared()? } else { self };
        if has_lost {
            mark = Mark::default();
        }
        for (serial, path) in warcs.iter().filter(|(serial, _)| *serial >= mark.file) {
            let start = if *serial == mark.file { mark.offset } else { 0 };
            for record in Reader::open_at(path, start).map_err(other)? {
                let record = record.map_err(other)?;
                let at = Mark { file: *serial, offset: record.offset };
                if at == mark {
                    continue;
                }
                if let Some(indexed) = IndexedPage::of_record(&record, token) {
                    current.take(indexed, Some(at))?;
                }
            }
        }
        Ok(current)
    }

    /// Takes what a record brings.
    pub fn take(&mut self, indexed: IndexedPage, mark: Option<Mark>) -> io::Result<()> {
        for anchor in &indexed.anchors {
            self.indexer.anchor(anchor.url.as_str(), &anchor.text).map_err(failed)?;
        }
        match indexed.page {
            Some(page) => {
                self.text_bytes += (page.title.len() + page.text.len()) as u64;
                self.indexer.add(page).map_err(failed)?;
            }
            None => {
                self.indexer.remove(&indexed.id).map_err(failed)?;
            }
        }
        self.mark = mark.unwrap_or(self.mark);
        if self.indexer.uncommitted() >= COMMIT_PAGES {
            self.commit()
        } else {
            self.commit_if_due()
        }
    }

    /// Commits what has waited long enough.
    pub fn commit_if_due(&mut self) -> io::Result<()> {
        let is_due = self.committed.elapsed() >= COMMIT_EVERY && self.indexer.uncommitted() > 0;
        if is_due { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> io::Result<()> {
        self.committed = Instant::now();
        let Mark { file, offset } = self.mark;
        self.indexer.commit(IndexMark { file, offset }).map_err(failed)
    }

    /// Bytes of titles and texts that were taken since it was opened.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Gives pages the names that links have given them meanwhile, and commits.
    pub fn finish(mut self) -> io::Result<WriterCounts> {
        self.indexer.rename().map_err(failed)?;
        let Mark { file, offset } = self.mark;
        self.indexer.finish(IndexMark { file, offset }).map_err(failed)
    }
}

fn failed(error: SearchError) -> io::Error {
    io::Error::other(error.to_string())
}
