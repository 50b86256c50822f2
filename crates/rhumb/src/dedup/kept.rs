//! What of a run is kept in its journal, and what tells the run from others.
//!
//! First the portions of the input, signed, in order; then that all was read; then what was found,
//! step by step. The next run adds and joins the same again, which is little work beside reading
//! and comparing, and goes on where the records end.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rhumb_neardup::batch::Step;

use super::input::Input;
use super::journal::Journal;
use super::portion::Done;
use super::{Failure, Job};

/// The journal of a run that has one.
pub struct Kept(Option<Mutex<Journal>>);

/// What a record holds, by its first byte.
pub enum Record {
    Portion(Done),
    AllRead,
    Found(Step),
}

const PORTION: u8 = b'p';
const ALL_READ: u8 = b'r';
const FOUND: u8 = b'f';

impl Kept {
    pub fn open(job: &Job) -> Result<Kept, Failure> {
        let open = |path| Journal::open(path, &manifest(job)?).map(Mutex::new);
        Ok(Kept(job.journal.as_deref().map(open).transpose()?))
    }

    /// The next record of an earlier run.
    pub fn next(&self) -> Result<Option<Record>, Failure> {
        let Some(mut journal) = self.locked() else { return Ok(None) };
        let Some(bytes) = journal.next()? else { return Ok(None) };
        let record = match bytes.split_first() {
            Some((&PORTION, bytes)) => Done::from_bytes(bytes).map(Record::Portion),
            Some((&ALL_READ, [])) => Some(Record::AllRead),
            Some((&FOUND, bytes)) => Step::from_bytes(bytes).map(Record::Found),
            _ => None,
        };
        record.ok_or_else(|| journal.strange()).map(Some)
    }

    /// Steps of an earlier run, when its portions were taken.
    pub fn steps(&self) -> impl Iterator<Item = Result<Step, Failure>> + '_ {
        std::iter::from_fn(|| match self.next().transpose()? {
            Ok(Record::Found(step)) => Some(Ok(step)),
            Ok(_) => self.locked().map(|journal| Err(journal.strange())),
            Err(failure) => Some(Err(failure)),
        })
    }

    /// The record of a portion, made by any thread; nothing without a journal.
    pub fn record_of(&self, done: &Done) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.0.is_some() {
            bytes.push(PORTION);
            done.to_bytes(&mut bytes);
        }
        bytes
    }

    /// Portions are kept in their order.
    pub fn portion(&self, record: &[u8]) -> Result<(), Failure> {
        self.append(record)
    }

    pub fn all_read(&self) -> Result<(), Failure> {
        self.append(&[ALL_READ])
    }

    pub fn found(&self, step: &Step) -> Result<(), Failure> {
        if self.0.is_none() {
            return Ok(());
        }
        let mut bytes = vec![FOUND];
        step.to_bytes(&mut bytes);
        self.append(&bytes)
    }

    /// All is done and written.
    pub fn remove(self) -> Result<(), Failure> {
        let Some(journal) = self.0 else { return Ok(()) };
        journal.into_inner().unwrap_or_else(PoisonError::into_inner).remove()
    }

    fn append(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.locked().map_or(Ok(()), |mut journal| journal.append(bytes))
    }

    fn locked(&self) -> Option<MutexGuard<'_, Journal>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// All that the records depend on. Memory, threads and outputs may differ from run to run.
fn manifest(job: &Job) -> Result<String, Failure> {
    let mut lines = format!("version {}\n", env!("CARGO_PKG_VERSION"));
    let asked = if job.needs_pairs() { "pairs" } else { "clusters" };
    let settings = &job.settings;
    let told = [
        format!("threshold {}", settings.threshold),
        format!("shingle {}", settings.words),
        format!("common shingles {}", job.common_shingles.unwrap_or(1.0)),
        format!("asked for {asked}"),
    ];
    told.iter().for_each(|line| lines.extend([line, "\n"]));
    for path in Input::files(&job.input).map_err(|error| failure(&job.input, &error))? {
        let about = fs::metadata(&path).and_then(|about| Ok((about.len(), about.modified()?)));
        let (bytes, modified) = about.map_err(|error| failure(&path, &error))?;
        let modified = modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = fs::canonicalize(&path).unwrap_or(path);
        let _ = writeln!(lines, "{} of {bytes} bytes, modified at {modified}", path.display());
    }
    Ok(lines)
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure(format!("{}: {error}", path.display()))
}
