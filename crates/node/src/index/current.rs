//! The index of a crawl, kept current: pages come in the order of their records.
//!
//! A commit carries the mark of the last record that is in it, and names the archive. What a crash
//! tears off is made from the records behind that mark when the index is opened again; everything
//! is, if the index is gone, or the archive has lost records that it holds, or is another one.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rhumb_archive::{ArchiveErrorKind, RecordReader, SERIES_FILES, warc_files};
use rhumb_search::{IndexMark, Indexer, SearchError, WriterCounts, check_place, clear_index};

use super::indexed::{IndexedPage, IndexedVersion};
use crate::extract::RowsMark;

/// The index in a crawl's directory.
pub const INDEX_DIR: &str = "search";
/// Pages are found after this time, or when so many have come.
const COMMIT_EVERY: Duration = Duration::from_secs(10);
const COMMIT_PAGES: u32 = 5_000;

/// An index that takes pages.
pub struct CurrentIndex {
    indexer: Indexer,
    dir: PathBuf,
    crawl: PathBuf,
    /// It lies in the crawl's directory: whatever is there may be made anew.
    is_own: bool,
    mark: RowsMark,
    committed: Instant,
    /// Bytes of titles and texts that were taken.
    text_bytes: u64,
    /// What of the archive cannot be read, in sentences.
    gaps: Vec<String>,
}

impl CurrentIndex {
    /// Opens the index in a crawl's directory, or begins one.
    pub fn open(crawl: &Path) -> io::Result<CurrentIndex> {
        CurrentIndex::open_in(&crawl.join(INDEX_DIR), crawl, true)
    }

    /// Opens an index of a crawl that lies elsewhere, where nothing else may be.
    pub fn open_at(dir: &Path, crawl: &Path) -> io::Result<CurrentIndex> {
        let own = crawl.join(INDEX_DIR);
        let is_own = match (dir.canonicalize(), own.canonicalize()) {
            (Ok(dir), Ok(own)) => dir == own,
            _ => dir == own,
        };
        check_place(dir).map_err(failed)?;
        CurrentIndex::open_in(dir, crawl, is_own)
    }

    fn open_in(dir: &Path, crawl: &Path, is_own: bool) -> io::Result<CurrentIndex> {
        let indexer = Indexer::open(dir).map_err(failed)?;
        let IndexMark { file, offset } = indexer.mark();
        Ok(CurrentIndex {
            indexer,
            dir: dir.to_owned(),
            crawl: crawl.to_owned(),
            is_own,
            mark: RowsMark { file, offset },
            committed: Instant::now(),
            text_bytes: 0,
            gaps: Vec::new(),
        })
    }

    /// Forgets everything.
    fn cleared(self) -> io::Result<CurrentIndex> {
        let CurrentIndex { indexer, dir, crawl, is_own, .. } = self;
        drop(indexer);
        clear_index(&dir).map_err(failed)?;
        CurrentIndex::open_in(&dir, &crawl, is_own)
    }

    /// Takes what the records of the crawl's archive hold behind the last one that was taken. What
    /// was taken is committed, also if it ends early.
    pub fn catch_up(self, token: &str) -> io::Result<CurrentIndex> {
        let warcs = warc_files(&self.crawl).map_err(unread)?;
        let mut current = self.of_this_archive(&warcs)?;
        match current.take_all(&warcs, token) {
            Ok(()) => Ok(current),
            Err(error) => {
                // The first failure is the one to tell.
                let _ = current.commit();
                Err(error)
            }
        }
    }

