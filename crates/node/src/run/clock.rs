//! The present: for the engine, and for dates.
//!
//! The engine's time begins with the system's clock at the start of a run and goes on from there,
//! whatever is done to that clock, so that no delay is cut short. It counts the time that the
//! machine was suspended: hosts have rested meanwhile, and pages have changed.
//!
//! Dates are what the system's clock says, since that is what other people's records are compared
//! with. They never go backwards: if the clock is set back, dates go on at half speed until it has
//! caught up.

use rhumb_engine::time::Time;
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub struct Clock {
    began_steady_us: u64,
    began_system_us: u64,
    dates: Arc<Mutex<Dates>>,
}

impl Clock {
    pub fn start() -> Clock {
        let (steady_us, system_us) = (steady_us(), system_us());
        let dates = Dates { steady_us, date_us: system_us };
        Clock {
            began_steady_us: steady_us,
            began_system_us: system_us,
            dates: Arc::new(Mutex::new(dates)),
        }
    }

    /// As the engine counts.
    pub fn now(&self) -> Time {
        self.at(steady_us())
    }

    /// What `steady_us` said, as the engine counts.
    pub fn at(&self, steady_us: u64) -> Time {
        Time(self.began_system_us + steady_us.saturating_sub(self.began_steady_us))
    }

    /// As records are dated.
    pub fn date(&self) -> Time {
        let mut dates = self.dates.lock().unwrap_or_else(PoisonError::into_inner);
        Time(dates.at(steady_us(), system_us()))
    }
}

/// The last date that was given, and when.
#[derive(Debug)]
struct Dates {
    steady_us: u64,
    date_us: u64,
}

impl Dates {
    fn at(&mut self, steady_us: u64, system_us: u64) -> u64 {
        let since = steady_us.saturating_sub(self.steady_us);
        self.date_us = system_us.max(self.date_us + since / 2);
        self.steady_us = self.steady_us.max(steady_us);
        self.date_us
    }
}

/// Since the machine was started, the time that it was suspended included.
pub fn steady_us() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1_000
}

fn system_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000;

    #[test]
    fn dates_follow_the_systems_clock_and_never_go_back() {
        let mut dates = Dates { steady_us: 0, date_us: 1_000 * S };
        assert_eq!(dates.at(5 * S, 1_005 * S), 1_005 * S);
        assert_eq!(dates.at(6 * S, 90_000 * S), 90_000 * S, "set forward");
        assert_eq!(dates.at(6 * S, 89_990 * S), 90_000 * S, "set back by ten seconds");
        assert_eq!(dates.at(10 * S, 89_994 * S), 90_002 * S);
        assert_eq!(dates.at(26 * S, 90_010 * S), 90_010 * S, "caught up");
        assert_eq!(dates.at(27 * S, 90_011 * S), 90_011 * S);
        assert_eq!(dates.at(3_627 * S, 93_611 * S), 93_611 * S, "after a suspension");
    }

    #[test]
    fn the_engines_time_is_steady_and_begins_with_the_systems() {
        let clock = Clock::start();
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second && first.0 >= clock.began_system_us);
        assert!(clock.date() <= clock.date());
    }
}
