//! The loop. The node and the simulator call this very function.
//!
//! Within a turn bodies are kept first, then facts are committed, then actions are performed: the
//! death of the process between any two of them loses nothing. Every few seconds, and whenever the
//! state has gathered much, all is synced, the archive before the state. Power that fails between
//! two syncs may take any part of what came since the last, of each file by itself; so each commit
//! carries the archive's position, and an opening believes no commit beyond the archive's end.

use crate::engine::Engine;
use crate::error::Error;
use crate::event::{Action, Event, Keep, Row, Step, StopReason};
use crate::time::{Span, Time};

/// Events taken in one turn.
pub const BATCH_MAX: usize = 1_024;

/// What was kept and committed survives a power cut after this long at most.
pub const SYNC_EVERY: Span = Span::secs(5);

/// The engine, or a mutant of it that the simulator must catch.
pub trait Machine {
    fn step(&mut self, now: Time, event: Event, step: &mut Step);
    fn conclude(&mut self, now: Time, step: &mut Step);
    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)>;
    fn over(&self) -> Option<StopReason>;
    /// Once it is over: what is still to be written.
    fn last_words(&mut self, step: &mut Step);
}

/// How far an archive reaches: the serial number of its last file, from 1, and the length of that.
/// The default is the beginning, and where an archive that keeps nothing stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArchivePosition {
    pub file: u32,
    pub length: u64,
}

/// Where bodies are kept.
pub trait Archive {
    /// Once this returns, the death of the process does not undo it. Where the archive ends then.
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<ArchivePosition, Error>;

    /// Makes all that was appended survive a power cut.
    fn sync(&mut self) -> Result<(), Error>;

    /// Syncs, and takes no more. What takes time may go on by itself.
    fn close(&mut self) -> Result<(), Error> {
        self.sync()
    }
}

/// Where facts are kept: all of a batch, or none.
pub trait State {
    /// Once this returns, the death of the process does not undo it. The rows speak of what the
    /// archive holds up to `archived`: if it turns out to end before, they were never committed.
    fn commit(&mut self, rows: &mut Vec<Row>, archived: ArchivePosition) -> Result<(), Error>;

    /// Makes all commits survive a power cut. The archive was synced before.
    fn sync(&mut self) -> Result<(), Error>;

    /// It holds more than it wants to until the next sync.
    fn wants_sync(&self) -> bool {
        false
    }
}

/// Who performs actions, and brings events.
pub trait World {
    /// Waits for events until the wake-up time; the present time, and at most `BATCH_MAX` events.
    fn wait(
        &mut self,
        wakeup: Option<(Time, &'static str)>,
        events: &mut Vec<Event>,
    ) -> Result<Time, Error>;
    fn now(&mut self) -> Time;
    fn perform(&mut self, action: Action) -> Result<(), Error>;

    /// Nothing more will be asked for. What takes time may go on by itself.
    fn rest(&mut self) {}
}

/// Turns, at least one, until the crawl is over, or something goes wrong that is not the web's
/// fault.
pub fn run<M: Machine, A: Archive, S: State, W: World>(
    engine: &mut M,
    archive: &mut A,
    state: &mut S,
    world: &mut W,
) -> Result<StopReason, Error> {
    let mut buffers = TurnBuffers::default();
    loop {
        if let Some(reason) = turn(engine, archive, state, world, &mut buffers)? {
            return Ok(reason);
        }
    }
}

/// What a turn works on: used again from turn to turn, and never after one that failed.
#[derive(Debug, Default)]
pub struct TurnBuffers {
    step: Step,
    events: Vec<Event>,
    /// Since when there is something that a power cut would undo.
    unsynced: Option<Time>,
}

impl TurnBuffers {
    /// When archive and state are to be synced, if there is anything to sync. The loop wakes for
    /// it: messages to other partitions leave after a sync, also when nothing else happens here.
    pub fn sync_due(&self) -> Option<Time> {
        self.unsynced.map(|since| since + SYNC_EVERY)
    }
}

/// One turn; why the crawl is over, once it is.
pub fn turn<M: Machine, A: Archive, S: State, W: World>(
    engine: &mut M,
    archive: &mut A,
    state: &mut S,
    world: &mut W,
    buffers: &mut TurnBuffers,
) -> Result<Option<StopReason>, Error> {
    let sync = buffers.sync_due().map(|due| (due, "a sync is due"));
    let TurnBuffers { step, events, .. } = buffers;
    let wakeup = engine.next_wakeup(world.now()).into_iter().chain(sync).min();
    let now = world.wait(wakeup, events)?;
    for event in events.drain(..) {
        engine.step(now, event, step);
    }
    engine.conclude(now, step);
    if !(step.keeps.is_empty() && step.rows.is_empty()) {
        buffers.unsynced.get_or_insert(now);
    }
    // A row never claims what the archive lacks.
    let archived = archive.append(&mut step.keeps)?;
    // All facts of the batch, or none.
    state.commit(&mut step.rows, archived)?;
    // Only then act.
    for action in step.actions.drain(..) {
        world.perform(action)?;
    }
    let over = engine.over();
    if over.is_some() {
        // Both are put away while the last words are found.
        archive.close()?;
        world.rest();
        engine.last_words(&mut buffers.step);
        state.commit(&mut buffers.step.rows, archived)?;
        state.sync()?;
    } else if buffers.sync_due().is_some_and(|due| due <= now) || state.wants_sync() {
        archive.sync()?;
        state.sync()?;
        buffers.unsynced = None;
    }
    Ok(over)
}

impl Machine for Engine {
    fn step(&mut self, now: Time, event: Event, step: &mut Step) {
        Engine::step(self, now, event, step);
    }

    fn conclude(&mut self, now: Time, step: &mut Step) {
        Engine::conclude(self, now, step);
    }

    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)> {
        Engine::next_wakeup(self, now)
    }

    fn over(&self) -> Option<StopReason> {
        Engine::over(self)
    }

    fn last_words(&mut self, step: &mut Step) {
        Engine::last_words(self, step);
    }
}
