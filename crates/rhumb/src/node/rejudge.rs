//! When the rules of admission have changed since the last run, what they refused is judged again.
//!
//! A file beside the state says by which rules it was judged. It is written when a run ends well;
//! a run that dies before begins again, which changes nothing that was done already.

use crate::settings::Settings;
use rhumb_engine::discovery::{CHUNK_MAX, Discovery, FoundAs};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::Event;
use rhumb_engine::record::{Refusal, Status};
use rhumb_state::local::LocalReader;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

const RULES_FILE: &str = "state/RULES";

/// To be finished when the run ends well.
pub struct Rejudged;

pub fn start(
    settings: &Settings,
    known: u64,
    reader: LocalReader,
    events: Sender<Event>,
) -> Result<Rejudged, Error> {
    let now = rules(settings);
    let before = std::fs::read_to_string(path(settings)).unwrap_or_default();
    if known == 0 || before.trim() == now {
        return Ok(Rejudged);
    }
    // Before the loop begins, so that it does not end for want of work.
    let _ = events.send(Event::Reconsidered { discoveries: Vec::new(), more: true });
    std::thread::Builder::new()
        .name("rhumb-rejudge".into())
        .spawn(move || {
            let ended = send_refused(&reader, &events);
            if let Err(error) = ended {
                tracing::error!(what = %error, "not all that was refused was judged again");
            }
            let _ = events.send(Event::Reconsidered { discoveries: Vec::new(), more: false });
        })
        .map_err(|e| Error::new(ErrorKind::Retry, format!("no thread: {e}")))?;
    Ok(Rejudged)
}

fn send_refused(reader: &LocalReader, events: &Sender<Event>) -> Result<(), Error> {
    let mut chunk = Vec::with_capacity(CHUNK_MAX);
    for row in reader.refused() {
        let (key, record) = row?;
        if record.status == Status::Refused(Refusal::Robots) {
            continue;
        }
        let (depth, hops) = (record.depth, record.hops);
        let (url, kind) = (key.url(), FoundAs::Rejudge);
        chunk.push(Discovery { url, kind, depth, hops, from: None });
        if chunk.len() == CHUNK_MAX {
            let discoveries = std::mem::take(&mut chunk);
            if events.send(Event::Reconsidered { discoveries, more: true }).is_err() {
                return Ok(());
            }
        }
    }
    let _ = events.send(Event::Reconsidered { discoveries: chunk, more: true });
    Ok(())
}

impl Rejudged {
    pub fn finish(self, settings: &Settings) -> Result<(), Error> {
        let path = path(settings);
        std::fs::write(&path, rules(settings) + "\n")
            .map_err(|e| Error::new(ErrorKind::Retry, format!("{}: {e}", path.display())))
    }
}

fn rules(settings: &Settings) -> String {
    format!("{:016x}", settings.scope_fingerprint())
}

fn path(settings: &Settings) -> PathBuf {
    settings.dir.join(RULES_FILE)
}
