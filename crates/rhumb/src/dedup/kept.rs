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

use rhumb_neardup::batch::PairStep;

use super::input::Input;
use super::journal::DedupJournal;
use super::portion::PortionDone;
use super::{DedupFailure, DedupJob};

/// The journal of a run that has one.
pub struct RunJournal(Option<Mutex<DedupJournal>>);

/// What a record holds, by its first byte.
pub enum JournalRecord {
    Portion(PortionDone),
    AllRead,
    Found(PairStep),
}

const PORTION: u8 = b'p';
const ALL_READ: u8 = b'r';
const FOUND: u8 = b'f';

impl RunJournal {
    pub fn open(job: &DedupJob) -> Result<RunJournal, DedupFailure> {
        let open = |path| DedupJournal::open(path, &manifest(job)?).map(Mutex::new);
        Ok(RunJournal(job.journal.as_deref().map(open).transpose()?))
    }

    /// The next record of an earlier run.
    pub fn next(&self) -> Result<Option<JournalRecord>, DedupFailure> {
        let Some(mut journal) = self.locked() else { return Ok(None) };
        let Some(bytes) = journal.next()? else { return Ok(None) };
        let record = match bytes.split_first() {
            Some((&PORTION, bytes)) => PortionDone::from_bytes(bytes).map(JournalRecord::Portion),
            Some((&ALL_READ, [])) => Some(JournalRecord::AllRead),
            Some((&FOUND, bytes)) => PairStep::from_bytes(bytes).map(JournalRecord::Found),
            _ => None,
        };
        record.ok_or_else(|| journal.strange()).map(Some)
    }

    /// Steps of an earlier run, when its portions were taken.
    pub fn steps(&self) -> impl Iterator<Item = Result<PairStep, DedupFailure>> + '_ {
        std::iter::from_fn(|| match self.next().transpose()? {
            Ok(JournalRecord::Found(step)) => Some(Ok(step)),
            Ok(_) => self.locked().map(|journal| Err(journal.strange())),
            Err(failure) => Some(Err(failure)),
        })
    }

    /// The record of a portion, made by any thread; nothing without a journal.
    pub fn record_of(&self, done: &PortionDone) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.0.is_some() {
            bytes.push(PORTION);
            done.to_bytes(&mut bytes);
        }
        bytes
    }

    /// Portions are kept in their order.
    pub fn portion(&self, record: &[u8]) -> Result<(), DedupFailure> {
        self.append(record)
    }

    pub fn all_read(&self) -> Result<(), DedupFailure> {
        self.append(&[ALL_READ])
    }

    pub fn found(&self, step: &PairStep) -> Result<(), DedupFailure> {
        if self.0.is_none() {
            return Ok(());
        }
        let mut bytes = vec![FOUND];
        step.to_bytes(&mut bytes);
        self.append(&bytes)
    }

    /// All is done and written.
    pub fn remove(self) -> Result<(), DedupFailure> {
        let Some(journal) = self.0 else { return Ok(()) };
        journal.into_inner().unwrap_or_else(PoisonError::into_inner).remove()
    }

    fn append(&self, bytes: &[u8]) -> Result<(), DedupFailure> {
        self.locked().map_or(Ok(()), |mut journal| journal.append(bytes))
    }

    fn locked(&self) -> Option<MutexGuard<'_, DedupJournal>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// All that the records depend on. Memory, threads and outputs may differ from run to run.
fn manifest(job: &DedupJob) -> Result<String, DedupFailure> {
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

fn failure(path: &Path, error: &io::Error) -> DedupFailure {
    DedupFailure(format!("{}: {error}", path.display()))
}
