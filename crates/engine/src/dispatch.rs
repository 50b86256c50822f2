//! Choosing: hosts whose time has come, by class, as long as there are free slots.

use crate::admit::{self, AdmissionCandidate};
use crate::config::{Config, Selection};
use crate::engine::Engine;
use crate::event::{Action, FetchOrder, Step};
use crate::frontier::awake::Doing;
use crate::frontier::ready::Chooser;
use crate::gates::Permission;
use crate::order;
use crate::polite::{Called, Way};
use crate::queue::{Entry, Place};
use crate::record::{Next, Refusal};
use crate::requisites;
use crate::time::Time;
use crate::traffic::{Flight, Requested};
use crate::traps::Worth;
use rhumb_page::url::Url;

impl Engine {
    /// Requests that may still be begun.
    pub(crate) fn free_slots(&self) -> usize {
        // A page that is not yet compared still holds its bytes.
        let held = self.traffic.len() + self.comparing.len();
        if self.limits.is_out_of_bytes(&self.books.counters) {
            return 0;
        }
        let slots = self.limits.slots(&self.config);
        let free = slots.saturating_sub(self.traffic.len());
        let free = free.min(self.held_places().saturating_sub(held));
        let free = free.min(self.limits.allowed_slots(&self.books.counters, held));
        match self.limits.pages_max(&self.config) {
            Some(max) if !self.limits.is_finishing() => {
                free.min(max.saturating_sub(self.books.counters.pages + held as u64) as usize)
            }
            _ => free,
        }
    }

    /// Pages that may be in flight or being compared.
    pub(crate) fn held_places(&self) -> usize {
        Config::held_max_of(self.limits.slots(&self.config))
    }

    pub(crate) fn dispatch(&mut self, now: Time, step: &mut Step) {
        while let Some((slot, ticket)) = self.frontier.ready.pop_due(now) {
            if self.frontier.is_in_line(slot, ticket) {
                self.back_in_line(now, slot, ticket);
            }
        }
        while self.free_slots() > 0 && self.within_budget(now) && !self.holds_back() {
            let Some((slot, ticket)) = self.next_in_line() else { break };
            if self.frontier.is_in_line(slot, ticket) {
                self.begin(now, slot, step);
            }
        }
    }

    /// Overdue visits first, the most overdue of them; what is new has its share of the turns.
    fn next_in_line(&mut self) -> Option<(u32, u32)> {
        if !(self.frontier.ready.has_classed() && self.owes_new())
            && let Some(overdue) = self.frontier.ready.pop_overdue()
        {
            return Some(overdue);
        }
        let mut chooser = match self.ranking.takes_best(self.config.selection) {
            true => Chooser::Best,
            false => Chooser::Biased(&mut self.rng),
        };
        self.frontier.ready.pop(&mut chooser)
    }

    /// Whether all hosts that are due have too little to be worth a request now.
    pub(crate) fn holds_back(&self) -> bool {
        let Selection::Patient { octaves } = self.config.selection else { return false };
        let (Some(best), Some(waiting)) =
            (self.frontier.ready.best(), self.books.mass.ledger().frontier_level())
        else {
            return false;
        };
        let is_waiting = !self.traffic.is_empty() || !self.comparing.is_empty();
        is_waiting && best > order::class_of_level(waiting).saturating_add(octaves)
    }

    /// Into the line of those who are overdue, or the front queue of its best class.
    pub(crate) fn back_in_line(&mut self, now: Time, slot: u32, ticket: u32) {
        if !self.frontier.is_in_line(slot, ticket) {
            return;
        }
        let host = self.frontier.awake.at(slot);
        let due = host.later_due().filter(|due| *due <= now && !host.has_requisite());
        if let (Some(_), Some(due)) = (&self.revisiting, due) {
            return self.frontier.ready.push_overdue(due, slot, ticket);
        }
        let later = host.later.front().map(|(_, entry)| entry.record.class);
        let class = host.class().or(later).unwrap_or(0);
        self.frontier.ready.push(class, slot, ticket);
    }

