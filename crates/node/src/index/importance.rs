//! What a crawl knows of the importance of its pages, written beside its index.

use std::path::Path;

use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::record::RecordStatus;
use rhumb_search::Indexer;
use rhumb_state::local::LocalReader;

use super::current::INDEX_DIR;
use crate::watch::status::STATE_DIR;

/// URLs beyond which the books are not made anew for this: it takes their memory and seconds.
const URLS_MAX: u64 = 5_000_000;

/// Writes the importance of a crawl's pages as its rows have it now. Pages are not indexed again.
/// Of a crawl that knows too many URLs it stays as it is, and a sentence says so.
pub fn weigh(dir: &Path, reader: &LocalReader) -> Result<Option<String>, Error> {
    let known = reader.counters()?.known;
    if known > URLS_MAX {
        return Ok(Some(format!(
            "importance is not known to the search index: the crawl knows {known} URLs, more than \
             {URLS_MAX}"
        )));
    }
    let failed = |error: rhumb_search::SearchError| Error::new(ErrorKind::Retry, error.to_string());
    let mut indexer = Indexer::open(&dir.join(INDEX_DIR)).map_err(failed)?;
    for part in reader.parts() {
        let mass = part.mass()?;
        for row in part.urls() {
            let (key, record) = row?;
            if record.status != RecordStatus::Fetched {
                continue;
            }
            let (settled, lies_on_it) = mass.of(record.id);
            let share = (settled + lies_on_it) as f32;
            // Not all pages that were fetched are in the index.
            let _ = indexer.weigh(key.url().as_str(), share).map_err(failed)?;
        }
    }
    Ok(None)
}

/// As [`weigh`], of a crawl that is not running.
pub fn weigh_dir(dir: &Path) -> Result<Option<String>, Error> {
    weigh(dir, &LocalReader::open(&dir.join(STATE_DIR))?)
}
