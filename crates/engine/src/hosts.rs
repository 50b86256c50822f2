//! A host's day: it wakes, finds its address, works through its queue, and goes back to sleep.

use crate::engine::Engine;
use crate::event::{Action, Question, Refilled, ResolvedName, Row, Step, Woken, WokenHost};
use crate::frontier::awake::{Awake, Doing, bed};
use crate::frontier::back_queue::BackQueue;
use crate::frontier::ready::Chooser;
use crate::outcome::FailKind;
use crate::polite;
use crate::queue::SleepPlace;
use crate::record::Refusal;
use crate::shares::ShareLeave;
use crate::time::{Span, Time};
use rhumb_page::url::HostKey;
use xxhash_rust::xxh3::xxh3_64;

/// A host with a longer wait before it sleeps meanwhile.
pub const NAP_MIN: Span = Span::secs(30);
/// An address is good for at least this long, whatever the name server says: names are resolved
/// up to a nap before the request, and an answer must be of use for one.
pub const ADDRESS_MIN: Span = Span::secs(60);
/// A host whose site has had its share of names, or its budget, is looked at again after so long.
pub(crate) const HELD_REST: Span = Span::secs(600);
/// Hosts of one site, and hosts in line at one address, that may be awake: this part of all, and no
/// fewer than so many.
const CROWD_PART: usize = 4;
const CROWD_MIN: usize = 64;
/// A host beyond that sleeps so long before it is looked at again.
const CROWD_NAP: Span = Span(NAP_MIN.0 + 1);
/// So many hosts awake are enough as long as look-ups are what is waited for.
const AWAKE_FOR_LOOKUPS: usize = 3_072;
/// Requests in a row while others sleep that could be awake.
pub const TURNS_MAX: u32 = 64;

impl Engine {
    /// Asks for sleeping hosts if there is room; makes room if slots are free and nothing is due.
    pub(crate) fn wake(&mut self, now: Time, step: &mut Step) {
        if self.limits.is_finishing() {
            return self.wake_for_requisites(now, step);
        }
        let starving = self.free_slots() > 0 && self.frontier.ready.is_empty();
        // What a crawl of many hosts waits for at its begin is names, and not hosts to name.
        let are_enough =
            self.frontier.awake_limit >= AWAKE_FOR_LOOKUPS && self.traffic.lookups.are_waited_for();
        if starving
            && !are_enough
            && self.frontier.sleepers.are_waiting(now)
            && self.frontier.awake.len() >= self.frontier.awake_limit
        {
            self.frontier.awake_limit =
                (self.frontier.awake_limit * 2).min(self.config.hosts_awake_max);
        }
        let room = self.frontier.awake_limit.saturating_sub(self.frontier.awake.len());
        let mut chooser = match self.ranking.takes_best(self.config.selection) {
            true => Chooser::Best,
            false => Chooser::Biased(&mut self.rng),
        };
        let rows_max = self.frontier.awake.rows_of_next();
        if let Some(wake) = self.frontier.sleepers.wake(room, rows_max, now, &mut chooser) {
            self.frontier.since_wake.clear();
            step.actions.push(Action::Ask(Question::Wake(wake)));
        }
    }

    pub(crate) fn woken(&mut self, now: Time, mut woken: Woken, step: &mut Step) {
        let hosts = std::mem::take(&mut woken.hosts);
        let found: Vec<_> = hosts.iter().filter_map(|h| h.sleeper.clone()).collect();
        for host in hosts {
            match self.frontier.awake.slot_of(&host.host) {
                None => self.wake_one(now, host, step),
                // It woke by itself meanwhile; what it was called for still waits.
                Some(slot) => {
                    if let Some(until) = self.hands.take_rest(&host.host) {
                        self.lay_to_rest(until, host.host.clone());
                    }
                    let referrals =
                        self.frontier.referrals_to_wake.remove(&host.host).unwrap_or_default();
                    self.frontier.awake.at(slot).referrals.extend(referrals);
                    self.advance(now, slot, step);
                }
            }
        }
        // Only now: a host named twice in the answer may have lain down again in between.
        self.frontier.sleepers.answered(found.into_iter(), &woken);
        self.frontier.since_wake.clear();
    }

