//! A partition that is open here: its database, its local store and archive, and its loop.

use super::crawl_file::CrawlFile;
use super::order::Mandate;
use crate::run::{
    Carrier, Clock, Network, OpenedPartition, PartitionGate, PartitionPart, Permitter, config_of,
    memtable_share, permission, steady_us, warc_limits, warcinfo,
};
use crate::settings::Settings;
use rhumb_archive::WarcWriter;
use rhumb_engine::allowance::Allowance;
use rhumb_engine::ceilings::Ceilings;
use rhumb_engine::config::{Config, NearPolicy};
use rhumb_engine::counters::Counters;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::hands::Hand;
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::turn::ArchivePosition;
use rhumb_shipped::{OpenedHow as OpenedAs, ShippedStore, Shipping, ShippingProgress, Taken};
use rhumb_state::local::{Follow, Home, LocalState};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// What an earlier run left unshipped on this disk is shipped within this time, or the opening has
/// failed.
const SHIPPED_WITHIN: Duration = Duration::from_secs(60);
/// Whoever still holds the shipping of a partition that is closed has done so by then.
const LET_GO_WITHIN: u32 = 50;
const LET_GO_POLL: Duration = Duration::from_millis(100);

/// What happens to a partition while it is open.
#[derive(Debug)]
pub enum PartEvent {
    /// What it had come to at a moment that is shipped, and how long ago that was.
    Reported(Box<EngineSnapshot>, Duration),
    /// A write is durable that began at this time of the boot-time clock.
    Proven { began_us: u64 },
    /// Nothing more will be shipped.
    Failed(Error),
    /// Its loop has ended.
    Ended,
}

/// Takes what happens to partitions, by number and epoch.
pub type PartTell = Arc<dyn Fn(u32, u64, PartEvent) + Send + Sync>;

/// What all openings of a node share.
pub struct Opener {
    pub store: Arc<ShippedStore>,
    pub network: Arc<Network>,
    pub runtime: Handle,
    pub clock: Clock,
    pub carrier: Arc<Carrier>,
    pub crawl: CrawlFile,
    pub node: String,
    /// Of the node: each partition has a directory in it.
    pub dir: PathBuf,
    pub tell: PartTell,
}

/// A partition whose loop runs.
pub struct OpenPart {
    pub epoch: u64,
    /// Nobody had it before.
    pub is_new: bool,
    pub events: Sender<Event>,
    pub shipping: Arc<Shipping>,
    pub gate: Arc<PartitionGate>,
    pub permitter: Permitter,
    /// What it is doing now, shipped or not.
    pub latest: Arc<Mutex<Option<EngineSnapshot>>>,
    pub thread: JoinHandle<Result<StopReason, Error>>,
    /// What earlier owners kept beside the commits.
    pub kept: Option<Vec<u8>>,
    /// As of the opening.
    pub counters: Counters,
    /// The last order that it was opened with.
    pub order: u64,
}

impl OpenPart {
    pub fn latest(&self) -> Option<EngineSnapshot> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What came of an opening that did not fail.
pub enum OpenAnswer {
    Open(Box<OpenPart>),
    /// Another has opened it, in this epoch, and may be about to fetch: it is left alone.
    Claimed(u64),
}

/// Where a node has the files of one partition.
pub fn part_files(dir: &Path, partition: u32) -> PathBuf {
    dir.join(format!("p{partition:03}"))
}

impl Opener {
    /// Opens a partition unless another did so in a later epoch than the one that is known. What
    /// that one fetches before it is fenced would be lost, and fetched again: nodes that start
    /// together all want what they have not yet heard that others have.
    pub fn open_unclaimed(
        &self,
        partition: u32,
        known: u64,
        mandate: &Mandate,
    ) -> Result<OpenAnswer, Error> {
        let claimed = self.store.handle().block_on(self.store.claimed(partition, &self.node))?;
        match claimed.filter(|epoch| *epoch > known) {
            Some(epoch) => Ok(OpenAnswer::Claimed(epoch)),
            None => Ok(OpenAnswer::Open(Box::new(self.open(partition, mandate)?))),
        }
    }

