//! Some pages, now: the loop of a crawl over a store in memory that nobody keeps.
//!
//! The engine is asked to crawl the URLs alone, without following links, and decides all else as
//! ever: robots.txt, delays, addresses, redirects. What arrives is *rendered* at once, so that no
//! body is held longer than its turn, and handed over in the order in which it was asked for. What
//! did not arrive is explained at the end, by the rows that the engine left.

use super::archive::{content_of, notes};
use super::clock::Clock;
use super::fetch_tasks::FetchTasks;
use super::held_bodies::{Bytes, Held, HeldBodies};
use super::reader;
use super::spool::{BodySpool, SpooledBytes};
use super::start::{Wired, invalid, make_network, make_workers, no_reader, send_seeds};
use super::world::NodeWorld;
use crate::settings::{ArchiveKind, Settings};
use crate::watch::reason;
use rhumb_archive::{Capture, Packer};
use rhumb_engine::config::{Config, NoArchive};
use rhumb_engine::engine::Engine;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Keep, KeepAs, Row, StopReason};
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{self, Archive, ArchivePosition, State};
use rhumb_fetch::Response;
use rhumb_page::url::Url;
use rhumb_state::memory::{MemoryRows, MemoryState};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Runtime;

/// Compression of the records that are made: they live for a moment.
const LEVEL: i32 = 1;

/// A page as it came.
pub struct Got<'a> {
    /// Where it was in the end.
    pub url: &'a Url,
    /// When it was asked for.
    pub at: Time,
    pub response: &'a Response,
}

impl Got<'_> {
    /// Its WARC records, each a gzip member.
    pub fn records(&self) -> Vec<u8> {
        let notes = notes(0, Some(self.response), Default::default());
        let notes: Vec<(&'static str, &str)> =
            notes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let capture = Capture {
            protocol: super::archive::protocol_of(self.response),
            resource_type: None,
            url: self.url,
            fetched_us: self.at.0,
            address: self.response.address,
            content: content_of(self.url, self.response),
            truncated: self.response.truncated.map(super::archive::truncation),
            notes: &notes,
        };
        Packer::new(LEVEL).capture(&capture).bytes
    }
}

/// What a caller made of an answer.
#[derive(Default)]
pub struct Rendering {
    pub bytes: Vec<u8>,
    /// What is missing of it all the same.
    pub lack: Option<&'static str>,
}

/// What becomes of one URL that was asked for.
pub enum GetOutcome<'a> {
    /// As rendered: of the page, after what was rendered of the redirects to it; and what it lacks.
    Rendered(&'a [u8], Option<&'static str>),
    /// Why there is none, with the status of the answer if there was one.
    Failed { why: &'a str, status: u16 },
}

/// What a caller makes of answers: bytes to hand over, or why there are none.
pub type Render<'a> = dyn Fn(&Got<'_>) -> Result<Rendering, String> + 'a;
/// Where outcomes go, in order; an error ends it all.
pub type HandOver<'a> = dyn FnMut(&Url, GetOutcome<'_>) -> std::io::Result<()> + 'a;

