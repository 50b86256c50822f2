//! Extraction and indexing while crawling (`--extract`, `--index`): workers make rows and pages of
//! the index, one thread writes them.
//!
//! A row is made when its page is read and written when its record is in the archive, in the order
//! of the records. What a crash tears off is made anew from the archive at the next opening; so is
//! everything, if `--extract` comes later or the file is gone. Without an archive rows are written
//! as they are made, and the last seconds before a crash are lost.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rhumb_archive::{RecordReader, warc_files};
use rhumb_extract::{PageWanted, Told};
use rhumb_page::url::Url;

use super::body::{ExtractBody, row_of_record};
use super::row::{ExtractedRow, Wish};
use super::rows_file::{RowsFile, RowsMark};
use super::templates::Templates;
use crate::index::{CurrentIndex, IndexedPage};

/// Rows waiting to be written; beyond, those who bring more wait.
const WAITING_MAX: usize = 256;
/// Rows are on disk after this long, if few come.
const FLUSH_EVERY: Duration = Duration::from_secs(5);
const WISH: Wish = Wish { keeps_all: false, markdown: false };

pub struct WhileCrawling {
    asked: RowsWanted,
    templates: Mutex<Templates>,
    rows: SyncSender<Message>,
    writing: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

/// What is to be written of pages.
#[derive(Clone, Debug)]
pub struct RowsWanted {
    /// Rows of what they say.
    pub rows: bool,
    /// The search index.
    pub index: bool,
    /// What pages call this crawler.
    pub token: String,
}

/// A row as it will be written, and what its page teaches once it is kept. A copy, which is not,
/// teaches nothing: what is made anew from the archive never sees it.
pub struct MadeRow {
    line: Option<Vec<u8>>,
    host: String,
    /// None of what has no template.
    blocks: Option<Vec<u64>>,
    indexed: Option<Box<IndexedPage>>,
}

enum Message {
    Row { line: Option<Vec<u8>>, indexed: Option<Box<IndexedPage>>, mark: Option<RowsMark> },
    End,
}

/// Where it is written to.
struct Outputs {
    rows: Option<RowsFile>,
    index: Option<CurrentIndex>,
}

impl WhileCrawling {
    /// Opens what is asked for in a crawl's directory, and makes what is missing from its archive,
    /// which nobody else may be writing yet.
    pub fn open(dir: &Path, has_archive: bool, asked: RowsWanted) -> io::Result<WhileCrawling> {
        let mut outputs = Outputs { rows: None, index: None };
        if asked.rows {
            let mut file = RowsFile::open(dir)?;
            if has_archive {
                catch_up(dir, &mut file, &asked.token)?;
            }
            outputs.rows = Some(file);
        }
        if asked.index {
            let index = CurrentIndex::open(dir)?;
            let index = if has_archive { index.catch_up(&asked.token)? } else { index };
            index.gaps().iter().for_each(|gap| tracing::warn!("search index: {gap}"));
            outputs.index = Some(index);
        }
        let (rows, waiting) = sync_channel(WAITING_MAX);
        let writing = std::thread::Builder::new()
            .name("extract".to_owned())
            .spawn(move || outputs.write(&waiting))?;
        let (templates, writing) = (Mutex::default(), Mutex::new(Some(writing)));
        Ok(WhileCrawling { asked, templates, rows, writing })
    }

    /// What an HTML page says, and what is written of it, in one pass for each of both. Nothing is
    /// locked while a page is read.
    pub fn html(&self, body: &ExtractBody<'_>, wanted: &PageWanted<'_>) -> (Told, Option<MadeRow>) {
        let host = body.url.host();
        let taught = |wanted: &PageWanted<'_>| {
            let template = self.templates().get(host);
            let (told, row) = body.told_with_row(wanted, &template, WISH);
            (told, row.and_then(|taught| made(&taught.row, host, taught.blocks)))
        };
        if !self.asked.index || !body.has_row() {
            return taught(wanted);
        }
        let (told, indexed) = IndexedPage::of_html(body, wanted);
        let links = PageWanted::default();
        let row = if self.asked.rows { taught(&links).1 } else { None };
        let row = row.unwrap_or_else(|| MadeRow::without_line(host));
        (told, Some(MadeRow { indexed: Some(Box::new(indexed)), ..row }))
    }

