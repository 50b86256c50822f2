//! The engine at one moment, in plain numbers: all that progress, metrics and reports may read.

use crate::allowance::InForce;
use crate::ceilings::Ceilings;
use crate::counters::Counters;
use crate::engine::Engine;
use crate::event::StopReason;
use crate::holdups::Holdups;
use crate::mass::{Coverage, Mass, Sums, TopicCoverage};
use crate::outbound::SequenceNumbers;
use crate::refresh::revisit::RevisitCollection;
use crate::requisites::RequisiteCounters;
use crate::time::Time;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct EngineSnapshot {
    pub now: Time,
    pub counters: Counters,
    /// Requests under way.
    pub in_flight: usize,
    /// Pages that wait to hear whether their bytes were seen before.
    pub comparing: usize,
    pub hosts_awake: usize,
    pub hosts_awake_limit: usize,
    /// Hosts that are due and wait for a free slot.
    pub hosts_ready: usize,
    pub hosts_resolving: usize,
    /// Hosts with work that sleep until there is room.
    pub hosts_asleep: u64,
    /// Hosts that sleep until a moment: a retry, a revisit, a long delay.
    pub hosts_asleep_until: u64,
    /// Hosts with work that fail: the next run tries them again at once.
    pub hosts_failing: u64,
    /// Hosts that were not asked yet: their sites have had their share of names in this run.
    pub hosts_held: u64,
    /// Hosts of sites that have had their budget of pages or bytes in this run.
    pub hosts_spent: u64,
    /// Hosts that wait for their hours to begin, and when the next of these do.
    pub hosts_closed: u64,
    pub opens: Option<Time>,
    /// Outbox rows not yet sifted.
    pub outbox: u64,
    pub next_due: Option<(Time, &'static str)>,
    pub heap_bytes: usize,
    /// How much of all importance is covered for certain; none while it is computed anew.
    pub coverage: Option<Coverage>,
    /// The same of the crawl's topic, if it has one; and what URLs that wait are expected to bring
    /// of it, as a share of all walks, as of the last fit of the link model.
    pub topic: Option<TopicCoverage>,
    pub topic_expected: Option<f64>,
    /// How the pages of a crawl that goes on are doing.
    pub collection: Option<RevisitCollection>,
    /// What pages are shown with, in numbers.
    pub requisites: RequisiteCounters,
    pub stopping: Option<StopReason>,
    /// The owner has paused it.
    pub paused: bool,
    /// What hosts with work wait for, as of the last second; set by whoever publishes it.
    pub holdups: Option<Arc<Holdups>>,
    /// Of one partition of several.
    pub part: Option<Box<PartSnapshot>>,
}

/// What those who add up all partitions must know of one.
#[derive(Clone, Debug, Default)]
pub struct PartSnapshot {
    pub in_force: Option<InForce>,
    pub ceilings: Ceilings,
    /// Why it has nothing left to do unless another sends something, if so.
    pub idle: Option<StopReason>,
    /// Messages sent and taken, by partition.
    pub numbers: SequenceNumbers,
    /// What the bound on coverage is made of; none while it is computed anew.
    pub sums: Option<Sums>,
    /// What is no longer owed for messages that have arrived, since the opening.
    pub released: i64,
    pub has_topic: bool,
}

impl EngineSnapshot {
    /// How much of the topic the crawled pages have if URLs that wait are what the link model
    /// expects of them. No bound, and never below it: what is expected is as old as the last fit,
    /// and some of it may have come since.
    pub fn topic_estimate(&self) -> Option<f64> {
        let TopicCoverage { had, bound, .. } = *self.topic.as_ref()?;
        let expected = self.topic_expected.filter(|_| had > 0.0)?;
        Some((had / (had + expected)).max(bound))
    }

    /// Why nothing is being fetched, if nothing is.
    pub fn why_idle(&self) -> Option<String> {
        if self.in_flight > 0 {
            return None;
        }
        let wait = |at: Time| at.since(self.now).as_secs_f64();
        Some(match (self.stopping, self.next_due) {
            (Some(reason), _) => format!("the crawl is stopping ({})", reason.word()),
            _ if self.paused => "the crawl is paused, until it is resumed".to_owned(),
            _ if self.comparing > 0 => "pages that have arrived are being compared".to_owned(),
            _ if self.hosts_resolving > 0 => {
                format!("{} hosts wait for the name server", self.hosts_resolving)
            }
            _ if self.outbox > 0 => "discoveries are being sifted".to_owned(),
            (None, Some((at, _))) if self.opens.is_some_and(|opens| opens <= at) => {
                let opens = self.opens.map_or(0.0, wait);
                format!(
                    "hosts are outside their hours ({} of them); the next opens in {opens:.0} s",
                    self.hosts_closed
                )
            }
            (None, Some((at, why))) => format!("{why} in {:.1} s", wait(at)),
            (None, None) if self.counters.queued == 0 => "nothing is left to fetch".to_owned(),
            (None, None) => "hosts are being read from the store".to_owned(),
        })
    }
}

impl Engine {
    /// When the next of the hosts that wait for it may be asked.
    fn opens_next(&self, now: Time) -> Option<Time> {
        let rules = self.config.hours.rules.iter().filter(|_| self.frontier.resting.closed > 0);
        let opens = rules.filter_map(|rule| rule.opens(self.clock.world(now))).min()?;
        Some(self.clock.own(opens))
    }

    /// Cheap enough for every turn but for `heap_bytes`, which is left at zero.
    pub fn snapshot(&self, now: Time) -> EngineSnapshot {
        let now = self.clock.own(now);
        EngineSnapshot {
            now,
            counters: self.counters().clone(),
            in_flight: self.traffic.len(),
            comparing: self.comparing.len(),
            hosts_awake: self.frontier.awake.len(),
            hosts_awake_limit: self.frontier.awake_limit,
            hosts_ready: self.frontier.ready.len(),
            hosts_resolving: self.traffic.lookups.all,
            hosts_asleep: self.frontier.sleepers.ready(),
            hosts_asleep_until: self.frontier.sleepers.later()
                + self.frontier.sleepers.resting_before(),
            hosts_failing: self.frontier.resting.failing,
            hosts_held: self.frontier.resting.held,
            // At the end all rest but those that have requisites.
            hosts_spent: if self.limits.is_finishing() { 0 } else { self.frontier.resting.spent },
            hosts_closed: self.frontier.resting.closed,
            opens: self.opens_next(now),
            outbox: self.counters().next_outbox - self.counters().outbox_head,
            next_due: self.next_due(now),
            heap_bytes: 0,
            // Of books with a topic the other bound would be none.
            coverage: self.config.topic.is_none().then(|| self.books.mass.coverage()).flatten(),
            topic: self.topic_coverage(),
            topic_expected: self.ranking.topic_expected,
            collection: self.revisiting().map(|revisiting| *revisiting.collection()),
            requisites: self.requisites().clone(),
            stopping: self.limits.stopping(),
            paused: self.hands.is_paused,
            holdups: None,
            part: self.config.partition.is_divided().then(|| Box::new(self.part_snapshot())),
        }
    }

    /// What is in force, once there is an allowance.
    fn in_force(&self) -> Option<InForce> {
        let allowance = self.limits.allowance?;
        let pages_used =
            self.books.counters.pages + (self.traffic.len() + self.comparing.len()) as u64;
        let bytes_used = self.books.counters.bytes;
        Some(InForce {
            number: allowance.number,
            pages: allowance.pages.unwrap_or(u64::MAX).max(pages_used),
            bytes: allowance.bytes.unwrap_or(u64::MAX).max(bytes_used),
            slots: allowance.slots.max(self.traffic.len()),
            pages_used,
            bytes_used,
            slots_wanted: self.traffic.len() + self.frontier.ready.len(),
            has_work: self.has_work(),
        })
    }

    fn part_snapshot(&self) -> PartSnapshot {
        PartSnapshot {
            in_force: self.in_force(),
            ceilings: self.limits.ceilings,
            idle: self.is_idle().then(|| self.idle_because()),
            numbers: self.outbound.numbers().clone(),
            sums: Mass::sums_of_all(std::iter::once(&self.books.mass)),
            released: self.outbound.released(),
            has_topic: self.config.topic.is_some(),
        }
    }
}

impl EngineSnapshot {
    /// All partitions of a crawl together, each as it was when it was last heard of; none before
    /// all were.
    pub fn of_all<'a>(
        parts: impl Iterator<Item = Option<&'a EngineSnapshot>>,
    ) -> Option<EngineSnapshot> {
        let parts: Vec<&EngineSnapshot> = parts.collect::<Option<_>>()?;
        let mut all = EngineSnapshot { paused: true, ..EngineSnapshot::default() };
        for (at, part) in parts.iter().enumerate() {
            all.counters = match at {
                0 => part.counters.clone(),
                _ => all.counters.plus(&part.counters),
            };
            all.now = all.now.max(part.now);
            all.in_flight += part.in_flight;
            all.comparing += part.comparing;
            all.hosts_awake += part.hosts_awake;
            all.hosts_awake_limit += part.hosts_awake_limit;
            all.hosts_ready += part.hosts_ready;
            all.hosts_resolving += part.hosts_resolving;
            all.hosts_asleep += part.hosts_asleep;
            all.hosts_asleep_until += part.hosts_asleep_until;
            all.hosts_failing += part.hosts_failing;
            all.hosts_held += part.hosts_held;
            all.hosts_spent += part.hosts_spent;
            all.hosts_closed += part.hosts_closed;
            all.opens = [all.opens, part.opens].into_iter().flatten().min();
            all.requisites = all.requisites.plus(&part.requisites);
            all.outbox += part.outbox;
            let dues = [all.next_due, part.next_due];
            all.next_due = dues.into_iter().flatten().min();
            all.stopping = all.stopping.or(part.stopping);
            all.paused &= part.paused;
        }
        let holdups = parts.iter().filter_map(|part| part.holdups.as_deref().cloned());
        all.holdups = holdups.reduce(|a, b| a.plus(&b)).map(Arc::new);
        // Of a crawl that goes on: the first partition stands for all.
        all.collection = parts.first().and_then(|part| part.collection);
        let sums = parts.iter().map(|part| part.part.as_ref()?.sums);
        let sums = sums.collect::<Option<Vec<Sums>>>();
        if let Some(sums) = sums.and_then(|sums| sums.into_iter().reduce(|a, b| a.plus(&b))) {
            let has_topic = parts.iter().any(|p| p.part.as_ref().is_some_and(|p| p.has_topic));
            all.coverage = (!has_topic).then(|| sums.of_importance());
            all.topic = has_topic.then(|| sums.of_topic());
            let expected: Option<Vec<f64>> = parts.iter().map(|part| part.topic_expected).collect();
            all.topic_expected = expected.map(|of_each| of_each.iter().sum());
        }
        Some(all)
    }
}

/// Why a crawl of several partitions is over, if it is: all have nothing to do, and every message
/// that was sent was taken, so that no partition was given anything by another since it was heard
/// of (docs/decisions/0056-partitions-in-a-process.md).
pub fn end_of_all(parts: &[&EngineSnapshot]) -> Option<StopReason> {
    let told: Vec<&PartSnapshot> =
        parts.iter().map(|part| part.part.as_deref()).collect::<Option<_>>()?;
    if parts.iter().any(|part| part.paused) {
        return None;
    }
    let reasons: Vec<StopReason> = told.iter().map(|part| part.idle).collect::<Option<_>>()?;
    for (from, sender) in told.iter().enumerate() {
        for (to, receiver) in told.iter().enumerate() {
            if sender.numbers.sent.get(to) != receiver.numbers.taken.get(from) {
                return None;
            }
        }
    }
    let failing = reasons.iter().find(|reason| **reason == StopReason::HostsFailing);
    Some(*failing.unwrap_or(&StopReason::Finished))
}
