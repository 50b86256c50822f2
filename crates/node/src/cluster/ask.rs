//! The owner's side: making a crawl on many machines, giving it orders, and reading what it left.

use super::crawl_file::CrawlFile;
use super::order::{CrawlOrder, Mandate};
use super::run::mandate_of;
use super::status::GatheredStatus;
use super::told::PartTold;
use crate::settings::WrittenSettings;
use crate::watch::CrawlReport;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_shipped::{BackedUp, Objects, Put};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;

/// Orders that others give at the same time come first; so often it is tried.
const TRIES_MAX: usize = 20;
/// A paused crawl is quiet within this time.
const QUIET_WITHIN: Duration = Duration::from_secs(120);
const QUIET_POLL: Duration = Duration::from_secs(2);
/// A silent node is gone.
const GONE_AFTER_S: u64 = 30;

fn invalid(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, what)
}

/// A crawl in a store, and threads to ask it with.
pub struct Asked {
    objects: Objects,
    runtime: Runtime,
}

impl Asked {
    pub fn open(store: &str, crawl: &str) -> Result<Asked, Error> {
        let objects = Objects::open(store, crawl)?;
        let failed = |error| Error::new(ErrorKind::Retry, format!("no threads: {error}"));
        Ok(Asked { objects, runtime: Runtime::new().map_err(failed)? })
    }

    fn crawl(&self) -> Result<CrawlFile, Error> {
        let address = self.objects.address();
        let Some(bytes) = self.runtime.block_on(self.objects.crawl())? else {
            return Err(invalid(format!(
                "there is no crawl at {address}: check its name and --store, or make it with \
                 `rhumb cluster create`"
            )));
        };
        CrawlFile::parse(&bytes, address)
    }

    fn mandate(&self, crawl: &CrawlFile) -> Result<Mandate, Error> {
        self.runtime.block_on(mandate_of(&self.objects, crawl))
    }

    /// All that its nodes have told.
    pub fn gather(&self) -> Result<GatheredStatus, Error> {
        let crawl = self.crawl()?;
        let mandate = self.mandate(&crawl)?;
        self.runtime.block_on(GatheredStatus::read(&self.objects, crawl, mandate))
    }
}

/// Makes a crawl of this name, after a look at whether the store can hold one.
pub fn create(asked: &Asked, settings: WrittenSettings, partitions: u32) -> Result<(), Error> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let made = CrawlFile::new(settings, partitions, now_s).map_err(|e| invalid(e.to_string()))?;
    let (objects, address) = (&asked.objects, asked.objects.address());
    asked.runtime.block_on(async {
        if objects.crawl().await?.is_some() {
            return Err(invalid(format!(
                "there is a crawl at {address} already: choose another name"
            )));
        }
        if !objects.is_empty().await? {
            return Err(invalid(format!(
                "{address} holds other things: choose another name, or another prefix"
            )));
        }
        objects.probe().await?;
        match objects.put_crawl(&made.to_toml()).await? {
            Put::New => Ok(()),
            Put::Taken => {
                Err(invalid(format!("somebody made a crawl at {address} at the same time")))
            }
        }
    })
}

/// Gives an order; its number.
pub fn give(asked: &Asked, order: &CrawlOrder) -> Result<u64, Error> {
    let crawl = asked.crawl()?;
    let bytes = order.encode();
    for _ in 0..TRIES_MAX {
        let mut mandate = asked.mandate(&crawl)?;
        let number = mandate.order + 1;
        mandate.obey(number, order.clone())?;
        // What makes no sense with all that was ordered before is refused before it is an order.
        crawl.settings(&mandate.written, Default::default())?;
        if asked.runtime.block_on(asked.objects.put_order(number, &bytes))? == Put::New {
            return Ok(number);
        }
    }
    let what = format!("others give orders to {} all the time: try again", asked.objects.address());
    Err(Error::new(ErrorKind::Retry, what))
}

