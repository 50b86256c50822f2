//! The thread that tells: `report.json` once a second, and the progress for people.

use super::live::Live;
use super::progress::{Progress, ProgressKind};
use super::report::Report;
use rhumb_engine::error::{Error, ErrorKind};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const REPORT_EVERY: Duration = Duration::from_secs(1);

pub struct Teller {
    dir: PathBuf,
    /// Closing it is the message to stop.
    stop: Sender<()>,
    thread: JoinHandle<Progress>,
}

impl Teller {
    pub fn start(live: Arc<Live>, dir: &Path, kind: ProgressKind) -> Result<Teller, Error> {
        let (stop, stopped) = channel();
        let progress = Progress::new(kind, Box::new(io::stderr()));
        let to = dir.to_owned();
        let thread = thread::Builder::new()
            .name("rhumb-teller".to_owned())
            .spawn(move || tell(&live, &to, progress, &stopped))
            .map_err(|e| Error::new(ErrorKind::Retry, format!("no thread for progress: {e}")))?;
        Ok(Teller { dir: dir.to_owned(), stop, thread })
    }

    /// The last words: the final report on disk, then the summary.
    pub fn stop(self, report: &Report) -> Result<(), Error> {
        drop(self.stop);
        let progress = self.thread.join();
        let written = report.write(&self.dir);
        if let Ok(mut progress) = progress {
            progress.finish(report);
        }
        written
    }
}

fn tell(live: &Live, dir: &Path, mut progress: Progress, stopped: &Receiver<()>) -> Progress {
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
            let written = Report::running(&now).write(dir);
            // Told once, not every second: a full disk stays full for a while.
            if let (Err(error), true) = (&written, is_written) {
                tracing::warn!(%error, "report not written");
            }
            is_written = written.is_ok();
        }
    }
}