    /// Opens a partition, which fences whoever had it, and starts its loop; it may fetch nothing
    /// yet. All that it has committed is shipped then.
    fn open(&self, partition: u32, mandate: &Mandate) -> Result<OpenPart, Error> {
        let (settings, config) = self.prepared(partition, mandate)?;
        let dir = settings.dir.clone();
        let taken = self.store.take(partition, &self.node, &dir);
        let taken = self.store.handle().block_on(taken)?;
        let (epoch, is_new) = (taken.epoch(), taken.opened() == OpenedAs::New);
        let kept = taken.kept().map(<[u8]>::to_vec);
        let (opened, follow) = self.open_files((partition, &dir), &settings, (&config, &taken))?;
        let slot = Arc::new(OnceLock::new());
        let shipping = self.follow(taken, follow, partition, Arc::clone(&slot));
        let shipped = self.store.handle().block_on(shipping.drain(SHIPPED_WITHIN));
        check_shipped(&shipped, opened.state.commits(), partition)?;
        let gate = self.gate(partition, epoch, opened.state.commits());
        let _ = slot.set(Arc::clone(&gate));
        let counters = opened.opening.counters.clone();
        let config = config_of(&config, &opened)?;
        let (permitter, permit) = permission(self.clock.clone());
        let latest = Arc::new(Mutex::new(None));
        let (published, noted) = (Arc::clone(&latest), Arc::clone(&gate));
        let tell = Arc::clone(&self.tell);
        let part = PartitionPart {
            settings: &settings,
            config,
            network: &self.network,
            runtime: &self.runtime,
            clock: self.clock.clone(),
            carrier: &self.carrier,
            gate: Arc::clone(&gate),
            publish: Box::new(move |snapshot: EngineSnapshot| {
                noted.note(&snapshot);
                *published.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
            }),
            on_end: Box::new(move || tell(partition, epoch, PartEvent::Ended)),
            permit: Some(permit),
            topic: None,
            log: None,
            stop_at: None,
            first: first_events(mandate),
        };
        let running = part.start(opened)?;
        Ok(OpenPart {
            epoch,
            is_new,
            events: running.events,
            shipping: Arc::new(shipping),
            gate,
            permitter,
            latest,
            thread: running.thread,
            kept,
            counters,
            order: mandate.order,
        })
    }

    /// Makes the files of a partition whole that nobody has any more: the crawl is over.
    pub fn finish(&self, partition: u32, mandate: &Mandate) -> Result<(), Error> {
        let (settings, config) = self.prepared(partition, mandate)?;
        let dir = settings.dir.clone();
        let taken = self.store.take(partition, &self.node, &dir);
        let taken = self.store.handle().block_on(taken)?;
        let (opened, follow) = self.open_files((partition, &dir), &settings, (&config, &taken))?;
        let shipping = self.follow(taken, follow, partition, Arc::default());
        let progress = self.store.handle().block_on(shipping.finish(SHIPPED_WITHIN));
        drop(opened);
        self.store.handle().block_on(shipping.close());
        check_shipped(&progress, 0, partition)?;
        if progress.files > 0 {
            let what = format!("partition {partition}: not all files are whole yet");
            return Err(Error::new(ErrorKind::Retry, what));
        }
        Ok(())
    }

    /// A partition's directory, with what it is opened by.
    fn prepared(&self, partition: u32, mandate: &Mandate) -> Result<(Settings, Config), Error> {
        let dir = part_files(&self.dir, partition);
        let invalid = |what: String| Error::new(ErrorKind::Invalid, what);
        std::fs::create_dir_all(&dir)
            .map_err(|error| invalid(format!("{}: {error}", dir.display())))?;
        let settings = self.crawl.settings(&mandate.written, dir)?;
        let settings = mandate.with_seeds(settings);
        let config = settings.engine_config().map_err(|error| invalid(error.to_string()))?;
        Ok((settings, config))
    }

    /// The local store and the archive of a partition that is taken.
    fn open_files(
        &self,
        (own, dir): (u32, &Path),
        settings: &Settings,
        (config, taken): (&Config, &Taken),
    ) -> Result<(OpenedPartition, Follow), Error> {
        let home = Home::open(&dir.join("state"))?;
        let synced = home.archived()?;
        let synced = synced.map(|at| rhumb_archive::AppendEnd { file: at.file, length: at.length });
        let info = warcinfo(settings, taken.file_id());
        let archived = |e: rhumb_archive::ArchiveError| Error::new(ErrorKind::Retry, e.to_string());
        let mut writer =
            WarcWriter::open(dir, info, warc_limits(settings), synced).map_err(archived)?;
        writer.begin_anew();
        let end = writer.position();
        let archive_end = end.map_or(ArchivePosition::default(), |at| ArchivePosition {
            file: at.file,
            length: at.length,
        });
        let seed = self.crawl.filter_seed().unwrap_or_default();
        let (state, mut opening, follow) = LocalState::open_followed(home, seed, archive_end)?;
        opening.is_taken_over = taken.epoch() > 1;
        let count = self.crawl.partitions;
        let mut state = state.with_fresh_bytes(memtable_share(count));
        if config.near.policy != NearPolicy::Off {
            state.compare_texts(config.near.threshold)?;
        }
        let opened =
            OpenedPartition { own, count, state, opening, writer: Some(writer), archive_end };
        Ok((opened, follow))
    }

