//! A portion of the input, worked through: what its documents are called, and their signatures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rhumb_archive::Record;
use rhumb_neardup::batch::{DocumentBlock, DocumentSigner};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::input::{Portion, Raw};
use super::row::{self, RowContent};
use super::table::Name;
use super::text;

/// What came of a portion, before its place in the whole is known.
pub struct PortionDone {
    pub names: Vec<Name>,
    pub block: DocumentBlock,
    pub problems: Vec<String>,
    pub is_lines: bool,
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Bytes of text.
    pub bytes: u64,
    /// Documents left out, each with a message.
    pub skipped: u64,
    /// Later captures of a URL in a WARC file, left out.
    pub recaptures: u64,
    /// CPU time for reading rows, and for signing texts.
    pub read_cpu: Duration,
    pub sign_cpu: Duration,
}

/// Some editors begin a file with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const UNREADABLE: &str = "our reader of pages failed on it; skipped";

/// Pages may be hostile: one that makes their reader panic costs itself, not the run.
fn contained<T>(read: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).ok()
}

/// All the work of a portion.
pub fn worked_through(portion: Portion, signer: &mut DocumentSigner) -> PortionDone {
    let mut done = PortionDone {
        names: Vec::new(),
        block: DocumentBlock::default(),
        problems: portion.problems,
        is_lines: false,
        counts: Counts::default(),
    };
    match portion.raw {
        Raw::Lines { bytes, first } => {
            done.is_lines = true;
            done.block = DocumentBlock::for_bytes(bytes.len());
            let bytes = match first {
                1 => bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes),
                _ => &bytes,
            };
            for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                if !line.trim_ascii().is_empty() {
                    done.line(line, first + at as u64, signer);
                }
            }
        }
        Raw::Records(records) => {
            records.iter().for_each(|record| done.record(record, signer));
        }
    }
    done
}

impl PortionDone {
    fn line(&mut self, line: &[u8], place: u64, signer: &mut DocumentSigner) {
        match row::read(line) {
            Ok(row) => {
                let url = row.url.map(|url| url.into_owned());
                let name = Name { id: row.id.into_owned(), url, place, ..Name::default() };
                match row.content {
                    RowContent::Text(text) => self.document(name, &text, signer),
                    RowContent::Html(html) => {
                        let url = name.url.as_deref();
                        match contained(|| text::of_html(html.as_bytes(), Some("utf-8"), url)) {
                            Some(text) => self.document(name, &text, signer),
                            None => self.problems.push(format!("line {place}: {UNREADABLE}")),
                        }
                    }
                }
            }
            Err(error) => self.problems.push(format!("line {place}: {error}; skipped")),
        }
    }

    fn record(&mut self, record: &Record, signer: &mut DocumentSigner) {
        let Some(url) = record.target().filter(|url| !url.ends_with("/robots.txt")) else {
            return;
        };
        let payload = record.field("WARC-Payload-Digest").map(|digest| xxh3_128(digest.as_bytes()));
        let (id, url) = (url.to_owned(), Some(url.to_owned()));
        let name = Name { id, url, payload, ..Name::default() };
        if record.kind() == "revisit" {
            if payload.is_some() {
                self.names.push(Name { is_copy: true, ..name });
                self.block.push_copy();
            }
            return;
        }
        match contained(|| text::of_record(record)) {
            Some(Some(text)) => self.document(name, &text, signer),
            Some(None) => {}
            None => self.problems.push(format!("{}: {UNREADABLE}", name.id)),
        }
    }

    fn document(&mut self, name: Name, text: &str, signer: &mut DocumentSigner) {
        let began = cpu();
        signer.sign(text, &mut self.block);
        self.counts.sign_cpu += cpu() - began;
        self.counts.bytes += text.len() as u64;
        self.names.push(name);
    }
}

/// What is kept of [`PortionDone`] beside its block.
#[derive(Serialize, Deserialize)]
struct Head<N, P> {
    names: N,
    problems: P,
    is_lines: bool,
    bytes: u64,
}

impl PortionDone {
    /// Appends what [`PortionDone::from_bytes`] makes the same of, but for the time that it took.
    pub fn to_bytes(&self, bytes: &mut Vec<u8>) {
        let PortionDone { names, problems, is_lines, counts, .. } = self;
        let head = Head { names, problems, is_lines: *is_lines, bytes: counts.bytes };
        let head = serde_json::to_vec(&head).expect("texts and numbers are JSON");
        bytes.extend_from_slice(&(head.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&head);
        self.block.to_bytes(bytes);
    }

    /// None if these are not its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<PortionDone> {
        let (length, bytes) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (head, block) = bytes.split_at_checked(length)?;
        let head: Head<Vec<Name>, Vec<String>> = serde_json::from_slice(head).ok()?;
        let Head { names, problems, is_lines, bytes } = head;
        let block = DocumentBlock::from_bytes(block).filter(|block| block.len() == names.len())?;
        let counts = Counts { bytes, ..Counts::default() };
        Some(PortionDone { names, block, problems, is_lines, counts })
    }
}

/// CPU time of this thread.
pub fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32)
}
