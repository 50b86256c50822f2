//! What a node knows of the others: their last heart-beats, and the last epoch of each partition.

use crate::beat::{Heartbeat, Timing};
use rhumb_engine::time::Time;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClusterView {
    pub others: BTreeMap<String, SeenBeat>,
    pub epochs: BTreeMap<u32, KnownEpoch>,
}

/// The last heart-beat of another node, and when it was first seen here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeenBeat {
    pub beat: Heartbeat,
    pub at: Time,
}

/// The greatest epoch of a partition that any heart-beat named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KnownEpoch {
    pub epoch: u64,
    /// When a new heart-beat that named it was last seen.
    pub named_at: Time,
    /// Its owner has closed it with everything shipped.
    pub is_released: bool,
}

impl ClusterView {
    /// Takes a heart-beat if it is a new one. One that is older than the last of its run was put
    /// late, and says nothing.
    pub fn see(&mut self, now: Time, beat: Heartbeat) {
        let seen = self.others.get(&beat.node.id).map(|seen| &seen.beat);
        let is_old =
            seen.is_some_and(|last| last.node.run == beat.node.run && last.counter >= beat.counter);
        if is_old {
            return;
        }
        for (&partition, &epoch) in &beat.owned {
            self.name(now, partition, epoch);
        }
        for (&partition, &epoch) in &beat.released {
            self.release(now, partition, epoch);
        }
        self.others.insert(beat.node.id.clone(), SeenBeat { beat, at: now });
    }

    /// Nobody was looked at since that moment, so nobody is given up for it: who lived then, and
    /// what was held then, counts as seen now. When the store was away for all, all go on.
    pub fn missed(&mut self, since: Time, now: Time, timing: &Timing) {
        for seen in self.others.values_mut().filter(|seen| seen.is_living(since, timing)) {
            seen.at = now;
        }
        for known in self.epochs.values_mut().filter(|known| !known.is_free(since, timing)) {
            known.named_at = now;
        }
    }

    /// A heart-beat named this epoch.
    pub fn name(&mut self, now: Time, partition: u32, epoch: u64) {
        let last = self.epochs.get(&partition).map_or(0, |known| known.epoch);
        if epoch >= last {
            let known = KnownEpoch { epoch, named_at: now, is_released: false };
            self.epochs.insert(partition, known);
        }
    }

    /// The owner in this epoch has let the partition go.
    pub fn release(&mut self, now: Time, partition: u32, epoch: u64) {
        let last = self.epochs.get(&partition).map_or(0, |known| known.epoch);
        if epoch >= last {
            let known = KnownEpoch { epoch, named_at: now, is_released: true };
            self.epochs.insert(partition, known);
        }
    }

    /// The greatest epoch of a partition that a heart-beat of another told of.
    pub fn epoch_elsewhere(&self, partition: u32) -> u64 {
        let beats = self.others.values().map(|seen| &seen.beat);
        beats.flat_map(|beat| beat.epochs_of(partition)).max().unwrap_or(0)
    }

    /// Nodes that partitions may be given to, with their weights.
    pub fn living(&self, now: Time, timing: &Timing) -> Vec<(&str, u32)> {
        let others = self.others.values().filter(|seen| seen.is_living(now, timing));
        let staying = others.filter(|seen| !seen.beat.is_leaving);
        staying.map(|seen| (seen.beat.node.id.as_str(), seen.beat.node.weight)).collect()
    }

    /// When the next partition or node is given up for want of a heart-beat.
    pub fn next_expiry(&self, now: Time, timing: &Timing) -> Option<Time> {
        let nodes = self.others.values().map(|seen| seen.lives_until(timing));
        let held = self.epochs.values().filter(|known| !known.is_released);
        let epochs = held.map(|known| known.named_at + timing.hold);
        nodes.chain(epochs).filter(|at| *at > now).min()
    }
}

impl SeenBeat {
    fn lives_until(&self, timing: &Timing) -> Time {
        self.at + self.beat.returns_within.map_or(timing.hold, |span| span.max(timing.hold))
    }

    pub fn is_living(&self, now: Time, timing: &Timing) -> bool {
        now < self.lives_until(timing)
    }

    /// It named this partition in an earlier epoch, and not so long ago that it has stopped for
    /// certain.
    pub fn may_still_own(&self, now: Time, partition: u32, epoch: u64, timing: &Timing) -> bool {
        let is_earlier = self.beat.owned.get(&partition).is_some_and(|named| *named < epoch);
        is_earlier && now < self.at + timing.hold
    }
}

impl KnownEpoch {
    /// Whether another may open the partition now.
    pub fn is_free(&self, now: Time, timing: &Timing) -> bool {
        self.is_released || now >= self.named_at + timing.hold
    }
}
