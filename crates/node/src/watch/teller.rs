//! The thread that tells: `report.json` once a second, and the progress for people. It waits for
//! nobody: while the loop is busy the report says what was published last.

use super::coverage::Topical;
use super::failing::failing_hosts;
use super::history::{HistoryFile, SampledSecond};
use super::live::{Live, LiveMoment};
use super::progress::{CrawlProgress, ProgressKind};
use super::report::CrawlReport;
use super::status::{OverduePage, most_overdue};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::time::Time;
use rhumb_state::local::LocalReader;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const REPORT_EVERY: Duration = Duration::from_secs(1);
/// So many pages of which none is of the topic are worth a warning while the crawl runs.
const OFF_TOPIC_PAGES: u64 = 100;
/// To find the most overdue pages takes a pass over all hosts: no more often than this, and no
/// more than one part in so many of the time.
const OVERDUE_EVERY_MIN: Duration = Duration::from_secs(60);
const OVERDUE_SHARE: u32 = 50;
/// At the end of a run they are looked for once more if that takes no longer.
const OVERDUE_AT_END_MAX: Duration = Duration::from_secs(1);

pub struct Teller {
    dir: PathBuf,
    /// Closing it is the message to stop.
    stop: Sender<()>,
    thread: JoinHandle<(CrawlProgress, Overdue)>,
}

impl Teller {
    pub fn start(
        live: Arc<Live>,
        dir: &Path,
        reader: LocalReader,
        kind: ProgressKind,
    ) -> Result<Teller, Error> {
        let (stop, stopped) = channel();
        let progress = CrawlProgress::new(kind, Box::new(io::stderr()));
        let (to, overdue) = (dir.to_owned(), Overdue::new(reader));
        let thread = thread::Builder::new()
            .name("rhumb-teller".to_owned())
            .spawn(move || tell(&live, &to, progress, overdue, &stopped))
            .map_err(|e| Error::new(ErrorKind::Retry, format!("no thread for progress: {e}")))?;
        Ok(Teller { dir: dir.to_owned(), stop, thread })
    }

    /// The last words: the final report on disk, then the summary.
    pub fn stop(self, now: Time, report: &mut CrawlReport) -> Result<(), Error> {
        drop(self.stop);
        let Ok((mut progress, overdue)) = self.thread.join() else {
            return report.write(&self.dir);
        };
        name_failing(report, &overdue.reader);
        report.most_overdue = overdue.at_end(now, report);
        let written = report.write(&self.dir);
        progress.finish(report);
        if let Some(warning) = report.topic.as_ref().and_then(|topic| topic.off_topic(report.pages))
        {
            tracing::warn!("topic: {warning}");
        }
        written
    }
}

/// Some of the hosts that fail, in the last report.
fn name_failing(report: &mut CrawlReport, reader: &LocalReader) {
    if report.hosts_failing == 0 {
        return;
    }
    match failing_hosts(reader) {
        Ok(hosts) => report.failing_hosts = hosts,
        Err(error) => tracing::debug!(%error, "failing hosts not read"),
    }
}

/// The most overdue pages, looked for now and then by a thread of its own: a report does not wait
/// for them.
struct Overdue {
    reader: LocalReader,
    pages: Vec<OverduePage>,
    looking: Option<Looking>,
    /// When they were last found, and how long that took.
    looked: Option<(Instant, Duration)>,
}

