//! Ctrl-C and SIGTERM: only the command line listens to signals and ends the process.

use std::path::Path;
use std::{io, thread};

use rhumb_node::run::{self, StopHandle};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

use super::ended::{INTERRUPTED, Trouble};
use super::notice::notice;

/// Calls `first` at the first signal; at the second calls `second` and ends the process.
pub fn listen(
    first: impl FnOnce() + Send + 'static,
    second: impl FnOnce() + Send + 'static,
) -> Result<(), Trouble> {
    let failed = |error: io::Error| Trouble::Failed(format!("signals: {error}"));
    let runtime = runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    drop(entered);
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            first();
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        });
        second();
        std::process::exit(INTERRUPTED.into());
    });
    Ok(())
}

/// Stops a crawl cleanly at the first signal, and ends the process at the second.
pub fn stop_a_crawl(stop: &StopHandle, dir: &Path) -> Result<(), Trouble> {
    let (stop, to_go_on) = (stop.clone(), run::resume_command(dir));
    let first = move || {
        notice("stopping: waiting for requests in flight (again to stop at once)");
        stop.ask();
    };
    // All that was acknowledged is on disk: dying then costs only the requests in flight.
    listen(first, move || notice(format_args!("stopped at once; to go on: {to_go_on}")))
}

/// Waits for Ctrl-C, also where a crawl before has listened to it.
pub fn wait_for_one() -> Result<(), Trouble> {
    let failed = |error: io::Error| Trouble::Failed(format!("signals: {error}"));
    let runtime = runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    runtime.block_on(tokio::signal::ctrl_c()).map_err(failed)
}

/// Ends the process at the first signal.
pub fn exit_at_once() -> Result<(), Trouble> {
    listen(|| std::process::exit(INTERRUPTED.into()), || ())
}