    /// What is written of a body of any other format; none if there is nothing to be read.
    pub fn row(&self, body: &ExtractBody<'_>) -> Option<MadeRow> {
        let row = body.row(None, WISH);
        let host = body.url.host();
        let indexed = (self.asked.index && body.has_row())
            .then(|| Box::new(IndexedPage::of_row(body, row.as_ref())));
        let line = row.filter(|_| self.asked.rows).and_then(|row| made(&row, host, None));
        match indexed {
            None => line,
            indexed => {
                Some(MadeRow { indexed, ..line.unwrap_or_else(|| MadeRow::without_line(host)) })
            }
        }
    }

    /// What the index is told of a page that was fetched again and not kept again.
    pub fn revisited(&self, url: &Url, original: &Url, fetched: u32) -> Option<MadeRow> {
        let indexed = self.asked.index.then(|| IndexedPage::revisited(url, original, fetched))?;
        let row = MadeRow::without_line(url.host());
        Some(MadeRow { indexed: Some(Box::new(indexed)), ..row })
    }

    /// Takes a row to be written, and where its record is.
    pub fn keep(&self, row: MadeRow, mark: Option<RowsMark>) -> io::Result<()> {
        let MadeRow { line, host, blocks, indexed } = row;
        if let Some(blocks) = blocks {
            self.templates().teach(&host, &blocks);
        }
        let sent = self.rows.send(Message::Row { line, indexed, mark });
        sent.map_err(|_| self.finish().err().unwrap_or_else(|| io::Error::other("rows ended")))
    }

    /// Writes what is left. The second time there is nothing to do.
    pub fn finish(&self) -> io::Result<()> {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writing) = writing else { return Ok(()) };
        // A thread that has failed does not listen, and says why when it is joined.
        let _ = self.rows.send(Message::End);
        writing.join().unwrap_or_else(|_| Err(io::Error::other("the writer of rows failed")))
    }

    fn templates(&self) -> std::sync::MutexGuard<'_, Templates> {
        self.templates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn made(row: &ExtractedRow, host: &str, blocks: Option<Vec<u64>>) -> Option<MadeRow> {
    let line = line(row).ok()?;
    Some(MadeRow { line: Some(line), host: host.to_owned(), blocks, indexed: None })
}

fn line(row: &ExtractedRow) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(row)?;
    line.push(b'\n');
    Ok(line)
}

impl MadeRow {
    fn without_line(host: &str) -> MadeRow {
        MadeRow { line: None, host: host.to_owned(), blocks: None, indexed: None }
    }
}

impl Outputs {
    /// A thread's whole life.
    fn write(mut self, waiting: &Receiver<Message>) -> io::Result<()> {
        loop {
            match waiting.recv_timeout(FLUSH_EVERY) {
                Ok(Message::Row { line, indexed, mark }) => {
                    if let (Some(file), Some(line)) = (&mut self.rows, line) {
                        file.push(&line, mark)?;
                    }
                    if let (Some(index), Some(indexed)) = (&mut self.index, indexed) {
                        index.take(*indexed, mark)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.rows.as_mut().map_or(Ok(()), RowsFile::flush)?;
                    self.index.as_mut().map_or(Ok(()), CurrentIndex::commit_if_due)?;
                }
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return self.finish(),
            }
        }
    }

    fn finish(mut self) -> io::Result<()> {
        self.rows.as_mut().map_or(Ok(()), RowsFile::flush)?;
        self.index.map_or(Ok(()), |index| index.finish().map(drop))
    }
}

/// Makes the rows of all records behind the last one that has a row.
fn catch_up(dir: &Path, file: &mut RowsFile, token: &str) -> io::Result<()> {
    let other = |error: rhumb_archive::ArchiveError| io::Error::other(error.to_string());
    let warcs = warc_files(dir).map_err(other)?;
    let mut mark = file.mark();
    let is_there = |(serial, path): &(u32, std::path::PathBuf)| {
        *serial == mark.file && path.metadata().is_ok_and(|data| data.len() > mark.offset)
    };
    if mark != RowsMark::default() && !warcs.iter().any(is_there) {
        // The archive lost records that had rows, as a power cut may do.
        file.clear()?;
        mark = RowsMark::default();
    }
    let mut templates = Templates::default();
    for (serial, path) in warcs.iter().filter(|(serial, _)| *serial >= mark.file) {
        let start = if *serial == mark.file { mark.offset } else { 0 };
        for record in RecordReader::open_at(path, start).map_err(other)? {
            let record = record.map_err(other)?;
            let at = RowsMark { file: *serial, offset: record.offset };
            if at == mark {
                continue;
            }
            if let Some(row) = row_of_record(&record, Some(&mut templates), WISH, token) {
                file.push(&line(&row)?, Some(at))?;
            }
        }
    }
    file.flush()
}
