//! Committed and shipped: what a commit says may be lost with the machine until it is shipped, and
//! nothing that another partition hears may be.
//!
//! A message that leaves before the commit that numbers it is shipped may be sent again, with the
//! same number and other contents, after its sender fell back; an acknowledgement that leaves too
//! early makes the sender forget what the receiver then lacks. So both wait here
//! ([`rhumb_cluster::gate`]), and so do reports of what a partition has come to. Without an object
//! store, shipped means that archive and journal are synced.

use super::carrier::Carrier;
use rhumb_cluster::gate;
use rhumb_engine::error::Error;
use rhumb_engine::event::Row;
use rhumb_engine::outbound::Message;
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_state::local::LocalState;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What waits to leave has the loop sync after this long …
const SHIP_AFTER: Duration = Duration::from_millis(500);
/// … or after this long if nothing is in flight: somebody may wait for it.
const SHIP_AFTER_IDLE: Duration = Duration::from_millis(20);
/// A partition reports so often at most.
const REPORT_EVERY: Duration = Duration::from_millis(400);

/// What one partition holds back.
pub struct PartitionGate {
    own: u32,
    carrier: Arc<Carrier>,
    /// Takes reports; none without an object store: then a sync ships.
    reported: Option<Reported>,
    held: Mutex<Held>,
}

/// Takes a snapshot of a moment that is shipped, and how long ago that was.
pub type Reported = Box<dyn Fn(EngineSnapshot, Duration) + Send + Sync>;

struct Held {
    gate: gate::Gate<Leaving>,
    /// Shipped, as was told; the commit may not have been told yet.
    shipped: u64,
    /// Since when something waits.
    since: Option<Instant>,
    is_idle: bool,
    /// The last snapshot of the turn that is being committed.
    snapshot: Option<Box<EngineSnapshot>>,
    reported_at: Option<Instant>,
}

enum Leaving {
    Message { to: u32, number: u64, message: Arc<Message> },
    Acknowledgement { to: u32, number: u64 },
    Report(Box<EngineSnapshot>, Instant),
}

impl PartitionGate {
    /// Of a partition that has so many commits, all of them shipped.
    pub fn new(
        own: u32,
        commits: u64,
        carrier: &Arc<Carrier>,
        reported: Option<Reported>,
    ) -> Arc<PartitionGate> {
        let held = Held {
            gate: gate::Gate::new(commits, u64::MAX),
            shipped: commits,
            since: None,
            is_idle: false,
            snapshot: None,
            reported_at: None,
        };
        let held = Mutex::new(held);
        Arc::new(PartitionGate { own, carrier: Arc::clone(carrier), reported, held })
    }

    /// What the engine has come to in the turn that is committed next.
    pub fn note(&self, snapshot: &EngineSnapshot) {
        if self.reported.is_some() {
            self.lock().snapshot = Some(Box::new(snapshot.clone()));
        }
    }

    /// Somebody may wait for what waits here, and nothing is in flight that would join it.
    pub fn is_urgent(&self) -> bool {
        let held = self.lock();
        held.is_idle && held.since.is_some_and(|since| since.elapsed() >= SHIP_AFTER_IDLE)
    }

    /// The messages of another partition, up to this one, are on record.
    pub fn acknowledge(&self, to: u32, number: u64) {
        let mut held = self.lock();
        held.gate.hold(Leaving::Acknowledgement { to, number });
        held.since.get_or_insert_with(Instant::now);
        self.let_pass(held);
    }

    /// The number of the last commit.
    pub fn commits(&self) -> u64 {
        self.lock().gate.numbers().0
    }

    /// Whether the loop has nothing in flight.
    pub fn note_idle(&self, is_idle: bool) {
        self.lock().is_idle = is_idle;
    }

    /// How long what waits may go on waiting for a sync; none if nothing does.
    pub fn due_in(&self) -> Option<Duration> {
        let held = self.lock();
        let after = if held.is_idle { SHIP_AFTER_IDLE } else { SHIP_AFTER };
        let since = held.since.filter(|_| self.reported.is_none());
        since.map(|since| after.saturating_sub(since.elapsed()))
    }

    /// All commits up to this one are shipped.
    pub fn shipped(&self, number: u64) {
        let mut held = self.lock();
        let (committed, _) = held.gate.numbers();
        held.shipped = held.shipped.max(number);
        let shipped = held.shipped.min(committed);
        held.gate.shipped(shipped);
        self.let_pass(held);
    }

    fn committed(&self, number: u64, messages: Vec<Leaving>) {
        let mut held = self.lock();
        held.gate.committed(number, 0);
        if !messages.is_empty() {
            held.since.get_or_insert_with(Instant::now);
        }
        messages.into_iter().for_each(|message| held.gate.hold(message));
        if held.shipped >= number {
            // It was shipped before we came to say that it is committed.
            held.gate.shipped(number);
            self.let_pass(held);
        }
    }

    /// The turn is committed: what it came to may be told once that is shipped.
    fn turned(&self) {
        let mut held = self.lock();
        let Some(snapshot) = held.snapshot.take() else { return };
        if held.reported_at.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
            held.reported_at = Some(Instant::now());
            held.gate.hold(Leaving::Report(snapshot, Instant::now()));
            self.let_pass(held);
        }
    }

    fn synced(&self) {
        if self.reported.is_none() {
            let (committed, _) = self.lock().gate.numbers();
            self.shipped(committed);
        }
    }

    fn let_pass(&self, mut held: MutexGuard<'_, Held>) {
        let leaving: Vec<Leaving> = std::iter::from_fn(|| held.gate.pass()).collect();
        if held.gate.waiting() == 0 {
            held.since = None;
        }
        drop(held);
        for leaving in leaving {
            match leaving {
                Leaving::Message { to, number, message } => {
                    self.carrier.send(self.own, to, number, message);
                }
                Leaving::Acknowledgement { to, number } => {
                    self.carrier.acknowledge(self.own, to, number);
                }
                Leaving::Report(snapshot, at) => {
                    let reported = self.reported.as_ref().expect("who reports is listened to");
                    reported(*snapshot, at.elapsed());
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store whose messages leave when they are shipped.
pub struct Shipped {
    pub state: LocalState,
    pub gate: Arc<PartitionGate>,
}

impl State for Shipped {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: ArchivePosition) -> Result<(), Error> {
        if rows.is_empty() {
            self.gate.turned();
            return Ok(());
        }
        let messages = rows.iter().filter_map(|row| match row {
            Row::Message { to, number, message: Some(message) } => {
                let (to, number, message) = (*to, *number, Arc::clone(message));
                Some(Leaving::Message { to, number, message })
            }
            _ => None,
        });
        let messages = messages.collect();
        self.state.commit(rows, archived)?;
        self.gate.committed(self.state.commits(), messages);
        self.gate.turned();
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.state.sync()?;
        self.gate.synced();
        Ok(())
    }

    fn wants_sync(&self) -> bool {
        self.state.wants_sync() || self.gate.due_in().is_some_and(|due| due.is_zero())
    }
}
