//! Documents whose reader cannot be trusted are read in a process of their own.
//!
//! A PDF may unpack to anything and keep its reader busy for ever, and neither a thread nor
//! `catch_unwind` can stop that. So a program that the caller names ([`read_with`]) is started as a
//! child that takes a document on its standard input and gives what it says on its standard output.
//! The child binds itself to limits of memory and CPU time before it reads a byte; the parent ends
//! it when it takes too long.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rhumb_extract::StatedDate;
use rhumb_extract::document::{self, Document};
use rhumb_page::url::Url;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use serde::{Deserialize, Serialize};

use crate::watch::memory;

/// The argument that makes this program the child.
pub const CHILD_FLAG: &str = "--contained";
/// Address space that the child may take beyond what it has when it begins: for the file, its
/// objects, its text.
const CHILD_BYTES_MAX: u64 = 1 << 30;
/// The child's allocator asks for address space in pieces of this size (in KiB). Its own choice is
/// 1 GiB at once, which a limit on address space cannot tell from memory in use.
const CHILD_ARENA: (&str, &str) = ("MIMALLOC_ARENA_RESERVE", "32768");
/// CPU time of the child.
const CHILD_CPU_S_MAX: u64 = 20;
/// How long the parent waits.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Bytes that the child may answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// Stack of the thread that reads: formats nest.
const STACK_BYTES: usize = 64 << 20;

/// The program whose verb `extract` is the child; none until the caller has named it.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that reads documents: a `rhumb` that has the verb `extract`. The first call
/// counts. A program that never calls it reads no document that wants a process of its own.
pub fn read_with(program: PathBuf) {
    // A second name is not wrong, only too late: children of the first are running.
    let _ = PROGRAM.set(program);
}

/// What a contained document says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Contained {
    pub format: String,
    pub title: Option<String>,
    pub author: Option<String>,
    pub published: Option<Day>,
    pub modified: Option<Day>,
    pub text: String,
    pub links: Vec<String>,
    pub oddities: Vec<String>,
}

/// A date as the child writes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Day {
    pub text: String,
    pub unix_seconds: i64,
}

impl Day {
    pub fn date(self) -> StatedDate {
        StatedDate { text: self.text, unix_seconds: self.unix_seconds }
    }
}

impl From<Document> for Contained {
    fn from(read: Document) -> Contained {
        let day = |date: StatedDate| Day { text: date.text, unix_seconds: date.unix_seconds };
        Contained {
            format: read.format.to_owned(),
            title: read.title,
            author: read.author,
            published: read.published.map(day),
            modified: read.modified.map(day),
            text: read.text,
            links: read.links.iter().map(|link| link.as_str().to_owned()).collect(),
            oddities: read.oddities,
        }
    }
}

/// Reads a document in a child. What the child could not do is an oddity, not an error.
pub fn read(body: &[u8], content_type: &str, url: &Url) -> io::Result<Contained> {
    let Some(program) = PROGRAM.get() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no program to read it was named"));
    };
    let mut child = Command::new(program)
        .args(["extract", CHILD_FLAG, "--url", url.as_str(), content_type])
        .env(CHILD_ARENA.0, CHILD_ARENA.1)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let (done, wait) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that dies stops listening; what it said before counts.
            let _ = input.take().map(|mut input| input.write_all(body));
        });
        scope.spawn(move || {
            let mut answer = Vec::new();
            let read = output.map(|o| o.take(ANSWER_BYTES_MAX).read_to_end(&mut answer));
            let _ = done.send(read.map(|_| answer));
        });
        let answer = wait.recv_timeout(WAIT_MAX);
        if matches!(answer, Err(RecvTimeoutError::Timeout)) {
            child.kill()?;
        }
        finish(child, answer.ok().flatten())
    })
}

fn finish(mut child: Child, answer: Option<Vec<u8>>) -> io::Result<Contained> {
    let status = child.wait()?;
    let read = answer.and_then(|answer| serde_json::from_slice(&answer).ok());
    Ok(read.unwrap_or_else(|| Contained {
        oddities: vec![format!("reading it took too much time or memory ({status})")],
        ..Contained::default()
    }))
}

/// The child's whole life.
pub fn serve(content_type: &str, url: &Url, out: &mut dyn Write) -> io::Result<()> {
    // Whoever asked is gone: nobody would read the answer.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let bound = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(Resource::As, bound(memory::of_this_process().address_bytes + CHILD_BYTES_MAX))?;
    setrlimit(Resource::Cpu, bound(CHILD_CPU_S_MAX))?;
    let mut body = Vec::new();
    io::stdin().lock().read_to_end(&mut body)?;
    let (content_type, url) = (content_type.to_owned(), url.clone());
    let reader = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || document::read(Some(&content_type), &body, &url))?;
    let read = reader.join().map_err(|_| io::Error::other("the reader failed"))?;
    serde_json::to_writer(&mut *out, &read.unwrap_or_default())?;
    out.flush()
}
