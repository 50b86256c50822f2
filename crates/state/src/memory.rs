//! The rows in memory: the simulator's store, and the model of the one on disk.

use crate::answer;
use crate::leaders::LeaderRows;
use crate::plain::{PlainMap, PlainTable};
use crate::seen::SeenFilter;
use crate::snapshot::{StateSnapshot, UrlPage};
use rhumb_engine::counters::Counters;
use rhumb_engine::discovery::Chunk;
use rhumb_engine::engine::Opening;
use rhumb_engine::error::Error;
use rhumb_engine::event::{Answer, Question, QueueRows, Row};
use rhumb_engine::hands::HandLine;
use rhumb_engine::host::HostRecord;
use rhumb_engine::mass::{LinkPart, Mass, SettledRow};
use rhumb_engine::near::{Leader, LeaderId};
use rhumb_engine::order::LinkModel;
use rhumb_engine::outbound::{Message, OutboundOpening, SequenceNumbers, taken_back};
use rhumb_engine::outcome::{ContentDigest, PageContent};
use rhumb_engine::queue::{Entry, Place, Section, SleepPlace, Sleeper};
use rhumb_engine::record::{Twin, UrlId, UrlRecord};
use rhumb_engine::refresh::scheduler::Scheduler;
use rhumb_engine::requisites::RequisiteCounters;
use rhumb_engine::review::RulesFingerprint;
use rhumb_engine::time::Time;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url, UrlKey};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex};

pub struct MemoryState {
    pub rows: MemoryRows,
    seen: Mutex<SeenFilter>,
    leaders: Mutex<Option<LeaderRows>>,
    seed: u64,
}

#[derive(Clone, Default)]
pub struct MemoryRows {
    pub urls: PlainTable<UrlKey, UrlRecord>,
    pub queue: Queue,
    pub hosts: PlainTable<HostKey, HostRecord>,
    pub robots: PlainTable<HostKey, Box<Robots>>,
    /// Ranks are unique, so a place names one host.
    pub sleep: BTreeMap<SleepPlace, HostKey>,
    pub outbox: BTreeMap<u64, Arc<Chunk>>,
    pub content: PlainTable<ContentDigest, Twin>,
    pub leaders: BTreeMap<LeaderId, Leader>,
    /// With the owner's trust in each.
    pub seeds: BTreeMap<Url, f64>,
    pub links: BTreeMap<(UrlId, u16), LinkPart>,
    pub settled: BTreeMap<u32, SettledRow>,
    /// To other partitions, by addressee and number.
    pub messages: BTreeMap<(u32, u64), Arc<Message>>,
    pub numbers: SequenceNumbers,
    pub foreign: BTreeMap<u32, Url>,
    pub moved: BTreeMap<u32, i64>,
    pub scheduler: Option<Scheduler>,
    pub link_model: Option<LinkModel>,
    pub requisites: RequisiteCounters,
    pub counters: Counters,
    pub rules_fingerprint: Option<RulesFingerprint>,
    pub hands: Vec<HandLine>,
}

/// What waits, by host and in order.
#[derive(Clone, Default)]
pub struct Queue {
    hosts: PlainMap<HostKey, BTreeMap<Place, Entry>>,
    len: usize,
}

impl Queue {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn insert(&mut self, host: HostKey, place: Place, entry: Entry) {
        let before = self.hosts.entry(host).or_default().insert(place, entry);
        self.len += usize::from(before.is_none());
    }

    fn remove(&mut self, host: &HostKey, place: Place) {
        let removed = self.hosts.get_mut(host).and_then(|waiting| waiting.remove(&place));
        self.len -= usize::from(removed.is_some());
    }

    /// What waits at a host in one section, in order, after `after`.
    fn of(
        &self,
        host: &HostKey,
        section: Section,
        after: Option<&Place>,
    ) -> impl Iterator<Item = (&Place, &Entry)> {
        let start = match (after, section) {
            (Some(place), _) => Bound::Excluded(*place),
            (None, Section::Now) => Bound::Included(Place::Now { class: 0, rank: 0, id: 0 }),
            (None, Section::Later) => Bound::Included(Place::Later { due: Time::ZERO, id: 0 }),
        };
        let waiting = self.hosts.get(host).into_iter();
        let from = waiting.flat_map(move |waiting| waiting.range((start, Bound::Unbounded)));
        from.take_while(move |(place, _)| place.section() == section)
    }
}

impl MemoryState {
    pub fn new(seed: u64) -> MemoryState {
        let (seen, leaders) = (Mutex::new(SeenFilter::new(seed)), Mutex::new(None));
        MemoryState { rows: MemoryRows::default(), seen, leaders, seed }
    }

