//! Where the simulated process keeps rows and bodies, where it dies, and where its power is cut.

use crate::check::Checker;
use crate::cluster::doors::Doors;
use crate::cluster::journal::SimJournal;
use crate::history::{History, PageChange};
use crate::mail::{Envelope, Leaving, Mail};
use crate::mutant::Mutant;
use crate::power::Disk;
use rhumb_cluster::allowance::Grants;
use rhumb_cluster::gate::Gate;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{FetchId, Keep, KeepAs, Row};
use rhumb_engine::rng::Rng;
use rhumb_engine::time::Time;
use rhumb_engine::turn::{Archive, ArchivePosition, State};
use rhumb_page::url::Url;
use rhumb_state::memory::MemoryState;
use rhumb_state::plain::PlainMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The true time, the watch, and the places of partitions with what is on its way between them.
pub struct Shared {
    pub clock: Time,
    pub checker: Checker,
    /// By place: where all are on one machine, the partition is the place.
    pub parts: Vec<DurablePart>,
    pub mail: Mail,
    /// None where nothing that was committed is ever lost.
    pub history: Option<History>,
    /// What passed the gates of places whose partitions are shipped elsewhere, to be carried.
    pub leaving: Vec<(usize, Leaving)>,
    /// Requests at addresses, by node; none where all are on one machine.
    pub doors: Vec<Doors>,
    /// Earlier requests for URLs that failed at first, by whomever. Looked up, never iterated.
    pub attempts: PlainMap<Url, u32>,
}

/// Bytes are not counted: a loop that syncs every few seconds bounds what is not shipped.
const UNSHIPPED_MAX: u64 = u64::MAX;

/// All of a partition at one place that outlives a crash, and the bodies that do not.
pub struct DurablePart {
    /// The partition.
    pub own: u32,
    /// What the crawler's clock is ahead of it, in microseconds.
    pub skew_us: i64,
    pub state: MemoryState,
    pub crash: CrashPlan,
    /// What a power cut would leave; none where power is never cut.
    pub disk: Option<Disk>,
    /// Bodies that workers hold.
    pub held: BTreeMap<FetchId, Url>,
    /// What others hear once the commit that it rests on is shipped.
    pub gate: Gate<Leaving>,
    pub commits: u64,
    /// The last acknowledgement to each partition.
    acknowledged: BTreeMap<u32, u64>,
    /// Commits to be shipped elsewhere; none where a sync ships.
    pub journal: Option<SimJournal>,
}

impl DurablePart {
    pub fn new(own: u32, seed: u64, crash: CrashPlan, disk: Option<Disk>) -> DurablePart {
        DurablePart {
            own,
            skew_us: 0,
            state: MemoryState::new(seed),
            crash,
            disk,
            held: BTreeMap::new(),
            gate: Gate::new(0, UNSHIPPED_MAX),
            commits: 0,
            acknowledged: BTreeMap::new(),
            journal: None,
        }
    }

    pub fn journal_mut(&mut self) -> &mut SimJournal {
        self.journal.as_mut().expect("a place of a node")
    }

    /// Power fails: the disk has what was synced, and any part of what came since.
    pub fn fall_back(&mut self) {
        let DurablePart { crash, disk, state, commits, journal, .. } = self;
        let (Some(disk), Some(journal)) = (disk, journal) else { return };
        let (unsynced, archived) = (disk.unsynced(), disk.archived().length);
        let left = disk.cut(&mut crash.rng, false);
        state.rows = disk.rows.clone();
        *commits -= unsynced - left.commits;
        journal.fall_back(*commits, archived - disk.archived().length);
    }

    /// The node whose place it is; of a crawl on one machine there is none.
    pub fn node(&self) -> usize {
        self.journal.as_ref().map_or(usize::MAX, |journal| journal.node)
    }

