//! The lists of pages: seeds first, then all others, with their texts, so that a replay can search.

use std::collections::HashSet;
use std::io::Write;

use serde_json::{Value, json};

use super::zip::ZipFile;
use crate::ExportFailure;
use crate::capture::{CaptureJob, Depth, ExportedCapture};
use crate::source::CrawlSource;
use crate::walk::UrlWalk;

/// What was listed.
#[derive(Default)]
pub(super) struct Listed {
    pub pages: u64,
    /// The page that a reader is shown first, and when it was fetched.
    pub main: Option<(String, String)>,
}

/// Writes both lists: the last capture of each page in the WARC files named.
pub(super) fn write(
    zip: &mut ZipFile,
    source: &CrawlSource,
    warcs: &HashSet<&str>,
    threads: usize,
) -> Result<Listed, ExportFailure> {
    let mut listed = Listed::default();
    let ours = |job: &CaptureJob| job.is_last && warcs.contains(job.entry.filename.as_str());
    let is_seed = |job: &CaptureJob| job.known.depth == Some(0);
    let seeds = |job: &CaptureJob| ours(job) && is_seed(job);
    let others = |job: &CaptureJob| ours(job) && !is_seed(job);
    let header = json!({ "format": "json-pages-1.0", "id": "pages", "title": "Seeds" });
    list(zip, "pages/pages.jsonl", header, (source, threads), seeds, &mut listed)?;
    let header = json!({ "format": "json-pages-1.0", "id": "extra-pages", "title": "All pages" });
    list(zip, "pages/extraPages.jsonl", header, (source, threads), others, &mut listed)?;
    Ok(listed)
}

fn list(
    zip: &mut ZipFile,
    name: &str,
    header: Value,
    (source, threads): (&CrawlSource, usize),
    wants: impl Fn(&CaptureJob) -> bool,
    listed: &mut Listed,
) -> Result<(), ExportFailure> {
    let mut entry = zip.begin(name)?;
    writeln!(entry, "{header}").map_err(|error| entry.failure(&error))?;
    let depth = Depth { text: true, links: false };
    let walk = UrlWalk { threads, depth, names_pages: false };
    walk.run(source, wants, |capture| {
        let is_html = matches!(
            capture.mime_detected.as_deref(),
            Some("text/html" | "application/xhtml+xml" | "application/pdf")
        );
        if !is_html {
            return Ok(());
        }
        if listed.main.is_none() {
            listed.main = Some((capture.entry.url.clone(), capture.date.clone()));
        }
        listed.pages += 1;
        writeln!(entry, "{}", row(&capture)).map_err(|error| entry.failure(&error))
    })?;
    entry.finish()
}

fn row(capture: &ExportedCapture) -> Value {
    let mut row = json!({
        "id": capture.record_id.trim_start_matches("urn:uuid:"),
        "url": capture.entry.url,
        "ts": capture.date,
    });
    if let Some(page) = &capture.page {
        row["title"] = json!(page.title.as_deref().unwrap_or(&capture.entry.url));
        row["text"] = json!(page.text);
        if let Some(language) = &page.language {
            row["language"] = json!(language);
        }
    }
    if let Some(original) = &capture.known.duplicate_of {
        row["duplicate_of"] = json!(original);
    }
    row
}