    /// What a restart would find: the filter is built again from the rows, and texts are compared
    /// when that is asked for again.
    pub fn reopen(&mut self) -> Opening {
        let mut seen = SeenFilter::new(self.seed);
        for (key, record) in self.rows.urls.sorted() {
            let fingerprint = seen.fingerprint_key(key.as_bytes());
            seen.insert(fingerprint, record.depth, record.id);
        }
        self.seen = Mutex::new(seen);
        self.leaders = Mutex::new(None);
        let sleepers = self.rows.sleep.keys().copied().collect();
        let scheduler = self.rows.scheduler.clone();
        let link_model = self.rows.link_model;
        Opening {
            counters: self.rows.counters.clone(),
            sleepers,
            mass: self.rows.mass(),
            scheduler,
            link_model,
            requisites: self.rows.requisites.clone(),
            outbound: self.rows.outbound(),
            rules_fingerprint: self.rows.rules_fingerprint,
            hands: self.rows.hands.clone(),
            is_taken_over: false,
        }
    }

    /// From now on pages are compared with leaders; also with those that the rows have.
    pub fn compare_texts(&mut self, threshold: f64) {
        let mut leaders = LeaderRows::new(threshold);
        self.rows.leaders.iter().for_each(|(id, leader)| leaders.add(*id, &leader.sketch));
        self.leaders = Mutex::new(Some(leaders));
    }

    pub fn answer(&self, question: Question) -> Result<Answer, Error> {
        answer::answer(&self.rows, &self.seen, &self.leaders, question)
    }

    /// See [`answer::set_known_apart`].
    pub fn set_known_apart(&self, page: &mut PageContent, depth: u16, with_addresses: bool) {
        answer::set_known_apart((self.seed, &self.seen), page, depth, with_addresses);
    }

    pub fn commit(&mut self, rows: &mut Vec<Row>) {
        let seen = self.seen.get_mut().expect("one thread");
        let leaders = self.leaders.get_mut().expect("one thread");
        for row in rows.drain(..) {
            match &row {
                Row::Url { key, record } => {
                    let fingerprint = seen.fingerprint_key(key.as_bytes());
                    seen.insert(fingerprint, record.depth, record.id);
                }
                Row::Leader { id, leader } => {
                    leaders.iter_mut().for_each(|leaders| leaders.add(*id, &leader.sketch));
                }
                _ => {}
            }
            self.rows.apply(row);
        }
    }
}

impl MemoryRows {
    /// The books of importance, as the rows have them.
    pub fn mass(&self) -> Mass {
        let mut mass = Mass::default();
        self.urls.sorted().into_iter().for_each(|(_, record)| mass.restore_url(record));
        self.links.iter().for_each(|((page, n), part)| mass.restore_links(*page, *n, part));
        self.settled.values().for_each(|row| mass.restore_settled(row));
        self.moved.iter().for_each(|(node, moved)| mass.restore_moved(*node, *moved));
        mass.restored();
        self.messages.values().for_each(|message| mass.owe(taken_back(message)));
        mass
    }

    fn outbound(&self) -> OutboundOpening {
        let messages = self.messages.iter();
        let unacknowledged =
            messages.map(|((to, _), message)| (*to, taken_back(message))).collect();
        OutboundOpening { numbers: self.numbers.clone(), unacknowledged }
    }

    pub fn apply(&mut self, row: Row) {
        match row {
            Row::Url { key, record } => {
                self.urls.insert(key, record);
            }
            Row::Queue { host, place, entry: Some(entry) } => {
                self.queue.insert(host, place, entry);
            }
            Row::Queue { host, place, entry: None } => {
                self.queue.remove(&host, place);
            }
            Row::Host { key, record } => {
                self.hosts.insert(key, record);
            }
            Row::Robots { host, robots } => {
                self.robots.insert(host, robots);
            }
            Row::Sleep { host, place, asleep: true } => {
                self.sleep.insert(place, host);
            }
            Row::Sleep { place, asleep: false, .. } => {
                self.sleep.remove(&place);
            }
            Row::Outbox { number, chunk: Some(chunk) } => {
                self.outbox.insert(number, chunk);
            }
            Row::Outbox { number, chunk: None } => {
                self.outbox.remove(&number);
            }
            Row::Content { digest, twin } => {
                self.content.insert(digest, twin);
            }
            Row::ContentGone { digest } => {
                self.content.remove(&digest);
            }
            Row::Leader { id, leader } => {
                self.leaders.insert(id, leader);
            }
            Row::LeaderGone { id } => {
                self.leaders.remove(&id);
            }
            Row::Seed { url, weight } => {
                self.seeds.insert(url, weight);
            }
            Row::Links { page, part, links } => {
                self.links.insert((page, part), links);
            }
            Row::Settled { number, row } => {
                self.settled.insert(number, row);
            }
            Row::Message { to, number, message: Some(message) } => {
                self.messages.insert((to, number), message);
            }
            Row::Message { to, number, message: None } => {
                self.messages.remove(&(to, number));
            }
            Row::Foreign { node, url } => {
                self.foreign.insert(node, url);
            }
            Row::Moved { node, mass } => {
                self.moved.insert(node, mass);
            }
            single => self.apply_single(single),
        }
    }

