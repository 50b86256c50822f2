//! Builds a graph from links in any order, in bounded memory.
//!
//! Links are gathered as 64-bit numbers (page, then target), sorted when the buffer is full and
//! written as a run of gaps; at the end the runs are merged and every page's list goes to the
//! writer. Links of a page to itself and repeated links are left out and counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{GraphError, Result};
use crate::{Graph, GraphWriter, PAGES_MAX, PageNumber, gaps};

/// Runs open at once in the last merge; more are merged into one first.
const RUNS_MAX: usize = 256;
const READ_BYTES: usize = 64 << 10;

/// What was left out on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinksLeftOut {
    /// Links of a page to itself.
    pub self_links: u64,
    /// Links that were given before.
    pub repeated: u64,
}

/// Gathers links in any order, and makes a graph of them.
pub struct Builder {
    buffer: Vec<u64>,
    buffer_max: usize,
    runs: Vec<Run>,
    dir: PathBuf,
    pages: u32,
    left_out: LinksLeftOut,
}

impl Builder {
    /// Gathers links in at most so much memory (and a run's read buffer each while merging); what
    /// does not fit goes to files in a directory, which are removed again.
    pub fn new(memory_bytes: usize, dir: &Path) -> Builder {
        let buffer_max = (memory_bytes / size_of::<u64>()).max(1);
        let (buffer, runs) = (Vec::new(), Vec::new());
        let left_out = LinksLeftOut::default();
        Builder { buffer, buffer_max, runs, dir: dir.to_owned(), pages: 0, left_out }
    }

    /// Takes a link of `page` to `target`.
    pub fn add(&mut self, page: PageNumber, target: PageNumber) -> Result<()> {
        let greatest = page.max(target);
        if greatest >= PAGES_MAX {
            return Err(GraphError::too_large(format!(
                "page {greatest}: the limit is {PAGES_MAX}"
            )));
        }
        self.pages = self.pages.max(greatest + 1);
        if page == target {
            self.left_out.self_links += 1;
            return Ok(());
        }
        self.buffer.push(u64::from(page) << 32 | u64::from(target));
        if self.buffer.len() >= self.buffer_max { self.spill() } else { Ok(()) }
    }

    /// There are at least so many pages, linked or not.
    pub fn pages_min(&mut self, pages: u32) {
        self.pages = self.pages.max(pages);
    }

    /// All links to the writer: lists in the order of their pages.
    pub fn finish(mut self, mut writer: GraphWriter) -> Result<(Graph, LinksLeftOut)> {
        self.sort_buffer();
        let buffered = Source::Memory(std::mem::take(&mut self.buffer).into_iter());
        let mut sources = vec![buffered];
        for run in &self.runs {
            sources.push(run.open()?);
        }
        let mut list: Vec<PageNumber> = Vec::new();
        let mut page = 0;
        self.left_out.repeated += merge(sources, |link| {
            let of = (link >> 32) as PageNumber;
            if of != page {
                writer.push(&list)?;
                list.clear();
                writer.pad_to(of)?;
                page = of;
            }
            list.push(link as PageNumber);
            Ok(())
        })?;
        if self.pages > 0 {
            writer.push(&list)?;
        }
        writer.pad_to(self.pages)?;
        Ok((writer.finish()?, self.left_out))
    }

    fn sort_buffer(&mut self) {
        let before = self.buffer.len();
        self.buffer.sort_unstable();
        self.buffer.dedup();
        self.left_out.repeated += (before - self.buffer.len()) as u64;
    }

    fn spill(&mut self) -> Result<()> {
        self.sort_buffer();
        let mut sources = Vec::new();
        let merged =
            if self.runs.len() == RUNS_MAX { std::mem::take(&mut self.runs) } else { Vec::new() };
        for run in &merged {
            sources.push(run.open()?);
        }
        sources.push(Source::Memory(std::mem::take(&mut self.buffer).into_iter()));
        let mut run = RunWriter::create(&self.dir)?;
        self.left_out.repeated += merge(sources, |link| run.put(link))?;
        self.runs.push(run.finish()?);
        Ok(())
    }
}