struct Looking {
    began: Instant,
    found: Receiver<Result<Vec<OverduePage>, Error>>,
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Overdue {
    fn new(reader: LocalReader) -> Overdue {
        Overdue { reader, pages: Vec::new(), looking: None, looked: None }
    }

    /// What was found last.
    fn pages(&mut self, now: Time, report: &CrawlReport) -> &[OverduePage] {
        if report.collection.is_none() {
            return &[];
        }
        if let Some(looking) = self.looking.take_if(|looking| looking.thread.is_finished()) {
            self.take(looking, Duration::ZERO);
        }
        let is_recent = self.looked.is_some_and(|(at, took)| {
            at.elapsed() < OVERDUE_EVERY_MIN.max(took.saturating_mul(OVERDUE_SHARE))
        });
        if self.looking.is_none() && !is_recent {
            self.looking = self.look(now);
        }
        &self.pages
    }

    /// As they are at the end, if they are found soon; else as they were.
    fn at_end(mut self, now: Time, report: &CrawlReport) -> Vec<OverduePage> {
        if report.collection.is_some()
            && let Some(looking) = self.looking.take().or_else(|| self.look(now))
        {
            self.take(looking, OVERDUE_AT_END_MAX);
        }
        self.pages
    }

    fn look(&self, now: Time) -> Option<Looking> {
        let (reader, is_stopped) = (self.reader.clone(), Arc::new(AtomicBool::new(false)));
        let (tell, found) = channel();
        let stop = Arc::clone(&is_stopped);
        let look = move || drop(tell.send(most_overdue(now, &reader, &stop)));
        let thread = thread::Builder::new().name("rhumb-overdue".to_owned()).spawn(look).ok()?;
        Some(Looking { began: Instant::now(), found, is_stopped, thread })
    }

    /// Waits so long for what is found.
    fn take(&mut self, looking: Looking, wait: Duration) {
        match looking.found.recv_timeout(wait) {
            Ok(Ok(pages)) => self.pages = pages,
            Ok(Err(error)) => tracing::debug!(%error, "overdue pages not read"),
            Err(_) => tracing::debug!("overdue pages not found in time"),
        }
        self.looked = Some((Instant::now(), looking.began.elapsed()));
        looking.is_stopped.store(true, Ordering::Relaxed);
        let _ = looking.thread.join();
    }
}

fn tell(
    live: &Live,
    dir: &Path,
    mut progress: CrawlProgress,
    mut overdue: Overdue,
    stopped: &Receiver<()>,
) -> (CrawlProgress, Overdue) {
    let mut reported = Instant::now();
    let (mut is_written, mut is_warned) = (true, false);
    // A crawl without its history is still a crawl.
    let history = HistoryFile::open(dir)
        .inspect_err(|error| tracing::warn!(%error, "no history is kept of this run"))
        .ok();
    loop {
        match stopped.recv_timeout(progress.every()) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return (progress, overdue),
        }
        let now = live.get();
        progress.tick(&now);
        is_warned = is_warned || warned(&now);
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            let mut report = CrawlReport::running(&now);
            report.most_overdue = overdue.pages(now.snapshot.now, &report).to_vec();
            if let Some(history) = &history {
                record(history, &report, &now);
            }
            let written = report.write(dir);
            // Told once, not every second: a full disk stays full for a while.
            if let (Err(error), true) = (&written, is_written) {
                tracing::warn!(%error, "report not written");
            }
            is_written = written.is_ok();
        }
    }
}

/// Whether somebody was told, while there is time to do something about it, that the crawl does not
/// find its topic.
fn warned(now: &LiveMoment) -> bool {
    let pages = now.snapshot.counters.pages;
    let topic = now.snapshot.topic.as_ref().filter(|_| pages >= OFF_TOPIC_PAGES);
    let warning = topic.and_then(|topic| Topical::of(topic, None).off_topic(pages));
    warning.inspect(|warning| tracing::warn!("topic: {warning}")).is_some()
}

fn record(history: &HistoryFile, report: &CrawlReport, now: &LiveMoment) {
    let at_s = u32::try_from(now.snapshot.now.0 / 1_000_000).unwrap_or(u32::MAX);
    let sampled = SampledSecond::of(report, now.bytes_per_s, now.rss_bytes, at_s);
    if let Err(error) = history.record(&sampled) {
        tracing::debug!(%error, "history not written");
    }
}
