//! Admission: what the sieve found new is admitted, numbered, placed and queued.

use crate::admit::{self, AdmissionCandidate};
use crate::books::{UrlHost, UrlPosition};
use crate::discovery::{Discovery, FoundAs};
use crate::engine::Engine;
use crate::event::{Row, Sifted, Step, ToAdmit};
use crate::frontier::awake::Awake;
use crate::frontier::back_queue::BackQueue;
use crate::hands;
use crate::host::{HostRecord, STRANGERS_PART};
use crate::log::Happening;
use crate::order;
use crate::polite;
use crate::queue::{Entry, Place, SleepPlace};
use crate::record::{FoundOn, RecordStatus, Refusal, Role, UrlId, UrlRecord};
use crate::requisites;
use crate::time::Time;
use crate::traps;
use rhumb_page::url::HostKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use xxhash_rust::xxh3::xxh3_64;

/// Hosts that a batch of admissions concerns.
#[derive(Default)]
pub(crate) struct Batch {
    /// Rows as the sieve read them, or as written since. Looked up, never iterated.
    pub(crate) known: HashMap<HostKey, HostRecord>,
    /// Rows of hosts asleep that this batch changes.
    pub(crate) touched: BTreeMap<HostKey, HostRecord>,
    /// Awake hosts that got something.
    pub(crate) slots: BTreeSet<u32>,
    /// To be placed once their mass is known.
    admitted: Vec<LetIn>,
    /// How many of these each host has, pages and sitemaps apart, where budgets count them. Looked
    /// up, never iterated.
    granted: HashMap<(HostKey, bool), u64>,
}

/// The class of a host that has nothing better than this.
fn class_of(work: &Place) -> u8 {
    match work {
        Place::Now { class, .. } => *class,
        Place::Later { .. } => requisites::CLASS,
    }
}

/// Refused, or given up: it is put to admission anew before it is asked for.
fn is_out(status: RecordStatus) -> bool {
    matches!(status, RecordStatus::Refused(_) | RecordStatus::Failed(_))
}

/// A URL that is to be queued.
struct LetIn {
    discovery: Discovery,
    was: UrlPosition,
    record: UrlRecord,
    host: HostKey,
}

impl Engine {
    pub(crate) fn sifted(&mut self, now: Time, sifted: Sifted, step: &mut Step) {
        let chunks = self.admission.outbox.sifted(&mut self.books.counters, step);
        let mut known: HashMap<HostKey, HostRecord> = sifted.hosts.into_iter().collect();
        known.extend(self.frontier.since_sift.drain());
        let mut batch = Batch { known, ..Batch::default() };
        let mut promoted = Vec::new();
        let mut ids = Vec::with_capacity(sifted.to_admit.len());
        for ToAdmit { discovery, record } in sifted.to_admit {
            ids.push(match record {
                record if self.is_foreign(&discovery) => {
                    self.take_foreign(now, discovery, record, step)
                }
                None => self.take_new(now, discovery, &mut batch, step),
                Some(record) => {
                    let id = record.id;
                    match discovery.kind {
                        FoundAs::Promoted => promoted.push((discovery, record)),
                        FoundAs::Asked if !is_out(record.status) => {
                            self.ask_now(now, discovery, record, &mut batch, step);
                        }
                        FoundAs::Announced(_)
                            if !matches!(record.status, RecordStatus::Refused(_)) =>
                        {
                            self.announced(now, discovery, record, &mut batch, step);
                        }
                        _ => self.take_known(discovery, record, &mut batch, step),
                    }
                    id
                }
            });
        }
        // Links first: what a page hands out decides where those that it found are placed.
        let messages = self.take_links(&chunks, &sifted.targets, &ids, step);
        self.take_messages(messages, &ids, step);
        for url in std::mem::take(&mut batch.admitted) {
            self.admit(url, &mut batch, step);
        }
        for (discovery, record) in promoted {
            self.promote(discovery, record, &mut batch, step);
        }
        self.find_risen(&chunks, &sifted.targets);
        for (key, record) in batch.touched {
            if self.frontier.sleepers.is_asked() {
                self.frontier.since_wake.insert(key.clone(), record.clone());
            }
            step.rows.push(Row::Host { key, record });
        }
        for slot in batch.slots {
            self.advance(now, slot, step);
        }
    }

