//! WACZ 1.1.1: a crawl in one file that a browser replays.
//!
//! A package is a ZIP file whose entries are stored: the WARC files as they are, the index, the
//! pages with their texts, and what holds them together. Everything is written in one pass, hashed
//! on its way; only the index of a ZipNum is in memory. [`zip`] writes the file, [`index`] the
//! index, [`pages`] the lists of pages, [`package`] its descriptions, [`sign`] the signature.
//!
//! A crawl that is larger than `size_max` becomes several packages and a `datapackage.json` that
//! names them (`multi-wacz-package`).

mod index;
mod package;
mod pages;
mod sign;
mod zip;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::ExportFailure;
use crate::output::Unfinished;
use crate::source::{CrawlSource, WarcFile};

pub use index::PLAIN_INDEX_BYTES_MAX;
use package::Resource;
pub use sign::WaczSigner;
use zip::ZipFile;

/// What is asked for.
pub struct WaczJob {
    pub output: PathBuf,
    /// Bytes of WARC files in a package; a file that is larger has one for itself.
    pub size_max: u64,
    /// Bytes of index lines beyond which they are a ZipNum: [`PLAIN_INDEX_BYTES_MAX`].
    pub plain_index_bytes_max: u64,
    pub threads: usize,
    pub title: Option<String>,
    pub signer: Option<WaczSigner>,
    /// When the package is made, `2026-05-01T10:00:00Z`.
    pub created: String,
    /// What the crawl says of itself: the file `rhumb.json`.
    pub facts: serde_json::Value,
}

/// What was made.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct MadeWacz {
    pub files: Vec<PathBuf>,
    pub bytes: u64,
    pub captures: u64,
    pub pages: u64,
}

/// Writes the packages of a crawl.
pub fn write(source: &CrawlSource, job: &WaczJob) -> Result<MadeWacz, ExportFailure> {
    let parts = parts(&source.warcs, job.size_max);
    let mut made = MadeWacz::default();
    if let [only] = &parts[..] {
        let output = Unfinished::file(&job.output)?;
        one(source, job, only, output.part(), &mut made)?;
        output.finish()?;
        made.files.push(job.output.clone());
        return Ok(made);
    }
    // Several files and their description are a directory, so that they appear together.
    let output = Unfinished::directory(&job.output)?;
    let mut resources = Vec::new();
    for (number, part) in (1..).zip(&parts) {
        let name = format!("{}-{number:05}.wacz", source.name());
        let path = output.part().join(&name);
        one(source, job, part, &path, &mut made)?;
        resources.push(Resource::of_file(&path, &name)?);
        made.files.push(job.output.join(name));
    }
    let path = output.part().join("datapackage.json");
    let description = package::multi(&resources, job, &source.name());
    fs::write(&path, description).map_err(|error| ExportFailure::file(&path, "write", &error))?;
    made.files.push(job.output.join("datapackage.json"));
    output.finish()?;
    Ok(made)
}

/// WARC files that go together, in order.
fn parts(warcs: &[WarcFile], size_max: u64) -> Vec<&[WarcFile]> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, warc) in warcs.iter().enumerate() {
        if at > start && bytes + warc.end > size_max {
            parts.push(&warcs[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += warc.end;
    }
    parts.push(&warcs[start..]);
    parts
}

/// Writes one package.
fn one(
    source: &CrawlSource,
    job: &WaczJob,
    warcs: &[WarcFile],
    path: &Path,
    made: &mut MadeWacz,
) -> Result<(), ExportFailure> {
    let mut zip = ZipFile::create(path)?;
    for warc in warcs {
        copy_warc(&mut zip, warc)?;
    }
    let names: HashSet<&str> = warcs.iter().map(|warc| warc.name.as_str()).collect();
    made.captures += index::write(&mut zip, source, &names, job.plain_index_bytes_max)?;
    let listed = pages::write(&mut zip, source, &names, job.threads)?;
    made.pages += listed.pages;
    zip.whole("rhumb/rhumb.json", package::pretty(&job.facts).as_bytes())?;
    let description = package::describe(&zip.entries, &listed, job, &source.name());
    zip.whole("datapackage.json", description.as_bytes())?;
    let digest = package::digest(description.as_bytes(), job)?;
    zip.whole("datapackage-digest.json", digest.as_bytes())?;
    made.bytes += zip.finish()?;
    Ok(())
}

/// Copies the whole records of a WARC file.
fn copy_warc(zip: &mut ZipFile, warc: &WarcFile) -> Result<(), ExportFailure> {
    const BUFFER_BYTES: usize = 1 << 20;
    let failed = |error| ExportFailure::file(&warc.path, "read", &error);
    let mut input = File::open(&warc.path).map_err(failed)?.take(warc.end);
    let mut entry = zip.begin(&format!("archive/{}", warc.name))?;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = input.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return entry.finish();
        }
        entry.write_all(&buffer[..read]).map_err(|error| entry.failure(&error))?;
    }
}
