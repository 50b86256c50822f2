//! From an input to a corpus, in all threads.
//!
//! A thread takes the next portion (reading is under a lock), reads its rows and signs their texts
//! (all the work), and hands it over in the order of portions. Nobody gets far ahead of the
//! slowest.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rhumb_neardup::batch::{Block, Corpus, Signer};
use rustix::time::{ClockId, clock_gettime};

use super::input::{Input, Portion, Raw};
use super::row::{self, Content};
use super::table::{Name, Table};
use super::{Failure, Watch, text};

/// Portions that may wait for a slower one, per thread.
const AHEAD_MAX: u64 = 4;

/// What came of reading.
pub struct Gathered {
    pub corpus: Corpus,
    pub table: Table,
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Bytes of text.
    pub bytes: u64,
    /// Documents left out, each with a message.
    pub skipped: u64,
    /// Later captures of a URL in a WARC file, left out.
    pub recaptures: u64,
    /// CPU time for reading rows, and for signing texts.
    pub read_cpu: Duration,
    pub sign_cpu: Duration,
}

struct Shared<'a> {
    input: Mutex<Input>,
    order: Mutex<Order<'a>>,
    turn: Condvar,
    watch: &'a Watch,
}

struct Order<'a> {
    next: u64,
    waiting: BTreeMap<u64, Done>,
    gathered: Gathered,
    failure: Option<Failure>,
    complain: &'a mut (dyn FnMut(&str) + Send),
}

/// A portion that was worked through.
struct Done {
    names: Vec<Name>,
    block: Block,
    problems: Vec<String>,
    is_lines: bool,
    counts: Counts,
}

pub fn gather(
    input: Input,
    corpus: Corpus,
    table: Table,
    (words, threads): (usize, usize),
    watch: &Watch,
    complain: &mut (dyn FnMut(&str) + Send),
) -> Result<Gathered, Failure> {
    let gathered = Gathered { corpus, table, counts: Counts::default() };
    let order = Order { next: 0, waiting: BTreeMap::new(), gathered, failure: None, complain };
    let (input, order) = (Mutex::new(input), Mutex::new(order));
    let shared = Shared { input, order, turn: Condvar::new(), watch };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| shared.work(threads as u64, words));
        }
    });
    let order = shared.order.into_inner().unwrap_or_else(PoisonError::into_inner);
    match order.failure {
        Some(failure) => Err(failure),
        None => Ok(order.gathered),
    }
}

impl<'a> Shared<'a> {
    fn work(&self, threads: u64, words: usize) {
        let mut signer = Signer::new(words);
        loop {
            let began = cpu();
            let taken = self.input.lock().unwrap_or_else(PoisonError::into_inner).next();
            let portion = match taken {
                Ok(Some(portion)) => portion,
                Ok(None) => return,
                Err(error) => return self.fail(error.into()),
            };
            let number = portion.number;
            let mut done = worked_through(portion, &mut signer);
            done.counts.read_cpu = (cpu() - began).saturating_sub(done.counts.sign_cpu);
            if !self.hand_over(number, done, threads) {
                return;
            }
        }
    }

    /// False if there is no point in going on.
    fn hand_over(&self, number: u64, done: Done, threads: u64) -> bool {
        let mut order = self.locked();
        while number >= order.next + AHEAD_MAX * threads && order.failure.is_none() {
            order = self.turn.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
        order.waiting.insert(number, done);
        while let Some(done) = {
            let next = order.next;
            order.waiting.remove(&next)
        } {
            order.next += 1;
            if let Err(failure) = order.take(done) {
                order.failure.get_or_insert(failure);
            }
        }
        self.watch.documents.store(order.gathered.corpus.len() as u64, Ordering::Relaxed);
        self.watch.bytes.store(order.gathered.counts.bytes, Ordering::Relaxed);
        self.turn.notify_all();
        order.failure.is_none()
    }

    fn fail(&self, failure: Failure) {
        self.locked().failure.get_or_insert(failure);
        self.turn.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, Order<'a>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Order<'_> {
    /// In order: identifiers seen before leave here.
    fn take(&mut self, mut done: Done) -> Result<(), Failure> {
        let Gathered { corpus, table, counts } = &mut self.gathered;
        let mut kept = Vec::with_capacity(done.names.len());
        for name in &done.names {
            let known = table.known(name);
            kept.push(known.is_none());
            match known {
                None => table.push(name),
                Some(first) if done.is_lines => {
                    let Name { id, place, .. } = name;
                    done.problems.push(format!("line {place}: id {id:?} was on line {first}"));
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

fn worked_through(portion: Portion, signer: &mut Signer) -> Done {
    let mut done = Done {
        names: Vec::new(),
        block: Block::default(),
        problems: portion.problems,
        is_lines: false,
        counts: Counts::default(),
    };
    match portion.raw {
        Raw::Lines { bytes, first } => {
            done.is_lines = true;
            done.block = Block::for_bytes(bytes.len());
            for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                if !line.trim_ascii().is_empty() {
                    done.line(line, first + at as u64, signer);
                }
            }
        }
        Raw::Records(records) => {
            for record in records {
                let Some(url) = record.target().filter(|url| !url.ends_with("/robots.txt")) else {
                    continue;
                };
                if let Some(text) = text::of_record(&record) {
                    let name = Name { id: url.to_owned(), url: Some(url.to_owned()), place: 0 };
                    done.document(name, &text, signer);
                }
            }
        }
    }
    done
}

impl Done {
    fn line(&mut self, line: &[u8], place: u64, signer: &mut Signer) {
        match row::read(line) {
            Ok(row) => {
                let url = row.url.map(|url| url.into_owned());
                let name = Name { id: row.id.into_owned(), url, place };
                match row.content {
                    Content::Text(text) => self.document(name, &text, signer),
                    Content::Html(html) => {
                        let url = name.url.as_deref();
                        let text = text::of_html(html.as_bytes(), Some("utf-8"), url);
                        self.document(name, &text, signer);
                    }
                }
            }
            Err(error) => self.problems.push(format!("line {place}: {error}; skipped")),
        }
    }

    fn document(&mut self, name: Name, text: &str, signer: &mut Signer) {
        let began = cpu();
        signer.sign(text, &mut self.block);
        self.counts.sign_cpu += cpu() - began;
        self.counts.bytes += text.len() as u64;
        self.names.push(name);
    }
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32)
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure(error.to_string())
    }
}
