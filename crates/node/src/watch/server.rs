//! The thread that answers: metrics over TCP and `rhumb status` over a unix socket, on a runtime
//! of its own, so that a busy crawl does not keep them waiting nor they the crawl.

use super::live::Live;
use super::{control, metrics};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_state::local::LocalReader;
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::oneshot;

/// A scan of the hosts that is under way at the end is left to itself after this time.
const STOP_TIME_MAX: Duration = Duration::from_millis(500);
/// Scans of the store take turns: they compete with the crawl for the disk.
const SCANS_MAX: usize = 1;

pub struct Server {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
    socket: Option<control::Socket>,
}

impl Server {
    pub fn start(
        live: Arc<Live>,
        dir: &Path,
        reader: LocalReader,
        metrics: Option<metrics::MetricsPort>,
    ) -> Result<Server, Error> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorKind::Retry, format!("no thread for status and metrics: {e}"))
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(SCANS_MAX)
            .build()
            .map_err(failed)?;
        // A crawl without its socket is still a crawl.
        let bound = control::bind(dir);
        if let Err(error) = &bound {
            tracing::warn!(%error, "rhumb status will only see the report while this crawl runs");
        }
        let (listener, socket) = bound.ok().unzip();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("rhumb-server".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    if let Some(bound) = metrics {
                        tokio::spawn(metrics::serve(bound, Arc::clone(&live)));
                    }
                    if let Some(listener) = listener {
                        tokio::spawn(control::serve(listener, live, reader));
                    }
                    let _ = stopped.await;
                });
                runtime.shutdown_timeout(STOP_TIME_MAX);
            })
            .map_err(failed)?;
        Ok(Server { stop, thread, socket })
    }

    pub fn stop(self) {
        drop(self.socket);
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!("the thread for status and metrics panicked");
        }
    }
}
