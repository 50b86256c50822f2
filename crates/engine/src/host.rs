//! What we know of a host: the unit of politeness.

use crate::outcome::FailKind;
use crate::queue::{Place, SleepPlace};
use crate::refresh::scheduler::HostStanding;
use crate::refresh::trust::HostReliability;
use crate::time::{Span, Time};
use crate::traps::learnt::Patterns;
use serde::{Deserialize, Serialize};

/// What other sites name of a host takes its turns as any other URL until so great a part of the
/// host's budget is spent; then what the host itself names comes first.
pub const STRANGERS_PART: u64 = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// URLs ever admitted.
    pub admitted: u64,
    /// URLs that wait now.
    pub queued: u64,
    /// Requests answered, robots.txt included.
    pub answers: u64,
    pub pages: u64,
    pub bytes: u64,
    /// Requests in a row that failed for the host's sake, in the run of this number.
    pub failures: u16,
    pub run: u32,
    /// How the last request failed, if that concerns the host; none if it was answered.
    pub failing: Option<FailKind>,
    /// The robots rules in the state are good until then.
    pub robots_until: Option<Time>,
    /// No request before this moment.
    pub not_before: Time,
    pub last_took: Span,
    /// Crawl-delay of the rules in force.
    pub crawl_delay: Option<Span>,
    /// Where it sleeps (or slept, while awake): the row by which a restart finds it.
    pub sleep: Option<SleepPlace>,
    /// While it sleeps, nothing waits in its queues up to these places: reading begins behind
    /// them when it wakes, not among the remains of all that was fetched before.
    pub now_after: Option<Place>,
    pub later_after: Option<Place>,
    /// How its pages change, and whether it can take what they need.
    pub standing: HostStanding,
    /// How far its word on its pages is good.
    pub trust: HostReliability,
    /// Sitemaps ever admitted: not among `admitted`.
    pub sitemaps: u32,
    /// What its patterns of URLs have brought.
    pub patterns: Patterns,
}

impl HostRecord {
    /// How it fails, if it does so often that it is left alone until another run, or for long.
    pub fn rests_for(&self) -> Option<FailKind> {
        self.failing.filter(|_| matches!(self.sleep, Some(SleepPlace::Resting { .. })))
    }

    /// It rests and does not fail: its site has had its share of names or its budget, or it is
    /// outside its hours.
    pub fn is_held(&self) -> bool {
        self.failing.is_none() && matches!(self.sleep, Some(SleepPlace::Resting { .. }))
    }

    /// URLs of it that had their turn: what its budget is measured by. What waits to be visited
    /// again had its turn, too, and was fetched then.
    pub fn had_turns(&self) -> u64 {
        self.admitted.saturating_sub(self.queued).max(self.pages.min(self.admitted))
    }

    /// Each run counts failures anew.
    pub fn enter_run(&mut self, run: u32) {
        if self.run != run {
            (self.run, self.failures) = (run, 0);
        }
    }
}