/// Fetches the seeds of these settings, and nothing else.
pub fn get(
    settings: &Settings,
    render: &Render<'_>,
    hand_over: &mut HandOver<'_>,
) -> Result<StopReason, Error> {
    let config = alone(settings)?;
    let settings =
        Settings { archive: ArchiveKind::Warc, compression_level: LEVEL, ..settings.clone() };
    let entropy = std::hash::RandomState::new().hash_one(std::process::id());
    let state = Arc::new(Mutex::new(MemoryState::new(entropy)));
    let opening = lock(&state).reopen();
    let clock = Clock::start();
    let runtime = Runtime::new().map_err(|e| invalid(format!("no threads: {e}")))?;
    let (events_in, events) = channel();
    let (questions, questions_out) = channel();
    let (failed, reader_failed) = channel();
    let bodies = Arc::new(HeldBodies::default());
    let wired = Wired {
        bodies: &bodies,
        known: None,
        seed: entropy,
        rows: &None,
        follows_links: false,
        topic: None,
        permit: None,
    };
    let (at, to) = (clock.clone(), events_in.clone());
    let workers = Arc::new(make_workers(
        &settings,
        &make_network(&settings, &runtime)?,
        at,
        wired,
        false,
        to,
    ));
    let answering = Arc::clone(&state);
    let answer = move |question| lock(&answering).answer(question);
    reader::start(answer, questions_out, events_in.clone(), failed).map_err(no_reader)?;
    let mut engine = Engine::open(config, opening, clock.now());
    let asked: Vec<Url> = settings.seeds.iter().map(|seed| seed.url.clone()).collect();
    send_seeds(&settings, events_in);
    let mut archive =
        Replies::new(asked, usize::from(settings.max_redirects), &bodies, render, hand_over);
    let stop_at = settings.max_time.map(|t| clock.now() + Span(t.as_micros() as u64));
    let mut world = NodeWorld {
        workers,
        fetch_tasks: FetchTasks::default(),
        runtime: runtime.handle().clone(),
        clock,
        events,
        questions,
        reader_failed,
        stop_at,
        gate: None,
        log: None,
        was_busy: false,
        in_flight: 0,
    };
    let ended = turn::run(&mut engine, &mut archive, &mut InMemory(&state), &mut world);
    runtime.shutdown_background();
    let reason = ended?;
    archive.explain(&lock(&state).rows, reason)?;
    Ok(reason)
}

/// The rules of these settings, for the seeds alone.
fn alone(settings: &Settings) -> Result<Config, Error> {
    let config = settings.engine_config().map_err(|e| invalid(e.to_string()))?;
    // Nothing is kept that a page could ask not to have kept.
    Ok(Config { depth_max: Some(0), noarchive: NoArchive::Ignore, ..config })
}

