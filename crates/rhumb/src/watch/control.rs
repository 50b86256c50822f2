//! `DIR/control.sock`: how `rhumb status` asks a crawl that runs, whose store it cannot open.
//!
//! A request is a line of JSON, `{"status":true}`, `{"url":"…"}` or `{"coverage":true}`; so is the
//! reply, with one key: `status`, `url`, `coverage` or `error`.

use super::coverage::{self, Covered};
use super::live::Live;
use super::report::Report;
use super::status::{self, Status, UrlStatus};
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
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    Status(bool),
    Url(String),
    Coverage(bool),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Status(Box<Status>),
    Url(Box<UrlStatus>),
    Coverage(Covered),
    Error(String),
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

fn reply(line: &[u8], live: &Live, reader: &LocalReader) -> Reply {
    let now = live.get();
    let answered = match serde_json::from_slice(line) {
        Ok(Request::Status(_)) => {
            status::of_running(&now, Report::running(&now), reader).map(|s| Reply::Status(s.into()))
        }
        Ok(Request::Url(url)) => {
            status::of_url(&url, now.snapshot.now, reader).map(|s| Reply::Url(s.into()))
        }
        Ok(Request::Coverage(_)) => coverage::certificate(reader).map(Reply::Coverage),
        Err(e) => return Reply::Error(format!("not a request: {e}")),
    };
    answered.unwrap_or_else(|e| Reply::Error(e.what))
}

/// Asks the crawl that runs on `dir`; none if there is none that listens.
pub fn ask(dir: &Path, request: &Request) -> io::Result<Option<Reply>> {
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
    let mut line = Vec::new();
    BufReader::new(&stream).take(REPLY_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        // The crawl ended between our two lines.
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