    fn wake_one(&mut self, now: Time, woken: WokenHost, step: &mut Step) {
        let WokenHost { host, record, robots, now: rows, later, .. } = woken;
        let newer = self.frontier.since_wake.remove(&host);
        let is_stale = newer.is_some();
        let is_new = newer.is_none() && record.is_none();
        let mut record = newer.or(record).unwrap_or_default();
        self.books.counters.hosts += u64::from(is_new);
        if let Some(place) = record.sleep {
            self.frontier.sleepers.remove(place);
        }
        let run = self.books.counters.run;
        record.enter_run(run);
        let rest = self.hands.take_rest(&host);
        record.not_before = record.not_before.max(rest.unwrap_or(Time::ZERO));
        // Woken for another's sake, it goes on resting.
        let rest_until = match record.sleep {
            Some(SleepPlace::Resting { run: of, due, .. }) if of == run => {
                let is_failing = record.failing.is_some();
                let was_asked = record.answers > 0;
                *self.frontier.resting_as(&host, (is_failing, was_asked), &self.config.hours) -= 1;
                // A host with hours is asked when they begin, whatever it lay down for.
                let is_timed = !is_failing && self.config.hours.of_host(&host).is_some();
                if is_timed { Time::ZERO } else { due }
            }
            _ => Time::ZERO,
        };
        if let Some(opened) = self.clock.reopened {
            // The last request before a crash may not be on record: wait as if it was just now.
            let delay = polite::delay(&self.config.polite, &record);
            record.not_before = record.not_before.max(opened + delay);
        }
        // Good only while it sleeps: from here on its queues know better.
        let after = (record.now_after.take(), record.later_after.take());
        let max = self.frontier.awake.rows_of_next();
        let (rows, later) = if is_stale {
            (BackQueue::unknown(after.0, max), BackQueue::unknown(after.1, max))
        } else {
            (BackQueue::from_rows(after.0, rows, max), BackQueue::from_rows(after.1, later, max))
        };
        let referrals = self.frontier.referrals_to_wake.remove(&host).unwrap_or_default();
        let mut awake = Awake::new(host, record, rows, later);
        // Those that an earlier run read for another user agent are read again.
        let agent = self.config.agent_at(&awake.key);
        let robots = robots.filter(|robots| robots.are_for(agent));
        (awake.robots, awake.referrals, awake.rest_until) = (robots, referrals, rest_until);
        if self.is_crowd(awake.site) {
            // Back to sleep, unless somebody else needs it awake.
            awake.record.not_before = awake.record.not_before.max(now + CROWD_NAP);
        }
        let slot = self.frontier.awake.insert(awake);
        if is_new || rest.is_some() {
            self.frontier.mark_dirty(slot);
        }
        self.advance(now, slot, step);
    }

    /// As many hosts as one site, or one address, may have awake.
    fn crowd_max(&self) -> usize {
        (self.config.hosts_awake_max / CROWD_PART).max(CROWD_MIN)
    }

    pub(crate) fn is_crowd(&self, site: u64) -> bool {
        self.frontier.awake.of_site(site) >= self.crowd_max()
    }

    /// Whether a host that is due finds so long a line at its address that it sleeps instead.
    pub(crate) fn naps_beside_line(&mut self, now: Time, slot: u32) -> bool {
        let host = self.frontier.awake.at(slot);
        let Some(ip) = host.addresses.current(now).filter(|_| host.referrals.is_empty()) else {
            return false;
        };
        let per_address = self.config.polite.per_address;
        let line = self.traffic.gateways.line_at(ip, per_address, now);
        let is_long = line >= self.crowd_max();
        if is_long {
            let host = self.frontier.awake.at(slot);
            host.record.not_before = host.record.not_before.max(now + CROWD_NAP);
        }
        is_long
    }