/// Hands out every link once, ascending; answers how many were repeated.
fn merge(mut sources: Vec<Source>, mut take: impl FnMut(u64) -> Result<()>) -> Result<u64> {
    let mut heads = BinaryHeap::new();
    for (at, source) in sources.iter_mut().enumerate() {
        heads.extend(source.next()?.map(|link| Reverse((link, at))));
    }
    let (mut repeated, mut last) = (0, None);
    while let Some(Reverse((link, at))) = heads.pop() {
        heads.extend(sources[at].next()?.map(|link| Reverse((link, at))));
        if last == Some(link) {
            repeated += 1;
        } else {
            take(link)?;
            last = Some(link);
        }
    }
    Ok(repeated)
}

/// A sorted run on disk; the file goes when the run does.
struct Run {
    path: PathBuf,
    links: u64,
}

impl Run {
    fn open(&self) -> Result<Source> {
        let file =
            File::open(&self.path).map_err(|error| GraphError::from(error).of(&self.path))?;
        let file = BufReader::with_capacity(READ_BYTES, file);
        Ok(Source::File { file, left: self.links, last: 0 })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // What remains of a temporary file harms nobody.
        let _ = fs::remove_file(&self.path);
    }
}

struct RunWriter {
    run: Run,
    file: BufWriter<File>,
    last: u64,
    scratch: Vec<u8>,
}

impl RunWriter {
    fn create(dir: &Path) -> Result<RunWriter> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("rhumb-links-{}-{number}.run", std::process::id()));
        let file = File::create_new(&path).map_err(|error| GraphError::from(error).of(&path))?;
        let run = Run { path, links: 0 };
        Ok(RunWriter { run, file: BufWriter::new(file), last: 0, scratch: Vec::new() })
    }

    fn put(&mut self, link: u64) -> Result<()> {
        self.scratch.clear();
        gaps::put(&mut self.scratch, link - self.last);
        self.file.write_all(&self.scratch)?;
        self.last = link;
        self.run.links += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Run> {
        self.file.flush()?;
        Ok(self.run)
    }
}

enum Source {
    Memory(std::vec::IntoIter<u64>),
    File { file: BufReader<File>, left: u64, last: u64 },
}

impl Source {
    fn next(&mut self) -> Result<Option<u64>> {
        let (file, left, last) = match self {
            Source::Memory(links) => return Ok(links.next()),
            Source::File { file, left, last } => (file, left, last),
        };
        if *left == 0 {
            return Ok(None);
        }
        *left -= 1;
        *last += take(file)?;
        Ok(Some(*last))
    }
}

/// A number from a stream, as [`gaps::put`] writes it.
pub(crate) fn take(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; gaps::NUMBER_BYTES_MAX];
    for used in 0..bytes.len() {
        from.read_exact(&mut bytes[used..=used])?;
        if bytes[used] < 0x80 {
            let number = gaps::take(&bytes[..=used]).map(|(number, _)| number);
            return number.ok_or_else(|| io::ErrorKind::InvalidData.into());
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "a number of more than 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_and_any_memory_give_the_same_graph_and_leave_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let links: Vec<(PageNumber, PageNumber)> =
            (0..2000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 22, n * n % 997)).collect();
        // The smallest buffer makes more runs than may be open at once.
        let graphs = [24, 800, 1 << 20].map(|memory| {
            let mut builder = Builder::new(memory, dir.path());
            for &(page, target) in links.iter().chain(&links[..100]) {
                builder.add(page, target).unwrap();
            }
            builder.pages_min(1100);
            builder.finish(GraphWriter::in_memory()).unwrap()
        });
        let mut expected: Vec<(PageNumber, PageNumber)> =
            links.iter().copied().filter(|l| l.0 != l.1).collect();
        let self_links = links.iter().chain(&links[..100]).filter(|l| l.0 == l.1).count() as u64;
        let given = expected.len() + links[..100].iter().filter(|l| l.0 != l.1).count();
        expected.sort_unstable();
        expected.dedup();
        for (graph, left_out) in &graphs {
            let links = (0..graph.pages()).flat_map(|p| graph.links_of(p).map(move |t| (p, t)));
            assert_eq!(links.collect::<Vec<_>>(), expected);
            let repeated = (given - expected.len()) as u64;
            assert_eq!(*left_out, LinksLeftOut { self_links, repeated });
            assert_eq!(graph.pages(), 1100);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let (graph, _) = Builder::new(8, dir.path()).finish(GraphWriter::in_memory()).unwrap();
        assert_eq!(graph.pages(), 0);
        assert!(Builder::new(8, dir.path()).add(0, PAGES_MAX).is_err());
    }
}
