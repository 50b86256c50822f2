//! Messages between partitions, in order by pair: at most so many items of one pair are on their
//! way, and what is not acknowledged in time is delivered again.
//!
//! What waits lies in the sender's rows; here are its numbers, and the next few messages. A
//! partition of this process is told at once. What is for another, whoever carries between
//! processes is given; it may lose it.

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
/// What has arrived in another process is acknowledged within this time, if nothing happens to it:
/// it must be shipped there first.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(4);
/// Messages of a pair that are kept in memory; later ones are read when their turn comes.
const WAITING_MAX: usize = 64;
/// Above so many items that wait for one other partition, a partition is to begin nothing.
pub const ITEMS_WAITING_MAX: usize = 200_000;

/// What goes to a partition of another process.
#[derive(Clone, Debug)]
pub enum Outgoing {
    Message { from: u32, to: u32, number: u64, message: Arc<Message> },
    Acknowledgement { by: u32, to: u32, number: u64 },
}

type Away = Box<dyn Fn(Outgoing) + Send + Sync>;

pub struct Carrier {
    /// Items of one pair that may be on their way: a receiver has room for those of all senders.
    window: usize,
    /// Takes what is for other processes, where there are any.
    away: Option<Away>,
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
    /// The items of all that is shipped and not acknowledged, by message.
    lengths: VecDeque<u32>,
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
        Carrier::among(partitions, None)
    }

    /// One of several processes. What is given to `away` may be lost.
    pub fn among(partitions: u32, away: Option<Away>) -> Arc<Carrier> {
        let count = partitions as usize;
        Arc::new(Carrier {
            window: ITEMS_HELD_MAX / count.saturating_sub(1).max(1),
            away,
            inner: Mutex::new(Inner {
                to: vec![None; count],
                readers: vec![None; count],
                pairs: BTreeMap::new(),
                error: None,
            }),
        })
    }

    /// A partition begins: what it has sent and was not acknowledged waits in its rows, all of
    /// which are shipped.
    pub fn begin(&self, own: u32, reader: LocalReader, to: Sender<Event>) -> Result<(), Error> {
        let waiting = reader.messages_waiting()?;
        let mut inner = self.lock();
        inner.pairs.retain(|(from, _), _| *from != own);
        for (to, first, last) in waiting {
            let (shipped, acknowledged) = (last, first - 1);
            let lengths = reader.message_lengths(to, first)?;
            let pair =
                Pair { shipped, acknowledged, delivered: acknowledged, lengths, ..Pair::default() };
            inner.pairs.insert((own, to), pair);
        }
        inner.readers[own as usize] = Some(reader);
        inner.to[own as usize] = Some(to);
        Ok(())
    }

    /// A partition has ended: nothing more is delivered to it, nor sent by it.
    pub fn end(&self, own: u32) {
        let mut inner = self.lock();
        inner.to[own as usize] = None;
        inner.readers[own as usize] = None;
        inner.pairs.retain(|(from, _), _| *from != own);
    }

    /// A message is shipped: those of one pair in order.
    pub fn send(&self, from: u32, to: u32, number: u64, message: Arc<Message>) {
        let inner = &mut *self.lock();
        if inner.to[from as usize].is_none() {
            // It has ended: whoever goes on with it reads its rows.
            return;
        }
        let pair = inner.pairs.entry((from, to)).or_insert_with(|| Pair {
            shipped: number - 1,
            acknowledged: number - 1,
            delivered: number - 1,
            ..Pair::default()
        });
        let next = pair.waiting.back().map_or(pair.acknowledged, |(last, _)| *last) + 1;
        pair.lengths.push_back(message.len() as u32);
        if number == next && pair.waiting.len() < WAITING_MAX {
            pair.waiting.push_back((number, message));
        }
        pair.shipped = number;
        inner.pump((from, to), self.window, self.away.as_ref());
    }

    /// A partition of this process has the messages of another up to this one on record.
    pub fn acknowledge(&self, by: u32, to: u32, number: u64) {
        if !self.acknowledged(by, to, number)
            && let Some(away) = &self.away
        {
            away(Outgoing::Acknowledgement { by, to, number });
        }
    }

    /// The same of any partition; false if the sender is not here. A number that was never sent, or
    /// is acknowledged already, says nothing.
    pub fn acknowledged(&self, by: u32, to: u32, number: u64) -> bool {
        let inner = &mut *self.lock();
        let Some(sender) = inner.to.get(to as usize).cloned().flatten() else { return false };
        let Some(pair) = inner.pairs.get_mut(&(to, by)) else { return true };
        if number <= pair.acknowledged || number > pair.shipped {
            return true;
        }
        pair.lengths.drain(..((number - pair.acknowledged) as usize).min(pair.lengths.len()));
        pair.acknowledged = number;
        pair.delivered = pair.delivered.max(number);
        pair.progress = Some(Instant::now());
        while let Some((_, message)) = pair.waiting.pop_front_if(|(first, _)| *first <= number) {
            pair.items = pair.items.saturating_sub(message.len());
        }
        // One that has ended reads its rows when it begins again.
        let _ = sender.send(Event::Acknowledged { by, number });
        inner.pump((to, by), self.window, self.away.as_ref());
        true
    }

    /// A message came from another process; false if its addressee is not here.
    pub fn deliver(&self, from: u32, to: u32, number: u64, message: Arc<Message>) -> bool {
        let sender = self.lock().to.get(to as usize).cloned().flatten();
        sender.is_some_and(|sender| sender.send(Event::Delivered { from, number, message }).is_ok())
    }

    /// What was on its way in a pair has arrived in another process.
    pub fn arrived(&self, from: u32, to: u32) {
        if let Some(pair) = self.lock().pairs.get_mut(&(from, to)) {
            pair.progress = Some(Instant::now() + ACKNOWLEDGED_WITHIN);
        }
    }

    /// Pairs with more items waiting than is good, with these items.
    pub fn crowded(&self, items_max: usize) -> Vec<(u32, u32, usize)> {
        let inner = self.lock();
        let waiting = inner.pairs.iter().map(|((from, to), pair)| {
            (*from, *to, pair.lengths.iter().map(|length| *length as usize).sum::<usize>())
        });
        waiting.filter(|(.., items)| *items > items_max).collect()
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
            inner.pump(key, self.window, self.away.as_ref());
        }
        inner.error.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Delivers what the window of a pair has room for.
    fn pump(&mut self, (from, to): (u32, u32), window: usize, away: Option<&Away>) {
        let Inner { to: addressees, readers, pairs, error } = self;
        let pair = pairs.get_mut(&(from, to)).expect("a pair that has messages");
        let here = addressees[to as usize].as_ref();
        if here.is_none() && away.is_none() {
            return;
        }
        while pair.delivered < pair.shipped {
            if pair.waiting.back().is_none_or(|(last, _)| *last <= pair.delivered) {
                let Some(reader) = &readers[from as usize] else { return };
                // Rows may be committed and not yet shipped.
                let room = WAITING_MAX.min((pair.shipped - pair.delivered) as usize);
                match reader.messages(to, pair.delivered + 1, room) {
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
            if let Some(here) = here {
                let _ = here.send(Event::Delivered { from, number: next, message });
            } else if let Some(away) = away {
                away(Outgoing::Message { from, to, number: next, message });
            }
        }
    }
}
