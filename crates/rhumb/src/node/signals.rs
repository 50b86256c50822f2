//! Ctrl-C: once to stop cleanly, twice to stop at once.

use rhumb_engine::event::{Event, StopReason};
use std::sync::mpsc::Sender;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// As shells do for a process that SIGINT ended.
const INTERRUPTED: i32 = 130;

pub fn listen(runtime: &Runtime, events: Sender<Event>) {
    runtime.spawn(async move {
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        eprintln!("stopping: waiting for requests in flight (again to stop at once)");
        if events.send(Event::Stopped(StopReason::Interrupted)).is_err() {
            return;
        }
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        // What was acknowledged is on disk: dying now costs only what is in flight.
        std::process::exit(INTERRUPTED);
    });
}