    fn take_new(
        &mut self,
        now: Time,
        discovery: Discovery,
        batch: &mut Batch,
        step: &mut Step,
    ) -> UrlId {
        let id = UrlId(self.books.counters.next_url);
        self.books.counters.next_url += 1;
        let host = discovery.url.host_key();
        let (depth, hops) = (discovery.depth, discovery.hops);
        let is_listed = matches!(discovery.kind, FoundAs::Listed | FoundAs::Announced(_));
        let found_on = FoundOn::of(discovery.from);
        let found_on = if is_listed { found_on.listed() } else { found_on };
        let role = discovery.kind.role();
        let record =
            |status| UrlRecord { found_on, role, ..UrlRecord::new(id, status, depth, hops, now) };
        let spent = self.spent(&host, (role, found_on), batch);
        match admit::admit(&self.config, AdmissionCandidate::found(&discovery, role, spent)) {
            Ok(()) => {
                let record = record(RecordStatus::Queued);
                self.let_in(LetIn { discovery, was: UrlPosition::NEW, record, host }, batch);
            }
            Err(why) => {
                self.log(now, step, || Happening::Refused { url: discovery.url.clone(), why });
                let (key, record) = (discovery.url.key(), record(RecordStatus::Refused(why)));
                self.books.put_nowhere(UrlPosition::NEW, key, record, &mut step.rows);
            }
        }
        id
    }

    fn let_in(&mut self, url: LetIn, batch: &mut Batch) {
        self.books.stand(&url.record);
        let role = url.record.role;
        let is_sitemap = role.is_sitemap();
        let is_counted = self.config.host_pages_max.is_some() || is_sitemap;
        if is_counted && !role.is_requisite() && !url.was.is_admitted() {
            *batch.granted.entry((url.host.clone(), is_sitemap)).or_default() += 1;
        }
        batch.admitted.push(url);
    }

    /// A known URL that came again: by a shorter way, as a seed, or from a review.
    fn take_known(
        &mut self,
        discovery: Discovery,
        record: UrlRecord,
        batch: &mut Batch,
        step: &mut Step,
    ) {
        match record.status {
            RecordStatus::Refused(Refusal::Robots) | RecordStatus::Failed(_) => {
                self.try_again(discovery, record, batch);
            }
            // Only what its host has brought by then can tell more.
            RecordStatus::Refused(Refusal::Pattern) if discovery.kind == FoundAs::Link => {}
            // The rules may let it in, and its head would not.
            RecordStatus::Refused(why) if why.is_of_head() && !discovery.kind.is_readmitted() => {}
            RecordStatus::Refused(why) => self.readmit(discovery, record, why, batch, step),
            _ => {}
        }
    }

    /// A URL that was admitted before, and failed, or robots.txt forbade it. How it was found says
    /// whether it is to be asked for again: links to it are no reason.
    fn try_again(&mut self, discovery: Discovery, record: UrlRecord, batch: &mut Batch) {
        let is_asked = discovery.kind == FoundAs::Asked && record.place.is_none();
        let comes_for_it = matches!(discovery.kind, FoundAs::Seed | FoundAs::Readmit);
        if !is_asked && (!comes_for_it || !self.is_tried_again(&record)) {
            return;
        }
        let host = discovery.url.host_key();
        // It has its place in the host's budget.
        let role = record.role;
        let others = self.spent(&host, (role, record.found_on), batch).saturating_sub(1);
        if admit::admit(&self.config, AdmissionCandidate::found(&discovery, role, others)).is_err()
        {
            return;
        }
        let was = UrlPosition::of(&record);
        let is_failed = matches!(record.status, RecordStatus::Failed(_));
        let tries = if is_failed { self.tries_behind() } else { 0 };
        let record = record.tried_again(tries);
        self.let_in(LetIn { discovery, was, record, host }, batch);
    }

