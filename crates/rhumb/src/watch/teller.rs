//! The thread that tells: `report.json` once a second, and the progress for people.

use super::live::Live;
use super::progress::{Progress, ProgressKind};
use super::report::Report;
use super::status::{OverduePage, overdue_of};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::time::Time;
use rhumb_state::local::LocalReader;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const REPORT_EVERY: Duration = Duration::from_secs(1);
/// To find the most overdue pages takes a pass over all hosts: no more often than this, and no
/// more than one part in so many of the time.
const OVERDUE_EVERY_MIN: Duration = Duration::from_secs(60);
const OVERDUE_SHARE: u32 = 50;

pub struct Teller {
    dir: PathBuf,
    reader: LocalReader,
    /// Closing it is the message to stop.
    stop: Sender<()>,
    thread: JoinHandle<Progress>,
}

impl Teller {
    pub fn start(
        live: Arc<Live>,
        dir: &Path,
        reader: LocalReader,
        kind: ProgressKind,
    ) -> Result<Teller, Error> {
        let (stop, stopped) = channel();
        let progress = Progress::new(kind, Box::new(io::stderr()));
        let (to, overdue) = (dir.to_owned(), Overdue::new(reader.clone()));
        let thread = thread::Builder::new()
            .name("rhumb-teller".to_owned())
            .spawn(move || tell(&live, &to, progress, overdue, &stopped))
            .map_err(|e| Error::new(ErrorKind::Retry, format!("no thread for progress: {e}")))?;
        Ok(Teller { dir: dir.to_owned(), reader, stop, thread })
    }

    /// The last words: the final report on disk, then the summary.
    pub fn stop(self, now: Time, report: &mut Report) -> Result<(), Error> {
        drop(self.stop);
        let progress = self.thread.join();
        report.most_overdue = Overdue::new(self.reader).look(now, report).to_vec();
        let written = report.write(&self.dir);
        if let Ok(mut progress) = progress {
            progress.finish(report);
        }
        written
    }
}

/// The most overdue pages, looked for now and then.
struct Overdue {
    reader: LocalReader,
    pages: Vec<OverduePage>,
    looked: Option<(Instant, Duration)>,
}

impl Overdue {
    fn new(reader: LocalReader) -> Overdue {
        Overdue { reader, pages: Vec::new(), looked: None }
    }

    fn look(&mut self, now: Time, report: &Report) -> &[OverduePage] {
        let is_recent = self.looked.is_some_and(|(at, took)| {
            at.elapsed() < OVERDUE_EVERY_MIN.max(took.saturating_mul(OVERDUE_SHARE))
        });
        if !is_recent {
            let began = Instant::now();
            match overdue_of(report, now, &self.reader) {
                Ok(pages) => self.pages = pages,
                Err(error) => tracing::debug!(%error, "overdue pages not read"),
            }
            self.looked = Some((Instant::now(), began.elapsed()));
        }
        &self.pages
    }
}

fn tell(
    live: &Live,
    dir: &Path,
    mut progress: Progress,
    mut overdue: Overdue,
    stopped: &Receiver<()>,
) -> Progress {
    let mut reported = Instant::now();
    let mut is_written = true;
    loop {
        match stopped.recv_timeout(progress.every()) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return progress,
        }
        let now = live.get();
        progress.tick(&now);
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            let mut report = Report::running(&now);
            report.most_overdue = overdue.look(now.snapshot.now, &report).to_vec();
            let written = report.write(dir);
            // Told once, not every second: a full disk stays full for a while.
            if let (Err(error), true) = (&written, is_written) {
                tracing::warn!(%error, "report not written");
            }
            is_written = written.is_ok();
        }
    }
}
