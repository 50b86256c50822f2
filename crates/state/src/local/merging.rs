//! Waits until fjall has merged its tables, and makes sure that it merges them.
//!
//! Each ingestion asks fjall for one step of merging, and fjall chooses which: the step may concern
//! deeper levels, or find nothing to do. So a keyspace may have many unmerged tables and no step
//! asked for; and since nothing is added while there are that many, no step would ever be asked for
//! again. The wait itself must ask. Slow merging is no fault. Merging has failed if the steps that
//! were asked for are done and change nothing, or are not done at all.

use super::flush::is_working;
use super::store_error;
use super::table::StateTable;
use fjall::{Database, Keyspace};
use rhumb_engine::error::{Error, ErrorKind};
use std::time::Duration;

/// Tables of one keyspace that fjall has not yet merged: with more of them every look-up is slower,
/// so nothing is added before it has caught up.
pub(super) const UNMERGED_MAX: usize = 16;
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Steps in a row that were asked for, done, and changed nothing.
const VAIN_STEPS_MAX: u32 = 1_000;
/// Looks in a row at which a step was asked for and nobody had begun it: ten minutes.
const IDLE_LOOKS_MAX: u32 = 30_000;

/// Waits until so few tables are unmerged that more may be added.
pub(super) fn wait_for_merging(
    database: &Database,
    keyspace: &Keyspace,
    table: StateTable,
) -> Result<(), Error> {
    let mut watch = Watch::default();
    while keyspace.l0_table_count() >= UNMERGED_MAX {
        is_working(database)?;
        let look = Look {
            is_active: database.active_compactions() > 0,
            steps: database.compactions_completed(),
            tables: (keyspace.l0_table_count(), keyspace.table_count()),
        };
        match watch.judge(look) {
            Verdict::Working => {}
            Verdict::Idle => ask_to_merge(keyspace)?,
            Verdict::Dead => {
                let what = format!("state: the tables of {} are not merged", table.name());
                return Err(Error::new(ErrorKind::Retry, what));
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Asks for one more step of merging: an ingestion of nothing does that, and nothing else.
fn ask_to_merge(keyspace: &Keyspace) -> Result<(), Error> {
    keyspace.start_ingestion().and_then(|nothing| nothing.finish()).map_err(store_error)
}

/// Merging at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    /// A step is under way, of whatever keyspace.
    is_active: bool,
    /// Steps done so far.
    steps: usize,
    /// Of this keyspace: unmerged, and all.
    tables: (usize, usize),
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Working,
    /// Nothing is under way: a step is to be asked for.
    Idle,
    Dead,
}

#[derive(Debug, Default)]
struct Watch {
    last: Option<Look>,
    vain_steps: u32,
    idle_looks: u32,
}

impl Watch {
    fn judge(&mut self, look: Look) -> Verdict {
        let last = self.last.replace(look);
        if last.is_some_and(|last| last.tables != look.tables) {
            (self.vain_steps, self.idle_looks) = (0, 0);
            return Verdict::Working;
        }
        if look.is_active {
            // Slow is not dead.
            self.idle_looks = 0;
            return Verdict::Working;
        }
        match last.is_some_and(|last| last.steps != look.steps) {
            true => (self.vain_steps, self.idle_looks) = (self.vain_steps + 1, 0),
            false => self.idle_looks += 1,
        }
        match self.vain_steps > VAIN_STEPS_MAX || self.idle_looks > IDLE_LOOKS_MAX {
            true => Verdict::Dead,
            // The queue of steps is bounded, and whoever takes from it may be busy elsewhere: one
            // that was asked for is asked for again only now and then.
            false if self.idle_looks.is_power_of_two() || self.idle_looks == 0 => Verdict::Idle,
            false => Verdict::Working,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fjall::KeyspaceCreateOptions;

    const QUIET: Look = Look { is_active: false, steps: 7, tables: (16, 40) };

    #[test]
    fn merging_that_is_slow_is_waited_for_and_one_that_stands_still_is_asked_for() {
        let mut watch = Watch::default();
        for _ in 0..10 * IDLE_LOOKS_MAX {
            assert_eq!(watch.judge(Look { is_active: true, ..QUIET }), Verdict::Working);
        }
        assert_eq!(watch.judge(QUIET), Verdict::Idle);
        assert_eq!(watch.judge(Look { tables: (15, 39), ..QUIET }), Verdict::Working);
    }

    #[test]
    fn merging_that_changes_nothing_though_asked_has_failed() {
        let mut watch = Watch::default();
        let steps = (0..).map(|steps| watch.judge(Look { steps, ..QUIET }));
        let asked = steps.take_while(|verdict| *verdict != Verdict::Dead).count();
        assert!(asked as u32 > VAIN_STEPS_MAX, "{asked}");
        let mut watch = Watch::default();
        let looks = std::iter::repeat_with(|| watch.judge(QUIET));
        let looks = looks.take_while(|verdict| *verdict != Verdict::Dead).count();
        assert_eq!(looks as u32, IDLE_LOOKS_MAX);
    }

    #[test]
    fn an_ingestion_of_nothing_asks_for_a_step_and_changes_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let database = Database::builder(dir.path()).worker_threads(1).open().expect("a database");
        let keyspace = database.keyspace("t", KeyspaceCreateOptions::default).expect("a keyspace");
        let before = database.compactions_completed();
        ask_to_merge(&keyspace).expect("asked");
        while database.compactions_completed() == before {
            std::thread::yield_now();
        }
        assert_eq!((keyspace.table_count(), keyspace.l0_table_count()), (0, 0));
    }
}
