//! The state as the loop sees it: commits at every turn, synced when the archive has been.

use rhumb_engine::error::Error;
use rhumb_engine::event::Row;
use rhumb_engine::turn::State;
use rhumb_state::local::LocalState;
use std::cell::Cell;
use std::rc::Rc;

pub struct NodeState {
    pub state: LocalState,
    pub may_sync: Rc<Cell<bool>>,
    /// Tells the archive, which must never be behind, that the state wants to sync.
    pub wants_sync: Rc<Cell<bool>>,
}

impl State for NodeState {
    fn commit(&mut self, rows: &mut Vec<Row>) -> Result<(), Error> {
        self.state.commit(rows)?;
        if self.may_sync.replace(false) {
            self.state.sync()?;
        }
        self.wants_sync.set(self.state.wants_sync());
        Ok(())
    }
}
