//! Time as a number: microseconds since the Unix epoch. The engine never reads a clock.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// A moment, in microseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(pub u64);

/// A length of time, in microseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(pub u64);

impl Time {
    pub const ZERO: Time = Time(0);

    /// The time from `earlier` to `self`; zero if the clock went backwards.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn secs(s: u64) -> Span {
        Span(s.saturating_mul(1_000_000))
    }

    pub const fn millis(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000))
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Rounds to the nearest microsecond; negative and NaN become zero.
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s.max(0.0) * 1e6).round() as u64)
    }

    pub fn times(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor.max(0.0)) as u64)
    }

    /// `self × 2^n`, saturating.
    pub fn doubled(self, n: u32) -> Span {
        Span(self.0.saturating_mul(1u64.checked_shl(n).unwrap_or(u64::MAX)))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

/// The engine's own time: it never goes back, whatever the clocks of the world do between two runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnTime {
    /// By how much it is ahead of the world's: a clock that was set back must not make us wait for
    /// times that were lived through before.
    ahead: Span,
    /// A crawl that goes on: no host is asked sooner than its full delay after this moment.
    pub reopened: Option<Time>,
}

impl OwnTime {
    /// Opened now; the rows were written last at `written`, of our own time.
    pub fn open(world: Time, written: Time, goes_on: bool) -> OwnTime {
        let ahead = written.since(world);
        OwnTime { ahead, reopened: goes_on.then_some(world + ahead) }
    }

    /// The world's time as ours.
    pub fn own(&self, world: Time) -> Time {
        world + self.ahead
    }

    /// Our time as the world's: hours are kept by its clocks.
    pub fn world(&self, own: Time) -> Time {
        own - self.ahead
    }
}
