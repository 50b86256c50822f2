//! Hands, from the outside: what the owner asks of a crawl that runs, parsed and checked, and sent
//! to the engine as an event. What must outlast the run is written into `crawl.toml` first: a crash
//! in between leaves a crawl whose next run does as it was told.

use super::at_rest;
use super::control::{self, ControlReply, ControlRequest};
use super::counted;
use super::moment::rfc3339;
use super::status::{check_is_crawl, unexpected};
use crate::settings::{CRAWL_TOML, SeedLine, Settings};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::Event;
use rhumb_engine::hands::{Hand, HandLine, REST_MAX};
use rhumb_engine::partition::Partition;
use rhumb_engine::time::Span;
use rhumb_page::url::{Rules, Scheme, Url};
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// Seeds of one request: a list is for `--seeds`.
const SEEDS_MAX: usize = 1_000;
/// Bytes of a pattern, as of `--exclude`.
const PATTERN_BYTES_MAX: usize = 4 << 10;

/// A request, as it comes over the control socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandRequest {
    Pause,
    Resume,
    Stop,
    /// URLs, each perhaps with a weight behind it.
    Seed(Vec<String>),
    Exclude(String),
    /// A host, as an origin or a name.
    Rest {
        host: String,
        seconds: u64,
    },
    FetchNow(String),
}

/// A line of the log of hands, for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToldLine {
    pub time: String,
    pub what: String,
}

/// What a run is steered by: its settings as they are now, and the way to its engine.
#[derive(Debug)]
pub struct Steering {
    settings: Mutex<Settings>,
    /// To each partition, in order.
    events: Vec<Sender<Event>>,
}