/// Copies the crawl, which is paused or over, to another name of the same store.
pub fn back_up(asked: &Asked, to: &str) -> Result<BackedUp, Error> {
    let copy = asked.objects.of_crawl(to)?;
    let until = std::time::Instant::now() + QUIET_WITHIN;
    loop {
        let gathered = asked.gather()?;
        match why_not_quiet(&gathered) {
            None => {
                let partitions = gathered.crawl.partitions;
                return asked.runtime.block_on(asked.objects.back_up(partitions, &copy));
            }
            Some(why) if std::time::Instant::now() >= until => {
                return Err(Error::new(ErrorKind::Retry, format!("{why}: try again")));
            }
            Some(_) if !gathered.mandate.is_paused && gathered.mandate.ended.is_none() => {
                return Err(invalid(format!(
                    "the crawl goes on: pause it first, with `rhumb cluster pause`, or wait for \
                     its end; a copy of different moments would not add up ({})",
                    asked.objects.address()
                )));
            }
            Some(_) => std::thread::sleep(QUIET_POLL),
        }
    }
}

/// Why partitions may still change, if they may.
fn why_not_quiet(gathered: &GatheredStatus) -> Option<String> {
    let is_alive = |age: u64| age <= GONE_AFTER_S;
    let owned: usize = gathered
        .nodes
        .iter()
        .filter(|(age, _)| is_alive(*age))
        .map(|(_, o)| o.beat.owned.len())
        .sum();
    if owned == 0 {
        // Nobody writes anything.
        return None;
    }
    if gathered.mandate.ended.is_some() {
        return Some("nodes are still putting the crawl away".to_owned());
    }
    if !gathered.mandate.is_paused {
        return Some("the crawl goes on".to_owned());
    }
    let parts = gathered.parts();
    if parts.len() < gathered.crawl.partitions as usize {
        return Some("not all partitions have told what they have come to".to_owned());
    }
    let is_still = |part: &PartTold| part.is_paused && part.in_flight == 0;
    if !parts.values().all(|part| is_still(part)) {
        return Some("requests are still under way".to_owned());
    }
    let is_through = parts.iter().all(|(from, sender)| {
        parts.iter().all(|(to, receiver)| {
            sender.sent.get(*to as usize) == receiver.taken.get(*from as usize)
        })
    });
    (!is_through).then(|| "messages are still on their way".to_owned())
}

/// Writes what is whole of the crawl into a directory as `rhumb crawl` leaves it: WARC files, their
/// index, and a report. How many WARC files there are, and their bytes.
pub fn export_to(asked: &Asked, dir: &Path) -> Result<(usize, u64), Error> {
    let gathered = asked.gather()?;
    let exported = asked.runtime.block_on(asked.objects.export(dir))?;
    let settings = gathered.crawl.settings(&gathered.mandate.written, dir.to_owned())?;
    let coverage = gathered.all().and_then(|all| all.sums).map(|sums| sums.of_importance());
    let because = gathered.mandate.ended.map(|reason| reason.word().to_owned());
    let report =
        CrawlReport::of_many(&gathered.counters(), coverage.as_ref(), settings.order, because);
    report.write(dir)?;
    Ok((exported.files, exported.bytes))
}

/// Looks whether the store can hold the crawl, and whether what is there can be read; what is
/// wrong, in words.
pub fn check(asked: &Asked) -> Result<Vec<String>, Error> {
    let crawl = asked.crawl()?;
    let probed = asked.runtime.block_on(asked.objects.probe())?;
    let mut wrong = Vec::new();
    if probed.clock_ahead_s.abs() > 60 {
        let seconds = probed.clock_ahead_s;
        wrong.push(format!("the store's clock is {seconds} s ahead of this machine's"));
    }
    let mandate = asked.mandate(&crawl)?;
    crawl.settings(&mandate.written, Default::default())?;
    wrong.extend(asked.runtime.block_on(asked.objects.check_files(crawl.partitions))?);
    Ok(wrong)
}