    pub(crate) fn resolved(
        &mut self,
        now: Time,
        host: HostKey,
        answer: Result<ResolvedName, FailKind>,
        step: &mut Step,
    ) {
        if self.probed(&host, answer.is_ok()) {
            return;
        }
        let slot = self.frontier.awake.slot_of(&host).expect("a host that resolves stays awake");
        let awake = self.frontier.awake.at(slot);
        let is_new = matches!(awake.doing, Doing::Resolving { is_new: true });
        let site = awake.site;
        awake.doing = Doing::Nothing;
        match answer {
            Ok(address) => {
                let until = address.until.max(now + ADDRESS_MIN);
                let good = self.frontier.detours.of(&host);
                self.frontier.awake.at(slot).addresses.resolved(address, good, until);
            }
            Err(kind) => {
                self.books.counters.count_error(kind);
                self.host_failed(now, slot, kind, None, step);
            }
        }
        self.advance(now, slot, step);
        self.looked_up(now, site, is_new, step);
    }

    pub(crate) fn refilled(&mut self, now: Time, hosts: Vec<Refilled>, step: &mut Step) {
        self.frontier.refills_came();
        for Refilled { host, section, rows } in hosts {
            let slot = self.frontier.awake.slot_of(&host).expect("a host that refills stays awake");
            self.frontier.awake.at(slot).queue(section).refilled(rows);
            self.advance(now, slot, step);
        }
    }

    /// Looks what an awake host is to do next, and puts it where that will happen.
    pub(crate) fn advance(&mut self, now: Time, slot: u32, step: &mut Step) {
        if self.frontier.awake.get(slot).is_none() {
            return;
        }
        self.frontier.refill_if_low(slot);
        self.answer_referrals(now, slot, step);
        let host = self.frontier.awake.at(slot);
        if host.doing != Doing::Nothing || host.queued_up {
            return;
        }
        if host.awaits_robots && host.referrals.is_empty() {
            return;
        }
        self.rest_if_spent(now, slot);
        let contact = self.first_contact(now, slot);
        let closed = self.close(now, slot);
        let rests = self.frontier.awake.at(slot).rest_until > now;
        if rests {
            self.refuse_referrals(now, slot, step);
        }
        let host = self.frontier.awake.at(slot);
        let is_finishing = self.limits.is_finishing();
        let work = if !host.referrals.is_empty() {
            Some(now)
        } else if is_finishing {
            host.has_requisite().then_some(now)
        } else if !host.now.is_empty() {
            Some(now)
        } else {
            host.later_due()
        };
        // Whatever it waits for will call this function again.
        let expects = host.is_refilling()
            || host.has_out()
            || host.now.wants_refill()
            || host.later.wants_refill();
        let at = work.map(|at| at.max(host.record.not_before).max(host.rest_until));
        let at = at.map(|at| at.max(contact).max(closed));
        // Where its robots.txt went, and who asks it for theirs, is not in the rows.
        let is_needed = !host.referrals.is_empty() || host.robots_at.is_some();
        let turns = host.turns;
        let is_full = self.frontier.awake.len() >= self.frontier.awake_limit;
        let rotates = turns >= TURNS_MAX && is_full && self.frontier.sleepers.are_waiting(now);
        let naps = |at: &Time| *at <= now + NAP_MIN && !rotates && !rests;
        let Some(at) = at.filter(|at| is_needed || naps(at)) else {
            if !expects {
                self.rest_from_pages(now, slot);
                self.sleep(now, slot, step);
            }
            return;
        };
        let host = self.frontier.awake.at(slot);
        // Names are resolved ahead of time, but not sooner than a failure allows.
        let ahead = if host.record.failures == 0 { NAP_MIN } else { Span::ZERO };
        if host.addresses.current(now).is_none() && at <= now + ahead {
            return self.resolve(now, slot, step);
        }
        host.queued_up = true;
        let ticket = host.ticket;
        self.frontier.ready.wait(at, slot, ticket);
    }