fn invalid(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

impl Steering {
    pub fn new(settings: Settings, events: Vec<Sender<Event>>) -> Steering {
        Steering { settings: Mutex::new(settings), events }
    }

    /// Does as asked, and says what was done.
    pub fn take(&self, request: &HandRequest, reader: &LocalReader) -> Result<String, Error> {
        match request {
            HandRequest::Pause => {
                self.send(Hand::Pause)?;
                Ok("no further request is made until the crawl is resumed".to_owned())
            }
            HandRequest::Resume => {
                self.send(Hand::Resume)?;
                Ok("the crawl goes on".to_owned())
            }
            HandRequest::Stop => {
                self.send(Hand::Stop)?;
                Ok("the crawl stops when what is in flight has come".to_owned())
            }
            HandRequest::Seed(lines) => self.seed(lines),
            HandRequest::Exclude(pattern) => self.exclude(pattern),
            HandRequest::Rest { host, seconds } => self.rest(host, *seconds, reader),
            HandRequest::FetchNow(text) => {
                let url = web_url(text)?;
                let strip = self.settings().strip.strip_params();
                let url = strip.apply(url);
                let owner = self.partition().owner(&url);
                self.send_to(owner, Hand::FetchNow { url })?;
                Ok("it is fetched as soon as its host may be asked, if the rules admit it"
                    .to_owned())
            }
        }
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn partition(&self) -> Partition {
        Partition { own: 0, count: self.events.len() as u32 }
    }

    /// To all partitions.
    fn send(&self, hand: Hand) -> Result<(), Error> {
        (0..self.events.len() as u32).try_for_each(|part| self.send_to(part, hand.clone()))
    }

    fn send_to(&self, part: u32, hand: Hand) -> Result<(), Error> {
        let ending = |_| Error::new(ErrorKind::Retry, "the crawl is ending: nothing was changed");
        self.events[part as usize].send(Event::Told(hand)).map_err(ending)
    }

    fn seed(&self, lines: &[String]) -> Result<String, Error> {
        if lines.is_empty() || lines.len() > SEEDS_MAX {
            return Err(invalid(format!("1 to {SEEDS_MAX} seeds at once, not {}", lines.len())));
        }
        let parsed = lines.iter().map(|line| line.trim().parse::<SeedLine>().map_err(invalid));
        let parsed: Vec<SeedLine> = parsed.collect::<Result<_, _>>()?;
        let mut settings = self.settings();
        let strip = settings.strip.strip_params();
        let mut changed = settings.clone();
        let is_new = |seed: &&SeedLine| !settings.seeds.iter().any(|known| known.url == seed.url);
        let new: Vec<SeedLine> = parsed.iter().filter(is_new).cloned().collect();
        changed.seeds.extend(new.iter().cloned());
        write(&changed)?;
        *settings = changed;
        drop(settings);
        for SeedLine { url, weight } in new.iter().cloned() {
            self.send(Hand::Seed { url: strip.apply(url), weight })?;
        }
        let added = counted(new.len() as u64, "seed is added", "seeds are added");
        Ok(match parsed.len() - new.len() {
            0 => format!("{added}, also for later runs"),
            1 => format!("{added}; 1 was a seed already"),
            known => format!("{added}; {known} were seeds already"),
        })
    }

    fn exclude(&self, pattern: &str) -> Result<String, Error> {
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
            return Err(invalid(format!("a pattern has 1 to {PATTERN_BYTES_MAX} bytes")));
        }
        let mut settings = self.settings();
        if settings.exclude.iter().any(|known| known == pattern) {
            return Ok("that is excluded already".to_owned());
        }
        let mut changed = settings.clone();
        changed.exclude.push(pattern.to_owned());
        let rules = Rules::new(&changed.include, &changed.exclude)
            .map_err(|error| invalid(format!("filter {error}")))?;
        write(&changed)?;
        *settings = changed;
        drop(settings);
        self.send(Hand::Exclude { pattern: pattern.to_owned(), rules })?;
        Ok("what it matches is refused, now and in later runs; what waits, when its turn comes"
            .to_owned())
    }

    fn rest(&self, host: &str, seconds: u64, reader: &LocalReader) -> Result<String, Error> {
        let span = Span::secs(seconds);
        if seconds == 0 || span > REST_MAX {
            return Err(invalid("a rest is between a second and 30 days".to_owned()));
        }
        let origins = match host.contains("://") {
            true => vec![host.to_owned()],
            false => vec![format!("https://{host}"), format!("http://{host}")],
        };
        let mut rested = 0;
        for origin in origins {
            let host = web_url(&origin)?.host_key();
            if reader.holding_host(&host).snapshot().host(&host)?.is_some() {
                self.send_to(self.partition().owner_of_host(&host), Hand::Rest { host, span })?;
                rested += 1;
            }
        }
        match rested {
            0 => Err(invalid(format!("{host:?} is no host that this crawl knows"))),
            _ => Ok(format!("{host} is asked for nothing for {seconds} s")),
        }
    }
}

fn web_url(text: &str) -> Result<Url, Error> {
    let url = Url::parse(text.trim()).map_err(|error| invalid(format!("{text:?}: {error}")))?;
    match url.scheme() {
        Scheme::Http | Scheme::Https | Scheme::File => Ok(url),
        Scheme::Ftp => Err(invalid(format!("{text:?}: ftp is not fetched"))),
    }
}

fn write(settings: &Settings) -> Result<(), Error> {
    let path = settings.dir.join(CRAWL_TOML);
    settings.write_crawl_toml(&path).map_err(|error| {
        let what = format!("{}: {error}; nothing was changed", path.display());
        Error::new(ErrorKind::Retry, what)
    })
}

/// Asks the crawl that runs on `dir`.
pub fn ask_dir(dir: &Path, request: HandRequest) -> Result<String, Error> {
    check_is_crawl(dir)?;
    let asked = control::ask(dir, &ControlRequest::Hand(request)).map_err(|error| {
        let what = format!("the crawl that runs on {} does not answer: {error}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })?;
    match asked {
        Some(ControlReply::Done(told)) => Ok(told),
        Some(reply) => Err(unexpected(reply)),
        None => Err(invalid(format!(
            "no crawl runs on {}: nothing was changed; `rhumb crawl --dir {}` takes seeds and \
             --exclude",
            dir.display(),
            dir.display()
        ))),
    }
}

/// What was asked of the crawl in `dir` by hand, the latest last.
pub fn log_of_dir(dir: &Path) -> Result<Vec<ToldLine>, Error> {
    check_is_crawl(dir)?;
    let asked = control::ask(dir, &ControlRequest::Hands(true)).map_err(|error| {
        let what = format!("the crawl that runs on {} does not answer: {error}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })?;
    match asked {
        Some(ControlReply::Hands(lines)) => Ok(lines),
        Some(reply) => Err(unexpected(reply)),
        None => log(&*at_rest::open(dir)?),
    }
}

pub fn log(reader: &LocalReader) -> Result<Vec<ToldLine>, Error> {
    let line = |HandLine { at, what }| ToldLine { time: rfc3339(at), what };
    Ok(reader.hands()?.into_iter().map(line).collect())
}
