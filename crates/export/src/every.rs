//! All that is asked for, in one walk: Parquet tables, WET and JSON lines.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::ExportFailure;
use crate::capture::{Depth, ExportedCapture};
use crate::parquet::{RowsWritten, Tables};
use crate::source::CrawlSource;
use crate::text::{Dolma, Wet};
use crate::walk::UrlWalk;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct ExportOutputs {
    pub parquet: Option<PathBuf>,
    pub wet: Option<PathBuf>,
    pub dolma: Option<PathBuf>,
}

impl ExportOutputs {
    /// All of them; the first is where an index is made if the crawl has none.
    pub fn paths(&self) -> Vec<&Path> {
        let all = [&self.parquet, &self.wet, &self.dolma];
        all.into_iter().flatten().map(PathBuf::as_path).collect()
    }
}

/// What was made.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ExportedFiles {
    pub captures: u64,
    /// Of these, pages with text: `text_bytes` of it, out of `page_bytes` of HTML and documents.
    pub pages: u64,
    pub page_bytes: u64,
    pub text_bytes: u64,
    /// Pages that say nothing.
    pub without_text: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parquet: Option<RowsWritten>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wet: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dolma: Option<u64>,
    pub gaps: Vec<String>,
}

/// Writes the outputs; `added` is the moment of the export, `2026-05-01T10:00:00Z`.
pub fn export(
    source: &CrawlSource,
    outputs: &ExportOutputs,
    threads: usize,
    added: &str,
) -> Result<ExportedFiles, ExportFailure> {
    let tables = outputs.parquet.as_deref().map(|path| Tables::begin(path, source)).transpose()?;
    let wet = outputs.wet.as_deref().map(Wet::begin).transpose()?;
    let dolma = outputs.dolma.as_deref();
    let dolma =
        dolma.map(|path| Dolma::begin(path, source.name(), added.to_owned())).transpose()?;
    let depth = Depth { text: true, links: tables.is_some() };
    let walk = UrlWalk { threads, depth, names_pages: tables.is_some() };
    let mut writing = Writing { tables, wet, dolma, done: ExportedFiles::default() };
    walk.run(source, |_| true, |capture| writing.take(&capture))?;
    writing.finish(source.gaps.clone())
}

struct Writing {
    tables: Option<Tables>,
    wet: Option<Wet>,
    dolma: Option<Dolma>,
    done: ExportedFiles,
}

impl Writing {
    fn take(&mut self, capture: &ExportedCapture) -> Result<(), ExportFailure> {
        self.done.captures += 1;
        self.done.page_bytes += capture.page_bytes;
        let is_page = matches!(
            capture.mime_detected.as_deref(),
            Some("text/html" | "application/xhtml+xml" | "application/pdf")
        );
        let says_nothing = is_page && capture.page_bytes > 0 && capture.page.is_none();
        self.done.without_text += u64::from(says_nothing);
        if let Some(tables) = &mut self.tables {
            tables.capture(capture)?;
        }
        let Some(page) = &capture.page else { return Ok(()) };
        self.done.pages += 1;
        self.done.text_bytes += page.text.len() as u64;
        if !capture.is_last {
            return Ok(());
        }
        if let Some(wet) = &mut self.wet {
            wet.page(capture, page)?;
            *self.done.wet.get_or_insert(0) += 1;
        }
        if let Some(dolma) = &mut self.dolma {
            dolma.page(capture, page)?;
            *self.done.dolma.get_or_insert(0) += 1;
        }
        Ok(())
    }

    fn finish(mut self, gaps: Vec<String>) -> Result<ExportedFiles, ExportFailure> {
        self.done.gaps = gaps;
        self.done.parquet = self.tables.map(Tables::finish).transpose()?;
        self.wet.map(Wet::finish).transpose()?;
        self.dolma.map(Dolma::finish).transpose()?;
        Ok(self.done)
    }
}
