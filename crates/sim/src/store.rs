//! Where the simulated process keeps rows and bodies, and where it dies.

use crate::check::Checker;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{FetchId, Keep, KeepAs, Row};
use rhumb_engine::rng::Rng;
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{Archive, State};
use rhumb_page::url::Url;
use rhumb_state::memory::MemoryState;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// All that outlives a crash, and the bodies that do not.
pub struct Shared {
    /// The true time.
    pub clock: Time,
    /// What the crawler's clock is ahead of it, in microseconds.
    pub skew_us: i64,
    pub state: MemoryState,
    pub checker: Checker,
    pub crash: CrashPlan,
    /// Bodies that workers hold.
    pub held: BTreeMap<FetchId, Url>,
}

impl Shared {
    /// A moment as the crawler's clock has it, and back.
    pub fn told(&self, at: Time) -> Time {
        Time(at.0.saturating_add_signed(self.skew_us))
    }

    pub fn truly(&self, told: Time) -> Time {
        Time(told.0.saturating_add_signed(-self.skew_us))
    }

    /// The process is down for a while: bodies that nobody kept are gone.
    pub fn pause(&mut self, span: Span) {
        self.held.clear();
        self.clock = self.clock + span;
    }
}

pub type SharedRef = Rc<RefCell<Shared>>;

/// The process dies at chosen points; every line of the loop has one before and one after it.
pub struct CrashPlan {
    rng: Rng,
    left: u32,
    countdown: u64,
}

/// Crashes are this many points apart on average.
const POINTS_BETWEEN: u64 = 3_000;

impl CrashPlan {
    pub fn new(seed: u64, crashes: u32) -> CrashPlan {
        let mut rng = Rng::new(seed ^ 0xc4a5);
        let countdown = rng.draw() % POINTS_BETWEEN;
        CrashPlan { rng, left: crashes, countdown }
    }

    pub fn point(&mut self) -> Result<(), Error> {
        if self.left == 0 {
            return Ok(());
        }
        if self.countdown > 0 {
            self.countdown -= 1;
            return Ok(());
        }
        self.left -= 1;
        self.countdown = self.rng.draw() % (2 * POINTS_BETWEEN);
        Err(Error::new(ErrorKind::Crash, "the simulated process died"))
    }
}

pub struct SimArchive(pub SharedRef);

impl Archive for SimArchive {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<(), Error> {
        let shared = &mut *self.0.borrow_mut();
        for keep in keeps.drain(..) {
            shared.crash.point()?;
            let url = shared.held.remove(&keep.fetch);
            match (keep.how, url) {
                (KeepAs::Drop, _) => {}
                (_, Some(url)) => shared.checker.archived(url),
                (_, None) => shared.checker.violated(7, "the archive was given no body to keep"),
            }
        }
        shared.crash.point()
    }
}

pub struct SimState(pub SharedRef);

impl State for SimState {
    fn commit(&mut self, rows: &mut Vec<Row>) -> Result<(), Error> {
        let shared = &mut *self.0.borrow_mut();
        shared.crash.point()?;
        for row in rows.iter() {
            shared.checker.row(row);
        }
        shared.state.commit(rows);
        shared.crash.point()
    }
}
