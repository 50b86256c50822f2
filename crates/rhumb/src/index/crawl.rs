//! The index of a crawl, made from its archive.

use std::path::Path;
use std::time::Instant;

use rhumb_node::index::{CurrentIndex, INDEX_DIR, weigh_dir};
use rhumb_node::settings::{CRAWL_TOML, Settings, UserAgent};

use super::{Report, cpu_seconds};

/// Indexes a crawl's directory, from the last record that its index holds on.
pub fn index_crawl(dir: &Path, out: Option<&Path>) -> Result<Report, String> {
    if !dir.join(CRAWL_TOML).is_file() && !dir.join("warc").is_dir() {
        return Err(format!("{}: no crawl's directory: it has no {CRAWL_TOML}", dir.display()));
    }
    let began = (Instant::now(), cpu_seconds());
    let settings = Settings::of_dir(dir).map_err(|error| error.to_string());
    let token = settings.map_or_else(|_| UserAgent::default().token, |s| s.user_agent.token);
    let place = out.map_or_else(|| dir.join(INDEX_DIR), Path::to_owned);
    let current = CurrentIndex::open(&place).and_then(|index| index.catch_up(dir, &token));
    let current = current.map_err(|error| error.to_string())?;
    let text_bytes = current.text_bytes();
    let counts = current.finish().map_err(|error| error.to_string())?;
    if out.is_none()
        && let Err(error) = weigh_dir(dir)
    {
        // Found all the same, only not the important ones first.
        eprintln!("rhumb: without the importance of pages: {}", error.what);
    }
    let report = Report {
        pages: counts.pages,
        replaced: counts.replaced,
        near_duplicates: counts.near_duplicates,
        text_bytes,
        ..Report::default()
    };
    Ok(report.measured(&place, began))
}
