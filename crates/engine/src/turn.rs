//! The loop. The node and the simulator call this very function.

use crate::engine::Engine;
use crate::error::Error;
use crate::event::{Action, Event, Keep, Row, Step, StopReason};
use crate::time::Time;

/// Events taken in one turn.
pub const BATCH_MAX: usize = 1_024;

/// The engine, or a mutant of it that the simulator must catch.
pub trait Machine {
    fn step(&mut self, now: Time, event: Event, step: &mut Step);
    fn conclude(&mut self, now: Time, step: &mut Step);
    fn next_wakeup(&self, now: Time) -> Option<(Time, &'static str)>;
    fn over(&self) -> Option<StopReason>;
    /// Once it is over: what is still to be written.
    fn last_words(&mut self, step: &mut Step);
}

/// Where bodies are kept.
pub trait Archive {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<(), Error>;

    /// Nothing more will come. What takes time may go on by itself.
    fn close(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Where facts are kept: all of a batch, or none.
pub trait State {
    fn commit(&mut self, rows: &mut Vec<Row>) -> Result<(), Error>;
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
    let mut desk = Desk::default();
    loop {
        if let Some(reason) = turn(engine, archive, state, world, &mut desk)? {
            return Ok(reason);
        }
    }
}

/// What a turn works on: used again from turn to turn, and never after one that failed.
#[derive(Debug, Default)]
pub struct Desk {
    step: Step,
    events: Vec<Event>,
}

/// One turn; why the crawl is over, once it is.
pub fn turn<M: Machine, A: Archive, S: State, W: World>(
    engine: &mut M,
    archive: &mut A,
    state: &mut S,
    world: &mut W,
    desk: &mut Desk,
) -> Result<Option<StopReason>, Error> {
    let Desk { step, events } = desk;
    let wakeup = engine.next_wakeup(world.now());
    let now = world.wait(wakeup, events)?;
    for event in events.drain(..) {
        engine.step(now, event, step);
    }
    engine.conclude(now, step);
    // A row never claims what the archive lacks.
    archive.append(&mut step.keeps)?;
    // All facts of the batch, or none.
    state.commit(&mut step.rows)?;
    // Only then act.
    for action in step.actions.drain(..) {
        world.perform(action)?;
    }
    let over = engine.over();
    if over.is_some() {
        // Both are put away while the last words are found.
        archive.close()?;
        world.rest();
        engine.last_words(step);
        state.commit(&mut step.rows)?;
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
