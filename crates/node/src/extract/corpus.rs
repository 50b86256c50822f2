//! A corpus: JSON lines or WARC records in, JSON lines out, in the same order, on several threads.
//!
//! Each piece of work is given to a thread and its row taken back in the order of the input, over
//! channels that hold a few: no sorting, and memory bounded by the pieces in flight. Where pages of
//! a host teach each other what recurs, all of them go to one thread, so the rows are the same
//! whatever the number of threads.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rhumb_archive::Record;
use rhumb_page::url::Url;
use serde::Deserialize;
use serde_json::Value;

use super::body::row_of_record;
use super::row::{ExtractedRow, Wish, address};
use super::templates::Templates;

/// Bytes of a line; a page is smaller even with every byte escaped.
const LINE_BYTES_MAX: u64 = 256 << 20;
/// Pieces with each thread, as work or as rows: its channels hold as many, so nobody waits for one
/// who waits.
const WAITING_MAX: usize = 4;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    id: Value,
    #[serde(borrow, default)]
    html: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
}

/// What a line is dealt by.
#[derive(Deserialize)]
struct Place<'a> {
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub struct CorpusDone {
    pub rows: u64,
    pub failed: u64,
    pub cpu_us: u64,
}

/// How a corpus is read.
#[derive(Clone, Copy, Debug)]
pub struct CorpusRun {
    pub threads: usize,
    pub wish: Wish,
    /// The product token that pages' directives are matched by.
    pub token: &'static str,
    /// Pages of one host teach each other what recurs.
    pub templates: bool,
}

enum Work {
    Line(Vec<u8>),
    Record(Box<Record>),
}

struct Lane {
    give: SyncSender<Work>,
    /// None of what is no page.
    rows: Receiver<Option<ExtractedRow>>,
    /// Pieces given and not taken back.
    held: usize,
}

/// Extracts every line of `input`.
pub fn run_lines(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    run: CorpusRun,
) -> io::Result<CorpusDone> {
    let next = || {
        let mut line = Vec::new();
        let is_one = next_line(input, &mut line)?;
        Ok(is_one.then_some(Work::Line(line)))
    };
    deal(next, out, run)
}

/// Extracts every page among `records`.
pub fn run_records(
    mut records: impl FnMut() -> io::Result<Option<Record>>,
    out: &mut dyn Write,
    run: CorpusRun,
) -> io::Result<CorpusDone> {
    deal(|| Ok(records()?.map(|record| Work::Record(Box::new(record)))), out, run)
}

fn deal(
    mut next: impl FnMut() -> io::Result<Option<Work>>,
    out: &mut dyn Write,
    run: CorpusRun,
) -> io::Result<CorpusDone> {
    std::thread::scope(|scope| {
        let mut lanes = Vec::new();
        for _ in 0..run.threads.max(1) {
            let (give, work) = sync_channel::<Work>(WAITING_MAX);
            let (send, rows) = sync_channel::<Option<ExtractedRow>>(WAITING_MAX);
            scope.spawn(move || serve(&work, &send, run));
            lanes.push(Lane { give, rows, held: 0 });
        }
        let mut rows = Rows { lanes, in_flight: VecDeque::new(), done: CorpusDone::default() };
        let mut given = 0;
        while let Some(work) = next()? {
            let lane = lane_of(&work, given, rows.lanes.len(), run.templates);
            given += 1;
            while rows.lanes[lane].held >= WAITING_MAX {
                rows.take(out)?;
            }
            if rows.lanes[lane].give.send(work).is_err() {
                return Err(io::Error::other("a thread ended too early"));
            }
            rows.lanes[lane].held += 1;
            rows.in_flight.push_back(lane);
        }
        while !rows.in_flight.is_empty() {
            rows.take(out)?;
        }
        out.flush()?;
        Ok(rows.done)
    })
}

struct Rows {
    lanes: Vec<Lane>,
    /// The lanes of the pieces in flight, in the order of the input.
    in_flight: VecDeque<usize>,
    done: CorpusDone,
}

impl Rows {
    /// Writes the row that is next in order.
    fn take(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(lane) = self.in_flight.pop_front() else { return Ok(()) };
        let lane = &mut self.lanes[lane];
        let row = lane.rows.recv().map_err(io::Error::other)?;
        lane.held -= 1;
        let Some(row) = row else { return Ok(()) };
        self.done.rows += 1;
        self.done.failed += u64::from(row.error.is_some());
        self.done.cpu_us += row.us;
        serde_json::to_writer(&mut *out, &row)?;
        out.write_all(b"\n")
    }
}

/// A thread's whole life.
fn serve(work: &Receiver<Work>, rows: &SyncSender<Option<ExtractedRow>>, run: CorpusRun) {
    let mut templates = Templates::default();
    for work in work {
        let row = match work {
            Work::Line(line) => Some(row_of(&line, &mut templates, run)),
            Work::Record(record) => {
                let templates = run.templates.then_some(&mut templates);
                row_of_record(&record, templates, run.wish, run.token)
            }
        };
        if rows.send(row).is_err() {
            return;
        }
    }
}

/// The lane of a piece: in turn, or by its host.
fn lane_of(work: &Work, given: usize, lanes: usize, by_host: bool) -> usize {
    if lanes == 1 || !by_host {
        return given % lanes;
    }
    let url = match work {
        Work::Line(line) => serde_json::from_slice::<Place<'_>>(line)
            .ok()
            .and_then(|place| place.url.map(Cow::into_owned)),
        Work::Record(record) => record.target().map(str::to_owned),
    };
    let url = url.and_then(|url| Url::parse(&url).ok());
    let mut hasher = DefaultHasher::new();
    url.as_ref().map(Url::host).hash(&mut hasher);
    (hasher.finish() % lanes as u64) as usize
}

/// Reads a line that is not blank; false at the end.
fn next_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        line.clear();
        io::Read::take(&mut *input, LINE_BYTES_MAX).read_until(b'\n', line)?;
        if line.is_empty() {
            return Ok(false);
        }
        if !line.ends_with(b"\n") && line.len() as u64 == LINE_BYTES_MAX {
            input.skip_until(b'\n')?;
        }
        if !line.trim_ascii().is_empty() {
            return Ok(true);
        }
    }
}

fn row_of(line: &[u8], templates: &mut Templates, run: CorpusRun) -> ExtractedRow {
    let parsed: Line<'_> = match serde_json::from_slice(line) {
        Ok(parsed) => parsed,
        Err(error) => return ExtractedRow::failed(Value::Null, &format!("no JSON line: {error}")),
    };
    let Some(html) = parsed.html else { return ExtractedRow::failed(parsed.id, "no html") };
    let url = address(parsed.url.as_deref()).filter(|_| run.templates && parsed.url.is_some());
    let Some(url) = url else {
        return ExtractedRow::of(parsed.id, &html, parsed.url.as_deref(), run.wish);
    };
    let mut template = templates.take(url.host());
    let row = ExtractedRow::of_page(parsed.id, &html, &url, Some(&mut template), run.wish);
    templates.put(url.host(), template);
    row
}
