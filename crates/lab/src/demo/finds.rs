//! A few finds of a crawl, from its own state, and the files it left.

use std::fs;
use std::path::{Path, PathBuf};

use rhumb_engine::error::Error;
use rhumb_engine::record::{RecordStatus, Refusal, UrlRecord};
use rhumb_page::url::Url;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::Serialize;

use super::trouble;

/// One example of each kind, the first in the order of URLs.
#[derive(Debug, Default, Serialize)]
pub struct Finds {
    pub duplicate: Option<Duplicate>,
    pub denied: Option<Denied>,
    pub trap: Option<String>,
    pub failed: Option<FailedCheck>,
    pub files: Vec<FileSize>,
}

#[derive(Debug, Serialize)]
pub struct Duplicate {
    pub url: String,
    pub of: String,
}

/// A page that robots.txt forbids, and the line that says so.
#[derive(Debug, Serialize)]
pub struct Denied {
    pub url: String,
    pub line: Option<usize>,
    pub rule: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct FailedCheck {
    pub url: String,
    pub kind: &'static str,
}

#[derive(Debug, Serialize)]
pub struct FileSize {
    /// Relative to the crawl's directory.
    pub path: PathBuf,
    pub bytes: u64,
}

pub fn look(dir: &Path) -> Result<Finds, Error> {
    let reader = LocalReader::open(&dir.join("state"))?;
    let mut finds = Finds { files: files(dir)?, ..Finds::default() };
    for row in reader.urls() {
        let (key, record) = row?;
        finds.take(&reader, key.url(), &record)?;
    }
    Ok(finds)
}

impl Finds {
    fn take(&mut self, reader: &LocalReader, url: Url, record: &UrlRecord) -> Result<(), Error> {
        let text = || url.as_str().to_owned();
        match record.status {
            RecordStatus::Duplicate if self.duplicate.is_none() => {
                let of = record.past.duplicate_of.as_ref();
                self.duplicate = of.map(|of| Duplicate { url: text(), of: of.as_str().to_owned() });
            }
            RecordStatus::Refused(Refusal::Robots) if self.denied.is_none() => {
                let robots = reader.snapshot().robots(&url.host_key())?;
                let (line, rule) = robots.and_then(|robots| robots.verdict(&url).line).unzip();
                self.denied = Some(Denied { url: text(), line, rule });
            }
            RecordStatus::Refused(Refusal::Trap) if self.trap.is_none() => self.trap = Some(text()),
            RecordStatus::Failed(kind) if self.failed.is_none() => {
                self.failed = Some(FailedCheck { url: text(), kind: kind.word() });
            }
            _ => {}
        }
        Ok(())
    }
}

/// The archive and its index, with their sizes.
fn files(dir: &Path) -> Result<Vec<FileSize>, Error> {
    let mut paths = warc_files(dir)?;
    paths.push(dir.join("index.cdxj"));
    paths
        .into_iter()
        .map(|path| {
            let shown = path.strip_prefix(dir).unwrap_or(&path).to_owned();
            let size = fs::metadata(&path).map(|meta| meta.len());
            let bytes = size.map_err(|e| trouble(&path.display().to_string(), &e))?;
            Ok(FileSize { path: shown, bytes })
        })
        .collect()
}

pub fn warc_files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let dir = dir.join("warc");
    let list = || -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(&dir)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    let mut paths = list().map_err(|e| trouble(&dir.display().to_string(), &e))?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "gz"));
    paths.sort();
    Ok(paths)
}
