//! Parquet tables: `captures`, `pages`, `links` and `host_links`, a directory each.
//!
//! Rows are sorted by SURT. [`column`] gathers a column's values, [`table`] writes row groups of
//! them with dictionaries, statistics of every page and Bloom filters; [`captures`], [`pages`] and
//! [`links`] say which columns there are. Files are rolled over at [`table::FILE_BYTES_MAX`].

mod captures;
mod column;
mod links;
mod pages;
mod table;

use std::fs;
use std::path::Path;

use crate::ExportFailure;
use crate::capture::ExportedCapture;
use crate::output::Unfinished;
use crate::source::CrawlSource;

use links::HostLinks;
use table::Table;

/// All tables of an export, written together.
pub struct Tables {
    captures: Table,
    pages: Table,
    links: Table,
    host_links: Table,
    hosts: HostLinks,
    crawl: String,
    unfinished: Unfinished,
}

/// How many rows each table got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RowsWritten {
    pub captures: u64,
    pub pages: u64,
    pub links: u64,
    pub host_links: u64,
}

impl Tables {
    pub fn begin(path: &Path, source: &CrawlSource) -> Result<Tables, ExportFailure> {
        let unfinished = Unfinished::directory(path)?;
        let table = |name: &str, columns| {
            let dir = unfinished.part().join(name);
            fs::create_dir(&dir).map_err(|error| ExportFailure::file(&dir, "create", &error))?;
            Ok::<_, ExportFailure>(Table::new(dir, columns))
        };
        Ok(Tables {
            captures: table("captures", captures::COLUMNS)?,
            pages: table("pages", pages::COLUMNS)?,
            links: table("links", links::COLUMNS)?,
            host_links: table("host_links", links::HOST_COLUMNS)?,
            hosts: HostLinks::default(),
            crawl: source.name(),
            unfinished,
        })
    }

    pub fn capture(&mut self, capture: &ExportedCapture) -> Result<(), ExportFailure> {
        captures::push(&mut self.captures, capture, &self.crawl)?;
        if let Some(page) = &capture.page {
            pages::push(&mut self.pages, capture, page)?;
        }
        if !capture.links.is_empty() {
            links::push(&mut self.links, capture)?;
            self.hosts.count(capture, &mut self.host_links)?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<RowsWritten, ExportFailure> {
        self.hosts.flush(&mut self.host_links)?;
        let rows = RowsWritten {
            captures: self.captures.finish()?,
            pages: self.pages.finish()?,
            links: self.links.finish()?,
            host_links: self.host_links.finish()?,
        };
        self.unfinished.finish()?;
        Ok(rows)
    }
}
