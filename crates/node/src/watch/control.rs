//! `DIR/control.sock`: how `rhumb status` asks a crawl that runs, whose store it cannot open.
//!
//! A request is a line of JSON, `{"status":true}`, `{"url":"…"}`, `{"coverage":true}`,
//! `{"view":{…}}`, `{"urls":{…}}`, `{"hand":{…}}` or `{"hands":true}`; so is the reply, with one
//! key: `status`, `url`, `coverage`, `view`, `done`, `hands`, `error` or `later`. URLs are listed
//! in many replies `line`, and a last one, `end`. Whoever may write into the directory may connect.

use super::coverage::{self, Covered};
use super::live::Live;
use super::metrics;
use super::report::CrawlReport;
use super::status::{self, CrawlStatus, Patience, UrlStatus};
use super::steering::{self, HandRequest, ToldLine};
use super::urls::{self, Take, UrlLine, UrlQuery};
use super::view::{self, AtWork, ViewQuery};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

pub const SOCKET_FILE: &str = "control.sock";
const CONNECTIONS_MAX: usize = 4;
/// Above the longest URL that we take.
const REQUEST_BYTES_MAX: u64 = 64 << 10;
const REPLY_BYTES_MAX: u64 = 16 << 20;
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// The asker's patience: a reply waits for a scan of all hosts.
const REPLY_TIME_MAX: Duration = Duration::from_secs(120);
/// Lines of a list go out in pieces of about this size, a few of which wait for the asker.
const LIST_BYTES: usize = 32 << 10;
const LIST_PIECES_MAX: usize = 8;
/// So long the asker of a list may pause: others wait for the thread that reads it.
const LIST_PAUSE_MAX: Duration = Duration::from_secs(60);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlRequest {
    /// With all lists of hosts, or without, for those who ask every second.
    Status(bool),
    Url(String),
    /// What can be told of a URL without walking through all of them.
    UrlBriefly(String),
    Coverage(bool),
    View(ViewQuery),
    Urls(UrlQuery),
    /// What the owner asks of the crawl.
    Hand(HandRequest),
    /// What was asked so far.
    Hands(bool),
    /// What Prometheus reads.
    Metrics(bool),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlReply {
    Status(Box<CrawlStatus>),
    Url(Box<UrlStatus>),
    Coverage(Covered),
    /// A page of the dashboard.
    View(serde_json::Value),
    /// What a hand has done.
    Done(String),
    Hands(Vec<ToldLine>),
    Metrics(String),
    Line(UrlLine),
    /// All lines have come.
    End(bool),
    Error(String),
    /// Not now.
    Later(String),
}

/// The file of the socket, gone with the crawl.
pub struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Takes the socket of `dir`. A socket that is there already was left by a dead run: the store's
/// lock, which the caller holds, admits one run at a time.
pub fn bind(dir: &Path) -> io::Result<(UnixListener, Socket)> {
    let path = dir.join(SOCKET_FILE);
    if fs::symlink_metadata(&path).is_ok_and(|meta| meta.file_type().is_socket()) {
        fs::remove_file(&path)?;
    }
    // A path beyond the system's limit (about 100 bytes) fails here.
    let listener = UnixListener::bind(&path)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
    let socket = Socket(path);
    listener.set_nonblocking(true)?;
    Ok((listener, socket))
}

/// Answers until the runtime that it runs on ends.
pub async fn serve(listener: UnixListener, live: Arc<Live>, reader: LocalReader) {
    let listener = match tokio::net::UnixListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(%error, "status cannot be served");
            return;
        }
    };
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (live, reader) = (Arc::clone(&live), reader.clone());
                tokio::spawn(async move {
                    if let Err(error) = converse(stream, live, reader).await {
                        tracing::debug!(%error, "status connection lost");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "status connection lost");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Line after line, until the asker has no more or is silent for too long.
async fn converse(
    stream: tokio::net::UnixStream,
    live: Arc<Live>,
    reader: LocalReader,
) -> io::Result<()> {
    let (from, mut to) = stream.into_split();
    let mut from = tokio::io::BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let mut bounded = (&mut from).take(REQUEST_BYTES_MAX);
        let read = bounded.read_until(b'\n', &mut line);
        if tokio::time::timeout(REQUEST_TIME_MAX, read).await?? == 0 {
            return Ok(());
        }
        let is_whole = line.ends_with(b"\n");
        let (live, reader) = (Arc::clone(&live), reader.clone());
        if let Ok(ControlRequest::Urls(query)) = serde_json::from_slice(&line) {
            send_list(query, reader, &mut to).await?;
            continue;
        }
        let reply = tokio::task::spawn_blocking(move || reply(&line, &live, &reader)).await?;
        let mut text = serde_json::to_vec(&reply)?;
        text.push(b'\n');
        tokio::time::timeout(REQUEST_TIME_MAX, to.write_all(&text)).await??;
        // What follows a line that was cut is no request.
        if !is_whole {
            return Ok(());
        }
    }
}

fn reply(line: &[u8], live: &Live, reader: &LocalReader) -> ControlReply {
    let now = live.get();
    let answered = match serde_json::from_slice(line) {
        Ok(ControlRequest::Status(false)) => {
            let status = status::of_running_briefly(&now, CrawlReport::running(&now));
            Ok(ControlReply::Status(status.into()))
        }
        Ok(ControlRequest::Status(true)) => {
            status::of_running(&now, CrawlReport::running(&now), reader)
                .map(|s| ControlReply::Status(s.into()))
        }
        Ok(ControlRequest::Url(url)) => {
            let at = (now.snapshot.now, Patience::Whole);
            status::of_url(&url, at, &now.about.dir, reader).map(|s| ControlReply::Url(s.into()))
        }
        Ok(ControlRequest::UrlBriefly(url)) => {
            let at = (now.snapshot.now, Patience::Brief);
            status::of_url(&url, at, &now.about.dir, reader).map(|s| ControlReply::Url(s.into()))
        }
        Ok(ControlRequest::Coverage(_)) => {
            coverage::certificate(reader).map(ControlReply::Coverage)
        }
        Ok(ControlRequest::View(query)) => {
            let at_work = AtWork::of(live);
            let reader = Arc::new(reader.clone());
            view::answer(&query, (&now.about.dir, &reader), now.snapshot.now, &at_work)
                .map(ControlReply::View)
        }
        Ok(ControlRequest::Hand(request)) => {
            live.take_hand(&request, reader).map(ControlReply::Done)
        }
        Ok(ControlRequest::Metrics(_)) => return ControlReply::Metrics(metrics::exposition(&now)),
        Ok(ControlRequest::Hands(_)) => steering::log(reader).map(ControlReply::Hands),
        Ok(ControlRequest::Urls(_)) => {
            return ControlReply::Error("lists are sent in lines".to_owned());
        }
        Err(e) => return ControlReply::Error(format!("not a request: {e}")),
    };
    answered.unwrap_or_else(|error| match error.kind {
        ErrorKind::Retry => ControlReply::Later(error.what),
        _ => ControlReply::Error(error.what),
    })
}

/// One thread reads the store, and waits when the asker does.
async fn send_list(
    query: UrlQuery,
    reader: LocalReader,
    to: &mut tokio::net::unix::OwnedWriteHalf,
) -> io::Result<()> {
    let (pieces, mut ready) = tokio::sync::mpsc::channel(LIST_PIECES_MAX);
    let reading = tokio::task::spawn_blocking(move || {
        let mut piece = Vec::with_capacity(LIST_BYTES);
        let listed = urls::list(&reader, &query, &mut |line| {
            push_line(&mut piece, &ControlReply::Line(line));
            // An asker that went away is sent no more.
            piece.len() < LIST_BYTES || pieces.blocking_send(std::mem::take(&mut piece)).is_ok()
        });
        push_line(
            &mut piece,
            &listed.map_or_else(|e| ControlReply::Error(e.what), |()| ControlReply::End(true)),
        );
        let _ = pieces.blocking_send(piece);
    });
    while let Some(piece) = ready.recv().await {
        tokio::time::timeout(LIST_PAUSE_MAX, to.write_all(&piece)).await??;
    }
    Ok(reading.await?)
}

fn push_line(piece: &mut Vec<u8>, reply: &ControlReply) {
    serde_json::to_writer(&mut *piece, reply).expect("replies are plain data");
    piece.push(b'\n');
}

/// Lists URLs of the crawl that runs on `dir`; none if there is none that listens.
pub fn list(
    dir: &Path,
    query: &UrlQuery,
    take: &mut Take<'_>,
) -> io::Result<Option<Result<(), Error>>> {
    let Some(stream) = connect(dir, &ControlRequest::Urls(query.clone()))? else { return Ok(None) };
    let mut lines = BufReader::new(&stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.by_ref().take(REPLY_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            let what = "the crawl ended before the list did: ask again";
            return Ok(Some(Err(Error::new(ErrorKind::Retry, what))));
        }
        match serde_json::from_slice(&line)? {
            ControlReply::Line(line) => {
                if !take(line) {
                    return Ok(Some(Ok(())));
                }
            }
            ControlReply::End(_) => return Ok(Some(Ok(()))),
            other => return Ok(Some(Err(status::unexpected(other)))),
        }
    }
}

/// Asks the crawl that runs on `dir`; none if there is none that listens.
pub fn ask(dir: &Path, request: &ControlRequest) -> io::Result<Option<ControlReply>> {
    let Some(stream) = connect(dir, request)? else { return Ok(None) };
    let mut line = Vec::new();
    BufReader::new(&stream).take(REPLY_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        // The crawl ended between our two lines.
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

/// A connection on which a request was sent.
fn connect(dir: &Path, request: &ControlRequest) -> io::Result<Option<UnixStream>> {
    let stream = match UnixStream::connect(dir.join(SOCKET_FILE)) {
        Ok(stream) => stream,
        // Absent, left by a dead run, or of a path too long to exist.
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(e) => return Err(e),
    };
    stream.set_read_timeout(Some(REPLY_TIME_MAX))?;
    stream.set_write_timeout(Some(REQUEST_TIME_MAX))?;
    let mut text = serde_json::to_vec(request)?;
    text.push(b'\n');
    (&stream).write_all(&text)?;
    Ok(Some(stream))
}
