//! A crawl's directory, opened to be read: its WARC files, the index over them in the order of
//! SURTs, and its state if there is one.
//!
//! The state is held while it is read, so no crawl starts meanwhile, and a crawl that runs is
//! refused. An index that is missing or older than a WARC file is made anew, in a directory of our
//! own beside the output. What a crash left behind the last whole record of a file is no capture:
//! it is left out and told ([`CrawlSource::gaps`]).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rhumb_archive::{CdxjEntry, RecordReader};
use rhumb_state::local::LocalReader;

use crate::ExportFailure;
use crate::output::OwnDir;

/// Memory for sorting an index that is made anew.
const SORT_BYTES: usize = 64 << 20;
/// A line of an index; ours have some kilobytes at most.
const LINE_BYTES_MAX: u64 = 1 << 20;
const IN_USE: &str = "in use by another rhumb";

pub struct CrawlSource {
    pub dir: PathBuf,
    pub warcs: Vec<WarcFile>,
    /// None of a directory that has WARC files alone.
    pub state: Option<LocalReader>,
    /// What is missing, in sentences.
    pub gaps: Vec<String>,
    index: PathBuf,
    /// Holds an index that was made anew.
    _scratch: Option<OwnDir>,
}

#[derive(Clone, Debug)]
pub struct WarcFile {
    pub name: String,
    pub path: PathBuf,
    /// Where its last whole record ends.
    pub end: u64,
}

/// A line of the index.
pub struct IndexLine {
    /// As it is written, with its end.
    pub text: String,
    pub entry: CdxjEntry,
}

impl CrawlSource {
    /// Opens the crawl in `dir`; an index is made anew beside `output`.
    pub fn open(dir: &Path, output: &Path) -> Result<CrawlSource, ExportFailure> {
        let warcs = warc_paths(dir)?;
        let state = open_state(dir)?;
        let mut source = CrawlSource {
            dir: dir.to_owned(),
            warcs: Vec::new(),
            state,
            gaps: Vec::new(),
            index: dir.join("index.cdxj"),
            _scratch: None,
        };
        if !is_current(&source.index, &warcs) {
            let scratch = scratch_beside(output)?;
            source.index = index_in(&scratch, dir)?;
            source._scratch = Some(scratch);
        }
        let last = source.last_captures()?;
        for path in warcs {
            source.add_warc(path, &last)?;
        }
        Ok(source)
    }

    /// The offset of the last capture in each file.
    fn last_captures(&self) -> Result<HashMap<String, u64>, ExportFailure> {
        let mut last = HashMap::new();
        for line in self.lines()? {
            let entry = line?.entry;
            let offset = last.entry(entry.filename).or_insert(0);
            *offset = entry.offset.max(*offset);
        }
        Ok(last)
    }

    fn add_warc(
        &mut self,
        path: PathBuf,
        last: &HashMap<String, u64>,
    ) -> Result<(), ExportFailure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut end = last.get(&name).copied().unwrap_or(0);
        let mut damage = None;
        for record in RecordReader::open_at(&path, end)? {
            match record {
                Ok(record) => end = record.offset + record.length,
                Err(error) => damage = Some(error),
            }
        }
        let length = path.metadata().map_err(|e| ExportFailure::file(&path, "read", &e))?.len();
        if let Some(damage) = damage {
            let left_out = length.saturating_sub(end);
            self.gaps.push(format!("{damage}; its last {left_out} bytes are left out"));
        }
        self.warcs.push(WarcFile { name, path, end });
        Ok(())
    }

    /// The lines of the index, in its order.
    pub fn lines(
        &self,
    ) -> Result<impl Iterator<Item = Result<IndexLine, ExportFailure>> + use<>, ExportFailure> {
        let path = self.index.clone();
        let file = File::open(&path).map_err(|error| ExportFailure::file(&path, "read", &error))?;
        let mut input = BufReader::with_capacity(1 << 18, file);
        Ok(std::iter::from_fn(move || {
            let mut text = String::new();
            let read = input.by_ref().take(LINE_BYTES_MAX).read_line(&mut text);
            match read {
                Ok(0) => None,
                Ok(_) => Some(match CdxjEntry::parse(text.as_bytes()) {
                    Some(entry) => Ok(IndexLine { text, entry }),
                    None => {
                        let what = format!("{}: not a line of CDXJ: {text}", path.display());
                        Err(ExportFailure::Failed(what))
                    }
                }),
                Err(error) => Some(Err(ExportFailure::file(&path, "read", &error))),
            }
        }))
    }

    /// The crawl's name: that of its directory.
    pub fn name(&self) -> String {
        let dir = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        dir.file_name().map_or_else(|| "crawl".to_owned(), |n| n.to_string_lossy().into_owned())
    }
}

fn warc_paths(dir: &Path) -> Result<Vec<PathBuf>, ExportFailure> {
    let usage = |what: &str| ExportFailure::Usage(format!("{}: {what}", dir.display()));
    let warc_dir = dir.join("warc");
    if !dir.is_dir() {
        return Err(usage("no such directory"));
    }
    if !warc_dir.is_dir() {
        return Err(usage("no crawl with an archive: it has no directory warc/"));
    }
    let entries =
        fs::read_dir(&warc_dir).map_err(|e| ExportFailure::file(&warc_dir, "list", &e))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| ExportFailure::file(&warc_dir, "list", &e))?.path();
        if path.to_string_lossy().ends_with(".warc.gz") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(usage("its directory warc/ holds no WARC files"));
    }
    Ok(paths)
}

fn open_state(dir: &Path) -> Result<Option<LocalReader>, ExportFailure> {
    let path = dir.join(rhumb_node::watch::status::STATE_DIR);
    if !path.is_dir() {
        return Ok(None);
    }
    LocalReader::open(&path).map(Some).map_err(|error| match error.what.contains(IN_USE) {
        true => {
            let what = "a crawl is running on it; stop it, or wait for its end, and run again";
            ExportFailure::Failed(format!("{}: {what}", dir.display()))
        }
        false => ExportFailure::Failed(error.what),
    })
}

/// Whether the index was written after all WARC files.
fn is_current(index: &Path, warcs: &[PathBuf]) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    let Some(written) = modified(index) else { return false };
    warcs.iter().all(|warc| modified(warc).is_some_and(|changed| changed <= written))
}

/// Where an index is made anew: beside the output.
fn scratch_beside(output: &Path) -> Result<OwnDir, ExportFailure> {
    let mut name = std::ffi::OsString::from(".");
    name.push(output.file_name().unwrap_or_default());
    name.push(".index");
    OwnDir::begin(&output.with_file_name(name))
}

/// An index over the WARC files of `dir`, made in a directory of our own.
fn index_in(scratch: &OwnDir, dir: &Path) -> Result<PathBuf, ExportFailure> {
    let warc = dir.join("warc");
    let failed = |error| ExportFailure::file(&warc, "read", &error);
    let target = warc.canonicalize().map_err(failed)?;
    std::os::unix::fs::symlink(target, scratch.path().join("warc")).map_err(failed)?;
    let rebuilt = rhumb_archive::rebuild(scratch.path(), SORT_BYTES);
    // The files are the crawl's, whatever way they were reached.
    let ours = format!("{}/", scratch.path().display());
    let crawls = format!("{}/", dir.display());
    rebuilt.map_err(|error| ExportFailure::Failed(error.to_string().replace(&ours, &crawls)))?;
    Ok(scratch.path().join("index.cdxj"))
}
