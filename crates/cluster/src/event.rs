//! What comes into the membership machine of a node, and what it asks for.

use crate::beat::Heartbeat;
use rhumb_engine::time::{Span, Time};

/// What happened. `began` is when the write or look began, by the clock of this node; answers that
/// were lost are failures, after a time-out of the caller's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemberEvent {
    /// Time has passed.
    Tick,
    /// The last heart-beats of all nodes, this one's included.
    Looked {
        began: Time,
        beats: Vec<Heartbeat>,
    },
    LookFailed,
    /// A heart-beat is written.
    Beaten {
        counter: u64,
        began: Time,
    },
    BeatFailed {
        counter: u64,
    },
    /// A partition's database is open for writing; the epoch is durable in it.
    Opened {
        partition: u32,
        epoch: u64,
    },
    OpenFailed {
        partition: u32,
    },
    /// It was not opened: another has opened it, in an epoch that was not known here.
    Claimed {
        partition: u32,
        epoch: u64,
    },
    /// Another opened it since.
    Fenced {
        partition: u32,
    },
    /// A write in this epoch is durable: of any kind, or the one that was asked for.
    Durable {
        partition: u32,
        epoch: u64,
        began: Time,
    },
    /// All orders up to this one are obeyed and shipped; after an opening those that were there
    /// when it was finished.
    Obeyed {
        partition: u32,
        order: u64,
    },
    /// Whether a partition has anything to fetch. It has until this is said.
    Busy {
        partition: u32,
        is_busy: bool,
    },
    /// The partition is closed, and all that was committed is shipped.
    Closed {
        partition: u32,
        epoch: u64,
    },
    /// A copy of another's partition is here.
    Copied {
        partition: u32,
    },
    /// The process is asked to end. With a time, it comes back within it.
    Leave {
        returns_within: Option<Span>,
    },
}

/// What to do. Nothing here blocks: each is answered by an event, sooner or later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// List the heart-beats of all nodes.
    Look,
    /// Write this one. Heart-beats of one run must take effect in order: each is written on the
    /// condition that the last one is still there, where the store has such a condition.
    Beat(Box<Heartbeat>),
    /// Open a partition's database for writing, in the next epoch; but leave it to whoever has
    /// claimed a later epoch than the last that is known.
    Open { partition: u32, known: u64 },
    /// Fetches may begin before this moment, to be compared with the clock immediately before the
    /// first byte goes out. It replaces what was said before.
    Allow { partition: u32, epoch: u64, until: Time },
    /// Begin no fetch, and give up those whose bytes have not gone out.
    Pause { partition: u32 },
    /// Make a write in this epoch durable now, whatever it holds.
    Prove { partition: u32, epoch: u64 },
    /// Copy another's partition, to open it quickly later.
    Copy { partition: u32 },
    /// End the fetches, ship everything, close the database.
    Release { partition: u32, epoch: u64 },
    /// Close it at once: what is unshipped stays so.
    Drop { partition: u32, why: Dropped },
    /// End the process.
    Exit(Exit),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dropped {
    /// A write failed, since another had opened it.
    Fenced,
    /// A heart-beat of another names a later epoch.
    Superseded,
    /// The time for leaving is over.
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It was asked to leave, and all partitions are released.
    Left,
    /// It was asked to leave, and something was not shipped in time.
    Late,
    /// It had been given up by the others, and lost partitions by that.
    Fenced,
    /// Another process has the same id.
    IdInUse,
}