    /// The host's next request, if its address has room and robots leave it one.
    fn begin(&mut self, now: Time, slot: u32, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        let ticket = host.ticket;
        // The owner may have laid it to rest since it was put in line.
        let may_be_asked = host.record.not_before <= now || !host.referrals.is_empty();
        let may_be_asked = may_be_asked && self.opens(now, slot).is_none();
        let may_be_asked = may_be_asked && !self.rests_as_spent(slot);
        let may_be_asked = may_be_asked && !self.naps_beside_line(now, slot);
        let host = self.frontier.awake.at(slot);
        let Some(ip) = host.addresses.current(now).filter(|_| may_be_asked) else {
            host.queued_up = false;
            // It may have been called to a place at its old address, which it will not take.
            let way = host.addresses.last().map(|ip| host.way(ip));
            if let Some(way) = way {
                let called = self.traffic.gateways.call(way, &self.config);
                self.called(now, called);
            }
            return self.advance(now, slot, step);
        };
        let way = host.way(ip);
        let (gate, called) = self.traffic.gateways.enter(way, (slot, ticket), &self.config, now);
        self.called(now, called);
        match gate {
            Permission::Open => {}
            Permission::Full => return,
            Permission::Resting(until) => return self.frontier.ready.wait(until, slot, ticket),
        }
        self.frontier.awake.at(slot).queued_up = false;
        match self.choose(now, slot, step) {
            Some((url, requested)) => {
                let charged = self.charge(now);
                self.fetch(now, slot, (way, charged), (url, requested), step);
            }
            None => {
                let called = self.traffic.gateways.leave(way, now, &self.config, now);
                self.called(now, called);
                self.advance(now, slot, step);
            }
        }
    }

    /// Somebody left: those who wait for that may try.
    pub(crate) fn called(&mut self, now: Time, called: Called) {
        for (slot, ticket) in called.into_iter().flatten() {
            self.back_in_line(now, slot, ticket);
        }
    }

    /// Referrals first, since others wait for them; then robots.txt; then pages that robots allow,
    /// and the rules of admission still do.
    fn choose(&mut self, now: Time, slot: u32, step: &mut Step) -> Option<(Url, Requested)> {
        let host = self.frontier.awake.at(slot);
        if !host.referrals.is_empty() {
            // Those who ask for our own robots.txt are told when we have it; while we wait for it
            // ourselves they must not, or two that redirect to each other would wait for ever.
            let own = host.key.robots_url().filter(|_| !host.awaits_robots);
            let referral =
                host.referrals.iter().position(|referral| Some(&referral.url) != own.as_ref());
            if let Some(at) = referral {
                let referral = host.referrals.remove(at);
                return Some((referral.url.clone(), Requested::RobotsFor(referral)));
            }
        }
        if host.awaits_robots {
            return None;
        }
        if host.record.robots_until.is_none_or(|until| until <= now) || host.robots.is_none() {
            let url = match &host.robots_at {
                Some((url, _)) => Some(url.clone()),
                None => host.key.robots_url(),
            };
            if let Some(url) = url {
                return Some((url, Requested::Robots));
            }
        }
        while let Some((place, entry)) = self.next_row(now, slot) {
            if let Some(due) = self.too_soon(now, slot, place, &entry) {
                self.defer(slot, (place, entry), due, step);
                continue;
            }
            if let Some(opens) = self.url_opens(now, &entry.url) {
                self.defer(slot, (place, entry), opens, step);
                continue;
            }
            let host = self.frontier.awake.at(slot);
            // Those of the host that had their turn; this one still counts as waiting.
            let others = host.record.had_turns();
            if let Err(why) =
                admit::admit(&self.config, AdmissionCandidate::waiting(&entry, others))
            {
                self.refuse((now, slot), (place, entry), (why, Next::Never), step);
                continue;
            }
            match self.worth(slot, place, &entry, others) {
                Worth::Now => {}
                Worth::Last => {
                    self.put_last(slot, place, entry, step);
                    continue;
                }
                Worth::Never => {
                    let pattern = (Refusal::Pattern, Next::Never);
                    self.refuse((now, slot), (place, entry), pattern, step);
                    continue;
                }
            }
            let host = self.frontier.awake.at(slot);
            let allowed = host.robots_in_force(now).is_none_or(|r| r.allows(&entry.url));
            if allowed {
                self.book_turn(now, slot, place);
                self.frontier.awake.at(slot).had_requisite = requisites::is_first(&place);
                return Some((
                    entry.url.clone(),
                    Requested::Page { place, entry: Box::new(entry) },
                ));
            }
            self.refuse_by_robots(now, slot, (place, entry), step);
        }
        None
    }