    fn readmit(
        &mut self,
        mut discovery: Discovery,
        mut record: UrlRecord,
        why: Refusal,
        batch: &mut Batch,
        step: &mut Step,
    ) {
        if discovery.depth < record.depth {
            let found_on = FoundOn::of(discovery.from);
            let is_listed = record.found_on.is_listed();
            record.found_on = if is_listed { found_on.listed() } else { found_on };
        }
        discovery.depth = discovery.depth.min(record.depth);
        if let (Refusal::Depth, Some(shortest)) = (why, self.admission.nearer.depth(record.id)) {
            discovery.depth = discovery.depth.min(shortest);
        }
        // It was refused as a page, and is named as a sitemap.
        if record.role == Role::Page {
            record.role = discovery.kind.role();
        }
        let (host, role) = (discovery.url.host_key(), record.role);
        let was = UrlPosition::of(&record);
        let spent = self.spent(&host, (role, record.found_on), batch);
        match admit::admit(&self.config, AdmissionCandidate::found(&discovery, role, spent)) {
            Ok(()) => {
                let record = record.readmitted(discovery.depth, discovery.hops);
                self.let_in(LetIn { discovery, was, record, host }, batch);
            }
            Err(still) if still != why || discovery.depth < record.depth => {
                record.depth = discovery.depth;
                let (key, record) = (discovery.url.key(), record.refused(still));
                self.books.put_nowhere(was, key, record, &mut step.rows);
            }
            Err(_) => {}
        }
    }

    /// How much the budget of the host has spent: for sitemaps, and where pages are visited again
    /// and again, on what was admitted, else on pages that had their turn. What another site names
    /// finds a budget of its own spent when it has taken its part.
    fn spent(&self, host: &HostKey, (role, found_on): (Role, FoundOn), batch: &Batch) -> u64 {
        let is_sitemap = role.is_sitemap();
        let is_counted = self.config.host_pages_max.is_some() || is_sitemap;
        if !is_counted || role.is_requisite() {
            return 0;
        }
        let is_by_turns = !is_sitemap && self.revisiting.is_none();
        let spent = |record: &HostRecord| match is_sitemap {
            true => u64::from(record.sitemaps),
            false if is_by_turns => record.had_turns(),
            false => record.admitted,
        };
        let awake =
            self.frontier.awake.slot_of(host).and_then(|slot| self.frontier.awake.get(slot));
        let before = awake
            .map(|host| &host.record)
            .or_else(|| batch.touched.get(host))
            .or_else(|| batch.known.get(host))
            .map_or(0, spent);
        if is_by_turns {
            return before;
        }
        let spent = before + batch.granted.get(&(host.clone(), is_sitemap)).copied().unwrap_or(0);
        if found_on.is_strange() { spent.saturating_mul(STRANGERS_PART) } else { spent }
    }

    fn admit(&mut self, url: LetIn, batch: &mut Batch, step: &mut Step) {
        let LetIn { discovery, was, record, host } = url;
        let place = match record.role {
            Role::Page if discovery.kind == FoundAs::Asked => hands::front(record.id.0),
            Role::Page => {
                let url = (discovery.url.as_str(), discovery.depth, record.id);
                self.ranking.place(&self.config, url, &self.books.mass)
            }
            role if role.is_requisite() => requisites::place(record.id),
            _ => order::place_of_sitemap(record.id),
        };
        let is_new = !was.is_admitted();
        let listed = if is_new { traps::listed(&discovery.url, &record) } else { None };
        let entry = Entry { url: discovery.url, record };
        let slot = match self.frontier.awake.slot_of(&host) {
            Some(slot) => Some(slot),
            None => self.lay_down(&host, place, batch, step),
        };
        let Some(slot) = slot else {
            let asleep = batch.touched.get_mut(&host).expect("a host that was laid down");
            asleep.patterns.lists(listed);
            let home = UrlHost::Asleep(&host, asleep);
            return self.books.put(home, was, entry, Some(place), &mut step.rows);
        };
        let awake = self.frontier.awake.at(slot);
        awake.record.patterns.lists(listed);
        self.books.put(UrlHost::Awake(awake), was, entry, Some(place), &mut step.rows);
        if awake.record.sleep.is_none() {
            // It was woken for a referral and had no work: a restart must find it too.
            let class = class_of(&place);
            let place = SleepPlace::Ready { class, rank: self.books.counters.next_sleep };
            self.books.counters.next_sleep += 1;
            awake.record.sleep = Some(place);
            step.rows.push(Row::Sleep { host: awake.key.clone(), place, asleep: true });
        }
        self.frontier.mark_dirty(slot);
        batch.slots.insert(slot);
    }