    fn gate(&self, partition: u32, epoch: u64, commits: u64) -> Arc<PartitionGate> {
        let tell = Arc::clone(&self.tell);
        let reported = move |snapshot: EngineSnapshot, age: Duration| {
            tell(partition, epoch, PartEvent::Reported(Box::new(snapshot), age));
        };
        PartitionGate::new(partition, commits, &self.carrier, Some(Box::new(reported)))
    }

    fn follow(
        &self,
        taken: Taken,
        follow: Follow,
        partition: u32,
        gate: Arc<OnceLock<Arc<PartitionGate>>>,
    ) -> Shipping {
        let (tell, epoch) = (Arc::clone(&self.tell), taken.epoch());
        let proven = Mutex::new(0);
        taken.follow(&self.store, follow, steady_us, move |progress: &ShippingProgress| {
            if let Some(gate) = gate.get() {
                gate.shipped(progress.shipped);
            }
            let mut proven = proven.lock().unwrap_or_else(PoisonError::into_inner);
            if progress.proven_us > *proven {
                *proven = progress.proven_us;
                tell(partition, epoch, PartEvent::Proven { began_us: *proven });
            }
            if let Some(error) = &progress.failed {
                tell(partition, epoch, PartEvent::Failed(error.clone()));
            }
        })
    }
}

fn check_shipped(progress: &ShippingProgress, commits: u64, partition: u32) -> Result<(), Error> {
    if let Some(error) = &progress.failed {
        return Err(error.clone());
    }
    if progress.shipped < commits {
        let what = format!("partition {partition}: what is on this disk could not be shipped");
        return Err(Error::new(ErrorKind::Retry, what));
    }
    Ok(())
}

/// Before anything else: nothing may begin yet, and what the owner has asked for.
fn first_events(mandate: &Mandate) -> Vec<Event> {
    let one_slot = Allowance { number: 1, slots: 1, ..Allowance::default() };
    let held = Ceilings { is_held: true, ..Ceilings::default() };
    let mut first = vec![Event::Allowed(one_slot), Event::Bounded(held)];
    if mandate.is_paused {
        first.push(Event::Told(Hand::Pause));
    }
    first
}

/// How a partition is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// Another goes on with it: all that is committed is shipped.
    Release,
    /// The crawl is over: all files are whole, too.
    Finish,
}

/// Waits for the loop, which was stopped, ships all, and closes the database. `within` bounds each
/// try to ship; it tries until it is done, or cannot be.
pub fn close(
    store: &ShippedStore,
    part: OpenPart,
    closing: Closing,
    within: Duration,
) -> Result<(), Error> {
    let OpenPart { mut shipping, thread, permitter, gate, .. } = part;
    let panicked = |_| Error::new(ErrorKind::Corrupt, "the loop of a partition panicked");
    thread.join().map_err(panicked)??;
    drop(permitter);
    loop {
        let began = Instant::now();
        let progress = store.handle().block_on(async {
            match closing {
                Closing::Release => shipping.drain(within).await,
                Closing::Finish => shipping.finish(within).await,
            }
        });
        if let Some(error) = progress.failed {
            return Err(error);
        }
        let is_in_time = began.elapsed() < within;
        let is_whole = closing == Closing::Release || progress.files == 0;
        if is_in_time && is_whole && progress.shipped >= gate.commits() {
            break;
        }
    }
    for _ in 0..LET_GO_WITHIN {
        match Arc::try_unwrap(shipping) {
            Ok(shipping) => {
                store.handle().block_on(shipping.close());
                return Ok(());
            }
            Err(held) => shipping = held,
        }
        std::thread::sleep(LET_GO_POLL);
    }
    Ok(())
}
