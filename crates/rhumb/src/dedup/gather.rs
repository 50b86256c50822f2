//! From an input to a corpus, in all threads.
//!
//! A thread takes the next portion (reading is under a lock), reads its rows and signs their texts
//! (all the work), and hands it over in the order of portions. Nobody gets far ahead of the
//! slowest.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rhumb_neardup::batch::{Corpus, DocumentSigner};

use super::input::Input;
use super::kept::{JournalRecord, RunJournal};
use super::portion::{Counts, PortionDone, cpu, worked_through};
use super::table::{Name, RowTable};
use super::{DedupFailure, DedupJob, Watch};

/// Portions that may wait for a slower one, per thread.
const AHEAD_MAX: u64 = 4;
/// A portion of one huge document takes three times its size in memory: not all threads at once.
const HUGE_BYTES: usize = 32 << 20;

/// What came of reading.
pub struct GatheredTexts {
    pub corpus: Corpus,
    pub table: RowTable,
    pub counts: Counts,
    /// Documents that an earlier run had read.
    pub documents_kept: usize,
}

struct Shared<'a> {
    input: Mutex<Input>,
    order: Mutex<Order<'a>>,
    turn: Condvar,
    /// Huge portions are worked on one at a time.
    huge: Mutex<()>,
    kept: &'a RunJournal,
    watch: &'a Watch,
}

struct Order<'a> {
    next: u64,
    /// With their records for the journal.
    waiting: BTreeMap<u64, (PortionDone, Vec<u8>)>,
    gathered: GatheredTexts,
    failure: Option<DedupFailure>,
    complain: &'a mut (dyn FnMut(&str) + Send),
}

pub fn gather(
    job: &DedupJob,
    mut input: Input,
    kept: &RunJournal,
    watch: &Watch,
    complain: &mut (dyn FnMut(&str) + Send),
) -> Result<GatheredTexts, DedupFailure> {
    let (corpus, table) = (Corpus::new(job.settings.clone()), RowTable::new(job.asks_hosts()));
    let gathered = GatheredTexts { corpus, table, counts: Counts::default(), documents_kept: 0 };
    let mut order = Order { next: 0, waiting: BTreeMap::new(), gathered, failure: None, complain };
    if order.take_kept(kept, watch)? {
        return Ok(order.gathered);
    }
    input.skip(order.next)?;
    let (input, order, huge) = (Mutex::new(input), Mutex::new(order), Mutex::default());
    let shared = Shared { input, order, turn: Condvar::new(), huge, kept, watch };
    let threads = job.settings.threads.max(1);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| shared.work(threads as u64, job.settings.words));
        }
    });
    let order = shared.order.into_inner().unwrap_or_else(PoisonError::into_inner);
    match order.failure {
        Some(failure) => Err(failure),
        None => kept.all_read().map(|()| order.gathered),
    }
}

impl<'a> Shared<'a> {
    fn work(&self, threads: u64, words: usize) {
        let _alarm = Alarm(self);
        let mut signer = DocumentSigner::new(words);
        loop {
            let began = cpu();
            let taken = self.input.lock().unwrap_or_else(PoisonError::into_inner).next();
            let portion = match taken {
                Ok(Some(portion)) => portion,
                Ok(None) => return,
                Err(error) => return self.fail(error.into()),
            };
            let number = portion.number;
            let is_huge = portion.bytes() > HUGE_BYTES;
            let alone = is_huge.then(|| self.huge.lock().unwrap_or_else(PoisonError::into_inner));
            let mut done = worked_through(portion, &mut signer);
            done.counts.read_cpu = (cpu() - began).saturating_sub(done.counts.sign_cpu);
            drop(alone);
            let record = self.kept.record_of(&done);
            if !self.hand_over(number, (done, record), threads) {
                return;
            }
        }
    }

    /// False if there is no point in going on.
    fn hand_over(&self, number: u64, done: (PortionDone, Vec<u8>), threads: u64) -> bool {
        let mut order = self.locked();
        while number >= order.next + AHEAD_MAX * threads && order.failure.is_none() {
            order = self.turn.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
        order.waiting.insert(number, done);
        while let (next, None) = (order.next, &order.failure)
            && let Some((done, record)) = order.waiting.remove(&next)
        {
            if let Err(failure) = self.kept.portion(&record).and_then(|()| order.take(done)) {
                order.failure = Some(failure);
            }
        }
        self.watch.gathered(&order.gathered);
        self.turn.notify_all();
        order.failure.is_none()
    }

    fn fail(&self, failure: DedupFailure) {
        self.locked().failure.get_or_insert(failure);
        self.turn.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, Order<'a>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that panics hands nothing over: those that wait for it would wait forever.
struct Alarm<'a, 'b>(&'a Shared<'b>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.fail(DedupFailure("a thread has failed".to_owned()));
        }
    }
}

impl Order<'_> {
    /// Takes the portions of an earlier run; true if they are all there are.
    fn take_kept(&mut self, kept: &RunJournal, watch: &Watch) -> Result<bool, DedupFailure> {
        while let Some(record) = kept.next()? {
            let JournalRecord::Portion(done) = record else { return Ok(true) };
            self.take(done)?;
            self.gathered.documents_kept = self.gathered.corpus.len();
            watch.gathered(&self.gathered);
        }
        Ok(false)
    }

    /// In order: identifiers seen before leave here.
    fn take(&mut self, mut done: PortionDone) -> Result<(), DedupFailure> {
        self.next += 1;
        let GatheredTexts { corpus, table, counts, .. } = &mut self.gathered;
        let mut kept = Vec::with_capacity(done.names.len());
        for (at, name) in done.names.iter().enumerate() {
            let original = table.text_in(name.payload).filter(|_| name.is_copy);
            if name.is_copy && original.is_none() {
                // A copy of what is no text, as images are.
                kept.push(false);
                continue;
            }
            let known = table.known(name);
            kept.push(known.is_none());
            match known {
                None => {
                    table.push(name);
                    match (original, name.payload) {
                        (Some(exact), _) => done.block.is_copy_of(at, exact),
                        (None, Some(payload)) => table.read(payload, done.block.exact(at)),
                        (None, None) => {}
                    }
                }
                Some(first) if done.is_lines => {
                    let Name { id, place, .. } = name;
                    let problem = format!("id {id:?} was on line {first}; skipped");
                    done.problems.push(format!("line {place}: {problem}"));
                }
                Some(_) => counts.recaptures += 1,
            }
        }
        if kept.contains(&false) {
            done.block.retain(&kept);
        }
        done.problems.iter().for_each(|problem| (self.complain)(problem));
        counts.skipped += done.problems.len() as u64;
        counts.bytes += done.counts.bytes;
        counts.read_cpu += done.counts.read_cpu;
        counts.sign_cpu += done.counts.sign_cpu;
        Ok(corpus.add(done.block)?)
    }
}

impl From<io::Error> for DedupFailure {
    fn from(error: io::Error) -> DedupFailure {
        DedupFailure(error.to_string())
    }
}