    /// Work for a host that is not awake: it sleeps where its new work puts it. A host that was
    /// never seen before wakes at once if there is room, since nothing need be read for it.
    fn lay_down(
        &mut self,
        host: &HostKey,
        work: Place,
        batch: &mut Batch,
        step: &mut Step,
    ) -> Option<u32> {
        let before = batch.touched.remove(host).or_else(|| batch.known.remove(host));
        let is_new_host = before.is_none();
        let mut record = before.unwrap_or_default();
        self.move_bed(host, &mut record, work, step);
        if is_new_host {
            self.books.counters.hosts += 1;
            let site = xxh3_64(host.site().as_str().as_bytes());
            let has_room = self.frontier.awake.len() < self.frontier.awake_limit;
            if has_room && !self.is_crowd(site) {
                self.frontier.sleepers.remove(record.sleep.expect("it was just laid down"));
                if let Some(opened) = self.clock.reopened {
                    // Its row may have been lost after it was asked.
                    let delay = polite::delay(&self.config.polite, &record);
                    record.not_before = opened + delay;
                }
                let rows_max = self.frontier.awake.rows_of_next();
                let (now, later) = (BackQueue::empty(rows_max), BackQueue::empty(rows_max));
                let slot = self.frontier.awake.insert(Awake::new(host.clone(), record, now, later));
                self.frontier.mark_dirty(slot);
                return Some(slot);
            }
        }
        batch.touched.insert(host.clone(), record);
        None
    }

    /// A sleeping host has other work than it lay down with.
    pub(crate) fn move_bed(
        &mut self,
        host: &HostKey,
        record: &mut HostRecord,
        work: Place,
        step: &mut Step,
    ) {
        let class = class_of(&work);
        let after = match work {
            Place::Now { .. } => &mut record.now_after,
            Place::Later { .. } => &mut record.later_after,
        };
        if after.is_some_and(|after| work <= after) {
            *after = work.before();
        }
        let better = match record.sleep {
            None => true,
            // It lay down because of pages that are not asked for any more.
            Some(_) if self.limits.is_finishing() => {
                matches!(work, Place::Later { .. }) && record.failing.is_none()
            }
            Some(SleepPlace::Ready { class: present, .. }) => class < present,
            // New work brings its day nearer unless the host itself asked for the rest.
            Some(SleepPlace::Later { due, .. }) => record.not_before < due,
            // A host that fails is not tried sooner for having more to do.
            Some(SleepPlace::Resting { .. }) => false,
        };
        if better {
            let place = SleepPlace::Ready { class, rank: self.books.counters.next_sleep };
            self.books.counters.next_sleep += 1;
            if let Some(old) = record.sleep.replace(place) {
                let is_failing = record.failing.is_some();
                if self.is_resting(old) {
                    let was_asked = record.answers > 0;
                    *self.frontier.resting_as(host, (is_failing, was_asked), &self.config.hours) -=
                        1;
                }
                self.frontier.sleepers.remove(old);
                step.rows.push(Row::Sleep { host: host.clone(), place: old, asleep: false });
            }
            step.rows.push(Row::Sleep { host: host.clone(), place, asleep: true });
            self.frontier.sleepers.add(place);
        }
    }
}
