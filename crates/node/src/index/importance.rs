//! What a crawl knows of the importance of its pages, written beside its index.

use std::path::Path;

use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::record::Status;
use rhumb_search::Indexer;
use rhumb_state::local::LocalReader;

use super::current::INDEX_DIR;
use crate::watch::status::STATE_DIR;

/// URLs beyond which the books are not made anew for this: it takes their memory and seconds.
const URLS_MAX: u64 = 5_000_000;

/// Writes the importance of a crawl's pages as its rows have it now. Pages are not indexed again.
pub fn weigh(dir: &Path, reader: &LocalReader) -> Result<u64, Error> {
    if reader.counters()?.known > URLS_MAX {
        return Ok(0);
    }
    let failed = |error: rhumb_search::SearchError| Error::new(ErrorKind::Retry, error.to_string());
    let mut indexer = Indexer::open(&dir.join(INDEX_DIR)).map_err(failed)?;
    let mut weighed = 0;
    for part in reader.parts() {
        let mass = part.mass()?;
        for row in part.urls() {
            let (key, record) = row?;
            if record.status != Status::Fetched {
                continue;
            }
            let (settled, lies_on_it) = mass.of(record.id);
            let share = (settled + lies_on_it) as f32;
            let is_there = indexer.weigh(key.url().as_str(), share).map_err(failed)?;
            weighed += u64::from(is_there);
        }
    }
    Ok(weighed)
}

/// As [`weigh`], of a crawl that is not running.
pub fn weigh_dir(dir: &Path) -> Result<u64, Error> {
    weigh(dir, &LocalReader::open(&dir.join(STATE_DIR))?)
}
