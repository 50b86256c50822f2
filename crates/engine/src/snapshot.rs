//! The engine at one moment, in plain numbers: all that progress, metrics and reports may read.

use crate::counters::Counters;
use crate::engine::Engine;
use crate::event::StopReason;
use crate::mass::{Coverage, TopicCoverage};
use crate::requisites::RequisiteCounters;
use crate::revisit::Collection;
use crate::time::Time;

#[derive(Clone, Debug, Default)]
pub struct Snapshot {
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
    /// Hosts that wait for their hours to begin, and when the next of these do.
    pub hosts_closed: u64,
    pub opens: Option<Time>,
    /// Outbox rows not yet sifted.
    pub outbox: u64,
    pub next_due: Option<(Time, &'static str)>,
    pub heap_bytes: usize,
    /// How much of all importance is covered for certain; none while it is computed anew.
    pub coverage: Option<Coverage>,
    /// The same of the crawl's topic, if it has one; and an estimate.
    pub topic: Option<TopicCoverage>,
    pub topic_estimate: Option<f64>,
    /// How the pages of a crawl that goes on are doing.
    pub collection: Option<Collection>,
    /// What pages are shown with, in numbers.
    pub requisites: RequisiteCounters,
    pub stopping: Option<StopReason>,
    /// The owner has paused it.
    pub paused: bool,
}

impl Snapshot {
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
        let rules = self.config.hours.rules.iter().filter(|_| self.resting.closed > 0);
        let opens = rules.filter_map(|rule| rule.opens(self.world_time(now))).min()?;
        Some(self.own_time(opens))
    }

    /// Cheap enough for every turn but for `heap_bytes`, which is left at zero.
    pub fn snapshot(&self, now: Time) -> Snapshot {
        let now = self.own_time(now);
        Snapshot {
            now,
            counters: self.counters().clone(),
            in_flight: self.flights.len(),
            comparing: self.comparing.len(),
            hosts_awake: self.awake.len(),
            hosts_awake_limit: self.awake_limit,
            hosts_ready: self.ready.len(),
            hosts_resolving: self.lookups.all,
            hosts_asleep: self.sleepers.ready(),
            hosts_asleep_until: self.sleepers.later() + self.sleepers.resting_before(),
            hosts_failing: self.resting.failing,
            hosts_held: self.resting.held,
            hosts_closed: self.resting.closed,
            opens: self.opens_next(now),
            outbox: self.counters().next_outbox - self.counters().outbox_head,
            next_due: self.next_due(now),
            heap_bytes: 0,
            // Of books with a topic the other bound would be none.
            coverage: self.config.topic.is_none().then(|| self.mass.coverage()).flatten(),
            topic: self.topic_coverage(),
            topic_estimate: self.topic_estimate,
            collection: self.revisiting().map(|revisiting| *revisiting.collection()),
            requisites: self.requisites().clone(),
            stopping: self.stopping,
            paused: self.hands.is_paused,
        }
    }
}
