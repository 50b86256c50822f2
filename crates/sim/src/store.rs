//! Where the simulated process keeps rows and bodies, where it dies, and where its power is cut.

use crate::check::Checker;
use crate::history::{Change, History};
use crate::mail::{Envelope, Mail};
use crate::mutant::Mutant;
use crate::power::Disk;
use rhumb_cluster::gate::Gate;
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
    /// None where power is never cut.
    pub history: Option<History>,
}

/// Bytes are not counted: a loop that syncs every few seconds bounds what is not shipped.
const UNSHIPPED_MAX: u64 = u64::MAX;

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
    /// What goes to other partitions once the commit that it rests on is synced.
    gate: Gate<Envelope>,
    commits: u64,
    /// The last acknowledgement to each partition.
    acknowledged: BTreeMap<u32, u64>,
}

impl Part {
    pub fn new(seed: u64, crash: CrashPlan, disk: Option<Disk>) -> Part {
        Part {
            skew_us: 0,
            state: MemoryState::new(seed),
            crash,
            disk,
            held: BTreeMap::new(),
            gate: Gate::new(0, UNSHIPPED_MAX),
            commits: 0,
            acknowledged: BTreeMap::new(),
        }
    }

    /// Something waits here to leave for another partition.
    pub fn is_holding(&self) -> bool {
        self.gate.waiting() > 0
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
        self.history.iter_mut().for_each(|history| history.push(0, Change::Began(run)));
    }

    /// A process has died. Cuts its power, if that is what it died of.
    pub fn died(&mut self, own: u32, mutant: Option<Mutant>) {
        let Shared { clock, checker, parts, history, .. } = self;
        checker.crashed(own, *clock);
        let Some(history) = history else { return };
        let Part { crash, disk, state, .. } = &mut parts[own as usize];
        let Some(disk) = disk.as_mut().filter(|_| crash.is_power_cut) else {
            return history.push(own, Change::Died);
        };
        let left = disk.cut(&mut crash.rng, mutant == Some(Mutant::Gullible));
        state.rows = disk.rows.clone();
        checker.power_cut(own, *clock, history.cut(own, &left), &state.rows);
    }

    /// A process begins: what its disk holds was synced by the opening, and messages that nobody
    /// has acknowledged go again.
    pub fn opened(&mut self, own: u32) {
        self.sync_archive(own);
        let part = &mut self.parts[own as usize];
        part.gate = Gate::new(part.commits, UNSHIPPED_MAX);
        part.acknowledged.clear();
        for &(to, number) in part.state.rows.messages.keys() {
            part.gate.hold(Envelope::Message { from: own, to, number });
        }
        self.sync_state(own);
    }

    fn sync_archive(&mut self, own: u32) {
        self.parts[own as usize].disk.iter_mut().for_each(Disk::sync_archive);
        self.history.iter_mut().for_each(|history| history.synced_archive(own));
    }

    /// Everything committed survives a power cut now: what rests on it leaves.
    fn sync_state(&mut self, own: u32) {
        let Part { disk, gate, commits, .. } = &mut self.parts[own as usize];
        disk.iter_mut().for_each(Disk::sync_state);
        gate.shipped(*commits);
        self.history.iter_mut().for_each(|history| history.synced_state(own));
        self.let_leave(own);
    }

    fn let_leave(&mut self, own: u32) {
        while let Some(envelope) = self.parts[own as usize].gate.pass() {
            self.mail.send(self.clock, envelope);
        }
    }

    /// A partition has something to say to another.
    pub fn hold(&mut self, own: u32, envelope: Envelope, mutant: Option<Mutant>) {
        let part = &mut self.parts[own as usize];
        let is_repeated = match envelope {
            Envelope::Acknowledgement { to, number, .. } => {
                part.acknowledged.insert(to, number) == Some(number)
            }
            Envelope::Message { .. } => false,
        };
        let leaves_early = match (mutant, envelope) {
            (Some(Mutant::Blabbing), Envelope::Message { .. }) => true,
            (Some(Mutant::Assuring), Envelope::Acknowledgement { .. }) => true,
            (Some(Mutant::Insisting), _) => is_repeated,
            _ => false,
        };
        match leaves_early {
            true => self.mail.send(self.clock, envelope),
            false => part.gate.hold(envelope),
        }
        self.let_leave(own);
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
        let Shared { checker, parts, history, .. } = &mut *self.shared.borrow_mut();
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
                    part.disk.iter_mut().for_each(Disk::keep);
                    let history = history.iter_mut();
                    history.for_each(|h| h.push(self.own, Change::Archived(url.clone())));
                }
                (_, None) => checker.violated(7, "the archive was given no body to keep"),
            }
        }
        part.crash.point()?;
        Ok(part.disk.as_ref().map_or(Position::default(), Disk::archived))
    }

    fn sync(&mut self) -> Result<(), Error> {
        let shared = &mut *self.shared.borrow_mut();
        shared.parts[self.own as usize].crash.point()?;
        if self.mutant != Some(Mutant::Rash) {
            shared.sync_archive(self.own);
        }
        shared.parts[self.own as usize].crash.point()
    }
}

pub struct SimState {
    pub shared: SharedRef,
    pub own: u32,
    pub mutant: Option<Mutant>,
}

impl State for SimState {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: Position) -> Result<(), Error> {
        let shared = &mut *self.shared.borrow_mut();
        let own = self.own;
        shared.parts[own as usize].crash.point()?;
        let mut messages = Vec::new();
        for row in rows.iter() {
            shared.checker.row(own, row);
            if let Row::Message { to, number, message: Some(_) } = row {
                messages.push(Envelope::Message { from: own, to: *to, number: *number });
            }
        }
        let part = &mut shared.parts[own as usize];
        if !rows.is_empty() {
            part.commits += 1;
            part.gate.committed(part.commits, rows.len() as u64);
        }
        let is_safe = part.disk.is_none();
        if let Some(disk) = &mut part.disk {
            let copy = Rc::new(rows.to_vec());
            disk.commit(&copy, archived);
            shared.history.iter_mut().for_each(|h| h.push(own, Change::Commit(Rc::clone(&copy))));
        }
        shared.parts[own as usize].state.commit(rows);
        messages.into_iter().for_each(|message| shared.hold(own, message, self.mutant));
        if is_safe {
            shared.sync_state(own);
        }
        shared.parts[own as usize].crash.point()
    }

    fn sync(&mut self) -> Result<(), Error> {
        let shared = &mut *self.shared.borrow_mut();
        shared.parts[self.own as usize].crash.point()?;
        shared.sync_state(self.own);
        shared.parts[self.own as usize].crash.point()
    }
}
