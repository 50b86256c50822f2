//! What is true of all partitions together: whether the crawl has come to its end, and the sums
//! behind its coverage. The owner of partition 0 collects.
//!
//! The end: all partitions are idle with everything shipped, after the same order, and for each
//! pair as many messages are taken as were sent. Reports of different moments will do. Suppose that
//! some partition had work after its report, and let it be the first to get any: it got a message
//! that it had not counted, so by equal numbers the sender sent it after its own report, when it
//! was idle; then the sender had got work before. Nobody was first.
//!
//! Sums: a partition that takes a message has its mass in later sums only, and by its
//! acknowledgement the sender no longer owes what the message took back. So what is no longer owed
//! stays owed for a minute in what is reported, and no sums that are older than half of that are
//! added. That is by the collector's clock from when it began to ask, and by the sender's alone for
//! its minute.

use rhumb_engine::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Sums that were asked for longer ago are not added.
pub const SUMS_FRESH: Span = Span::secs(30);
/// What is no longer owed is reported as owed for so long: twice as long as sums are fresh, for
/// clocks of different speed.
pub const OWED_FOR: Span = Span::secs(60);

/// What the owner of a partition reports, once it is shipped. `S` is what is summed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartitionReport<S> {
    pub partition: u32,
    pub epoch: u64,
    pub order: u64,
    pub is_idle: bool,
    /// Only hosts that fail have work.
    pub is_failing: bool,
    /// Messages to each partition, and from each.
    pub sent: Vec<u64>,
    pub taken: Vec<u64>,
    pub sums: Option<S>,
}

/// What the collector knows, by partition.
#[derive(Clone, Debug)]
pub struct Collection<S> {
    partitions: u32,
    reports: BTreeMap<u32, (Time, PartitionReport<S>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    HostsFailing,
}

impl<S> Collection<S> {
    pub fn new(partitions: u32) -> Collection<S> {
        Collection { partitions, reports: BTreeMap::new() }
    }

    /// Takes a report that was asked for at this moment of the collector's clock. One of an earlier
    /// epoch, or that was asked for before the one that is here, is old.
    pub fn take(&mut self, asked: Time, report: PartitionReport<S>) {
        let has_shape = report.sent.len() == self.partitions as usize
            && report.taken.len() == self.partitions as usize;
        let last = self.reports.get(&report.partition);
        let is_old = last.is_some_and(|(at, last)| (report.epoch, asked) < (last.epoch, *at));
        if has_shape && !is_old && report.partition < self.partitions {
            self.reports.insert(report.partition, (asked, report));
        }
    }

    /// Whether the crawl has come to its end under this order, the last one.
    pub fn end(&self, order: u64) -> Option<End> {
        let all: Vec<&PartitionReport<S>> = self.all_of(order)?.map(|(_, report)| report).collect();
        let is_idle = all.iter().all(|report| report.is_idle);
        let is_quiet = all.iter().all(|from| {
            all.iter()
                .all(|to| from.sent[to.partition as usize] == to.taken[from.partition as usize])
        });
        let is_failing = all.iter().any(|report| report.is_failing);
        let end = if is_failing { End::HostsFailing } else { End::Finished };
        (is_idle && is_quiet).then_some(end)
    }

    /// All sums, if they may be added: all fresh, and of this order.
    pub fn sums(&self, now: Time, order: u64) -> Option<Vec<&S>> {
        let fresh = |asked: Time| now.since(asked) <= SUMS_FRESH;
        let all = self.all_of(order)?;
        all.map(|(asked, report)| report.sums.as_ref().filter(|_| fresh(*asked))).collect()
    }

    /// One report of each partition, all of this order.
    fn all_of(&self, order: u64) -> Option<impl Iterator<Item = &(Time, PartitionReport<S>)>> {
        let is_all = self.reports.len() == self.partitions as usize;
        let is_of_order = self.reports.values().all(|(_, report)| report.order == order);
        (is_all && is_of_order).then(|| self.reports.values())
    }

