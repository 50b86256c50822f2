//! What people and machines see of a crawl: progress on the terminal, `report.json`, a Prometheus
//! endpoint, a socket for `rhumb status`, `rhumb status` itself, and what happens as JSON lines.
//!
//! The loop publishes a snapshot into [`live::Live`] and knows no more of this room. Everybody
//! else reads from there, at their own pace, on two threads: the teller writes the report and the
//! progress, the server answers on sockets. Nothing here can hold the loop up but a mutex held for
//! the time of a copy, and nothing here decides anything about the crawl.

pub mod at_rest;
pub mod control;
mod counted;
pub mod coverage;
pub mod diagnosis;
pub mod events;
pub mod failing;
pub mod history;
pub mod kept;
mod last_settings;
pub mod live;
pub mod memory;
pub mod metrics;
pub mod moment;
mod pace;
pub mod progress;
pub mod reason;
pub mod report;
pub mod status;
pub mod steering;
pub mod urls;
pub mod view;

mod printable;
mod server;
mod summary;
mod teller;

pub use counted::counted;
pub use events::EventLog;
pub use live::{About, Live};
pub use printable::printable;
pub use progress::ProgressKind;
pub use report::CrawlReport;
pub use rhumb_engine::error::{Error, ErrorKind};

use rhumb_engine::event::StopReason;
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_state::local::LocalReader;
use server::Server;
use std::path::Path;
use std::sync::Arc;
use teller::Teller;

/// The watchers of one run. Dropped without `finish` or `fail`, they fall silent and leave the
/// last report as it stands: a run that did not end.
pub struct Watchers {
    live: Arc<Live>,
    reader: LocalReader,
    teller: Teller,
    server: Server,
}

impl Watchers {
    /// Call once the store is open: only its owner may take over a socket left by a dead run.
    pub fn start(
        live: Arc<Live>,
        dir: &Path,
        reader: LocalReader,
        progress: ProgressKind,
        metrics: Option<metrics::MetricsPort>,
    ) -> Result<Watchers, Error> {
        CrawlReport::running(&live.get()).write(dir)?;
        let server = Server::start(Arc::clone(&live), dir, reader.clone(), metrics)?;
        let teller = Teller::start(Arc::clone(&live), dir, reader.clone(), progress)?;
        Ok(Watchers { live, reader, teller, server })
    }

    /// The run is over: writes the last report and prints the summary.
    pub fn finish(self, reason: StopReason, last: EngineSnapshot) -> Result<CrawlReport, Error> {
        self.end(reason.word().to_owned(), last)
    }

    /// The run ended by an error of ours or of the machine, after whatever was published last.
    pub fn fail(self, what: &str) -> Result<CrawlReport, Error> {
        let last = self.live.get().snapshot;
        self.end(format!("failed: {what}"), last)
    }

    fn end(self, because: String, last: EngineSnapshot) -> Result<CrawlReport, Error> {
        self.server.stop();
        self.live.publish(last);
        let now = self.live.get();
        let mut report = CrawlReport::ended(&now, because);
        // A report without its hint is still a report.
        report.hint = diagnosis::hint(&now.about.dir, &self.reader).ok().flatten();
        self.teller.stop(now.snapshot.now, &mut report)?;
        Ok(report)
    }
}
