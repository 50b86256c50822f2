//! Extraction while crawling (`--extract`): workers make rows, one thread writes them.
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

use rhumb_archive::{Reader, warc_date, warc_files};
use rhumb_page::url::Url;

use super::body::{Body, row_of_record};
use super::row::{Row, Wish};
use super::rows_file::{Mark, RowsFile};
use super::templates::Templates;
use crate::fetch::{Response, Truncation};

/// Rows waiting to be written; beyond, those who bring more wait.
const WAITING_MAX: usize = 256;
/// Rows are on disk after this long, if few come.
const FLUSH_EVERY: Duration = Duration::from_secs(5);
const WISH: Wish = Wish { keeps_all: false, markdown: false };

pub struct WhileCrawling {
    templates: Mutex<Templates>,
    rows: SyncSender<Message>,
    writing: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

enum Message {
    Row(Vec<u8>, Option<Mark>),
    End,
}

impl WhileCrawling {
    /// Opens the rows of a crawl's directory, and makes those that are missing from its archive,
    /// which nobody else may be writing yet.
    pub fn open(dir: &Path, has_archive: bool) -> io::Result<WhileCrawling> {
        let mut file = RowsFile::open(dir)?;
        if has_archive {
            catch_up(dir, &mut file)?;
        }
        let (rows, waiting) = sync_channel(WAITING_MAX);
        let writing = std::thread::Builder::new()
            .name("extract".to_owned())
            .spawn(move || write(&mut file, &waiting))?;
        let (templates, writing) = (Mutex::default(), Mutex::new(Some(writing)));
        Ok(WhileCrawling { templates, rows, writing })
    }

    /// The row of a response, as a line; none if it is no page.
    pub fn row(&self, url: &Url, response: &Response, fetched_us: u64) -> Option<Vec<u8>> {
        let is_whole = matches!(response.truncated, None | Some(Truncation::Length));
        if !(200..300).contains(&response.status) || !is_whole {
            return None;
        }
        let head = response.head();
        let content_type = head.content_type();
        let decoded = response.decoded();
        let body = Body {
            url,
            fetched: &warc_date(fetched_us),
            content_type: content_type.as_deref(),
            bytes: &decoded.bytes,
        };
        let mut template = self.templates().take(url.host());
        let row = body.row(Some(&mut template), WISH);
        self.templates().put(url.host(), template);
        line(&row?).ok()
    }

    /// Takes a row to be written, and where its record is.
    pub fn keep(&self, row: Vec<u8>, mark: Option<Mark>) -> io::Result<()> {
        let sent = self.rows.send(Message::Row(row, mark));
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

fn line(row: &Row) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(row)?;
    line.push(b'\n');
    Ok(line)
}

fn write(file: &mut RowsFile, waiting: &Receiver<Message>) -> io::Result<()> {
    loop {
        match waiting.recv_timeout(FLUSH_EVERY) {
            Ok(Message::Row(row, mark)) => file.push(&row, mark)?,
            Err(RecvTimeoutError::Timeout) => file.flush()?,
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return file.flush(),
        }
    }
}

/// Makes the rows of all records behind the last one that has a row.
fn catch_up(dir: &Path, file: &mut RowsFile) -> io::Result<()> {
    let other = |error: rhumb_archive::Error| io::Error::other(error.to_string());
    let warcs = warc_files(dir).map_err(other)?;
    let mut mark = file.mark();
    let is_there = |(serial, path): &(u32, std::path::PathBuf)| {
        *serial == mark.file && path.metadata().is_ok_and(|data| data.len() > mark.offset)
    };
    if mark != Mark::default() && !warcs.iter().any(is_there) {
        // The archive lost records that had rows, as a power cut may do.
        file.clear()?;
        mark = Mark::default();
    }
    let mut templates = Templates::default();
    for (serial, path) in warcs.iter().filter(|(serial, _)| *serial >= mark.file) {
        let start = if *serial == mark.file { mark.offset } else { 0 };
        for record in Reader::open_at(path, start).map_err(other)? {
            let record = record.map_err(other)?;
            let at = Mark { file: *serial, offset: record.offset };
            if at == mark {
                continue;
            }
            if let Some(row) = row_of_record(&record, Some(&mut templates), WISH) {
                file.push(&line(&row)?, Some(at))?;
            }
        }
    }
    file.flush()
}
