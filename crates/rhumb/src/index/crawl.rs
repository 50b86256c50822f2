//! The index of a crawl, made from its archive.

use std::io;
use std::path::Path;
use std::time::Instant;

use rhumb_engine::error::Error;
use rhumb_node::index::{CurrentIndex, INDEX_DIR, weigh_dir};
use rhumb_node::settings::{CRAWL_TOML, Settings, UserAgent};

use super::{IndexReport, cpu_seconds};

/// Indexes a crawl's directory, from the last record that its index holds on. A place that holds
/// something else is an error of kind `AlreadyExists`.
pub fn index_crawl(dir: &Path, out: Option<&Path>) -> io::Result<IndexReport> {
    if !dir.join(CRAWL_TOML).is_file() && !dir.join("warc").is_dir() {
        let what = format!("{}: no crawl's directory: it has no {CRAWL_TOML}", dir.display());
        return Err(io::Error::other(what));
    }
    let began = (Instant::now(), cpu_seconds());
    let token =
        Settings::of_dir(dir).map_or_else(|_| UserAgent::default().token, |s| s.user_agent.token);
    let index = out.map_or_else(|| CurrentIndex::open(dir), |out| CurrentIndex::open_at(out, dir));
    let index = index?.catch_up(&token)?;
    let (text_bytes, mut gaps) = (index.text_bytes(), index.gaps().to_vec());
    let counts = index.finish()?;
    if out.is_none() {
        // Found all the same, only not the important ones first.
        let without = |error: Error| {
            Some(format!("importance is not known to the search index: {}", error.what))
        };
        gaps.extend(weigh_dir(dir).unwrap_or_else(without));
    }
    let report = IndexReport {
        pages: counts.pages,
        replaced: counts.replaced,
        near_duplicates: counts.near_duplicates,
        text_bytes,
        gaps,
        ..IndexReport::default()
    };
    let place = out.map_or_else(|| dir.join(INDEX_DIR), Path::to_owned);
    Ok(report.measured(&place, began))
}
