//! Pages for whose bodies there was no room: nobody is to blame, and they are asked for again.

use crate::engine::Engine;
use crate::event::Step;
use crate::queue::{Entry, Place};
use crate::record::UrlId;
use crate::time::{Span, Time};
use std::collections::HashMap;

/// What was in the way has come to its end by then, as a rule.
const CROWDED_WAIT: Span = Span::secs(5);
/// A page is asked for so often in a run before that is a failure: ours, not its host's.
const CROWDED_TRIES_MAX: u8 = 16;
/// Pages of which that is known at one time; what comes beside them is a failure at once.
const CROWDED_MAX: usize = 4_096;

/// How often there was no room for a page, by its number. Looked up, never iterated.
#[derive(Debug, Default)]
pub(crate) struct Crowded(HashMap<u64, u8>);

impl Crowded {
    /// There was room.
    pub fn forget(&mut self, id: UrlId) {
        if !self.0.is_empty() {
            self.0.remove(&id.0);
        }
    }

    /// There was none; whether it is asked for again.
    fn is_tried_again(&mut self, id: UrlId) -> bool {
        if self.0.len() >= CROWDED_MAX && !self.0.contains_key(&id.0) {
            return false;
        }
        let tries = self.0.entry(id.0).or_default();
        *tries += 1;
        *tries < CROWDED_TRIES_MAX
    }
}

impl Engine {
    /// Puts a page back, untried; false if that was done often enough.
    pub(crate) fn put_back_crowded(
        &mut self,
        now: Time,
        slot: u32,
        (place, entry): (Place, &Entry),
        step: &mut Step,
    ) -> bool {
        let is_tried_again = self.traffic.crowded.is_tried_again(entry.record.id);
        if is_tried_again {
            self.books.counters.retries += 1;
            self.defer(slot, (place, entry.clone()), now + CROWDED_WAIT, step);
        }
        is_tried_again
    }
}
