//! What `-v` tells of a crawl: the changes of its state, each once. Pages are `-vv`, the steps of
//! the loop `-vvv`.

use rhumb_engine::event::StopReason;
use rhumb_engine::snapshot::EngineSnapshot;
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
pub enum LoggedChange {
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
    pub fn since_last(&mut self, snapshot: &EngineSnapshot) -> Vec<LoggedChange> {
        let mut found = Vec::new();
        if let Some(reason) = snapshot.stopping.filter(|_| self.stopping.is_none()) {
            self.stopping = Some(reason);
            found.push(LoggedChange::Stopping(reason));
        }
        let is_failing = snapshot.hosts_failing > 0;
        if is_failing != self.is_failing {
            self.is_failing = is_failing;
            found.push(match is_failing {
                true => LoggedChange::HostsFail(snapshot.hosts_failing),
                false => LoggedChange::HostsRecovered,
            });
        }
        found.extend(self.idle(snapshot));
        found
    }

    fn idle(&mut self, snapshot: &EngineSnapshot) -> Option<LoggedChange> {
        let Some(why) = snapshot.why_idle() else {
            let was_told = self.idle.take().is_some_and(|(_, told)| told);
            return was_told.then_some(LoggedChange::Busy);
        };
        let (since, told) = self.idle.get_or_insert((snapshot.now, false));
        if *told || snapshot.now.since(*since) < IDLE_MIN {
            return None;
        }
        *told = true;
        Some(LoggedChange::Idle(why))
    }
}

impl LoggedChange {
    pub fn log(&self) {
        match self {
            LoggedChange::Stopping(reason) => tracing::info!(reason = reason.word(), "crawl stops"),
            LoggedChange::HostsFail(hosts) => tracing::info!(hosts, "hosts with work fail"),
            LoggedChange::HostsRecovered => tracing::info!("no host with work fails any more"),
            LoggedChange::Idle(why) => tracing::info!(why, "nothing is fetched"),
            LoggedChange::Busy => tracing::info!("pages are fetched again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_once_and_a_polite_pause_is_none() {
        let mut changes = Changes::default();
        let at = |s: u64, in_flight: usize| EngineSnapshot {
            now: Time::ZERO + Span::secs(s),
            in_flight,
            ..EngineSnapshot::default()
        };
        assert_eq!(changes.since_last(&at(0, 1)), []);
        assert_eq!(changes.since_last(&at(1, 0)), []);
        assert_eq!(changes.since_last(&at(3, 1)), [], "two seconds are no change");
        assert_eq!(changes.since_last(&at(4, 0)), []);
        let why = "nothing is left to fetch".to_owned();
        assert_eq!(changes.since_last(&at(9, 0)), [LoggedChange::Idle(why)]);
        assert_eq!(changes.since_last(&at(20, 0)), []);
        let failing = EngineSnapshot { hosts_failing: 2, ..at(21, 1) };
        assert_eq!(changes.since_last(&failing), [LoggedChange::HostsFail(2), LoggedChange::Busy]);
        let more = EngineSnapshot { hosts_failing: 7, ..at(22, 1) };
        assert_eq!(changes.since_last(&more), []);
        let stopping = EngineSnapshot { stopping: Some(StopReason::Pages), ..at(23, 1) };
        let expected = [LoggedChange::Stopping(StopReason::Pages), LoggedChange::HostsRecovered];
        assert_eq!(changes.since_last(&stopping), expected);
        assert_eq!(changes.since_last(&stopping), []);
    }
}
