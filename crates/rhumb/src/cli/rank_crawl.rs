//! The link graph of a crawl's directory: URLs by their numbers, and the links of pages as they
//! were last fetched.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rhumb_engine::record::UrlId;
use rhumb_graph::source::BUILDER_BYTES;
use rhumb_graph::{Builder, Graph, GraphWriter, PageNumber};
use rhumb_lab::order::TrustWeights;
use rhumb_node::watch::status::{STATE_DIR, check_is_crawl};
use rhumb_page::url::Url;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;

use super::ended::Trouble;
use super::rank::trouble;

pub struct LinksOfCrawl {
    reader: LocalReader,
}

impl LinksOfCrawl {
    pub fn open(dir: &Path) -> Result<LinksOfCrawl, Trouble> {
        check_is_crawl(dir)?;
        let reader = LocalReader::open(&dir.join(STATE_DIR))?;
        if reader.is_divided() {
            let what = "the links of a crawl of several partitions are in several graphs, which \
                        this command cannot read; `rhumb coverage` sums them up";
            return Err(Trouble::Failed(format!("{}: {what}", dir.display())));
        }
        Ok(LinksOfCrawl { reader })
    }

    /// The graph, in memory or in a file.
    pub fn graph(&self, save: Option<&Path>) -> Result<Graph, Trouble> {
        let mass = self.reader.mass()?;
        let mut builder = Builder::new(BUILDER_BYTES, &std::env::temp_dir());
        builder.pages_min(mass.ledger().nodes_len() as u32);
        let mut added = Ok(());
        mass.ledger().each_page(|whole| {
            for target in &whole.ids {
                if added.is_ok() {
                    added = builder.add(whole.page, *target);
                }
            }
        });
        added.map_err(trouble)?;
        let writer = save.map_or_else(|| Ok(GraphWriter::in_memory()), GraphWriter::create);
        let (graph, _) = builder.finish(writer.map_err(trouble)?).map_err(trouble)?;
        Ok(graph)
    }

    /// The seeds, with their weights.
    pub fn seeds(&self, graph: &Graph) -> Result<TrustWeights, Trouble> {
        let mut weights = Vec::new();
        for (url, weight) in self.reader.seeds()? {
            let record = self.reader.snapshot().url(&url.key())?;
            let page = record.and_then(|record| PageNumber::try_from(record.id.0).ok());
            weights.extend(page.map(|page| (page, weight)));
        }
        let usage = |error| Trouble::Usage(format!("--trust seeds: {error}"));
        TrustWeights::new(graph, &weights).map_err(usage)
    }

    /// These pages with their addresses, in this order.
    pub fn named(&self, pages: &[PageNumber]) -> Result<Vec<(PageNumber, String)>, Trouble> {
        let wanted: HashSet<UrlId> = pages.iter().map(|page| UrlId(u64::from(*page))).collect();
        let urls = self.reader.urls_numbered(&wanted)?;
        let name = |page: &PageNumber| {
            let url = urls.get(&UrlId(u64::from(*page)));
            (*page, url.map_or_else(String::new, |url: &Url| url.as_str().to_owned()))
        };
        Ok(pages.iter().map(name).collect())
    }

    /// Writes the number and the address of every URL, in the order of addresses.
    pub fn write_urls(&self, path: &Path) -> Result<(), Trouble> {
        let failed =
            |error: std::io::Error| Trouble::Failed(format!("{}: {error}", path.display()));
        let mut out = BufWriter::new(File::create(path).map_err(failed)?);
        for row in self.reader.url_rows(b"", None) {
            let row = row?;
            writeln!(out, "{} {}", row.record.id.0, row.url()?.as_str()).map_err(failed)?;
        }
        out.flush().map_err(failed)
    }
}
