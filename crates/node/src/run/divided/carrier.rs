//! Messages between partitions of one process, in order by pair: at most so many items of one pair
//! are on their way, and what is not acknowledged in time is delivered again.
//!
//! What waits lies in the sender's rows; here are its numbers, and the next few messages.

use rhumb_engine::error::Error;
use rhumb_engine::event::Event;
use rhumb_engine::outbound::{ITEMS_HELD_MAX, Message};
use rhumb_state::local::LocalReader;
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What made no progress for so long is delivered again.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Messages of a pair that are kept in memory; later ones are read when their turn comes.
const WAITING_MAX: usize = 64;

pub struct Carrier {
    /// Items of one pair that may be on their way: a receiver has room for those of all senders.
    window: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    /// By partition; none before it runs, and when it has ended.
    to: Vec<Option<Sender<Event>>>,
    readers: Vec<Option<LocalReader>>,
    pairs: BTreeMap<(u32, u32), Pair>,
    error: Option<Error>,
}

/// Messages from one partition to another.
#[derive(Default)]
struct Pair {
    /// Shipped, not acknowledged, in order, without gaps: the first of them all.
    waiting: VecDeque<(u64, Arc<Message>)>,
    /// The last that was shipped.
    shipped: u64,
    acknowledged: u64,
    /// The last that was delivered, and the items of those that are not acknowledged.
    delivered: u64,
    items: usize,
    progress: Option<Instant>,
}

impl Carrier {
    pub fn new(partitions: u32) -> Arc<Carrier> {
        let count = partitions as usize;
        Arc::new(Carrier {
            window: ITEMS_HELD_MAX / count.saturating_sub(1).max(1),
            inner: Mutex::new(Inner {
                to: vec![None; count],
                readers: vec![None; count],
                pairs: BTreeMap::new(),
                error: None,
            }),
        })
    }

    /// A partition begins: what it has sent and was not acknowledged waits in its rows.
    pub fn begin(&self, own: u32, reader: LocalReader, to: Sender<Event>) -> Result<(), Error> {
        let waiting = reader.messages_waiting()?;
        let mut inner = self.lock();
        for (to, first, last) in waiting {
            let (shipped, acknowledged) = (last, first - 1);
            let pair = Pair { shipped, acknowledged, delivered: acknowledged, ..Pair::default() };
            inner.pairs.insert((own, to), pair);
        }
        inner.readers[own as usize] = Some(reader);
        inner.to[own as usize] = Some(to);
        Ok(())
    }

    /// A partition has ended: nothing more is delivered to it.
    pub fn end(&self, own: u32) {
        let mut inner = self.lock();
        inner.to[own as usize] = None;
        inner.readers[own as usize] = None;
    }

    /// A message is shipped: those of one pair in order.
    pub fn send(&self, from: u32, to: u32, number: u64, message: Arc<Message>) {
        let inner = &mut *self.lock();
        let pair = inner.pairs.entry((from, to)).or_insert_with(|| Pair {
            shipped: number - 1,
            acknowledged: number - 1,
            delivered: number - 1,
            ..Pair::default()
        });
        let next = pair.waiting.back().map_or(pair.acknowledged, |(last, _)| *last) + 1;
        if number == next && pair.waiting.len() < WAITING_MAX {
            pair.waiting.push_back((number, message));
        }
        pair.shipped = number;
        inner.pump((from, to), self.window);
    }

    /// A partition has the messages of another up to this one on record.
    pub fn acknowledge(&self, by: u32, to: u32, number: u64) {
        let inner = &mut *self.lock();
        let Some(pair) = inner.pairs.get_mut(&(to, by)) else { return };
        if number <= pair.acknowledged || number > pair.shipped {
            return;
        }
        pair.acknowledged = number;
        pair.delivered = pair.delivered.max(number);
        pair.progress = Some(Instant::now());
        while let Some((_, message)) = pair.waiting.pop_front_if(|(first, _)| *first <= number) {
            pair.items = pair.items.saturating_sub(message.len());
        }
        if let Some(sender) = &inner.to[to as usize] {
            // One that has ended reads its rows when it begins again.
            let _ = sender.send(Event::Acknowledged { by, number });
        }
        inner.pump((to, by), self.window);
    }

    /// Time has passed; what went wrong, if something did.
    pub fn tick(&self) -> Result<(), Error> {
        let inner = &mut *self.lock();
        let pairs: Vec<(u32, u32)> = inner.pairs.keys().copied().collect();
        for key in pairs {
            let pair = inner.pairs.get_mut(&key).expect("just seen");
            let is_stuck = pair.progress.is_none_or(|at| at.elapsed() >= AGAIN_AFTER);
            if pair.delivered > pair.acknowledged && is_stuck {
                (pair.delivered, pair.items) = (pair.acknowledged, 0);
            }
            inner.pump(key, self.window);
        }
        inner.error.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Delivers what the window of a pair has room for.
    fn pump(&mut self, (from, to): (u32, u32), window: usize) {
        let Inner { to: addressees, readers, pairs, error } = self;
        let pair = pairs.get_mut(&(from, to)).expect("a pair that has messages");
        let Some(addressee) = &addressees[to as usize] else { return };
        while pair.delivered < pair.shipped {
            if pair.waiting.back().is_none_or(|(last, _)| *last <= pair.delivered) {
                let Some(reader) = &readers[from as usize] else { return };
                match reader.messages(to, pair.delivered + 1, WAITING_MAX) {
                    Ok(read) => pair.waiting.extend(read),
                    Err(what) => return *error = Some(what),
                }
            }
            let next = pair.delivered + 1;
            let Some((_, message)) = pair.waiting.iter().find(|(number, _)| *number == next) else {
                return;
            };
            if pair.items > 0 && pair.items + message.len() > window {
                return;
            }
            if pair.delivered == pair.acknowledged {
                pair.progress = Some(Instant::now());
            }
            pair.items += message.len();
            pair.delivered = next;
            let message = Arc::clone(message);
            let _ = addressee.send(Event::Delivered { from, number: next, message });
        }
    }
}
