//! What a crawl's objects in the bucket say: what the crawl is, its owner's orders, and what a node
//! tells with its heart-beat.

use crate::settings::{Seed, Settings, Written};
use rhumb_cluster::beat::Heartbeat;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_shipped::{Objects, Put};
use rhumb_state::local::{FORMAT, PARTITIONS_MAX};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Tries to find the next free number of an order.
const ORDER_TRIES_MAX: usize = 100;

/// `crawl.toml` in the bucket: fixed at the crawl's birth.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrawlObject {
    /// The version that made it.
    pub made_by: String,
    pub format: String,
    pub partitions: u32,
    /// Of filters and digests: contents of two partitions compare under one alone.
    pub filter_seed: String,
    /// Shown by nodes to each other.
    pub token: String,
    pub settings: Written,
}

impl CrawlObject {
    pub fn new(partitions: u32, settings: Written) -> Result<CrawlObject, Error> {
        if !(1..=PARTITIONS_MAX).contains(&partitions) {
            let what = format!("partitions are 1 to {PARTITIONS_MAX}, not {partitions}");
            return Err(Error::new(ErrorKind::Invalid, what));
        }
        Ok(CrawlObject {
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
            format: FORMAT.to_owned(),
            partitions,
            filter_seed: random_hex(1),
            token: random_hex(4),
            settings,
        })
    }

    /// The crawl of this name, if this program can take part in it.
    pub async fn read(objects: &Objects) -> Result<CrawlObject, Error> {
        let Some(bytes) = objects.crawl().await? else {
            let what = format!(
                "there is no crawl at {}: make it with `rhumb cluster create`, or check --store \
                 and the name",
                objects.address()
            );
            return Err(Error::new(ErrorKind::Invalid, what));
        };
        let corrupt = |what: String| {
            let what = format!("{}/crawl.toml cannot be read: {what}", objects.address());
            Error::new(ErrorKind::Corrupt, what)
        };
        let text = std::str::from_utf8(&bytes).map_err(|e| corrupt(e.to_string()))?;
        let crawl: CrawlObject = toml::from_str(text).map_err(|e| corrupt(e.to_string()))?;
        if crawl.format != FORMAT {
            let what = format!(
                "the crawl at {} has state of format {:?}, this program's is {FORMAT:?}: use \
                 version {} for it, or begin another crawl",
                objects.address(),
                crawl.format,
                crawl.made_by
            );
            return Err(Error::new(ErrorKind::Invalid, what));
        }
        Ok(crawl)
    }

    pub fn text(&self) -> Result<String, Error> {
        toml::to_string(self).map_err(|e| Error::new(ErrorKind::Invalid, e.to_string()))
    }

    pub fn filter_seed(&self) -> u64 {
        u64::from_str_radix(&self.filter_seed, 16).unwrap_or_default()
    }

    /// What a node crawls by, with its own directory and number of requests.
    pub fn settings(&self, dir: PathBuf) -> Result<Settings, Error> {
        let decided = self.settings.clone().decide_for_cluster(dir);
        let settings = decided.map_err(|e| Error::new(ErrorKind::Invalid, e.to_string()))?;
        Ok(Settings { partitions: self.partitions, ..settings })
    }
}

/// An order: every partition obeys it in a commit, in the order of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    Seed(Vec<Seed>),
    Pause,
    Resume,
    /// All nodes end; with what was added up, if the crawl is finished.
    Stop { reason: String, report: serde_json::Value },
}

impl Order {
    pub fn parse(number: u64, bytes: &[u8]) -> Result<Order, Error> {
        serde_json::from_slice(bytes).map_err(|error| {
            let what = format!(
                "order {number} cannot be read, a newer version may have given it: {error}"
            );
            Error::new(ErrorKind::Invalid, what)
        })
    }

    /// Gives it under the next number, which it returns.
    pub async fn give(&self, objects: &Objects) -> Result<u64, Error> {
        let bytes = serde_json::to_vec(self).expect("orders are plain data");
        let mut number = objects.orders_after(0).await?.last().map_or(0, |(number, _)| *number);
        for _ in 0..ORDER_TRIES_MAX {
            number += 1;
            if objects.put_order(number, &bytes).await? == Put::New {
                return Ok(number);
            }
        }
        Err(Error::new(ErrorKind::Retry, "too many orders are given at once: try again"))
    }
}

/// What all orders together say.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    pub last: u64,
    pub seeds: Vec<Seed>,
    pub is_paused: bool,
    pub stopped: Option<(String, serde_json::Value)>,
}

impl Orders {
    pub async fn read(objects: &Objects) -> Result<Orders, Error> {
        let mut all = Orders::default();
        for (number, bytes) in objects.orders_after(0).await? {
            all.take(number, Order::parse(number, &bytes)?);
        }
        Ok(all)
    }

    pub fn take(&mut self, number: u64, order: Order) {
        self.last = number;
        match order {
            Order::Seed(seeds) => {
                self.seeds.extend(seeds);
                // New seeds wake a crawl that is finished.
                self.stopped = None;
            }
            Order::Pause => self.is_paused = true,
            Order::Resume => (self.is_paused, self.stopped) = (false, None),
            Order::Stop { reason, report } => self.stopped = Some((reason, report)),
        }
    }
}

/// The object `nodes/ID`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeObject {
    pub beat: Heartbeat,
    #[serde(default)]
    pub told: NodeTold,
}

/// What a node tells people.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeTold {
    pub pages_per_s: f64,
    /// Of the partitions that it owns.
    pub pages: u64,
    pub queued: u64,
    pub coverage: Option<f64>,
    pub stuck: Vec<String>,
    /// By its own clock.
    pub at_s: u64,
}

/// Random digits, so many times sixteen.
fn random_hex(words: usize) -> String {
    use std::hash::BuildHasher;
    (0..words)
        .map(|n| format!("{:016x}", std::hash::RandomState::new().hash_one(n)))
        .collect()
}
