//! Format 10: where its store lies, and what becomes of each of its rows.
//!
//! Rules of robots.txt are not carried over: they are fetched again and read as this version reads
//! them. Frames of its journal are written as today's (`journal::take_frame`).

pub(super) mod shapes;

use super::super::table::StateTable;
use super::super::{COUNTERS, SCHEDULER};
use super::{anew, chunk};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::refresh::scheduler;
use rhumb_engine::{counters, host, mass, queue, record};
use shapes::{Counters, Entry, HostRecord, Lead, LinkPart, Scheduler, UrlRecord};

pub const FORMAT: &str = "rhumb state 10";

/// The directory of its store.
pub const STORE_DIR: &str = "format-10";

/// A row as this format writes it; none if it has no such row. No key has changed.
pub fn converted(table: StateTable, key: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let value = match table {
        StateTable::Url => anew::<UrlRecord, record::UrlRecord>("url", value)?,
        StateTable::Queue => anew::<Entry, queue::Entry>("queue", value)?,
        StateTable::Host => anew::<HostRecord, host::HostRecord>("host", value)?,
        StateTable::Robots => return Ok(None),
        StateTable::Outbox => chunk::<Lead>(value)?,
        StateTable::Links => anew::<LinkPart, mass::LinkPart>("links", value)?,
        StateTable::Meta if key == COUNTERS => {
            anew::<Counters, counters::Counters>("counters", value)?
        }
        StateTable::Meta if key == SCHEDULER => {
            anew::<Scheduler, scheduler::Scheduler>("scheduler", value)?
        }
        // Numbers, texts and types that are as they were.
        StateTable::Meta
        | StateTable::Sleep
        | StateTable::Content
        | StateTable::Leader
        | StateTable::Seed
        | StateTable::Settled => value.to_vec(),
        StateTable::Exchange => {
            let what = "state: a store of several partitions cannot be migrated from format 10";
            return Err(Error::new(ErrorKind::Invalid, what));
        }
    };
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::super::super::codec::{decode, encode_into};
    use super::*;
    use rhumb_engine::refresh::population::Population;
    use rhumb_engine::refresh::sample::PageSample;
    use rhumb_engine::refresh::scheduler::SchedulerSettings;

    #[test]
    fn what_was_learnt_of_all_pages_is_carried_over_and_what_predicts_best_is_found_anew() {
        let (population, pages, price) = (Population::new(0.25, 0.7), 321u64, 0.5f64);
        let begun = (
            SchedulerSettings::default(),
            population,
            [[-7.0f64; 4]; 6],
            0.9f64,
            PageSample::default(),
        );
        let rest = (price.ln(), 0.1f64, 0.6f64, pages, 5u64, 6u64, 0.2f64, true);
        let old = encode_into(&(begun, rest))(Vec::new());
        let new = converted(StateTable::Meta, SCHEDULER, &old).unwrap().unwrap();
        let new: scheduler::Scheduler = decode("scheduler", &new).unwrap();
        assert_eq!((new.pages(), new.population()), (pages, &population));
        assert!((new.price() - price).abs() < 1e-12);
        assert_eq!(new.kept(), scheduler::Scheduler::new(SchedulerSettings::default(), 1.0).kept());
    }
}
