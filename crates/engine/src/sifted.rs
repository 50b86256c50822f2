//! Admission: what the sieve found new is admitted, numbered, placed and queued.

use crate::admit::{self, Candidate};
use crate::discovery::{Discovery, FoundAs};
use crate::engine::Engine;
use crate::event::{Row, Sifted, Step, ToAdmit};
use crate::frontier::awake::Awake;
use crate::frontier::back_queue::BackQueue;
use crate::hands;
use crate::host::HostRecord;
use crate::log::Happening;
use crate::mass::filed_class;
use crate::order;
use crate::polite;
use crate::queue::{Entry, Place, SleepPlace};
use crate::record::{FoundOn, Refusal, Role, Status, UrlId, UrlRecord};
use crate::requisites;
use crate::time::Time;
use crate::traps;
use crate::traps::shape::Shape;
use rhumb_page::url::HostKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
fn is_out(status: Status) -> bool {
    matches!(status, Status::Refused(_) | Status::Failed(_))
}

/// A URL that is to be queued.
struct LetIn {
    discovery: Discovery,
    record: UrlRecord,
    host: HostKey,
    /// Not one that was admitted before.
    is_new: bool,
}

impl Engine {
    pub(crate) fn sifted(&mut self, now: Time, sifted: Sifted, step: &mut Step) {
        let chunks = self.outbox.sifted(&mut self.counters, step);
        let mut known: HashMap<HostKey, HostRecord> = sifted.hosts.into_iter().collect();
        known.extend(self.since_sift.drain());
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
                        FoundAs::Announced(_) if !matches!(record.status, Status::Refused(_)) => {
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
            if self.sleepers.is_asked() {
                self.since_wake.insert(key.clone(), record.clone());
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
        let id = UrlId(self.counters.next_url);
        self.counters.next_url += 1;
        self.counters.known += 1;
        let host = discovery.url.host_key();
        let (depth, hops) = (discovery.depth, discovery.hops);
        let is_listed = matches!(discovery.kind, FoundAs::Listed | FoundAs::Announced(_));
        let found_on = FoundOn::of(discovery.from);
        let found_on = if is_listed { found_on.listed() } else { found_on };
        let role = discovery.kind.role();
        let record =
            |status| UrlRecord { found_on, role, ..UrlRecord::new(id, status, depth, hops, now) };
        let spent = self.spent(&host, role, batch);
        match admit::admit(&self.config, Candidate::found(&discovery, role, spent)) {
            Ok(()) => {
                let record = record(Status::Queued);
                self.let_in(LetIn { discovery, record, host, is_new: true }, batch);
            }
            Err(why) => {
                *self.counters.refused_as(why) += 1;
                self.log(now, step, || Happening::Refused { url: discovery.url.clone(), why });
                let record = record(Status::Refused(why));
                self.mass.stand(&record);
                step.rows.push(Row::Url { key: discovery.url.key(), record });
            }
        }
        id
    }

    fn let_in(&mut self, url: LetIn, batch: &mut Batch) {
        self.mass.stand(&url.record);
        let role = url.record.role;
        let is_sitemap = role.is_sitemap();
        let is_counted = self.config.host_pages_max.is_some() || is_sitemap;
        if is_counted && !role.is_requisite() && url.is_new {
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
            Status::Refused(Refusal::Robots) | Status::Failed(_) => {
                self.try_again(discovery, record, batch);
            }
            // Only what its host has brought by then can tell more.
            Status::Refused(Refusal::Pattern) if discovery.kind == FoundAs::Link => {}
            // The rules may let it in, and its head would not.
            Status::Refused(why) if why.is_of_head() && !discovery.kind.is_readmitted() => {}
            Status::Refused(why) => self.readmit(discovery, record, why, batch, step),
            _ => {}
        }
    }

    /// A URL that was admitted before, and failed, or robots.txt forbade it. How it was found says
    /// whether it is to be asked for again: links to it are no reason.
    fn try_again(&mut self, discovery: Discovery, mut record: UrlRecord, batch: &mut Batch) {
        let is_asked = discovery.kind == FoundAs::Asked && record.place.is_none();
        let comes_for_it = matches!(discovery.kind, FoundAs::Seed | FoundAs::Readmit);
        if !is_asked && (!comes_for_it || !self.is_tried_again(&record)) {
            return;
        }
        let host = discovery.url.host_key();
        // It has its place in the host's budget.
        let role = record.role;
        let others = self.spent(&host, role, batch).saturating_sub(1);
        if admit::admit(&self.config, Candidate::found(&discovery, role, others)).is_err() {
            return;
        }
        self.leave_status(record.status);
        let is_failed = matches!(record.status, Status::Failed(_));
        record.tries = if is_failed { self.tries_behind() } else { 0 };
        record.status = Status::Queued;
        // It left the calendar of revisits.
        record.past.learnt = None;
        self.let_in(LetIn { discovery, record, host, is_new: false }, batch);
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
        if let (Refusal::Depth, Some(shortest)) = (why, self.nearer.depth(record.id)) {
            discovery.depth = discovery.depth.min(shortest);
        }
        // It was refused as a page, and is named as a sitemap.
        if record.role == Role::Page {
            record.role = discovery.kind.role();
        }
        let (host, role) = (discovery.url.host_key(), record.role);
        let spent = self.spent(&host, role, batch);
        match admit::admit(&self.config, Candidate::found(&discovery, role, spent)) {
            Ok(()) => {
                *self.counters.refused_as(why) -= 1;
                (record.depth, record.hops) = (discovery.depth, discovery.hops);
                record.status = Status::Queued;
                self.let_in(LetIn { discovery, record, host, is_new: true }, batch);
            }
            Err(still) if still != why || discovery.depth < record.depth => {
                *self.counters.refused_as(why) -= 1;
                *self.counters.refused_as(still) += 1;
                record.depth = discovery.depth;
                record.status = Status::Refused(still);
                self.mass.stand(&record);
                step.rows.push(Row::Url { key: discovery.url.key(), record });
            }
            Err(_) => {}
        }
    }

    /// How many pages, or sitemaps, of the host have been admitted so far.
    fn spent(&self, host: &HostKey, role: Role, batch: &Batch) -> u64 {
        let is_sitemap = role.is_sitemap();
        let is_counted = self.config.host_pages_max.is_some() || is_sitemap;
        if !is_counted || role.is_requisite() {
            return 0;
        }
        let spent = |record: &HostRecord| match is_sitemap {
            true => u64::from(record.sitemaps),
            false => record.admitted,
        };
        let awake = self.awake.slot_of(host).and_then(|slot| self.awake.get(slot));
        let before = awake
            .map(|host| &host.record)
            .or_else(|| batch.touched.get(host))
            .or_else(|| batch.known.get(host))
            .map_or(0, spent);
        before + batch.granted.get(&(host.clone(), is_sitemap)).copied().unwrap_or(0)
    }

    fn admit(&mut self, url: LetIn, batch: &mut Batch, step: &mut Step) {
        let LetIn { discovery, mut record, host, is_new } = url;
        let place = match record.role {
            Role::Page if discovery.kind == FoundAs::Asked => hands::front(record.id.0),
            Role::Page => self.place(discovery.url.as_str(), discovery.depth, record.id),
            role if role.is_requisite() => requisites::place(record.id),
            _ => order::place_of_sitemap(record.id),
        };
        record.class = class_of(&place);
        self.requisites.counters.waiting += u64::from(requisites::is_first(&place));
        let role = record.role;
        let listed = if is_new { traps::listed(&discovery.url, &record) } else { None };
        record.place = Some(place);
        self.mass.file(record.id, filed_class(&record));
        self.counters.admitted += u64::from(is_new);
        self.counters.queued += 1;
        step.rows.push(Row::Url { key: discovery.url.key(), record: record.clone() });
        let entry = Entry { url: discovery.url, record };
        step.rows.push(Row::Queue { host: host.clone(), place, entry: Some(entry.clone()) });
        let slot = match self.awake.slot_of(&host) {
            Some(slot) => Some(slot),
            None => self.lay_down((host, place), (role, is_new, listed), batch, step),
        };
        if let Some(slot) = slot {
            let awake = self.awake.at(slot);
            awake.record.count_admitted(role, is_new);
            awake.record.patterns.lists(listed);
            awake.queue(place.section()).insert(place, entry);
            if awake.record.sleep.is_none() {
                // It was woken for a referral and had no work: a restart must find it too.
                let class = class_of(&place);
                let place = SleepPlace::Ready { class, rank: self.counters.next_sleep };
                self.counters.next_sleep += 1;
                awake.record.sleep = Some(place);
                step.rows.push(Row::Sleep { host: awake.key.clone(), place, asleep: true });
            }
            self.mark_dirty(slot);
            batch.slots.insert(slot);
        }
    }

    pub(crate) fn place(&self, url: &str, depth: u16, id: UrlId) -> Place {
        let (policy, rules) = (self.policy.as_ref(), &self.config.priorities);
        order::place(policy, rules, (url, depth, id), &self.mass)
    }

    /// Work for a host that is not awake: it sleeps where its new work puts it. A host that was
    /// never seen before wakes at once if there is room, since nothing need be read for it.
    fn lay_down(
        &mut self,
        (host, work): (HostKey, Place),
        (role, is_new, listed): (Role, bool, Option<Shape>),
        batch: &mut Batch,
        step: &mut Step,
    ) -> Option<u32> {
        let before = batch.touched.remove(&host).or_else(|| batch.known.remove(&host));
        let is_new_host = before.is_none();
        let mut record = before.unwrap_or_default();
        self.move_bed(&host, &mut record, work, step);
        if is_new_host {
            self.counters.hosts += 1;
            if self.awake.len() < self.awake_limit {
                self.sleepers.remove(record.sleep.expect("it was just laid down"));
                if let Some(opened) = self.reopened {
                    // Its row may have been lost after it was asked.
                    let delay = polite::delay(&self.config.polite, &record);
                    record.not_before = opened + delay;
                }
                let rows_max = self.awake.rows_of_next();
                let (now, later) = (BackQueue::empty(rows_max), BackQueue::empty(rows_max));
                let slot = self.awake.insert(Awake::new(host, record, now, later));
                self.mark_dirty(slot);
                return Some(slot);
            }
        }
        record.count_admitted(role, is_new);
        record.patterns.lists(listed);
        batch.touched.insert(host, record);
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
            Some(_) if self.is_finishing() => {
                matches!(work, Place::Later { .. }) && record.failing.is_none()
            }
            Some(SleepPlace::Ready { class: present, .. }) => class < present,
            // New work brings its day nearer unless the host itself asked for the rest.
            Some(SleepPlace::Later { due, .. }) => record.not_before < due,
            // A host that fails is not tried sooner for having more to do.
            Some(SleepPlace::Resting { .. }) => false,
        };
        if better {
            let place = SleepPlace::Ready { class, rank: self.counters.next_sleep };
            self.counters.next_sleep += 1;
            if let Some(old) = record.sleep.replace(place) {
                let is_failing = record.failing.is_some();
                if self.is_resting(old) {
                    *self.resting_as(host, is_failing) -= 1;
                }
                self.sleepers.remove(old);
                step.rows.push(Row::Sleep { host: host.clone(), place: old, asleep: false });
            }
            step.rows.push(Row::Sleep { host: host.clone(), place, asleep: true });
            self.sleepers.add(place);
        }
    }
}
