//! Until when an owner may begin fetches for a partition.
//!
//! Two things must be fresh: a good heart-beat that named the epoch, since others take the
//! partition when there is none; and a durable write in the epoch, since that fails once another
//! has opened it. Both count from their *beginning*: nobody knows when within its duration a write
//! took effect. After a gap between heart-beats another may have opened the partition and begun, so
//! the write must be one that began after the heart-beats went on.

use rhumb_engine::time::{Span, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lease {
    beat_until: Time,
    /// Heart-beats have followed each other without a gap since then.
    unbroken_since: Time,
    write_until: Time,
    /// There was a gap, and no write since shows that nobody has opened the partition in it.
    is_doubtful: bool,
}

impl Lease {
    /// A heart-beat that named the epoch is known, now, to be written.
    pub fn beaten(&mut self, began: Time, now: Time, length: Span) {
        if now >= self.beat_until {
            self.is_doubtful |= self.beat_until > Time::ZERO;
            self.unbroken_since = now;
            self.write_until = Time::ZERO;
        }
        self.beat_until = self.beat_until.max(began + length);
    }

    /// A write in the epoch is durable.
    pub fn wrote(&mut self, began: Time, length: Span) {
        if self.is_beating(began) && began >= self.unbroken_since {
            self.write_until = self.write_until.max(began + length);
            self.is_doubtful = false;
        }
    }

    /// Whether another that has the partition now may have it because no heart-beat was seen.
    pub fn was_given_up(&self, now: Time) -> bool {
        self.beat_until > Time::ZERO && (self.is_doubtful || !self.is_beating(now))
    }

    pub fn is_beating(&self, now: Time) -> bool {
        now < self.beat_until
    }

    pub fn write_until(&self) -> Time {
        self.write_until
    }

    /// A fetch may begin before this.
    pub fn until(&self) -> Time {
        self.beat_until.min(self.write_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Span = Span::secs(8);

    fn at(s: u64) -> Time {
        Time::ZERO + Span::secs(s)
    }

    #[test]
    fn it_counts_from_the_beginning_of_heartbeat_and_write() {
        let mut lease = Lease::default();
        lease.beaten(at(10), at(12), LENGTH);
        assert_eq!(lease.until(), Time::ZERO, "no write yet");
        lease.wrote(at(11), LENGTH);
        assert_eq!(lease.until(), Time::ZERO, "it began before the heart-beat was known");
        lease.wrote(at(12), LENGTH);
        assert_eq!(lease.until(), at(18));
        lease.beaten(at(13), at(14), LENGTH);
        assert_eq!(lease.until(), at(20), "the write is the older one now");
    }

    #[test]
    fn after_a_gap_only_a_new_write_counts() {
        let mut lease = Lease::default();
        lease.beaten(at(1), at(1), LENGTH);
        lease.wrote(at(8), LENGTH);
        lease.beaten(at(9), at(9), LENGTH);
        assert_eq!(lease.until(), Time::ZERO);
        lease.wrote(at(9), LENGTH);
        assert_eq!(lease.until(), at(17));
        // An answer that took longer than the lease gives none.
        lease.beaten(at(18), at(30), LENGTH);
        assert!(!lease.is_beating(at(30)));
    }

    #[test]
    fn whoever_beats_again_after_a_gap_was_given_up_until_a_write_shows_otherwise() {
        let mut lease = Lease::default();
        assert!(!lease.was_given_up(at(1)), "nobody was told that it owns anything");
        lease.beaten(at(1), at(1), LENGTH);
        assert!(!lease.was_given_up(at(2)));
        assert!(lease.was_given_up(at(20)));
        lease.beaten(at(20), at(20), LENGTH);
        assert!(lease.was_given_up(at(20)), "it beats, but others had ten seconds");
        lease.wrote(at(21), LENGTH);
        assert!(!lease.was_given_up(at(22)));
    }
}
