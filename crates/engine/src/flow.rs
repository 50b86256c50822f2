//! A cap on bytes a second over all hosts: when the next request may begin.
//!
//! The generic cell rate algorithm (ITU-T I.371, 1996) in its virtual-scheduling form, as for the
//! budget of requests (`refresh::budget`): one number, the time until which the rate is spent. How
//! much an answer brings is known only when it is here, so a request is charged with what answers
//! brought of late, and the difference when it ends. So in any stretch of time no more comes than
//! the rate gives for it, a burst, and what is in flight; whoever reads the sockets spreads the
//! bytes of one answer.

use crate::time::{Span, Time};

/// What may come at once: a stall of so long can be caught up with.
const BURST: Span = Span::secs(1);
/// What an answer is taken to bring before any came.
const BYTES_GUESSED: u64 = 16 << 10;
/// What one answer counts in the mean, as a part of it.
const MEAN_PART: u64 = 16;

#[derive(Debug)]
pub struct Flow {
    bytes_per_s: u64,
    until: Time,
    bytes_mean: u64,
}

impl Flow {
    pub fn new(bytes_per_s: u64) -> Flow {
        Flow { bytes_per_s: bytes_per_s.max(1), until: Time::ZERO, bytes_mean: BYTES_GUESSED }
    }

    /// When the next request may begin: now, or later.
    pub fn next(&self, now: Time) -> Time {
        (self.until - BURST).max(now)
    }

    /// A request begins; what it is charged with.
    pub fn begin(&mut self, now: Time) -> u64 {
        self.until = self.until.max(now) + self.cost(self.bytes_mean);
        self.bytes_mean
    }

    /// It ended, having brought so many bytes.
    pub fn end(&mut self, charged: u64, received: u64) {
        let (charged, cost) = (self.cost(charged), self.cost(received));
        self.until = Time((self.until.0.saturating_add(cost.0)).saturating_sub(charged.0));
        self.bytes_mean = (self.bytes_mean * (MEAN_PART - 1) + received) / MEAN_PART;
    }

    /// The time that the rate gives for so many bytes.
    fn cost(&self, bytes: u64) -> Span {
        let micros = u128::from(bytes) * 1_000_000 / u128::from(self.bytes_per_s);
        Span(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_any_stretch_no_more_comes_than_the_rate_gives_for_it_and_a_burst() {
        let rate = 100_000;
        let start = Time(1_000_000_000_000);
        let mut flow = Flow::new(rate);
        let (mut now, mut received) = (start, 0);
        let sizes = [2_000u64, 900_000, 50, 14_000, 70_000];
        for turn in 0..2_000usize {
            now = flow.next(now);
            let charged = flow.begin(now);
            let size = sizes[turn % sizes.len()];
            received += size;
            flow.end(charged, size);
            let given = now.since(start).as_secs_f64() * rate as f64;
            let most = given + 1.0 * rate as f64 + 2.0 * 900_000.0;
            assert!(received as f64 <= most, "{received} after {given}");
        }
        let given = now.since(start).as_secs_f64() * rate as f64;
        assert!(received as f64 >= 0.95 * given, "{received} of {given}");
    }
}
