//! Messages between partitions: what was found that is another's, and the mass that goes with it.
//!
//! A URL of another partition gets a number here the first time that it is seen, is named to its
//! owner by a message in the same commit, and from then on collects mass like any other (see
//! `mass::exchange`). Once in a while a round of messages takes what has gathered on the heaviest.
//! Messages to one partition are numbered. They stay in their rows until they are acknowledged, and
//! whoever carries them may deliver them twice, late or in any order: the owner takes only the next
//! one, in one commit with its number, and acknowledges what it has.
//!
//! In a crawl of one part nothing here ever happens.

use crate::admit;
use crate::books::{self, UrlPosition};
use crate::discovery::{CHUNK_MAX, Discovery, FoundAs};
use crate::engine::Engine;
use crate::event::{Action, Question, Row, SiftTarget, Step};
use crate::mass;
use crate::partition::Partition;
use crate::record::{RecordStatus, UrlId, UrlRecord};
use crate::time::{Span, Time};
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// The least time between two rounds of messages, so that mass gathers by target.
const ROUND_EVERY: Span = Span::secs(1);
/// The same once nothing is left to fetch here: nothing more gathers, and others wait for it.
const ROUND_AT_END_EVERY: Span = Span::millis(20);
/// Messages of full length that wait for the sieve or are in it, or as many items in more of them;
/// more are not heard until they come again.
pub const MESSAGES_HELD_MAX: usize = 4;
pub const ITEMS_HELD_MAX: usize = MESSAGES_HELD_MAX * CHUNK_MAX;
/// The depth of a URL that is named for its mass alone: never a shorter way.
const NO_WAY: (u16, u8) = (u16::MAX, u8::MAX);

/// What one partition tells another of a URL of its.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub url: Url,
    pub kind: FoundAs,
    pub depth: u16,
    pub hops: u8,
    /// To be added to what lies on it.
    pub mass: i64,
}

/// At most `CHUNK_MAX` items.
pub type Message = Vec<Item>;

/// What a message takes back: the part of its mass that is below zero.
pub fn taken_back(message: &[Item]) -> i64 {
    message.iter().map(|item| (-item.mass).max(0)).sum()
}

/// How far messages have come, by partition: numbers begin at 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceNumbers {
    pub sent: Vec<u64>,
    pub taken: Vec<u64>,
}

/// What the rows say at opening: the numbers, and for each message that was not acknowledged to
/// whom it goes and what it takes back, in order.
#[derive(Clone, Debug, Default)]
pub struct OutboundOpening {
    pub numbers: SequenceNumbers,
    pub unacknowledged: Vec<(u32, i64)>,
}

#[derive(Debug)]
pub(crate) struct Received {
    from: u32,
    number: u64,
    pub message: Arc<Message>,
}

#[derive(Debug)]
pub(crate) struct Outbound {
    partition: Partition,
    numbers: SequenceNumbers,
    /// What is to be told in this turn's commit, with the numbers that URLs have here.
    fresh: Vec<(u32, Item)>,
    /// What messages that are under way take back, by addressee, the oldest first.
    unacknowledged: Vec<VecDeque<i64>>,
    /// All that acknowledgements of this run have released of it.
    released: i64,
    /// The last messages of the last round, when it was begun, and whether it goes now.
    round: Vec<u64>,
    round_at: Time,
    is_round: bool,
    is_asking: bool,
    /// Came, and waits for the sieve; is in the sieve.
    held: VecDeque<Received>,
    sifting: Vec<Received>,
    acknowledgements: Vec<(u32, u64)>,
    is_changed: bool,
}

impl Outbound {
    pub fn open(partition: Partition, opening: OutboundOpening) -> Outbound {
        let parts = if partition.is_divided() { partition.count as usize } else { 0 };
        let OutboundOpening { mut numbers, unacknowledged: messages } = opening;
        let is_same = numbers.sent.is_empty() || numbers.sent.len() == parts;
        assert!(is_same, "the number of partitions is fixed at a crawl's birth");
        numbers.sent.resize(parts, 0);
        numbers.taken.resize(parts, 0);
        let mut unacknowledged = vec![VecDeque::new(); parts];
        for (to, back) in messages {
            unacknowledged[to as usize].push_back(back);
        }
        Outbound {
            partition,
            round: numbers.sent.clone(),
            numbers,
            fresh: Vec::new(),
            unacknowledged,
            released: 0,
            round_at: Time::ZERO,
            is_round: false,
            is_asking: false,
            held: VecDeque::new(),
            sifting: Vec::new(),
            acknowledgements: Vec::new(),
            is_changed: false,
        }
    }

