//! The books: the counters, and what each URL has of all importance.

use crate::counters::Counters;
use crate::event::{Row, Step};
use crate::mass::Mass;
use crate::requisites::RequisiteCounters;
use crate::time::Time;

#[derive(Debug)]
pub(crate) struct UrlBooks {
    pub counters: Counters,
    pub requisites: RequisiteCounters,
    pub mass: Mass,
    /// What was committed last, to write a row only when it changed.
    counters_written: Counters,
    requisites_written: RequisiteCounters,
}

impl UrlBooks {
    /// As the rows have them; a new run begins.
    pub fn open(counters: Counters, requisites: RequisiteCounters, mass: Mass) -> UrlBooks {
        UrlBooks {
            counters_written: counters.clone(),
            requisites_written: requisites.clone(),
            counters: Counters { run: counters.run + 1, ..counters },
            requisites,
            mass,
        }
    }

    /// Ends a turn: the rows of counters that changed.
    pub fn write(&mut self, now: Time, step: &mut Step) {
        if self.requisites != self.requisites_written {
            self.requisites_written.clone_from(&self.requisites);
            step.rows.push(Row::Requisites(self.requisites.clone()));
        }
        if self.counters != self.counters_written {
            self.counters.clock = now;
            self.counters_written = self.counters.clone();
            step.rows.push(Row::Counters(Box::new(self.counters.clone())));
        }
    }
}
