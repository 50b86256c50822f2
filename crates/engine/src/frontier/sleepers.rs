//! The hosts that sleep in the state: how many by class, how far each class has been woken, and
//! when the next one with a due time must be looked at. Those that rest because they fail stand
//! apart: in the run in which they failed they are tried when they are due and are no work; for
//! every later run they are work that is due at once.

use crate::config::CLASSES;
use crate::event::{Wake, Woken};
use crate::frontier::ready::Chooser;
use crate::queue::{SleepPlace, Sleeper};
use crate::time::Time;
use rhumb_page::url::HostKey;

/// Hosts woken by one question.
pub const WAKE_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct Sleepers {
    run: u32,
    ready: [u64; CLASSES],
    later: Line,
    resting: Line,
    /// Those that rest since an earlier run.
    resting_before: u64,
    cursors: [Option<Sleeper>; CLASSES],
    asked: bool,
    /// Hosts that somebody needs awake.
    named: Vec<HostKey>,
}

/// Sleepers in the order of their due times.
#[derive(Debug, Default)]
struct Line {
    len: u64,
    /// None of them is due before this.
    next: Option<Time>,
    /// The same of those who lay down since the question was asked: its answer knows them not.
    added: Option<Time>,
    /// The last one that was woken.
    cursor: Option<Sleeper>,
}

impl Line {
    fn add(&mut self, due: Time) {
        self.len += 1;
        self.next = earlier(self.next, Some(due));
        self.added = earlier(self.added, Some(due));
    }

    fn next_due(&self) -> Option<Time> {
        if self.len > 0 { self.next } else { None }
    }

    fn answered(&mut self, next: Option<Time>) {
        self.next = earlier(next, self.added.take());
    }
}

impl Sleepers {
    /// From the index, at the opening of this run.
    pub fn open(places: impl Iterator<Item = SleepPlace>, run: u32) -> Sleepers {
        let mut sleepers = Sleepers { run, ..Sleepers::default() };
        places.for_each(|place| sleepers.add(place));
        sleepers
    }

    pub fn add(&mut self, place: SleepPlace) {
        match place {
            SleepPlace::Ready { class, .. } => self.ready[class as usize] += 1,
            SleepPlace::Later { due, .. } => self.later.add(due),
            SleepPlace::Resting { run, due, .. } if run == self.run => self.resting.add(due),
            SleepPlace::Resting { .. } => self.resting_before += 1,
        }
    }

    pub fn remove(&mut self, place: SleepPlace) {
        let count = match place {
            SleepPlace::Ready { class, .. } => &mut self.ready[class as usize],
            SleepPlace::Later { .. } => &mut self.later.len,
            SleepPlace::Resting { run, .. } if run == self.run => &mut self.resting.len,
            SleepPlace::Resting { .. } => &mut self.resting_before,
        };
        *count = count.checked_sub(1).expect("more hosts woken than slept");
    }

    pub fn call(&mut self, host: HostKey) {
        self.named.push(host);
    }

    pub fn ready(&self) -> u64 {
        self.ready.iter().sum()
    }

    /// Of one class.
    pub fn ready_in(&self, class: u8) -> u64 {
        self.ready[class as usize]
    }

    /// When the next of those that are due by a date is.
    pub fn next_later(&self) -> Option<Time> {
        self.later.next_due()
    }

    /// Whether somebody needs a host awake.
    pub fn is_called(&self) -> bool {
        !self.named.is_empty()
    }

    pub fn later(&self) -> u64 {
        self.later.len
    }

    /// Those that failed in this run.
    pub fn resting(&self) -> u64 {
        self.resting.len
    }

    pub fn resting_before(&self) -> u64 {
        self.resting_before
    }

    /// Anybody sleeps who has work for this run, or is being asked for.
    pub fn are_any(&self) -> bool {
        self.asked || self.ready() + self.later.len + self.resting_before > 0
    }

    pub fn is_asked(&self) -> bool {
        self.asked
    }

    /// Is there anybody who would work if there were room?
    pub fn are_waiting(&self, now: Time) -> bool {
        self.ready() > 0 || self.next_due().is_some_and(|due| due <= now)
    }

    /// When a sleeper must be looked at, though nothing else happens.
    pub fn next_due(&self) -> Option<Time> {
        earlier(self.later.next_due(), self.resting_due())
    }

    fn resting_due(&self) -> Option<Time> {
        let at_once = (self.resting_before > 0).then_some(Time::ZERO);
        at_once.or_else(|| self.resting.next_due())
    }

    /// The question that fills `room` places, if there is anything to ask.
    pub fn wake(
        &mut self,
        room: usize,
        rows_max: usize,
        now: Time,
        chooser: &mut Chooser<'_>,
    ) -> Option<Wake> {
        let is_due = |due: Option<Time>| due.is_some_and(|due| due <= now);
        let anybody = room > 0 && self.are_waiting(now);
        if self.asked || (!anybody && self.named.is_empty()) {
            return None;
        }
        let room = room.min(WAKE_MAX);
        let mut wanted = [0usize; CLASSES];
        let mut left = self.ready;
        for _ in 0..room {
            let Some(class) = chooser.choose(|k| left[k] > 0) else { break };
            left[class] -= 1;
            wanted[class] += 1;
        }
        self.asked = true;
        (self.later.added, self.resting.added) = (None, None);
        let classes = (0..CLASSES)
            .filter(|&k| wanted[k] > 0)
            .map(|k| (k as u8, wanted[k], self.cursors[k].clone()))
            .collect();
        let room_if = |due: bool| if due { room } else { 0 };
        let later = (room_if(is_due(self.later.next_due())), self.later.cursor.clone());
        let resting = (room_if(is_due(self.resting_due())), self.resting.cursor.clone());
        let named = std::mem::take(&mut self.named);
        Some(Wake { now, classes, later, resting, run: self.run, named, rows_max })
    }

    /// A question was answered; of `woken` only what the store says of due times is left to use.
    pub fn answered(&mut self, found: impl Iterator<Item = Sleeper>, woken: &Woken) {
        self.asked = false;
        self.later.answered(woken.later_next);
        self.resting.answered(woken.resting_next);
        for sleeper in found {
            let cursor = match sleeper.place {
                SleepPlace::Ready { class, .. } => &mut self.cursors[class as usize],
                SleepPlace::Later { .. } => &mut self.later.cursor,
                SleepPlace::Resting { .. } => &mut self.resting.cursor,
            };
            *cursor = cursor.take().max(Some(sleeper));
        }
    }
}

fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    a.into_iter().chain(b).min()
}