    /// Rows of which there is one.
    fn apply_single(&mut self, row: Row) {
        match row {
            Row::SequenceNumbers(numbers) => self.numbers = *numbers,
            Row::Rules(rules_fingerprint) => self.rules_fingerprint = Some(rules_fingerprint),
            Row::Hands(lines) => self.hands = lines,
            Row::Refresh(scheduler) => self.scheduler = Some(*scheduler),
            Row::LinkModel(model) => self.link_model = Some(*model),
            Row::Requisites(counters) => self.requisites = counters,
            Row::Counters(counters) => self.counters = *counters,
            many => unreachable!("there are many rows of this kind: {many:?}"),
        }
    }

    fn sleepers_from(
        &self,
        from: SleepPlace,
        after: Option<&Sleeper>,
    ) -> impl Iterator<Item = Sleeper> {
        let start = match after {
            Some(sleeper) => Bound::Excluded(sleeper.place),
            None => Bound::Included(from),
        };
        let rest = self.sleep.range((start, Bound::Unbounded));
        rest.map(|(place, host)| Sleeper { place: *place, host: host.clone() })
    }
}

impl StateSnapshot for MemoryRows {
    fn url(&self, key: &UrlKey) -> Result<Option<UrlRecord>, Error> {
        Ok(self.urls.get(key).cloned())
    }

    fn has_url(&self, key: &UrlKey) -> Result<bool, Error> {
        Ok(self.urls.contains_key(key))
    }

    fn host(&self, key: &HostKey) -> Result<Option<HostRecord>, Error> {
        Ok(self.hosts.get(key).cloned())
    }

    fn robots(&self, key: &HostKey) -> Result<Option<Box<Robots>>, Error> {
        Ok(self.robots.get(key).cloned())
    }

    fn queue(
        &self,
        host: &HostKey,
        section: Section,
        after: Option<&Place>,
        max: usize,
    ) -> Result<QueueRows, Error> {
        let mut found = self.queue.of(host, section, after);
        let rows: Vec<(Place, Entry)> =
            found.by_ref().take(max).map(|(place, entry)| (*place, entry.clone())).collect();
        Ok(QueueRows { rows, all: found.next().is_none() })
    }

    fn sleepers(
        &self,
        class: u8,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<Vec<Sleeper>, Error> {
        let all = self.sleepers_from(SleepPlace::Ready { class, rank: 0 }, after);
        let in_class =
            all.take_while(|s| matches!(s.place, SleepPlace::Ready { class: c, .. } if c == class));
        Ok(in_class.take(max).collect())
    }

    fn sleepers_due(
        &self,
        until: Time,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<(Vec<Sleeper>, Option<Time>), Error> {
        let mut due = Vec::new();
        for sleeper in self.sleepers_from(SleepPlace::Later { due: Time::ZERO, rank: 0 }, after) {
            let SleepPlace::Later { due: at, .. } = sleeper.place else { break };
            if at > until || due.len() >= max {
                return Ok((due, Some(at)));
            }
            due.push(sleeper);
        }
        Ok((due, None))
    }

    fn sleepers_resting(
        &self,
        run: u32,
        until: Time,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<(Vec<Sleeper>, Option<Time>), Error> {
        let first = SleepPlace::Resting { run: 0, due: Time::ZERO, rank: 0 };
        let mut due = Vec::new();
        for sleeper in self.sleepers_from(first, after) {
            let SleepPlace::Resting { run: of, due: at, .. } = sleeper.place else { break };
            let at = if of < run { Time::ZERO } else { at };
            if at > until || due.len() >= max {
                return Ok((due, Some(at)));
            }
            due.push(sleeper);
        }
        Ok((due, None))
    }

    fn outbox(&self, from: u64, max: usize) -> Result<Vec<(u64, Chunk)>, Error> {
        Ok(self.outbox.range(from..).take(max).map(|(n, c)| (*n, Chunk::clone(c))).collect())
    }

    fn twin(&self, digest: &ContentDigest) -> Result<Option<Twin>, Error> {
        Ok(self.content.get(digest).cloned())
    }

    fn foreign(&self, node: u32) -> Result<Option<Url>, Error> {
        Ok(self.foreign.get(&node).cloned())
    }

    fn leader(&self, id: LeaderId) -> Result<Option<Leader>, Error> {
        Ok(self.leaders.get(&id).cloned())
    }

    fn urls(
        &self,
        after: Option<&UrlKey>,
        rows_max: usize,
        is_wanted: impl Fn(&UrlRecord) -> bool,
    ) -> Result<UrlPage, Error> {
        let is_after = |key: &UrlKey| after.is_none_or(|after| key > after);
        let mut rows: Vec<_> = self.urls.iter().filter(|(key, _)| is_after(key)).collect();
        if rows.len() > rows_max {
            rows.select_nth_unstable_by_key(rows_max, |(key, _)| *key);
            rows.truncate(rows_max);
        }
        rows.sort_unstable_by_key(|(key, _)| *key);
        let last = rows.last().filter(|_| rows.len() == rows_max);
        let next = last.map(|(key, _)| UrlKey::clone(key));
        let wanted = rows.into_iter().filter(|(_, record)| is_wanted(record));
        Ok((wanted.map(|(key, record)| (key.clone(), record.clone())).collect(), next))
    }
}