    /// As it is if the archive still has what was taken, else begun anew.
    fn of_this_archive(self, warcs: &[(u32, PathBuf)]) -> io::Result<CurrentIndex> {
        let mark = self.mark;
        let is_there = |(serial, path): &(u32, PathBuf)| {
            *serial == mark.file && path.metadata().is_ok_and(|data| data.len() > mark.offset)
        };
        // Of several series, records may have come to any file since.
        let is_unsure = || mark.file >= SERIES_FILES || !warcs.iter().any(is_there);
        let has_lost = mark != RowsMark::default() && is_unsure();
        let is_of_other = match self.indexer.origin() {
            Some(origin) => name_of(warcs).as_deref() != Some(origin),
            // A crawl without an archive names none, and its pages cannot be made anew.
            None => !self.is_own && !self.indexer.is_empty(),
        };
        if is_of_other && !self.is_own {
            let what = "is the index of something else; name another directory, or delete it";
            let what = format!("{}: {what}", self.dir.display());
            return Err(failed(SearchError::Taken(what)));
        }
        if has_lost || is_of_other { self.cleared() } else { Ok(self) }
    }

    fn take_all(&mut self, warcs: &[(u32, PathBuf)], token: &str) -> io::Result<()> {
        let from = self.mark;
        for (serial, path) in warcs.iter().filter(|(serial, _)| *serial >= from.file) {
            let mut end = if *serial == from.file { from.offset } else { 0 };
            for record in RecordReader::open_at(path, end).map_err(unread)? {
                let record = match record {
                    Ok(record) => record,
                    Err(error) if error.kind() == ArchiveErrorKind::Corrupt => {
                        let length = path.metadata()?.len();
                        let left = length.saturating_sub(end);
                        self.gaps.push(format!("{error}; its last {left} bytes are not indexed"));
                        break;
                    }
                    Err(error) => return Err(unread(error)),
                };
                end = record.offset + record.length;
                let at = RowsMark { file: *serial, offset: record.offset };
                if at == from {
                    continue;
                }
                if let Some(indexed) = IndexedPage::of_record(&record, token) {
                    self.take(indexed, Some(at))?;
                }
            }
        }
        Ok(())
    }

    /// What of the archive could not be read.
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// Takes what a record brings.
    pub fn take(&mut self, indexed: IndexedPage, mark: Option<RowsMark>) -> io::Result<()> {
        for anchor in &indexed.anchors {
            self.indexer.anchor(anchor.url.as_str(), &anchor.text).map_err(failed)?;
        }
        match indexed.version {
            IndexedVersion::Page(page) => {
                self.text_bytes += (page.title.len() + page.text.len()) as u64;
                self.indexer.add(*page).map_err(failed)?;
            }
            IndexedVersion::Nothing => {
                self.indexer.remove(&indexed.id).map_err(failed)?;
            }
            IndexedVersion::Unchanged { fetched } => {
                self.indexer.fetched_again(&indexed.id, fetched).map_err(failed)?;
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
        self.name_origin()?;
        let RowsMark { file, offset } = self.mark;
        self.indexer.commit(IndexMark { file, offset }).map_err(failed)
    }

    /// A crawl that begins has no record yet that could name its archive.
    fn name_origin(&mut self) -> io::Result<()> {
        if self.indexer.origin().is_none()
            && let Some(name) = name_of(&warc_files(&self.crawl).map_err(unread)?)
        {
            self.indexer.set_origin(name);
        }
        Ok(())
    }

    /// Bytes of titles and texts that were taken since it was opened.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// Gives pages the names that links have given them meanwhile, and commits.
    pub fn finish(mut self) -> io::Result<WriterCounts> {
        self.indexer.rename().map_err(failed)?;
        self.name_origin()?;
        let RowsMark { file, offset } = self.mark;
        self.indexer.finish(IndexMark { file, offset }).map_err(failed)
    }
}

/// What names an archive: the id of its first record.
fn name_of(warcs: &[(u32, PathBuf)]) -> Option<String> {
    let (_, first) = warcs.first()?;
    let record = RecordReader::open(first).ok()?.next()?.ok()?;
    record.field("WARC-Record-ID").map(str::to_owned)
}

fn failed(error: SearchError) -> io::Error {
    match error {
        SearchError::Taken(what) => io::Error::new(io::ErrorKind::AlreadyExists, what),
        error => io::Error::other(error.to_string()),
    }
}

fn unread(error: rhumb_archive::ArchiveError) -> io::Error {
    io::Error::other(error.to_string())
}
