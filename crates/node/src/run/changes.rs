//! What `-v` tells of a crawl: the changes of its state, each once. Pages are `-vv`, the steps of
//! the loop `-vvv`.

use rhumb_engine::event::StopReason;
use rhumb_engine::snapshot::Snapshot;
use rhumb_engine::time::{Span, Time};

/// A pause shorter than this is part of being polite, and no change.
const IDLE_MIN: Span = Span::secs(5);

/// The state that was told last.
#[derive(Default)]
pub struct Changes {
    stopping: Option<StopReason>,
    is_failing: bool,
    /// Since when nothing is in flight, and whether that was told.
    idle: Option<(Time, bool)>,
}

/// A change, in words for a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Stopping(StopReason),
    /// So many hosts with work fail.
    HostsFail(u64),
    HostsRecovered,
    /// Nothing is fetched, and why.
    Idle(String),
    Busy,
}

impl Changes {
    /// What has changed since the last snapshot.
    pub fn since_last(&mut self, snapshot: &Snapshot) -> Vec<Change> {
        let mut found = Vec::new();
        if let Some(reason) = snapshot.stopping.filter(|_| self.stopping.is_none()) {
            self.stopping = Some(reason);
            found.push(Change::Stopping(reason));
        }
        let is_failing = snapshot.hosts_failing > 0;
        if is_failing != self.is_failing {
            self.is_failing = is_failing;
            found.push(match is_failing {
                true => Change::HostsFail(snapshot.hosts_failing),
                false => Change::HostsRecovered,
            });
        }
        found.extend(self.idle(snapshot));
        found
    }

    fn idle(&mut self, snapshot: &Snapshot) -> Option<Change> {
        let Some(why) = snapshot.why_idle() else {
            let was_told = self.idle.take().is_some_and(|(_, told)| told);
            return was_told.then_some(Change::Busy);
        };
        let (since, told) = self.idle.get_or_insert((snapshot.now, false));
        if *told || snapshot.now.since(*since) < IDLE_MIN {
            return None;
        }
        *told = true;
        Some(Change::Idle(why))
    }
}

impl Change {
    pub fn log(&self) {
        match self {
            Change::Stopping(reason) => tracing::info!(reason = reason.word(), "crawl stops"),
            Change::HostsFail(hosts) => tracing::info!(hosts, "hosts with work fail"),
            Change::HostsRecovered => tracing::info!("no host with work fails any more"),
            Change::Idle(why) => tracing::info!(why, "nothing is fetched"),
            Change::Busy => tracing::info!("pages are fetched again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_once_and_a_polite_pause_is_none() {
        let mut changes = Changes::default();
        let at = |s: u64, in_flight: usize| Snapshot {
            now: Time::ZERO + Span::secs(s),
            in_flight,
            ..Snapshot::default()
        };
        assert_eq!(changes.since_last(&at(0, 1)), []);
        assert_eq!(changes.since_last(&at(1, 0)), []);
        assert_eq!(changes.since_last(&at(3, 1)), [], "two seconds are no change");
        assert_eq!(changes.since_last(&at(4, 0)), []);
        let why = "nothing is left to fetch".to_owned();
        assert_eq!(changes.since_last(&at(9, 0)), [Change::Idle(why)]);
        assert_eq!(changes.since_last(&at(20, 0)), []);
        let failing = Snapshot { hosts_failing: 2, ..at(21, 1) };
        assert_eq!(changes.since_last(&failing), [Change::HostsFail(2), Change::Busy]);
        let more = Snapshot { hosts_failing: 7, ..at(22, 1) };
        assert_eq!(changes.since_last(&more), []);
        let stopping = Snapshot { stopping: Some(StopReason::Pages), ..at(23, 1) };
        let expected = [Change::Stopping(StopReason::Pages), Change::HostsRecovered];
        assert_eq!(changes.since_last(&stopping), expected);
        assert_eq!(changes.since_last(&stopping), []);
    }
}