    /// When a host may be asked, if it is outside its hours: in our own time.
    pub(crate) fn opens(&self, now: Time, slot: u32) -> Option<Time> {
        let rule = self.config.hours.of_host(&self.frontier.awake.get(slot)?.key)?;
        Some(self.clock.own(rule.opens(self.clock.world(now))?))
    }

    fn url_opens(&self, now: Time, url: &Url) -> Option<Time> {
        let rule = self.config.hours.of_url(url)?;
        Some(self.clock.own(rule.opens(self.clock.world(now))?))
    }

    /// What is due comes before what is new: there is a date attached to it. A crawl that goes on
    /// keeps a share of its requests for what is new.
    fn next_row(&mut self, now: Time, slot: u32) -> Option<(Place, Entry)> {
        let is_finishing = self.limits.is_finishing();
        let host = self.frontier.awake.at(slot);
        let is_due = host.later_due().is_some_and(|due| due <= now);
        let is_new = !host.now.is_empty();
        if is_finishing {
            return if host.has_requisite() { host.later.pop() } else { None };
        }
        // A host that failed is asked for another page than the one that failed, if there is one.
        let is_doubtful = host.record.failures > 0;
        // A page and a requisite take turns.
        let is_turn_of_page = host.had_requisite && host.has_requisite();
        let takes_new = !is_due || (is_new && (is_doubtful || is_turn_of_page || self.owes_new()));
        let host = self.frontier.awake.at(slot);
        if takes_new { host.now.pop() } else { host.later.pop() }
    }

    /// Keeps account of what is new and what is due, where both wait.
    fn book_turn(&mut self, now: Time, slot: u32, taken: Place) {
        let host = self.frontier.awake.at(slot);
        let is_due =
            host.later_due().is_some_and(|due| due <= now) || self.frontier.ready.has_overdue();
        let is_new = !host.now.is_empty() || self.frontier.ready.has_classed();
        if let Some(revisiting) = &mut self.revisiting {
            match taken {
                Place::Later { .. } if is_new => revisiting.revisited_before_new(),
                Place::Now { .. } if is_due => revisiting.fetched_new_before_due(),
                _ => {}
            }
        }
    }

    fn fetch(
        &mut self,
        now: Time,
        slot: u32,
        (way, charged): (Way, u64),
        (url, requested): (Url, Requested),
        step: &mut Step,
    ) {
        let id = self.traffic.next_id();
        if let Requested::Page { entry, .. } = &requested {
            self.charge_site(slot, entry);
        }
        let host = self.frontier.awake.at(slot);
        host.doing = Doing::Fetching(id);
        let (etag, last_modified, depth) = match &requested {
            Requested::Page { entry, .. } => {
                let record = &entry.record;
                // Validators are only of use if we hold what they validate.
                let held = record.past.content.is_some();
                let may = host.record.trust.conditions(record);
                let of = |v: &Option<Box<str>>, may| if held && may { v.clone() } else { None };
                let etag = of(&record.past.etag, may.etag);
                (etag, of(&record.past.last_modified, may.last_modified), record.depth)
            }
            _ => (None, None, 0),
        };
        let purpose = requested.purpose();
        let host = match &requested {
            Requested::RobotsFor(referral) => referral.for_host.clone(),
            _ => host.key.clone(),
        };
        step.actions.push(Action::Fetch(FetchOrder {
            id,
            url,
            host,
            address: way.ip,
            purpose,
            etag,
            last_modified,
            depth,
        }));
        self.traffic.began(id, Flight { began: now, slot, charged, way, requested });
        let held = self.traffic.len() + self.comparing.len();
        let is_within = self.traffic.len() <= self.config.concurrency;
        assert!(is_within && held <= self.config.held_max(), "more requests than there are slots");
        // The queue may have fallen low by what was taken.
        self.frontier.refill_if_low(slot);
    }
}