    /// Takes a message if it is the next one and there is room.
    fn deliver(&mut self, received: Received) {
        let taken = self.numbers.taken[received.from as usize];
        if received.number <= taken {
            self.acknowledgements.push((received.from, taken));
            return;
        }
        let of_sender = |other: &&Received| other.from == received.from;
        let ahead = self.held.iter().chain(&self.sifting).filter(of_sender).count() as u64;
        let held = self.held.iter().chain(&self.sifting);
        let items: usize = held.map(|held| held.message.len()).sum();
        let has_room = items + received.message.len() <= ITEMS_HELD_MAX;
        if has_room && received.number == taken + ahead + 1 {
            self.held.push_back(received);
        }
    }

    /// What messages found, for the sieve.
    pub fn begin_sift(&mut self) -> Vec<Discovery> {
        self.sifting = self.held.drain(..).collect();
        let items = self.sifting.iter().flat_map(|received| received.message.iter());
        items.map(Item::discovery).collect()
    }

    pub fn numbers(&self) -> &SequenceNumbers {
        &self.numbers
    }

    /// What messages took back that have arrived since the opening; it may wrap around.
    pub fn released(&self) -> i64 {
        self.released
    }

    pub fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// How many messages to a partition are acknowledged.
    fn acknowledged(&self, by: usize) -> u64 {
        self.numbers.sent[by] - self.unacknowledged[by].len() as u64
    }

    fn has_arrived(&self) -> bool {
        (0..self.round.len()).all(|part| self.acknowledged(part) >= self.round[part])
    }

    pub fn is_idle(&self) -> bool {
        !self.is_asking
            && self.fresh.is_empty()
            && self.held.is_empty()
            && self.sifting.is_empty()
            && self.unacknowledged.iter().all(VecDeque::is_empty)
    }

    pub fn held_len(&self) -> usize {
        let held = self.held.iter().chain(&self.sifting);
        self.fresh.len() + held.map(|received| received.message.len()).sum::<usize>()
    }
}

impl Item {
    fn discovery(&self) -> Discovery {
        let Item { url, kind, depth, hops, .. } = self;
        Discovery { url: url.clone(), kind: *kind, depth: *depth, hops: *hops, from: None }
    }
}

impl Engine {
    pub(crate) fn delivered(&mut self, from: u32, number: u64, message: Arc<Message>) {
        self.outbound.deliver(Received { from, number, message });
    }

    pub(crate) fn acknowledged(&mut self, by: u32, number: u64, step: &mut Step) {
        let part = by as usize;
        while self.outbound.acknowledged(part) < number {
            let number = self.outbound.acknowledged(part) + 1;
            let back =
                self.outbound.unacknowledged[part].pop_front().expect("a message that was sent");
            self.books.mass.owe(-back);
            self.outbound.released = self.outbound.released.wrapping_add(back);
            step.rows.push(Row::Message { to: by, number, message: None });
        }
    }

    /// A URL of another partition that the sieve wants admitted. Scope and filters are the same
    /// everywhere: what they leave out is refused here, and is no news to its owner.
    pub(crate) fn take_foreign(
        &mut self,
        now: Time,
        found: Discovery,
        record: Option<UrlRecord>,
        step: &mut Step,
    ) -> UrlId {
        let id = record.as_ref().map_or(UrlId(self.books.counters.next_url), |record| record.id);
        match record {
            None => {
                self.books.counters.next_url += 1;
                let record =
                    UrlRecord::new(id, RecordStatus::Foreign, found.depth, found.hops, now);
                self.name_foreign(found, (UrlPosition::NEW, record), step);
            }
            Some(record) if record.status == RecordStatus::Foreign => {
                self.take_foreign_again(found, record, step);
            }
            Some(record) => {
                let was = UrlPosition::of(&record);
                self.name_foreign(found, (was, record.given_away()), step);
            }
        }
        id
    }

    /// It is seen for the first time: it gets a number, and its owner a message.
    fn name_foreign(
        &mut self,
        found: Discovery,
        (was, record): (UrlPosition, UrlRecord),
        step: &mut Step,
    ) {
        let key = found.url.key();
        if let Some(node) = mass::node(record.id) {
            step.rows.push(Row::Foreign { node, url: found.url.clone() });
            // The owner is told of seeds by whoever named them.
            if found.kind != FoundAs::Seed {
                self.tell(node, found);
            }
        }
        self.books.put_nowhere(was, key, record, &mut step.rows);
    }

    /// It came again: news if the way is shorter, or if it is said to have changed.
    fn take_foreign_again(&mut self, found: Discovery, mut record: UrlRecord, step: &mut Step) {
        let is_nearer = found.depth < record.depth;
        let is_announced = matches!(found.kind, FoundAs::Announced(_));
        let Some(node) = mass::node(record.id).filter(|_| is_nearer || is_announced) else {
            return;
        };
        if is_nearer {
            (record.depth, record.hops) = (found.depth, found.hops);
            books::rewrite(found.url.key(), record, &mut step.rows);
        }
        self.tell(node, found);
    }

