//! Ctrl-C: once to stop cleanly, twice to stop at once.

use rhumb_engine::event::{Event, StopReason};
use std::path::Path;
use std::sync::mpsc::Sender;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// As shells do for a process that SIGINT ended.
const INTERRUPTED: i32 = 130;

/// What a shell is to be told to go on with the crawl in `dir`.
pub fn resume_command(dir: &Path) -> String {
    let text = dir.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => format!("rhumb crawl --dir {text}"),
        false => format!("rhumb crawl --dir '{}'", text.replace('\'', r"'\''")),
    }
}

pub fn listen(runtime: &Runtime, dir: &Path, events: Sender<Event>) {
    let to_go_on = resume_command(dir);
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
        eprintln!("stopped at once; to go on: {to_go_on}");
        // What was acknowledged is on disk: dying now costs only what is in flight.
        std::process::exit(INTERRUPTED);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_blanks_and_quotes_is_quoted_for_the_shell() {
        assert_eq!(resume_command(Path::new("./rhumb-crawl")), "rhumb crawl --dir ./rhumb-crawl");
        assert_eq!(resume_command(Path::new("joe's news")), r"rhumb crawl --dir 'joe'\''s news'");
    }
}
