//! What the loop publishes and everybody else reads: the last snapshot, and what only a sequence
//! of them tells (rates, the queue's drain).
//!
//! The loop publishes seldom when it waits long, so readers bring the snapshot's clock forward by
//! the time since it was published: "due in 3 s" counts down, and rates fall to zero by themselves.

use super::pace::{PaceMeans, PaceSamples};
use super::steering::{HandRequest, Steering};
use super::{memory, moment, report};
use crate::run::WorkTimes;
use rhumb_engine::config::Order;
use rhumb_engine::counters::Counters;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::time::{Span, Time};
use rhumb_state::local::LocalReader;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Rates are over this time: long enough to be calm, short enough to show a change.
const RATE_WINDOW: Span = Span::secs(10);
/// The queue's drain wavers more than the rate of pages.
const DRAIN_WINDOW: Span = Span::secs(30);
/// A shorter past says nothing of the drain.
const DRAIN_WINDOW_MIN: Span = Span::secs(5);
const SAMPLE_EVERY: Span = Span::millis(250);
const SAMPLES_MAX: usize = 128;

/// What is fixed for a run.
#[derive(Clone, Debug)]
pub struct About {
    pub dir: PathBuf,
    pub order: Order,
    /// Over all runs of the directory.
    pub pages_max: Option<u64>,
    pub bytes_max: Option<u64>,
    /// Of this run.
    pub time_max: Option<Duration>,
    /// Hosts whose robots.txt is not obeyed, and those whose certificates are not verified.
    pub own_sites: Vec<String>,
    pub insecure: Vec<String>,
}

pub struct Live {
    about: About,
    /// The counters that this run began with.
    before: Counters,
    /// Time spent in earlier runs, as their report says.
    seconds_before: f64,
    started: Instant,
    started_at: Time,
    /// The most connections that were open to one address.
    connections: OnceLock<Arc<AtomicU32>>,
    /// Where the time of requests and loops goes.
    work: OnceLock<Arc<WorkTimes>>,
    /// The way to the engine, once there is one.
    steering: OnceLock<Steering>,
    inner: Mutex<Inner>,
}

struct Inner {
    snapshot: EngineSnapshot,
    published: Instant,
    samples: Samples,
    pace: PaceSamples,
}

/// The crawl as a reader sees it at one moment.
#[derive(Clone, Debug)]
pub struct LiveMoment {
    pub snapshot: EngineSnapshot,
    pub about: About,
    pub before: Counters,
    pub seconds_before: f64,
    pub started_at: Time,
    /// Since the start of this run.
    pub elapsed: Duration,
    pub pages_per_s: f64,
    pub bytes_per_s: f64,
    /// URLs by which the queue shrinks a second; negative while it grows, none if unknown yet.
    pub drain_per_s: Option<f64>,
    pub rss_bytes: u64,
    pub peak_rss_bytes: u64,
    /// In this run.
    pub open_connections_per_address_max: u32,
}

impl Live {
    /// `opening` are the counters as the store had them when it was opened.
    pub fn new(about: About, opening: &Counters) -> Arc<Live> {
        let earlier = report::CrawlReport::read(&about.dir).ok().flatten();
        let now = Instant::now();
        let snapshot = EngineSnapshot {
            now: moment::now(),
            counters: opening.clone(),
            ..EngineSnapshot::default()
        };
        Arc::new(Live {
            about,
            before: opening.clone(),
            seconds_before: earlier.map_or(0.0, |report| report.seconds),
            started: now,
            started_at: snapshot.now,
            connections: OnceLock::new(),
            work: OnceLock::new(),
            steering: OnceLock::new(),
            inner: Mutex::new(Inner {
                snapshot,
                published: now,
                samples: Samples::default(),
                pace: PaceSamples::default(),
            }),
        })
    }

    /// Where it is counted how many connections were open to one address at most, and added up what
    /// the time went to.
    pub fn watch_work(&self, most: Arc<AtomicU32>, times: Arc<WorkTimes>) {
        let _ = self.connections.set(most);
        let _ = self.work.set(times);
    }

