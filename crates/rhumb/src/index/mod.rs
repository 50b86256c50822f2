//! Search indexes made by `rhumb index`: of a crawl's directory (`crawl`), or of JSON lines that
//! are read, extracted where they are HTML, and indexed.
//!
//! That of JSON lines is made beside its place and moved there when it is whole: one that is
//! searched meanwhile stays as it is, and a run that dies leaves the old one.

mod crawl;
mod line;
mod place;

pub use crawl::index_crawl;

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Instant;

use rhumb_node::settings::open_input;
use rhumb_search::{IndexMark, Indexer, SearchPage, sizes};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use place::UnfinishedIndex;

/// Bytes of a line; a longer one is left out.
const LINE_BYTES_MAX: u64 = 256 << 20;
const BUFFER_BYTES: usize = 1 << 20;
/// What pages of lines come from: no crawl goes on with their index.
const ORIGIN: &str = "lines";

/// What was indexed.
#[derive(Debug, Default, Serialize)]
pub struct IndexReport {
    pub pages: u32,
    /// Lines that are no page, each named on standard error.
    pub skipped: u64,
    /// Lines of pages that ask not to be indexed.
    pub noindex: u64,
    /// Ids that occurred before: the last line of each is found.
    pub replaced: u32,
    /// Pages that nearly repeat another.
    pub near_duplicates: u32,
    /// Of titles, headings and texts.
    pub text_bytes: u64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Of text, in a CPU second.
    pub mb_per_cpu_s: f64,
    /// Terms and positions.
    pub index_bytes: u64,
    /// The pages, compressed, and what is known of them.
    pub store_bytes: u64,
    /// What is missing, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}

/// Indexes JSON lines into a directory. `complain` is told of every line that is no page.
pub fn index_lines(
    input: &Path,
    out: &Path,
    complain: &mut dyn FnMut(&str),
) -> Result<IndexReport, String> {
    let began = (Instant::now(), cpu_seconds());
    let named = |error: io::Error| format!("{}: {error}", input.display());
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, open_input(input).map_err(named)?);
    let unfinished = UnfinishedIndex::begin(out)?;
    let mut writer = Indexer::open(unfinished.dir()).map_err(|error| error.to_string())?;
    let mut report = IndexReport::default();
    let (mut line, mut number) = (Vec::new(), 0);
    loop {
        line.clear();
        let limited = Read::take(&mut reader, LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if limited.map_err(named)? == 0 {
            break;
        }
        number += 1;
        if !line.ends_with(b"\n") && line.len() as u64 == LINE_BYTES_MAX {
            reader.skip_until(b'\n').map_err(named)?;
            line = b"{".to_vec();
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match line::page(&line) {
            Ok(None) => report.noindex += 1,
            Ok(Some(page)) => {
                report.text_bytes += text_bytes(&page);
                writer.add(page).map_err(|error| error.to_string())?;
            }
            Err(why) => {
                report.skipped += 1;
                complain(&format!("{}: line {number}: {why}", input.display()));
            }
        }
    }
    writer.set_origin(ORIGIN.to_owned());
    let counts = writer.finish(IndexMark::default()).map_err(|error| error.to_string())?;
    unfinished.finish()?;
    (report.pages, report.replaced) = (counts.pages, counts.replaced);
    report.near_duplicates = counts.near_duplicates;
    Ok(report.measured(out, began))
}

impl IndexReport {
    fn measured(mut self, dir: &Path, began: (Instant, f64)) -> IndexReport {
        (self.index_bytes, self.store_bytes) = sizes(dir);
        self.seconds = began.0.elapsed().as_secs_f64();
        self.cpu_seconds = cpu_seconds() - began.1;
        self.mb_per_cpu_s = self.text_bytes as f64 / 1e6 / self.cpu_seconds.max(1e-6);
        self
    }
}

fn text_bytes(page: &SearchPage) -> u64 {
    let headings: usize = page.headings.iter().map(String::len).sum();
    (page.title.len() + headings + page.text.len()) as u64
}

/// CPU time of this process so far.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
