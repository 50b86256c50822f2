//! All partitions together: what they publish is added up, limits are divided among them, and when
//! none has anything left to do the crawl is over.

use super::carrier::Carrier;
use super::part::Running;
use crate::watch::Live;
use rhumb_engine::allowance::{CrawlLimits, Granter};
use rhumb_engine::config::Config;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::snapshot::{EngineSnapshot, PartSnapshot, end_of_all};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often it is added up.
const ADD_EVERY: Duration = Duration::from_millis(100);
/// Mass below zero that one partition released when another acknowledged it may be missing in what
/// that one published before: it stays owed for so long.
const OWED_FOR: Duration = Duration::from_secs(10);

pub struct Together {
    told: Mutex<Vec<Told>>,
    /// A partition has ended.
    ended: Condvar,
}

/// What is known of one partition.
#[derive(Default)]
struct Told {
    snapshot: Option<EngineSnapshot>,
    /// What it owed of late.
    owed: VecDeque<(Instant, i64)>,
    has_ended: bool,
}

impl Together {
    pub fn new(partitions: usize) -> Arc<Together> {
        let told = (0..partitions).map(|_| Told::default()).collect();
        Arc::new(Together { told: Mutex::new(told), ended: Condvar::new() })
    }

    pub fn publish(&self, own: u32, snapshot: EngineSnapshot) {
        let now = Instant::now();
        let told = &mut self.lock()[own as usize];
        if let Some(sums) = snapshot.part.as_ref().and_then(|part| part.sums) {
            told.owed.push_back((now, sums.owed));
        }
        while told.owed.pop_front_if(|(at, _)| now.duration_since(*at) > OWED_FOR).is_some() {}
        told.snapshot = Some(snapshot);
    }

    pub fn ended(&self, own: u32) {
        self.lock()[own as usize].has_ended = true;
        self.ended.notify_all();
    }

    /// Adds up until all partitions have ended, and says why they have.
    pub fn watch(
        &self,
        parts: Vec<Running>,
        (mut granter, limits): (Granter, CrawlLimits),
        (config, live): (&Config, &Live),
        carrier: &Carrier,
    ) -> Result<StopReason, Error> {
        let (mut stopped, mut trouble) = (None, None);
        while !self.wait() {
            let (all, of_each) = self.added_up();
            grant(&mut granter, &of_each, &parts);
            trouble = trouble.or(carrier.tick().err());
            if stopped.is_none() {
                let over = all.as_ref().and_then(|all| why_over(all, &of_each, &limits, config));
                // A loop that ended though nobody stopped it has failed.
                let has_failed = || trouble.is_some() || has_ended_early(&parts);
                stopped = over.or_else(|| has_failed().then_some(StopReason::Interrupted));
                if let Some(reason) = stopped {
                    stop(&parts, reason);
                }
            }
            if let Some(all) = all {
                live.publish(all);
            }
        }
        if let (Some(all), _) = self.added_up() {
            live.publish(all);
        }
        let mut reason = None;
        for part in parts {
            let panicked = |_| Error::new(ErrorKind::Corrupt, "the loop of a partition panicked");
            let ended = part.thread.join().map_err(panicked)??;
            reason = reason.or(Some(ended));
        }
        trouble.map_or(Ok(()), Err)?;
        Ok(stopped.or(reason).unwrap_or(StopReason::Finished))
    }

    /// Waits a little; whether all have ended.
    fn wait(&self) -> bool {
        let told = self.lock();
        let is_all = |told: &[Told]| told.iter().all(|told| told.has_ended);
        if is_all(&told) {
            return true;
        }
        let waited = self.ended.wait_timeout(told, ADD_EVERY);
        let (told, _) = waited.unwrap_or_else(PoisonError::into_inner);
        is_all(&told)
    }

    fn added_up(&self) -> (Option<EngineSnapshot>, Vec<Option<EngineSnapshot>>) {
        let told = self.lock();
        let each = told.iter().map(|told| {
            let mut snapshot = told.snapshot.clone()?;
            let owed = told.owed.iter().map(|(_, owed)| *owed).max();
            if let Some(PartSnapshot { sums: Some(sums), .. }) = snapshot.part.as_deref_mut() {
                sums.owed = sums.owed.max(owed.unwrap_or_default());
            }
            Some(snapshot)
        });
        let of_each: Vec<Option<EngineSnapshot>> = each.collect();
        (EngineSnapshot::of_all(of_each.iter().map(Option::as_ref)), of_each)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Divides what is left of the limits.
fn grant(granter: &mut Granter, of_each: &[Option<EngineSnapshot>], parts: &[Running]) {
    for (own, snapshot) in of_each.iter().enumerate() {
        let part = snapshot.as_ref().and_then(|snapshot| snapshot.part.as_deref());
        if let Some(in_force) = part.and_then(|part| part.in_force) {
            granter.hear(own, in_force);
        }
    }
    for (own, allowance) in granter.grant() {
        // One that has ended uses nothing more.
        let _ = parts[own].events.send(Event::Allowed(allowance));
    }
}

fn stop(parts: &[Running], reason: StopReason) {
    for part in parts {
        // One that has ended needs no telling.
        let _ = part.events.send(Event::Stopped(reason));
    }
}

fn has_ended_early(parts: &[Running]) -> bool {
    parts.iter().any(|part| part.thread.is_finished())
}

/// Why the crawl is over, if it is.
fn why_over(
    all: &EngineSnapshot,
    of_each: &[Option<EngineSnapshot>],
    limits: &CrawlLimits,
    config: &Config,
) -> Option<StopReason> {
    if all.stopping.is_some() {
        return all.stopping;
    }
    let is_over = |max: Option<u64>, value: u64| max.is_some_and(|max| value >= max);
    if is_over(limits.pages, all.counters.pages) {
        return Some(StopReason::Pages);
    }
    if is_over(limits.bytes, all.counters.bytes) {
        return Some(StopReason::Bytes);
    }
    if let Some(wanted) = config.coverage {
        let told = match (&all.coverage, &all.topic) {
            (Some(c), _) => Some((c.bound, c.ceiling_for_good)),
            (None, Some(t)) => Some((t.bound, t.ceiling_for_good)),
            (None, None) => None,
        };
        match told {
            Some((bound, _)) if bound >= wanted => return Some(StopReason::Coverage),
            Some((_, ceiling)) if ceiling < wanted => return Some(StopReason::CoverageOutOfReach),
            _ => {}
        }
    }
    let of_each: Option<Vec<&EngineSnapshot>> = of_each.iter().map(Option::as_ref).collect();
    end_of_all(&of_each?)
}
