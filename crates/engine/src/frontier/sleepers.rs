//! The hosts that sleep in the state: how many by class, how far each class has been woken, and
//! when the next one with a due time must be looked at.

use crate::config::CLASSES;
use crate::event::Wake;
use crate::frontier::ready::Chooser;
use crate::queue::{SleepPlace, Sleeper};
use crate::time::Time;
use rhumb_page::url::HostKey;

/// Hosts woken by one question.
pub const WAKE_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct Sleepers {
    ready: [u64; CLASSES],
    later: u64,
    /// No sleeper with a due time is due before this.
    later_next: Option<Time>,
    /// The same of those who lay down since the question was asked: its answer knows them not.
    later_added: Option<Time>,
    cursors: [Option<Sleeper>; CLASSES],
    later_cursor: Option<Sleeper>,
    asked: bool,
    /// Hosts that somebody needs awake.
    named: Vec<HostKey>,
}

impl Sleepers {
    /// From the index, at opening.
    pub fn open(places: impl Iterator<Item = SleepPlace>) -> Sleepers {
        let mut sleepers = Sleepers::default();
        places.for_each(|place| sleepers.add(place));
        sleepers
    }

    pub fn add(&mut self, place: SleepPlace) {
        match place {
            SleepPlace::Ready { class, .. } => self.ready[class as usize] += 1,
            SleepPlace::Later { due, .. } => {
                self.later += 1;
                self.later_next = earlier(self.later_next, Some(due));
                self.later_added = earlier(self.later_added, Some(due));
            }
        }
    }

    pub fn remove(&mut self, place: SleepPlace) {
        let count = match place {
            SleepPlace::Ready { class, .. } => &mut self.ready[class as usize],
            SleepPlace::Later { .. } => &mut self.later,
        };
        *count = count.checked_sub(1).expect("more hosts woken than slept");
    }

    pub fn call(&mut self, host: HostKey) {
        self.named.push(host);
    }

    pub fn ready(&self) -> u64 {
        self.ready.iter().sum()
    }

    pub fn later(&self) -> u64 {
        self.later
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
        if self.later > 0 { self.later_next } else { None }
    }

    /// The question that fills `room` places, if there is anything to ask.
    pub fn wake(
        &mut self,
        room: usize,
        rows_max: usize,
        now: Time,
        chooser: &mut Chooser<'_>,
    ) -> Option<Wake> {
        let is_due = self.next_due().is_some_and(|due| due <= now);
        let anybody = room > 0 && (self.ready() > 0 || is_due);
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
        self.later_added = None;
        let classes = (0..CLASSES)
            .filter(|&k| wanted[k] > 0)
            .map(|k| (k as u8, wanted[k], self.cursors[k].clone()))
            .collect();
        let later = (if is_due { room } else { 0 }, self.later_cursor.clone());
        let named = std::mem::take(&mut self.named);
        Some(Wake { now, classes, later, named, rows_max })
    }

    /// A question was answered; `later_next` is what the store says of due times.
    pub fn answered(&mut self, woken: impl Iterator<Item = Sleeper>, later_next: Option<Time>) {
        self.asked = false;
        self.later_next = earlier(later_next, self.later_added.take());
        for sleeper in woken {
            let cursor = match sleeper.place {
                SleepPlace::Ready { class, .. } => &mut self.cursors[class as usize],
                SleepPlace::Later { .. } => &mut self.later_cursor,
            };
            *cursor = cursor.take().max(Some(sleeper));
        }
    }
}

fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    a.into_iter().chain(b).min()
}