    fn tell(&mut self, node: u32, found: Discovery) {
        let Discovery { url, kind, depth, hops, .. } = found;
        // Why it was looked at again is no business of its owner's.
        let kind = match kind {
            FoundAs::Readmit | FoundAs::Promoted => FoundAs::Link,
            kind => kind,
        };
        self.outbound.fresh.push((node, Item { url, kind, depth, hops, mass: 0 }));
    }

    /// The sieve has answered for messages: their mass is booked, in one commit with their numbers.
    pub(crate) fn take_messages(&mut self, targets: &[SiftTarget], ids: &[UrlId], step: &mut Step) {
        let messages = std::mem::take(&mut self.outbound.sifting);
        let mut targets = targets.iter();
        let follows_importance = self.ranking.policy.follows_importance();
        for Received { from, number, message } in messages {
            for (item, target) in message.iter().zip(&mut targets) {
                let id = match *target {
                    SiftTarget::Known(id) => UrlId(u64::from(id)),
                    SiftTarget::ToAdmit(index) => ids[index as usize],
                    SiftTarget::Unknown(_) => continue,
                };
                if let (Some(node), 1..) = (mass::node(id), item.mass.unsigned_abs()) {
                    let mass = self.books.mass.receive(node, item.mass);
                    step.rows.push(Row::Moved { node, mass });
                }
                if let (SiftTarget::Known(id), true) = (*target, follows_importance) {
                    self.promote_if_risen(id, item.url.as_str(), item.depth);
                }
            }
            self.ranking.pay_moves(message.len() as u32);
            self.outbound.numbers.taken[from as usize] = number;
            self.outbound.is_changed = true;
            self.outbound.acknowledgements.push((from, number));
        }
    }

    /// Ends a turn: what is to be told becomes messages, with the mass that lies on it now.
    pub(crate) fn conclude_outbound(&mut self, now: Time, step: &mut Step) {
        if !self.config.partition.is_divided() {
            return;
        }
        let mut messages: Vec<Message> = vec![Message::new(); self.config.partition.count as usize];
        for (node, mut item) in std::mem::take(&mut self.outbound.fresh) {
            match self.books.mass.dispatch(node) {
                Some((mass, moved)) => {
                    item.mass = mass;
                    step.rows.push(Row::Moved { node, mass: moved });
                }
                None if (item.depth, item.hops) == NO_WAY => continue,
                None => {}
            }
            messages[self.config.partition.owner(&item.url) as usize].push(item);
        }
        for (to, items) in messages.into_iter().enumerate() {
            items.chunks(CHUNK_MAX).for_each(|message| self.send(to, message.to_vec(), step));
        }
        if std::mem::take(&mut self.outbound.is_round) {
            self.outbound.round.clone_from(&self.outbound.numbers.sent);
        }
        for (to, number) in std::mem::take(&mut self.outbound.acknowledgements) {
            step.actions.push(Action::Acknowledge { to, number });
        }
        if !self.limits.is_stopping() && self.round_due().is_some_and(|due| due <= now) {
            self.outbound.round_at = now;
            self.outbound.is_asking = true;
            let nodes = self.books.mass.heavy_foreign();
            step.actions.push(Action::Ask(Question::Addresses { nodes }));
        }
        if std::mem::take(&mut self.outbound.is_changed) {
            step.rows.push(Row::SequenceNumbers(Box::new(self.outbound.numbers.clone())));
        }
    }

    fn send(&mut self, to: usize, message: Message, step: &mut Step) {
        let back = taken_back(&message);
        self.books.mass.owe(back);
        self.outbound.numbers.sent[to] += 1;
        self.outbound.is_changed = true;
        self.outbound.unacknowledged[to].push_back(back);
        let (number, message) = (self.outbound.numbers.sent[to], Some(Arc::new(message)));
        step.rows.push(Row::Message { to: to as u32, number, message });
    }

    /// When the next round of messages is to go, if there is anything to send and the last round
    /// has arrived.
    pub(crate) fn round_due(&self) -> Option<Time> {
        let count = self.outbound.partition.count;
        let is_due = self.outbound.partition.is_divided()
            && !self.outbound.is_asking
            && self.outbound.has_arrived()
            && self.books.mass.is_worth_a_round(count);
        let every = if self.has_work() { ROUND_EVERY } else { ROUND_AT_END_EVERY };
        is_due.then(|| self.outbound.round_at + every)
    }

    /// Where the heaviest are to be sent.
    pub(crate) fn addressed(&mut self, urls: Vec<(u32, Url)>) {
        self.outbound.is_asking = false;
        let (depth, hops) = NO_WAY;
        let items = urls
            .into_iter()
            .map(|(node, url)| (node, Item { url, kind: FoundAs::Link, depth, hops, mass: 0 }));
        self.outbound.fresh.extend(items);
        self.outbound.is_round = true;
    }

    /// Of another partition, and of the web that the owner meant.
    pub(crate) fn is_foreign(&self, found: &Discovery) -> bool {
        let partition = self.config.partition;
        partition.is_divided()
            && !partition.owns(&found.url)
            && admit::is_inside(&self.config, found)
    }
}
