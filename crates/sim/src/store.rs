//! Where the simulated process keeps rows and bodies, where it dies, and where its power is cut.

use crate::check::Checker;
use crate::mail::{Envelope, Mail};
use crate::mutant::Mutant;
use crate::power::Disk;
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
    /// What a power cut would leave; none where power is never cut.
    pub disk: Option<Disk>,
    /// Bodies that workers hold.
    pub held: BTreeMap<FetchId, Url>,
}

impl Part {
    pub fn new(seed: u64, crash: CrashPlan, disk: Option<Disk>) -> Part {
        Part { skew_us: 0, state: MemoryState::new(seed), crash, disk, held: BTreeMap::new() }
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

    /// The rules of this run are in force.
    pub fn begin_run(&mut self, run: usize) {
        self.checker.written.oracle.begin_run(run);
        let disks = self.parts.iter_mut().filter_map(|part| part.disk.as_mut());
        disks.for_each(|disk| disk.written.oracle.begin_run(run));
    }

    /// Cuts the power of a process that has just died, if that is what it died of.
    pub fn cut_power(&mut self, own: u32, mutant: Option<Mutant>) {
        let Shared { clock, checker, parts, .. } = self;
        let Part { crash, disk, state, .. } = &mut parts[own as usize];
        let Some(disk) = disk.as_mut().filter(|_| crash.is_power_cut) else { return };
        disk.cut(&mut crash.rng, mutant == Some(Mutant::Gullible));
        state.rows = disk.rows.clone();
        checker.power_cut(own, *clock, disk.written.clone(), &state.rows);
    }
}

pub type SharedRef = Rc<RefCell<Shared>>;

/// The process dies at chosen points; every line of the loop has one before and one after it.
pub struct CrashPlan {
    rng: Rng,
    kills: u32,
    power_cuts: u32,
    countdown: u64,
    /// What it died of last.
    is_power_cut: bool,
}

/// Crashes are this many points apart on average.
const POINTS_BETWEEN: u64 = 3_000;

impl CrashPlan {
    pub fn new(seed: u64, kills: u32, power_cuts: u32) -> CrashPlan {
        let mut rng = Rng::new(seed ^ 0xc4a5);
        let countdown = rng.draw() % POINTS_BETWEEN;
        CrashPlan { rng, kills, power_cuts, countdown, is_power_cut: false }
    }

    pub fn point(&mut self) -> Result<(), Error> {
        let left = u64::from(self.kills + self.power_cuts);
        if left == 0 {
            return Ok(());
        }
        if self.countdown > 0 {
            self.countdown -= 1;
            return Ok(());
        }
        self.is_power_cut = self.rng.draw() % left < u64::from(self.power_cuts);
        match self.is_power_cut {
            true => self.power_cuts -= 1,
            false => self.kills -= 1,
        }
        self.countdown = self.rng.draw() % (2 * POINTS_BETWEEN);
        Err(Error::new(ErrorKind::Crash, "the simulated process died"))
    }
}

pub struct SimArchive {
    pub shared: SharedRef,
    pub own: u32,
    pub mutant: Option<Mutant>,
}

impl Archive for SimArchive {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<Position, Error> {
        let Shared { checker, parts, .. } = &mut *self.shared.borrow_mut();
        let part = &mut parts[self.own as usize];
        for keep in keeps.drain(..) {
            part.crash.point()?;
            let url = part.held.remove(&keep.fetch);
            match (keep.how, url) {
                (KeepAs::Drop, _) => {}
                (how, Some(url)) => {
                    if let KeepAs::Revisit(twin) | KeepAs::NotModified(twin) = &how
                        && !checker.written.is_archived(&twin.url)
                    {
                        let what = format!("{url} refers to a record of {}: none", twin.url);
                        checker.violated(7, what);
                    }
                    checker.written.archived(&url);
                    part.disk.iter_mut().for_each(|disk| disk.keep(&url));
                }
                (_, None) => checker.violated(7, "the archive was given no body to keep"),
            }
        }
        part.crash.point()?;
        Ok(part.disk.as_ref().map_or(Position::default(), Disk::archived))
    }

    fn sync(&mut self) -> Result<(), Error> {
        let part = &mut self.shared.borrow_mut().parts[self.own as usize];
        part.crash.point()?;
        if self.mutant != Some(Mutant::Rash) {
            part.disk.iter_mut().for_each(Disk::sync_archive);
        }
        part.crash.point()
    }
}

pub struct SimState {
    pub shared: SharedRef,
    pub own: u32,
}

impl State for SimState {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: Position) -> Result<(), Error> {
        let Shared { clock, checker, parts, mail } = &mut *self.shared.borrow_mut();
        let part = &mut parts[self.own as usize];
        part.crash.point()?;
        for row in rows.iter() {
            checker.row(self.own, row);
            if let Row::Message { to, number, message: Some(_) } = row {
                mail.send(*clock, Envelope::Message { from: self.own, to: *to, number: *number });
            }
        }
        part.disk.iter_mut().for_each(|disk| disk.commit(rows, archived));
        part.state.commit(rows);
        part.crash.point()
    }

    fn sync(&mut self) -> Result<(), Error> {
        let part = &mut self.shared.borrow_mut().parts[self.own as usize];
        part.crash.point()?;
        part.disk.iter_mut().for_each(Disk::sync_state);
        part.crash.point()
    }
}