    /// What is committed here may be read by others: nobody has taken the partition over.
    pub fn is_current(&self) -> bool {
        self.journal.as_ref().is_none_or(|journal| journal.is_current)
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
    pub fn part(&self, place: usize) -> &DurablePart {
        &self.parts[place]
    }

    /// The rules of this run are in force.
    pub fn begin_run(&mut self, run: usize) {
        self.checker.written.oracle.begin_run(run);
        self.history.iter_mut().for_each(|history| history.push(0, PageChange::Began(run)));
    }

    /// A process is gone, by a stop or a crash; how many requests were under way.
    pub fn process_ended(&mut self, place: usize, now: Time) -> u64 {
        let part = &self.parts[place];
        if part.is_current() {
            self.checker.written.oracle.crashed(part.own);
        }
        self.checker.connections_ended(place, now)
    }

    /// A process has died. Cuts its power, if that is what it died of.
    pub fn died(&mut self, place: usize, mutant: Option<Mutant>) {
        let clock = self.clock;
        self.checker.tally.crashes += 1;
        self.checker.tally.repeated += self.process_ended(place, clock);
        let Shared { checker, parts, history, .. } = self;
        let Some(history) = history else { return };
        let DurablePart { own, crash, disk, state, .. } = &mut parts[place];
        let Some(disk) = disk.as_mut().filter(|_| crash.is_power_cut) else {
            return history.push(*own, PageChange::Died);
        };
        let left = disk.cut(&mut crash.rng, mutant == Some(Mutant::Gullible));
        state.rows = disk.rows.clone();
        checker.fell_back(*own, clock, history.cut(*own, &left), &state.rows);
        checker.tally.power_cuts += 1;
    }

    /// A process begins: what its disk holds was synced by the opening, and messages that nobody
    /// has acknowledged go again.
    pub fn opened(&mut self, place: usize) {
        self.sync_archive(place);
        let part = &mut self.parts[place];
        if part.journal.is_none() {
            part.gate = Gate::new(part.commits, UNSHIPPED_MAX);
        }
        part.acknowledged.clear();
        for &(to, number) in part.state.rows.messages.keys() {
            let message = Envelope::Message { from: part.own, to, number };
            part.gate.hold(Leaving::Envelope(message));
        }
        self.sync_state(place);
        self.let_leave(place);
    }

    fn sync_archive(&mut self, place: usize) {
        let part = &mut self.parts[place];
        part.disk.iter_mut().for_each(Disk::sync_archive);
        if part.journal.is_none() {
            self.history.iter_mut().for_each(|history| history.synced_archive(part.own));
        }
    }

    /// Everything committed survives a power cut now. Where nothing is shipped elsewhere, what
    /// rests on it leaves.
    fn sync_state(&mut self, place: usize) {
        let DurablePart { own, disk, gate, commits, journal, .. } = &mut self.parts[place];
        disk.iter_mut().for_each(Disk::sync_state);
        if journal.is_none() {
            gate.shipped(*commits);
            self.history.iter_mut().for_each(|history| history.synced_state(*own));
            self.let_leave(place);
        }
    }

    pub fn let_leave(&mut self, place: usize) {
        while let Some(leaving) = self.parts[place].gate.pass() {
            self.leave(place, leaving);
        }
    }

    fn leave(&mut self, place: usize, leaving: Leaving) {
        match leaving {
            Leaving::Envelope(envelope) if self.parts[place].journal.is_none() => {
                self.mail.send(self.clock, envelope);
            }
            leaving => self.leaving.push((place, leaving)),
        }
    }

    /// What the owner of partition 0 has granted is on record.
    pub fn commit_ledger(&mut self, place: usize, ledger: Grants) {
        let Shared { clock, parts, history, .. } = self;
        let part = &mut parts[place];
        part.commits += 1;
        part.gate.committed(part.commits, 1);
        let rows = Rc::default();
        let archived = part.disk.as_ref().map_or(ArchivePosition::default(), Disk::archived);
        part.disk.iter_mut().for_each(|disk| disk.commit(&rows, archived));
        let commits = part.commits;
        part.journal_mut().commit_ledger(commits, ledger, *clock);
        if part.is_current() {
            history.iter_mut().for_each(|h| h.push(part.own, PageChange::Commit(Rc::clone(&rows))));
        }
    }

    /// A partition has something to say to another.
    pub fn hold(&mut self, place: usize, envelope: Envelope, mutant: Option<Mutant>) {
        let part = &mut self.parts[place];
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
            true => self.leave(place, Leaving::Envelope(envelope)),
            false => part.gate.hold(Leaving::Envelope(envelope)),
        }
        self.let_leave(place);
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
    pub is_power_cut: bool,
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
    pub place: usize,
    pub mutant: Option<Mutant>,
}

impl Archive for SimArchive {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<ArchivePosition, Error> {
        let Shared { checker, parts, history, .. } = &mut *self.shared.borrow_mut();
        let part = &mut parts[self.place];
        let is_current = part.is_current();
        for keep in keeps.drain(..) {
            part.crash.point()?;
            let url = part.held.remove(&keep.fetch);
            match (keep.how, url) {
                (KeepAs::Drop, _) => {}
                // What a partition's earlier owner keeps nobody reads.
                (_, Some(_)) if !is_current => {}
                (how, Some(url)) => {
                    if let KeepAs::Revisit(twin) | KeepAs::NotModified(twin) = &how
                        && !checker.written.is_archived(&twin.url)
                    {
                        let what = format!("{url} refers to a record of {}: none", twin.url);
                        checker.violated(7, what);
                    }
                    checker.written.archived(&url);
                    part.disk.iter_mut().for_each(Disk::keep);
                    part.journal.iter_mut().for_each(SimJournal::keep);
                    let history = history.iter_mut();
                    history.for_each(|h| h.push(part.own, PageChange::Archived(url.clone())));
                }
                (_, None) => checker.violated(7, "the archive was given no body to keep"),
            }
        }
        part.crash.point()?;
        Ok(part.disk.as_ref().map_or(ArchivePosition::default(), Disk::archived))
    }

