//! Where the simulated process keeps rows and bodies, and where it dies.

use crate::check::Checker;
use crate::mail::{Mail, Parcel};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{FetchId, Keep, KeepAs, Row};
use rhumb_engine::rng::Rng;
use rhumb_engine::time::Time;
use rhumb_engine::turn::{Archive, Position, State};
use rhumb_page::url::Url;
use rhumb_state::memory::MemoryState;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The true time, the watch, and the partitions with what is on its way between them.
pub struct Shared {
    pub clock: Time,
    pub checker: Checker,
    pub parts: Vec<Part>,
    pub mail: Mail,
}

/// All of a partition that outlives a crash, and the bodies that do not.
pub struct Part {
    /// What the crawler's clock is ahead of it, in microseconds.
    pub skew_us: i64,
    pub state: MemoryState,
    pub crash: CrashPlan,
    /// Bodies that workers hold.
    pub held: BTreeMap<FetchId, Url>,
}

impl Part {
    pub fn new(seed: u64, crashes: u32) -> Part {
        let (state, crash) = (MemoryState::new(seed), CrashPlan::new(seed, crashes));
        Part { skew_us: 0, state, crash, held: BTreeMap::new() }
    }

    /// A moment as the crawler's clock has it, and back.
    pub fn told(&self, at: Time) -> Time {
        Time(at.0.saturating_add_signed(self.skew_us))
    }

    pub fn truly(&self, told: Time) -> Time {
        Time(told.0.saturating_add_signed(-self.skew_us))
    }
}

impl Shared {
    pub fn part(&self, part: u32) -> &Part {
        &self.parts[part as usize]
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

pub struct SimArchive(pub SharedRef, pub u32);

impl Archive for SimArchive {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<Position, Error> {
        let Shared { checker, parts, .. } = &mut *self.0.borrow_mut();
        let part = &mut parts[self.1 as usize];
        for keep in keeps.drain(..) {
            part.crash.point()?;
            let url = part.held.remove(&keep.fetch);
            match (keep.how, url) {
                (KeepAs::Drop, _) => {}
                (_, Some(url)) => checker.archived(&url),
                (_, None) => checker.violated(7, "the archive was given no body to keep"),
            }
        }
        part.crash.point()?;
        Ok(Position::default())
    }

    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

pub struct SimState(pub SharedRef, pub u32);

impl State for SimState {
    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn commit(&mut self, rows: &mut Vec<Row>, _: Position) -> Result<(), Error> {
        let Shared { clock, checker, parts, mail } = &mut *self.0.borrow_mut();
        let part = &mut parts[self.1 as usize];
        part.crash.point()?;
        for row in rows.iter() {
            checker.row(self.1, row);
            if let Row::Letter { to, number, letter: Some(_) } = row {
                mail.post(*clock, Parcel::Letter { from: self.1, to: *to, number: *number });
            }
        }
        part.state.commit(rows);
        part.crash.point()
    }
}