    /// Notes whether a host is within its hours; when it will be, if it is not.
    fn close(&mut self, now: Time, slot: u32) -> Time {
        let opens = self.opens(now, slot).unwrap_or(Time::ZERO);
        let run = self.books.counters.run;
        let host = self.frontier.awake.at(slot);
        host.closed_until = opens;
        if opens > now {
            // It rests in this run: of an earlier one it would be woken at once.
            host.record.enter_run(run);
        }
        opens
    }

    /// When a host that was never asked may be; at once if it was, or if its site's share is none
    /// of its matter. If the site has had its share, the host rests.
    fn first_contact(&mut self, now: Time, slot: u32) -> Time {
        let host = self.frontier.awake.at(slot);
        let has_work = !(host.referrals.is_empty() && host.now.is_empty() && host.later.is_empty());
        let was_tried = host.record.answers > 0 || host.record.failing.is_some();
        if was_tried || !has_work || host.rest_until > now {
            return Time::ZERO;
        }
        if let Some(at) = host.first_contact {
            return at;
        }
        let is_lifted = self.config.traps.lifted.has(Refusal::Names);
        if is_lifted || self.traffic.seed_hosts.contains(&xxh3_64(host.key.as_str().as_bytes())) {
            return Time::ZERO;
        }
        let leave = self.traffic.shares.ask(host.site, self.config.polite.delay, NAP_MIN, now);
        match leave {
            ShareLeave::At(at) => {
                host.first_contact = Some(at);
                at
            }
            ShareLeave::Later(at) => {
                host.record.not_before = host.record.not_before.max(at);
                at
            }
            ShareLeave::Spent => {
                host.rest_until = now + HELD_REST;
                host.rest_until
            }
        }
    }

    /// Whether a host at this place has lain down to rest in this run.
    pub(crate) fn is_resting(&self, place: SleepPlace) -> bool {
        matches!(place, SleepPlace::Resting { run, .. } if run == self.books.counters.run)
    }

    /// To sleep, or out of sight if nothing waits.
    fn sleep(&mut self, at: Time, slot: u32, step: &mut Step) {
        let awake = self.frontier.awake.get(slot).expect("an awake host in this slot");
        let place = bed(awake, self.books.counters.next_sleep, at, at + NAP_MIN);
        self.books.counters.next_sleep += u64::from(place.is_some());
        let Awake { key, mut record, now, later, addresses, closed_until, .. } =
            self.frontier.awake.remove(slot);
        self.frontier.detours.remember(&key, &addresses);
        (record.now_after, record.later_after) = (now.nothing_until(), later.nothing_until());
        if matches!(place, Some(SleepPlace::Resting { .. })) {
            let is_failing = record.failing.is_some();
            let was_asked = record.answers > 0;
            *self.frontier.resting_as(&key, (is_failing, was_asked), &self.config.hours) += 1;
            if !is_failing {
                self.frontier.closed_until = self.frontier.closed_until.max(closed_until);
            }
        }
        let old = std::mem::replace(&mut record.sleep, place);
        if let Some(place) = old {
            step.rows.push(Row::Sleep { host: key.clone(), place, asleep: false });
        }
        if let Some(place) = place {
            self.frontier.sleepers.add(place);
            step.rows.push(Row::Sleep { host: key.clone(), place, asleep: true });
        }
        if self.admission.outbox.is_sifting() {
            self.frontier.since_sift.insert(key.clone(), record.clone());
        }
        if self.frontier.sleepers.is_asked() {
            self.frontier.since_wake.insert(key.clone(), record.clone());
        }
        step.rows.push(Row::Host { key, record });
    }
}