fn lock(state: &Mutex<MemoryState>) -> MutexGuard<'_, MemoryState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct InMemory<'a>(&'a Mutex<MemoryState>);

impl State for InMemory<'_> {
    fn commit(&mut self, rows: &mut Vec<Row>, _: ArchivePosition) -> Result<(), Error> {
        lock(self.0).commit(rows);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// What has arrived and not been handed over.
struct Replies<'a> {
    asked: Vec<Url>,
    /// So many were handed over.
    done: usize,
    hops_max: usize,
    /// The URLs that were asked for, and where those led.
    wanted: HashSet<Url>,
    arrived: HashMap<Url, Arrived>,
    bodies: &'a HeldBodies,
    spool: BodySpool,
    render: &'a Render<'a>,
    hand_over: &'a mut HandOver<'a>,
}

enum Arrived {
    Rendered(SpooledBytes, Option<&'static str>),
    /// A redirect, and what was rendered of it.
    Moved(Url, SpooledBytes),
    Failed {
        why: String,
        status: u16,
    },
}

impl<'a> Replies<'a> {
    fn new(
        asked: Vec<Url>,
        hops_max: usize,
        bodies: &'a HeldBodies,
        render: &'a Render<'a>,
        hand_over: &'a mut HandOver<'a>,
    ) -> Replies<'a> {
        let wanted = asked.iter().cloned().collect();
        let (arrived, spool) = (HashMap::new(), BodySpool::default());
        Replies { asked, done: 0, hops_max, wanted, arrived, bodies, spool, render, hand_over }
    }

    fn take(&mut self, held: Held) -> std::io::Result<()> {
        let Bytes::Response(response) = &held.bytes else { return Ok(()) };
        if !self.wanted.contains(&held.url) || self.arrived.contains_key(&held.url) {
            return Ok(());
        }
        let status = response.status;
        let got = Got { url: &held.url, at: held.at, response };
        let arrived = match (status, response.head().location()) {
            (300..=399, Some(location)) if status != 304 => {
                let Ok(to) = held.url.join(&location) else { return Ok(()) };
                let rendered = (self.render)(&got).unwrap_or_default();
                self.wanted.insert(to.clone());
                Arrived::Moved(to, self.spool.keep(rendered.bytes)?)
            }
            (200..=299, _) => match (self.render)(&got) {
                Ok(made) => Arrived::Rendered(self.spool.keep(made.bytes)?, made.lack),
                Err(why) => Arrived::Failed { why, status },
            },
            (500..=599 | 408 | 425 | 429, _) => {
                let why = format!("the server failed ({status})");
                Arrived::Failed { why, status }
            }
            _ => Arrived::Failed { why: reason::answer(status), status },
        };
        self.arrived.insert(held.url, arrived);
        Ok(())
    }

    /// Hands over all that is next.
    fn settle(&mut self) -> std::io::Result<()> {
        while let Some(asked) = self.asked.get(self.done) {
            let mut rendered = Vec::new();
            let mut at = asked;
            let mut hops = 0;
            let came = loop {
                match self.arrived.get(at) {
                    None => return Ok(()),
                    Some(Arrived::Rendered(kept, lack)) => {
                        self.spool.read(kept, &mut rendered)?;
                        break Ok(*lack);
                    }
                    Some(Arrived::Failed { why, status }) => break Err((why, *status)),
                    // Those beyond the bound are refused by the engine, and explained at the end.
                    Some(Arrived::Moved(to, kept)) if hops <= self.hops_max => {
                        self.spool.read(kept, &mut rendered)?;
                        (at, hops) = (to, hops + 1);
                    }
                    Some(Arrived::Moved(..)) => return Ok(()),
                }
            };
            let outcome = match came {
                Ok(lack) => GetOutcome::Rendered(&rendered, lack),
                Err((why, status)) => GetOutcome::Failed { why, status },
            };
            (self.hand_over)(asked, outcome)?;
            self.done += 1;
        }
        Ok(())
    }

    /// Why the rest has not come, by what the engine wrote of it.
    fn explain(&mut self, rows: &MemoryRows, reason: StopReason) -> Result<(), Error> {
        while self.done < self.asked.len() {
            let mut at = self.asked[self.done].clone();
            for _ in 0..=self.hops_max {
                let Some(Arrived::Moved(to, _)) = self.arrived.get(&at) else { break };
                at = to.clone();
            }
            if !matches!(
                self.arrived.get(&at),
                Some(Arrived::Rendered(..) | Arrived::Failed { .. })
            ) {
                let why = why_not(rows, &at, reason);
                let why = match at == self.asked[self.done] {
                    true => why,
                    false => format!("it redirects to {at}: {why}"),
                };
                self.arrived
                    .insert(self.asked[self.done].clone(), Arrived::Failed { why, status: 0 });
            }
            let before = self.done;
            self.settle().map_err(output_error)?;
            assert!(self.done > before, "what was explained can be handed over");
        }
        Ok(())
    }
}

fn why_not(rows: &MemoryRows, url: &Url, reason: StopReason) -> String {
    let key = url.host_key();
    let host = rows.hosts.get(&key);
    let Some(record) = rows.urls.get(&url.key()) else {
        return format!("it was not asked for ({})", reason.word());
    };
    match record.status {
        RecordStatus::Refused(Refusal::Robots) => {
            let verdict = rows.robots.get(&key).map(|robots| robots.verdict(url));
            match verdict.and_then(|verdict| verdict.line) {
                Some((number, line)) => {
                    format!("line {number} of its robots.txt forbids it: {line}")
                }
                None => reason::rule(Refusal::Robots).to_owned(),
            }
        }
        RecordStatus::Refused(why) => reason::rule(why).to_owned(),
        RecordStatus::Failed(kind) => explained(kind),
        RecordStatus::Gone => reason::answer(record.http_status),
        RecordStatus::Moved => "its redirects lead in a circle, or are too many".to_owned(),
        _ => match host.and_then(|host| host.failing) {
            Some(kind) => explained(kind),
            None => format!("it did not come in time ({})", reason.word()),
        },
    }
}

fn explained(kind: rhumb_engine::outcome::FailKind) -> String {
    format!("{}; {}", reason::failure(kind), reason::remedy(kind))
}

fn output_error(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("output: {error}"))
}

impl Archive for Replies<'_> {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<ArchivePosition, Error> {
        for keep in keeps.drain(..) {
            let held = self.bodies.take(keep.fetch);
            if let Some(held) = held.filter(|_| !matches!(keep.how, KeepAs::Drop)) {
                self.take(held).map_err(output_error)?;
            }
        }
        self.settle().map_err(output_error)?;
        Ok(ArchivePosition::default())
    }

    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
