//! One walk over the index, in the order of SURTs: every capture with what the crawl knows of it.

use std::collections::{HashMap, VecDeque};
use std::iter::Peekable;

use rhumb_page::url::Url;

use crate::ExportFailure;
use crate::capture::{CaptureJob, CaptureReader, Depth, ExportedCapture};
use crate::known::{Knowledge, KnownUrl};
use crate::lanes;
use crate::source::{CrawlSource, IndexLine};

/// Captures that are looked up together: the pages they were found on are found in one walk over
/// the URLs. Some tens of megabytes.
const STRETCH_MAX: usize = 50_000;
const REVISIT_MIME: &str = "warc/revisit";

/// How a walk goes.
#[derive(Clone, Copy, Debug)]
pub struct UrlWalk {
    pub threads: usize,
    pub depth: Depth,
    /// Look up the pages that URLs were found on.
    pub names_pages: bool,
}

impl UrlWalk {
    /// Reads every capture that `wants` and hands it to `take`, in the order of the index.
    pub fn run(
        self,
        source: &CrawlSource,
        wants: impl Fn(&CaptureJob) -> bool,
        mut take: impl FnMut(ExportedCapture) -> Result<(), ExportFailure>,
    ) -> Result<(), ExportFailure> {
        let jobs = Jobs::of(source, self.names_pages)?;
        let wanted = jobs.filter(|job| job.as_ref().map_or(true, &wants));
        let host = |job: &CaptureJob| lanes::lane_of(host_of(&job.entry.surt));
        let make = || {
            let mut reader = CaptureReader::new(source, self.depth);
            move |job| reader.read(job)
        };
        lanes::in_order(self.threads, wanted, host, make, |capture| take(capture?))
    }
}

/// The part of a SURT that is its host.
fn host_of(surt: &str) -> &str {
    surt.split(')').next().unwrap_or(surt)
}

struct Jobs<'s, L: Iterator<Item = Result<IndexLine, ExportFailure>>> {
    lines: Peekable<L>,
    knowledge: Option<Knowledge<'s>>,
    names_pages: bool,
    ready: VecDeque<CaptureJob>,
}

impl<'s> Jobs<'s, std::iter::Empty<Result<IndexLine, ExportFailure>>> {
    fn of(
        source: &'s CrawlSource,
        names_pages: bool,
    ) -> Result<
        Jobs<'s, impl Iterator<Item = Result<IndexLine, ExportFailure>> + use<>>,
        ExportFailure,
    > {
        let knowledge = source.state.as_ref().map(Knowledge::read).transpose()?;
        let lines = source.lines()?.peekable();
        Ok(Jobs { lines, knowledge, names_pages, ready: VecDeque::new() })
    }
}

impl<L: Iterator<Item = Result<IndexLine, ExportFailure>>> Jobs<'_, L> {
    fn refill(&mut self) -> Result<(), ExportFailure> {
        while self.ready.len() < STRETCH_MAX
            && let Some(line) = self.lines.next()
        {
            let from = self.ready.len();
            let surt = line?.entry;
            let key = surt.surt.clone();
            self.push(surt)?;
            let same = |line: &Result<IndexLine, ExportFailure>| {
                line.as_ref().is_ok_and(|line| line.entry.surt == key)
            };
            // Captures of one key are looked at together, as far as they are not too many.
            while self.ready.len() - from < STRETCH_MAX
                && let Some(line) = self.lines.next_if(same)
            {
                self.push(line?.entry)?;
            }
            mark_last(self.ready.iter_mut().skip(from));
        }
        match (&self.knowledge, self.names_pages) {
            (Some(knowledge), true) => {
                knowledge.name_pages(self.ready.iter_mut().map(|job| &mut job.known))
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, entry: rhumb_archive::CdxjEntry) -> Result<(), ExportFailure> {
        let known = match (&mut self.knowledge, Url::parse(&entry.url)) {
            (Some(knowledge), Ok(url)) => knowledge.of(&url)?,
            _ => KnownUrl::default(),
        };
        self.ready.push_back(CaptureJob { entry, known, is_last: false });
        Ok(())
    }
}

impl<L: Iterator<Item = Result<IndexLine, ExportFailure>>> Iterator for Jobs<'_, L> {
    type Item = Result<CaptureJob, ExportFailure>;

    fn next(&mut self) -> Option<Result<CaptureJob, ExportFailure>> {
        if self.ready.is_empty()
            && let Err(failure) = self.refill()
        {
            return Some(Err(failure));
        }
        self.ready.pop_front().map(Ok)
    }
}

/// Marks of each URL the last capture that has a page of its own.
fn mark_last<'j>(jobs: impl Iterator<Item = &'j mut CaptureJob>) {
    let mut last: HashMap<String, &'j mut CaptureJob> = HashMap::new();
    for job in jobs {
        let status = job.entry.status.as_deref().unwrap_or("200");
        let has_page = status.starts_with('2') && job.entry.mime.as_deref() != Some(REVISIT_MIME);
        if has_page {
            last.insert(job.entry.url.clone(), job);
        }
    }
    last.into_values().for_each(|job| job.is_last = true);
}
