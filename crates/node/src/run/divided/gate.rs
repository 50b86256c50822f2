//! Committed and shipped: what a commit says may be lost with the machine until it is shipped, and
//! nothing that another partition hears may be.
//!
//! A message that leaves before the commit that numbers it is shipped may be sent again, with the
//! same number and other contents, after its sender fell back; an acknowledgement that leaves too
//! early makes the sender forget what the receiver then lacks. So both wait here. In a crawl of one
//! process, shipped means that archive and journal are synced.

use super::carrier::Carrier;
use rhumb_engine::error::Error;
use rhumb_engine::event::Row;
use rhumb_engine::outbound::Message;
use rhumb_engine::turn::{Position, State};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What waits to leave has the loop sync after this long …
const SHIP_AFTER: Duration = Duration::from_millis(500);
/// … or after this long if nothing is in flight: somebody may wait for it.
const SHIP_AFTER_IDLE: Duration = Duration::from_millis(20);

/// What one partition holds back.
pub struct Gate {
    own: u32,
    carrier: Arc<Carrier>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    messages: Vec<(u32, u64, Arc<Message>)>,
    acknowledgements: Vec<(u32, u64)>,
    /// Since when something waits.
    since: Option<Instant>,
    /// There is a commit that is not shipped.
    is_behind: bool,
    is_idle: bool,
}

impl Gate {
    pub fn new(own: u32, carrier: &Arc<Carrier>) -> Arc<Gate> {
        let held = Mutex::new(Held::default());
        Arc::new(Gate { own, carrier: Arc::clone(carrier), held })
    }

    /// Our messages of this partition, up to this one, are on record.
    pub fn acknowledge(&self, to: u32, number: u64) {
        let mut held = self.lock();
        if !held.is_behind {
            drop(held);
            return self.carrier.acknowledge(self.own, to, number);
        }
        held.acknowledgements.push((to, number));
        held.since.get_or_insert_with(Instant::now);
    }

    /// Whether the loop has nothing in flight.
    pub fn note_idle(&self, is_idle: bool) {
        self.lock().is_idle = is_idle;
    }

    /// How long what waits may go on waiting; none if nothing does.
    pub fn due_in(&self) -> Option<Duration> {
        let held = self.lock();
        let after = if held.is_idle { SHIP_AFTER_IDLE } else { SHIP_AFTER };
        held.since.map(|since| after.saturating_sub(since.elapsed()))
    }

    fn committed(&self, messages: Vec<(u32, u64, Arc<Message>)>) {
        let mut held = self.lock();
        held.is_behind = true;
        if !messages.is_empty() {
            held.since.get_or_insert_with(Instant::now);
            held.messages.extend(messages);
        }
    }

    fn shipped(&self) {
        let mut held = self.lock();
        (held.since, held.is_behind) = (None, false);
        let messages = std::mem::take(&mut held.messages);
        let acknowledgements = std::mem::take(&mut held.acknowledgements);
        drop(held);
        self.carrier.send(self.own, messages);
        for (to, number) in acknowledgements {
            self.carrier.acknowledge(self.own, to, number);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store whose messages leave when they are shipped.
pub struct Shipped<S> {
    pub state: S,
    pub gate: Arc<Gate>,
}

impl<S: State> State for Shipped<S> {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: Position) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let messages = rows.iter().filter_map(|row| match row {
            Row::Message { to, number, message: Some(message) } => {
                Some((*to, *number, Arc::clone(message)))
            }
            _ => None,
        });
        let messages = messages.collect();
        self.state.commit(rows, archived)?;
        self.gate.committed(messages);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.state.sync()?;
        self.gate.shipped();
        Ok(())
    }

    fn wants_sync(&self) -> bool {
        self.state.wants_sync() || self.gate.due_in().is_some_and(|due| due.is_zero())
    }
}