    fn sync(&mut self) -> Result<(), Error> {
        let shared = &mut *self.shared.borrow_mut();
        shared.parts[self.place].crash.point()?;
        if self.mutant != Some(Mutant::Rash) {
            shared.sync_archive(self.place);
        }
        shared.parts[self.place].crash.point()
    }
}

pub struct SimState {
    pub shared: SharedRef,
    pub place: usize,
    pub mutant: Option<Mutant>,
}

impl State for SimState {
    fn commit(&mut self, rows: &mut Vec<Row>, archived: ArchivePosition) -> Result<(), Error> {
        let shared = &mut *self.shared.borrow_mut();
        let place = self.place;
        shared.parts[place].crash.point()?;
        let mut messages = Vec::new();
        let (own, is_current) = (shared.parts[place].own, shared.parts[place].is_current());
        for row in rows.iter() {
            if is_current {
                shared.checker.row(place, row);
            }
            if let Row::Message { to, number, message: Some(_) } = row {
                messages.push(Envelope::Message { from: own, to: *to, number: *number });
            }
        }
        let part = &mut shared.parts[place];
        if !rows.is_empty() {
            part.commits += 1;
            part.gate.committed(part.commits, rows.len() as u64);
        }
        let is_safe = part.disk.is_none() && part.journal.is_none();
        // A commit without rows is none, for whoever ships them.
        if !is_safe && (part.journal.is_none() || !rows.is_empty()) {
            let copy = Rc::new(rows.to_vec());
            part.disk.iter_mut().for_each(|disk| disk.commit(&copy, archived));
            if let Some(journal) = &mut part.journal {
                journal.commit(part.commits, Rc::clone(&copy), shared.clock);
            }
            if is_current {
                let history = shared.history.iter_mut();
                history.for_each(|h| h.push(own, PageChange::Commit(Rc::clone(&copy))));
            }
        }
        shared.parts[place].state.commit(rows);
        messages.into_iter().for_each(|message| shared.hold(place, message, self.mutant));
        if is_safe {
            shared.sync_state(place);
        }
        shared.parts[place].crash.point()
    }

    fn sync(&mut self) -> Result<(), Error> {
        let shared = &mut *self.shared.borrow_mut();
        shared.parts[self.place].crash.point()?;
        shared.sync_state(self.place);
        shared.parts[self.place].crash.point()
    }
}