    /// Pairs between which messages have not come for all that were sent, for those who ask what is
    /// stuck: from, to, and how many.
    pub fn on_their_way(&self) -> Vec<(u32, u32, u64)> {
        let reports = || self.reports.values().map(|(_, report)| report);
        let pairs = reports().flat_map(|from| reports().map(move |to| (from, to)));
        let left = pairs.map(|(from, to)| {
            let sent = from.sent[to.partition as usize];
            let taken = to.taken[from.partition as usize];
            (from.partition, to.partition, sent.saturating_sub(taken))
        });
        left.filter(|(.., count)| *count > 0).collect()
    }
}

/// What a partition reports as owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    opened: Time,
    /// All that was ever released, by the moment at which that was seen; the oldest first.
    released: VecDeque<(Time, i64)>,
}

impl Owed {
    /// At the opening of the partition.
    pub fn new(now: Time) -> Owed {
        Owed { opened: now, released: VecDeque::new() }
    }

    /// To be added to what is owed now, given all that was released since the opening, which may
    /// wrap around: what was released within the last minute. None in the first one: what the owner
    /// before released nobody knows, and no sums are reported. Asked at least every second.
    pub fn still(&mut self, now: Time, released: i64) -> Option<i64> {
        self.released.push_back((now, released));
        // The last that is older than a minute is where the minute begins.
        while self.released.get(1).is_some_and(|(at, _)| now.since(*at) >= OWED_FOR) {
            self.released.pop_front();
        }
        let before = self.released.front().map_or(0, |(_, before)| *before);
        (now.since(self.opened) >= OWED_FOR).then(|| released.wrapping_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(partition: u32, sent: [u64; 2], taken: [u64; 2]) -> PartitionReport<u64> {
        PartitionReport {
            partition,
            epoch: 1,
            order: 7,
            is_idle: true,
            is_failing: false,
            sent: sent.to_vec(),
            taken: taken.to_vec(),
            sums: Some(1),
        }
    }

    #[test]
    fn the_end_needs_all_idle_after_one_order_and_as_many_taken_as_sent() {
        let at = Time::ZERO + Span::secs(100);
        let mut all = Collection::new(2);
        all.take(at, report(0, [0, 3], [0, 5]));
        assert_eq!(all.end(7), None, "of one nothing is known");
        all.take(at, report(1, [5, 0], [2, 0]));
        assert_eq!((all.end(7), all.on_their_way()), (None, vec![(0, 1, 1)]));
        all.take(at, report(1, [5, 0], [3, 0]));
        assert_eq!((all.end(7), all.end(8)), (Some(End::Finished), None));
        all.take(at, PartitionReport { is_idle: false, ..report(0, [0, 3], [0, 5]) });
        assert_eq!(all.end(7), None);
        all.take(at, PartitionReport { is_failing: true, ..report(0, [0, 3], [0, 5]) });
        assert_eq!(all.end(7), Some(End::HostsFailing));
        // An owner of an earlier epoch says nothing.
        all.take(at, PartitionReport { epoch: 0, is_idle: false, ..report(0, [0, 3], [0, 5]) });
        assert_eq!(all.end(7), Some(End::HostsFailing));
    }

    #[test]
    fn sums_that_are_old_or_of_another_order_are_not_added() {
        let at = Time::ZERO + Span::secs(100);
        let mut all = Collection::new(2);
        all.take(at, report(0, [0, 0], [0, 0]));
        all.take(at + Span::secs(10), report(1, [0, 0], [0, 0]));
        assert_eq!(all.sums(at + Span::secs(30), 7), Some(vec![&1, &1]));
        assert_eq!(all.sums(at + Span::secs(31), 7), None);
        assert_eq!(all.sums(at + Span::secs(20), 8), None);
        all.take(at + Span::secs(20), PartitionReport { sums: None, ..report(0, [0, 0], [0, 0]) });
        assert_eq!(all.sums(at + Span::secs(20), 7), None);
    }

    #[test]
    fn what_is_no_longer_owed_stays_owed_for_a_minute() {
        let at = |s: u64| Time::ZERO + Span::secs(s);
        let mut owed = Owed::new(at(0));
        assert_eq!(owed.still(at(1), 5), None, "an owner before may have released more");
        assert_eq!(owed.still(at(30), 7), None);
        assert_eq!(owed.still(at(60), 7), Some(2));
        assert_eq!(owed.still(at(89), 7), Some(2));
        assert_eq!(owed.still(at(90), 7), Some(0));
        assert_eq!(owed.still(at(100), i64::MAX), Some(i64::MAX - 7));
        assert_eq!(owed.still(at(150), i64::MIN), Some(i64::MAX - 6));
    }
}