    /// What held hosts up in the last minute.
    pub fn pace(&self) -> Option<PaceMeans> {
        let inner = self.lock();
        let since = u64::try_from(inner.published.elapsed().as_micros()).unwrap_or(u64::MAX);
        inner.pace.means(inner.snapshot.now + Span(since))
    }

    /// From now on the crawl takes hands.
    pub fn steer_by(&self, steering: Steering) {
        let _ = self.steering.set(steering);
    }

    /// Does what the owner asks for, and says what was done.
    pub fn take_hand(&self, request: &HandRequest, reader: &LocalReader) -> Result<String, Error> {
        let early = || Error::new(ErrorKind::Retry, "the crawl is only beginning: ask again");
        self.steering.get().ok_or_else(early)?.take(request, reader)
    }

    /// Cheap; ten times a second is plenty.
    pub fn publish(&self, snapshot: EngineSnapshot) {
        let mut inner = self.lock();
        inner.samples.add(Sample::of(&snapshot));
        inner.pace.add(&snapshot, self.work.get().map(Arc::as_ref));
        inner.published = Instant::now();
        inner.snapshot = snapshot;
    }

    pub fn get(&self) -> LiveMoment {
        let (snapshot, rates) = {
            let inner = self.lock();
            let mut snapshot = inner.snapshot.clone();
            let since = u64::try_from(inner.published.elapsed().as_micros()).unwrap_or(u64::MAX);
            snapshot.now = snapshot.now + Span(since);
            let rates = inner.samples.rates(&Sample::of(&snapshot));
            (snapshot, rates)
        };
        let memory = memory::of_this_process();
        LiveMoment {
            snapshot,
            about: self.about.clone(),
            before: self.before.clone(),
            seconds_before: self.seconds_before,
            started_at: self.started_at,
            elapsed: self.started.elapsed(),
            pages_per_s: rates.pages_per_s,
            bytes_per_s: rates.bytes_per_s,
            drain_per_s: rates.drain_per_s,
            rss_bytes: memory.rss_bytes,
            peak_rss_bytes: memory.peak_rss_bytes,
            open_connections_per_address_max: self
                .connections
                .get()
                .map_or(0, |most| most.load(Ordering::Relaxed)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl LiveMoment {
    /// Time until the crawl ends, where something says so: a limit, or a queue that shrinks.
    pub fn eta(&self) -> Option<Duration> {
        let counters = &self.snapshot.counters;
        let at_rate = |left: u64, per_s: f64| (per_s > 0.0).then(|| left as f64 / per_s);
        let pages = self.about.pages_max.map(|max| max.saturating_sub(counters.pages));
        let bytes = self.about.bytes_max.map(|max| max.saturating_sub(counters.bytes));
        let ends = [
            pages.and_then(|left| at_rate(left, self.pages_per_s)),
            bytes.and_then(|left| at_rate(left, self.bytes_per_s)),
            self.about.time_max.map(|max| max.saturating_sub(self.elapsed).as_secs_f64()),
            self.drain_per_s.and_then(|per_s| at_rate(counters.queued, per_s)),
        ];
        let first = ends.into_iter().flatten().min_by(f64::total_cmp)?;
        Duration::try_from_secs_f64(first).ok()
    }
}

/// The recent past, oldest first, a bounded number of points.
#[derive(Default)]
struct Samples {
    ring: VecDeque<Sample>,
}

#[derive(Clone, Copy)]
struct Sample {
    at: Time,
    pages: u64,
    bytes: u64,
    queued: u64,
}

#[derive(Debug, Default, PartialEq)]
struct Rates {
    pages_per_s: f64,
    bytes_per_s: f64,
    drain_per_s: Option<f64>,
}

impl Sample {
    fn of(snapshot: &EngineSnapshot) -> Sample {
        let counters = &snapshot.counters;
        Sample {
            at: snapshot.now,
            pages: counters.pages,
            bytes: counters.bytes,
            queued: counters.queued,
        }
    }
}

impl Samples {
    fn add(&mut self, sample: Sample) {
        if self.ring.back().is_some_and(|last| sample.at.since(last.at) < SAMPLE_EVERY) {
            return;
        }
        if self.ring.len() == SAMPLES_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(sample);
    }

    fn rates(&self, now: &Sample) -> Rates {
        let mut rates = Rates::default();
        if let Some(past) = self.oldest_within(RATE_WINDOW, now.at) {
            let seconds = now.at.since(past.at).as_secs_f64();
            rates.pages_per_s = now.pages.saturating_sub(past.pages) as f64 / seconds;
            rates.bytes_per_s = now.bytes.saturating_sub(past.bytes) as f64 / seconds;
        }
        if let Some(past) = self.oldest_within(DRAIN_WINDOW, now.at) {
            let span = now.at.since(past.at);
            rates.drain_per_s = (span >= DRAIN_WINDOW_MIN)
                .then(|| (past.queued as f64 - now.queued as f64) / span.as_secs_f64());
        }
        rates
    }

    /// The oldest sample of the window that is old enough to divide by.
    fn oldest_within(&self, window: Span, now: Time) -> Option<Sample> {
        let recent = self.ring.iter().find(|sample| now.since(sample.at) <= window)?;
        (now.since(recent.at) >= SAMPLE_EVERY).then_some(*recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(second: u64, pages: u64, queued: u64) -> Sample {
        Sample { at: Time::ZERO + Span::secs(second), pages, bytes: pages * 1000, queued }
    }

    #[test]
    fn rates_are_those_of_the_last_seconds_and_fall_to_zero_when_nothing_comes() {
        let mut samples = Samples::default();
        for second in 0..100u64 {
            let (old, new) = (second.min(60) * 10, second.saturating_sub(60) * 50);
            samples.add(sample(second, old + new, 10_000 - second * 20));
        }
        let rates = samples.rates(&sample(100, 600 + 40 * 50, 8_000));
        assert_eq!(rates.pages_per_s, 50.0);
        assert_eq!(rates.bytes_per_s, 50_000.0);
        assert_eq!(rates.drain_per_s, Some(20.0));
        assert_eq!(samples.rates(&sample(1000, 600 + 40 * 50, 8_000)), Rates::default());
    }

    #[test]
    fn the_past_that_is_kept_is_bounded_and_covers_its_window() {
        let mut samples = Samples::default();
        for ms in 0..100_000 {
            let at = Time::ZERO + Span::millis(ms);
            samples.add(Sample { at, pages: ms, bytes: 0, queued: 0 });
        }
        assert!(samples.ring.len() <= SAMPLES_MAX);
        let now = Time::ZERO + Span::millis(100_000);
        let oldest = samples.oldest_within(DRAIN_WINDOW, now).expect("a sample");
        assert!(now.since(oldest.at) > Span::secs(29));
    }

    #[test]
    fn the_nearest_end_is_the_one_told() {
        let about = About {
            dir: PathBuf::from("/nowhere"),
            order: Order::Bfs,
            pages_max: Some(1000),
            bytes_max: None,
            time_max: Some(Duration::from_secs(3600)),
            own_sites: Vec::new(),
            insecure: Vec::new(),
        };
        let mut now = Live::new(about, &Counters::default()).get();
        now.elapsed = Duration::from_secs(600);
        assert_eq!(now.eta(), Some(Duration::from_secs(3000)));
        now.snapshot.counters.pages = 500;
        now.pages_per_s = 10.0;
        assert_eq!(now.eta(), Some(Duration::from_secs(50)));
        (now.snapshot.counters.queued, now.drain_per_s) = (40, Some(4.0));
        assert_eq!(now.eta(), Some(Duration::from_secs(10)));
        (now.about.pages_max, now.about.time_max, now.drain_per_s) = (None, None, Some(-4.0));
        assert_eq!(now.eta(), None);
    }
}
