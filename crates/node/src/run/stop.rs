//! How a crawl is stopped from outside: by a signal, a deadline, or the program that embeds it.

use rhumb_engine::event::{Event, StopReason};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle to stop crawls by. It may be asked before a crawl begins: the crawl then stops at its
/// first turn, with all that was written whole.
///
/// ```
/// let stop = rhumb_node::run::StopHandle::default();
/// let from_elsewhere = stop.clone();
/// std::thread::spawn(move || from_elsewhere.ask()).join().unwrap();
/// assert!(stop.is_asked());
/// ```
#[derive(Clone, Default)]
pub struct StopHandle(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    is_asked: bool,
    /// The loops that run, if any do.
    events: Vec<Sender<Event>>,
}

impl StopHandle {
    /// Has the crawl wait for the requests in flight, write all rows, and end.
    pub fn ask(&self) {
        let mut inner = self.lock();
        inner.is_asked = true;
        for events in &inner.events {
            // A loop that has ended needs no telling.
            let _ = events.send(Event::Stopped(StopReason::Interrupted));
        }
    }

    pub fn is_asked(&self) -> bool {
        self.lock().is_asked
    }

    /// A loop that is to hear of it from now on.
    pub(super) fn tell(&self, events: Sender<Event>) {
        let mut inner = self.lock();
        if inner.is_asked {
            let _ = events.send(Event::Stopped(StopReason::Interrupted));
        }
        inner.events.push(events);
    }

    /// The loops have ended.
    pub(super) fn forget(&self) {
        self.lock().events.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The command line that goes on with the crawl in `dir`, quoted for a shell.
pub fn resume_command(dir: &Path) -> String {
    let text = dir.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => format!("rhumb crawl --dir {text}"),
        false => format!("rhumb crawl --dir '{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_loop_hears_of_it_once_whether_it_began_before_or_after() {
        let (early, stop) = (StopHandle::default(), StopHandle::default());
        early.ask();
        for (stop, ask_again) in [(early, false), (stop, true)] {
            let (events, heard) = channel();
            stop.tell(events);
            if ask_again {
                stop.ask();
            }
            stop.forget();
            stop.ask();
            let heard: Vec<Event> = heard.iter().collect();
            assert!(matches!(heard[..], [Event::Stopped(StopReason::Interrupted)]), "{heard:?}");
        }
    }

    #[test]
    fn a_directory_with_blanks_and_quotes_is_quoted_for_the_shell() {
        assert_eq!(resume_command(Path::new("./rhumb-crawl")), "rhumb crawl --dir ./rhumb-crawl");
        assert_eq!(resume_command(Path::new("joe's news")), r"rhumb crawl --dir 'joe'\''s news'");
    }
}
