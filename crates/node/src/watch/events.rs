//! `--events FILE`: what happens in a crawl, a line of JSON each (docs/events.md).
//!
//! The loop hands entries over when their turn is committed; a thread writes them, so that neither
//! JSON nor the disk is the loop's business. A reader that is slower than the crawl holds it up: no
//! entry is dropped.

use super::moment::{self, rfc3339};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::StopReason;
use rhumb_engine::log::{FetchedAs, Happening, LogEntry, RobotsWord};
use rhumb_engine::time::{Span, Time};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Entries between the loop and the thread that writes.
const ENTRIES_MAX: usize = 4_096;
const BUFFER_BYTES: usize = 64 << 10;
/// What was written reaches the file at least this often.
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// Standard output, as a name of a file.
pub const STANDARD_OUTPUT: &str = "-";

pub struct EventLog {
    to: SyncSender<Box<LogEntry>>,
    thread: JoinHandle<Writer>,
}

impl EventLog {
    /// Opens the file to be appended to, and says that a run begins.
    pub fn open(path: &Path) -> Result<EventLog, Error> {
        let failed = |e: io::Error| {
            let what = format!("events: cannot write to {}: {e}", path.display());
            Error::new(ErrorKind::Invalid, what)
        };
        let out: Box<dyn Write + Send> = match path.as_os_str() == STANDARD_OUTPUT {
            true => Box::new(io::stdout()),
            false => Box::new(open(path).map_err(failed)?),
        };
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        let mut writer = Writer { out, name: path.display().to_string(), failed: false };
        writer.write(&Line {
            version: Some(env!("CARGO_PKG_VERSION")),
            ..line(moment::now(), "started")
        });
        let (to, entries) = sync_channel(ENTRIES_MAX);
        let thread = thread::Builder::new()
            .name("rhumb-events".to_owned())
            .spawn(move || run(writer, &entries))
            .map_err(failed)?;
        Ok(EventLog { to, thread })
    }

    /// Takes what happened; waits if the thread is behind.
    pub fn take(&self, entry: Box<LogEntry>) {
        // A thread that has ended has said why.
        let _ = self.to.send(entry);
    }

    /// The run is over: for this reason, or by an error.
    pub fn finish(self, reason: Result<StopReason, &Error>) {
        drop(self.to);
        let Ok(mut writer) = self.thread.join() else {
            tracing::error!("the thread that writes events panicked");
            return;
        };
        let (reason, error) = match reason {
            Ok(reason) => (reason.word(), None),
            Err(error) => ("failed", Some(error.what.as_str())),
        };
        writer.write(&Line { reason: Some(reason), error, ..line(moment::now(), "stopped") });
        writer.flush();
    }
}

/// A run that was killed may have left half a line: what follows begins a new one.
fn open(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    // What is no file, as a pipe, has no end to look at.
    if file.metadata()?.is_file() && file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

fn run(mut writer: Writer, entries: &Receiver<Box<LogEntry>>) -> Writer {
    let mut flushed = Instant::now();
    loop {
        match entries.recv_timeout(FLUSH_EVERY) {
            Ok(entry) => writer.write(&line_of(&entry)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return writer,
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            flushed = Instant::now();
            writer.flush();
        }
    }
}

struct Writer {
    out: BufWriter<Box<dyn Write + Send>>,
    name: String,
    /// Told once: the crawl goes on without its events.
    failed: bool,
}

impl Writer {
    fn write(&mut self, line: &Line<'_>) {
        let mut text = serde_json::to_vec(line).expect("lines are plain data");
        text.push(b'\n');
        self.attempt(|out| out.write_all(&text));
    }

    fn flush(&mut self) {
        self.attempt(|out| out.flush());
    }

    fn attempt(&mut self, act: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failed {
            return;
        }
        if let Err(error) = act(&mut self.out) {
            self.failed = true;
            let file = &self.name;
            tracing::error!(%file, %error, "events: cannot write; no more are written in this run");
        }
    }
}

/// What docs/events.md describes: only the fields that an event has.
#[derive(Default, Serialize)]
struct Line<'a> {
    time: String,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<u16>,
    /// Null if it is not tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
}

fn line(at: Time, event: &'static str) -> Line<'static> {
    Line { time: rfc3339(at), event, ..Line::default() }
}

fn line_of(entry: &LogEntry) -> Line<'_> {
    let status = |status: u16| (status != 0).then_some(status);
    let took_ms = |took: Span| Some(took.0 as f64 / 1e3);
    match &entry.what {
        Happening::Fetched { url, status: code, bytes, took, kind } => Line {
            url: Some(url.as_str()),
            status: status(*code),
            bytes: Some(*bytes),
            took_ms: took_ms(*took),
            kind: Some(kind.word()),
            to: match kind {
                FetchedAs::Moved { to } => to.as_ref().map(|url| url.as_str()),
                _ => None,
            },
            ..line(entry.at, "fetched")
        },
        Happening::Failed { url, kind, status: code, took, again } => Line {
            url: Some(url.as_str()),
            kind: Some(kind.word()),
            status: status(*code),
            took_ms: took_ms(*took),
            again: Some(again.map(rfc3339)),
            ..line(entry.at, "failed")
        },
        Happening::Refused { url, why } => {
            Line { url: Some(url.as_str()), why: Some(why.word()), ..line(entry.at, "refused") }
        }
        Happening::Robots { host, answer } => Line {
            host: Some(host.origin()),
            answer: Some(answer.word()),
            kind: match answer {
                RobotsWord::Unreachable(kind) => Some(kind.word()),
                _ => None,
            },
            to: match answer {
                RobotsWord::Moved { to } => to.as_ref().map(|url| url.as_str()),
                _ => None,
            },
            ..line(entry.at, "robots")
        },
        Happening::HostFailing { host, kind, failures, until } => Line {
            host: Some(host.origin()),
            kind: Some(kind.word()),
            failures: Some(*failures),
            again: Some(Some(rfc3339(*until))),
            ..line(entry.at, "host_failing")
        },
        Happening::HostRecovered { host } => {
            Line { host: Some(host.origin()), ..line(entry.at, "host_recovered") }
        }
        Happening::Told { what } => Line { what: Some(what), ..line(entry.at, "told") },
    }
}
