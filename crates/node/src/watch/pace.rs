//! The last minute of a crawl that runs, for the question why it is not faster: what hosts waited
//! for, where the time of requests and of the loop went, and what came of it.

use crate::run::{WORKS, WorkTimes};
use rhumb_engine::counters::Counters;
use rhumb_engine::holdups::{CrowdedAddress, HeldUp, HeldUpBy, Holdup, Holdups};
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::time::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Means are over this time.
const WINDOW: Span = Span::secs(60);
/// A sample a second.
const SAMPLES_MAX: usize = 64;
/// A shorter past says nothing.
const SECONDS_MIN: f64 = 1.5;

#[derive(Default)]
pub struct PaceSamples {
    ring: VecDeque<PaceSample>,
    last: Option<Arc<Holdups>>,
}

struct PaceSample {
    at: Time,
    by: HeldUpBy,
    addresses_lost_per_s: f64,
    counters: Counters,
    requisites: u64,
    work: [f64; WORKS],
}

/// The means of the last minute, or of what there is of it.
#[derive(Clone, Debug)]
pub struct PaceMeans {
    pub seconds: f64,
    pub by: HeldUpBy,
    /// What the bounds on addresses keep hosts from that are awake.
    pub addresses_lost_per_s: f64,
    pub crowded: Option<CrowdedAddress>,
    pub slots: usize,
    /// At the beginning and at the end.
    pub counters: [Counters; 2],
    pub requisites: [u64; 2],
    /// Seconds for each second: tasks at it, or loops.
    pub work: [f64; WORKS],
}

impl PaceSamples {
    /// A snapshot was published; it has something new once a second.
    pub fn add(&mut self, snapshot: &EngineSnapshot, times: Option<&WorkTimes>) {
        let Some(holdups) = &snapshot.holdups else { return };
        if self.last.as_ref().is_some_and(|last| Arc::ptr_eq(last, holdups)) {
            return;
        }
        if self.ring.len() == SAMPLES_MAX {
            self.ring.pop_front();
        }
        self.ring.push_back(PaceSample {
            at: snapshot.now,
            by: holdups.by,
            addresses_lost_per_s: holdups.awake_per_s - holdups.addresses_per_s,
            counters: snapshot.counters.clone(),
            requisites: snapshot.requisites.fetched,
            work: times.map(WorkTimes::seconds).unwrap_or_default(),
        });
        self.last = Some(Arc::clone(holdups));
    }

    /// None at the beginning of a run, and once nothing was published for a minute.
    pub fn means(&self, now: Time) -> Option<PaceMeans> {
        let window: Vec<&PaceSample> =
            self.ring.iter().filter(|sample| now.since(sample.at) <= WINDOW).collect();
        let (first, last) = (window.first()?, window.last()?);
        let seconds = last.at.since(first.at).as_secs_f64();
        if seconds < SECONDS_MIN {
            return None;
        }
        // Each sample stands for the second before it.
        let samples = &window[1..];
        let count = samples.len() as f64;
        let mut by = HeldUpBy::default();
        for sample in samples {
            for (mean, state) in by.iter_mut().zip(&sample.by) {
                mean.hosts += state.hosts;
                mean.per_s += state.per_s;
            }
        }
        for mean in &mut by {
            *mean = HeldUp { hosts: mean.hosts / count, per_s: mean.per_s / count };
        }
        let lost = samples.iter().map(|sample| sample.addresses_lost_per_s).sum::<f64>();
        let spent = |at: usize| (last.work[at] - first.work[at]).max(0.0) / seconds;
        let holdups = self.last.as_ref()?;
        Some(PaceMeans {
            seconds,
            by,
            addresses_lost_per_s: lost / count,
            crowded: holdups.crowded,
            slots: holdups.slots,
            counters: [first.counters.clone(), last.counters.clone()],
            requisites: [first.requisites, last.requisites],
            work: std::array::from_fn(spent),
        })
    }
}

impl PaceMeans {
    pub fn of(&self, holdup: Holdup) -> HeldUp {
        self.by[holdup as usize]
    }

    /// How fast a count grew.
    pub fn per_s(&self, count: impl Fn(&Counters) -> u64) -> f64 {
        let [before, after] = &self.counters;
        count(after).saturating_sub(count(before)) as f64 / self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(second: u64, asked: u64, waiting: f64) -> EngineSnapshot {
        let mut holdups = Holdups::default();
        holdups.by[Holdup::Slots as usize] = HeldUp { hosts: waiting, per_s: 2.0 * waiting };
        EngineSnapshot {
            now: Time::ZERO + Span::secs(second),
            counters: Counters { asked, ..Counters::default() },
            holdups: Some(Arc::new(holdups)),
            ..EngineSnapshot::default()
        }
    }

    #[test]
    fn means_are_those_of_the_last_minute_and_one_publication_counts_once() {
        let mut samples = PaceSamples::default();
        for second in 0..200 {
            let waiting = if second < 170 { 8.0 } else { 4.0 };
            let published = snapshot(second, 10 * second, waiting);
            for _ in 0..10 {
                samples.add(&published, None);
            }
        }
        let means = samples.means(Time::ZERO + Span::secs(199)).expect("a minute");
        assert_eq!((means.seconds, means.per_s(|counters| counters.asked)), (60.0, 10.0));
        assert_eq!(means.of(Holdup::Slots), HeldUp { hosts: 6.0, per_s: 12.0 });
        assert!(samples.means(Time::ZERO + Span::secs(600)).is_none());
    }
}
