//! What became of a request, as far as its host is concerned.

use crate::compare::Comparison;
use crate::config::Config;
use crate::engine::Engine;
use crate::event::{FetchId, Keep, KeepAs, Row, Step};
use crate::frontier::awake::{Doing, RobotsReferral};
use crate::outcome::{FailKind, FetchReport, Outcome, RobotsAnswer};
use crate::polite;
use crate::queue::{Entry, Place};
use crate::record::{Next, Refusal};
use crate::sitemaps;
use crate::time::{Span, Time};
use crate::traffic::{Flight, Requested};
use rhumb_page::robots::{Agent, Robots};
use rhumb_page::url::{HostKey, Scheme, Url};

/// Redirects that robots.txt may take (RFC 9309, 2.3.1.2).
pub const ROBOTS_REDIRECTS_MAX: u8 = 5;

impl Engine {
    pub(crate) fn fetched(
        &mut self,
        now: Time,
        fetch: FetchId,
        report: FetchReport,
        step: &mut Step,
    ) {
        let flight = self.traffic.ended(fetch);
        self.answered(now, &flight, &report);
        let until = self.name_rests_until(now, flight.slot, &report);
        let next_in_line = self.traffic.gateways.leave(flight.way, until, &self.config, now);
        if self.tries_next_address(flight.slot, &report) {
            self.keep_as_it_came(fetch, &report, step);
            self.send_back(flight.slot, flight.requested);
            self.advance(now, flight.slot, step);
            self.called(now, next_in_line);
            return;
        }
        match flight.requested {
            Requested::Page { place, entry } => {
                let (slot, entry) = (flight.slot, *entry);
                let is_crowded = matches!(report.outcome, Outcome::Crowded);
                if is_crowded && self.put_back_crowded(now, slot, (place, &entry), step) {
                    self.keep_as_it_came(fetch, &report, step);
                    self.advance(now, slot, step);
                    self.called(now, next_in_line);
                    return;
                }
                self.traffic.crowded.forget(entry.record.id);
                let outcome = match report.outcome {
                    Outcome::Crowded => Outcome::Failed(FailKind::Internal),
                    outcome => entry.record.weigh(outcome, &self.config.retry),
                };
                let report = FetchReport { outcome, ..report };
                if let Outcome::Unwanted(why) = report.outcome {
                    self.unwanted(now, (slot, fetch), (place, entry), (why, &report), step);
                } else if self.note_health(now, slot, &report.outcome, step) {
                    let report = sitemaps::as_tried(&entry, report);
                    let comparison = Comparison { slot, fetch, place, entry, report };
                    self.begin_comparison(now, comparison, step);
                } else {
                    self.keep_as_it_came(fetch, &report, step);
                    self.log_waiting(now, slot, &entry.url, &report, step);
                    self.wait_on(now, slot, (place, entry), step);
                }
            }
            Requested::Robots => {
                self.keep_as_it_came(fetch, &report, step);
                self.tell_askers(now, flight.slot, &report.outcome, step);
                self.robots_answered(now, flight.slot, report.outcome, step);
            }
            Requested::RobotsFor(referral) => {
                self.keep_as_it_came(fetch, &report, step);
                // Somebody waits for this answer: it cannot have gone to sleep.
                let asker = self.frontier.awake.slot_of(&referral.for_host);
                let slot = asker.expect("the host that sent the referral");
                self.frontier.awake.at(slot).awaits_robots = false;
                self.robots_answered(now, slot, report.outcome, step);
                self.advance(now, slot, step);
            }
        }
        self.advance(now, flight.slot, step);
        self.called(now, next_in_line);
    }

    /// The head of a page says that its body is not wanted.
    fn unwanted(
        &mut self,
        now: Time,
        (slot, fetch): (u32, FetchId),
        (place, mut entry): (Place, Entry),
        (why, report): (Refusal, &FetchReport),
        step: &mut Step,
    ) {
        self.note_health(now, slot, &report.outcome, step);
        self.keep_as_it_came(fetch, report, step);
        entry.record.http_status = report.status;
        self.refuse((now, slot), (place, entry), (why, Next::Never), step);
    }

    /// The response has ended: from here the host's delay runs.
    fn answered(&mut self, now: Time, flight: &Flight, report: &FetchReport) {
        let slot = flight.slot;
        if let Some(flow) = &mut self.limits.flow {
            flow.end(flight.charged, report.bytes);
        }
        if let Requested::Page { entry, .. } = &flight.requested {
            self.charge_bytes(slot, entry, report.bytes);
        }
        self.books.counters.answers += 1;
        self.books.counters.bytes += report.bytes;
        report
            .outcome
            .failed_as()
            .into_iter()
            .for_each(|kind| self.books.counters.count_error(kind));
        let polite = self.config.polite;
        let host = self.frontier.awake.at(slot);
        assert!(matches!(host.doing, Doing::Fetching(_)), "only a fetching host is answered");
        host.doing = Doing::Nothing;
        host.turns += 1;
        host.record.answers += 1;
        host.record.bytes += report.bytes;
        match connection_failed(report) {
            // The server had no part in how long this took.
            true => {}
            false => {
                host.record.last_took = report.took;
                host.addresses.connected();
            }
        }
        // The owner may have laid the host to rest meanwhile.
        let next = now + polite::delay(&polite, &host.record);
        host.record.not_before = host.record.not_before.max(next);
        self.frontier.mark_dirty(slot);
    }

    /// Hosts of one name have one delay, whatever their schemes and ports, and obey what one of
    /// them was asked for. How often one of them fails is its own matter.
    fn name_rests_until(&mut self, now: Time, slot: u32, report: &FetchReport) -> Time {
        let Config { polite, retry, .. } = &self.config;
        let asked = match &report.outcome {
            Outcome::Busy { retry_after, .. }
            | Outcome::Robots(RobotsAnswer::Unreachable { retry_after, .. }) => {
                retry_after.unwrap_or(Span::ZERO).min(retry.retry_after_max)
            }
            Outcome::Robots(RobotsAnswer::Rules(robots)) => {
                let delay = robots.crawl_delay().map_or(0, |delay| delay.as_micros() as u64);
                Span(delay).min(polite.delay_max)
            }
            _ => Span::ZERO,
        };
        self.frontier.awake.at(slot).record.not_before.max(now + asked)
    }

    /// Whether the address gave no connection and the host has another one, which is asked next.
    fn tries_next_address(&mut self, slot: u32, report: &FetchReport) -> bool {
        connection_failed(report) && self.frontier.awake.at(slot).addresses.take_next()
    }

    /// What was to be asked for waits as if it had not been.
    fn send_back(&mut self, slot: u32, requested: Requested) {
        self.books.counters.retries += 1;
        let host = self.frontier.awake.at(slot);
        match requested {
            Requested::Page { place, entry } => host.queue(place.section()).put_back(place, *entry),
            Requested::Robots => {}
            Requested::RobotsFor(referral) => host.referrals.insert(0, referral),
        }
    }

    fn keep_as_it_came(&mut self, fetch: FetchId, report: &FetchReport, step: &mut Step) {
        let how = if report.held { KeepAs::Response } else { KeepAs::Drop };
        step.keeps.push(Keep { fetch, how });
    }

    pub(crate) fn robots_answered(
        &mut self,
        now: Time,
        slot: u32,
        outcome: Outcome,
        step: &mut Step,
    ) {
        let Outcome::Robots(answer) = outcome else {
            unreachable!("a robots request is answered as one")
        };
        self.log_robots(now, slot, &answer, step);
        let answer = match self.is_own(slot) {
            true => as_owner(answer),
            false => answer,
        };
        // First of all: a referral that comes back at once may send the host to sleep.
        self.frontier.mark_dirty(slot);
        match answer {
            RobotsAnswer::Rules(robots) => {
                self.books.counters.robots_fetched += 1;
                self.robots_in_force(now, slot, robots, step);
            }
            RobotsAnswer::Absent | RobotsAnswer::Moved { to: None } => {
                self.books.counters.robots_absent += 1;
                self.robots_in_force(now, slot, Box::new(Robots::allow_all()), step);
            }
            RobotsAnswer::Moved { to: Some(to) } => self.robots_moved(now, slot, to, step),
            RobotsAnswer::Unreachable { retry_after, kind } => {
                self.robots_unreachable(now, slot, kind, retry_after, step);
            }
        }
    }

    fn robots_in_force(&mut self, now: Time, slot: u32, robots: Box<Robots>, step: &mut Step) {
        let polite = self.config.polite;
        let host = self.frontier.awake.at(slot);
        let failing = host.record.failing.take();
        if failing.is_some_and(|kind| !kind.may_be_of_page()) {
            host.record.failures = 0;
        }
        host.record.robots_until = Some(now + polite.robots_ttl);
        host.record.crawl_delay = robots.crawl_delay().map(|d| Span(d.as_micros() as u64));
        host.record.not_before =
            host.record.not_before.max(now + polite::delay(&polite, &host.record));
        host.robots_at = None;
        step.rows.push(Row::Robots { host: host.key.clone(), robots: robots.clone() });
        let own = host.key.robots_url();
        self.admission.find_sitemaps(&self.config, own.as_ref(), &robots);
        self.frontier.awake.at(slot).robots = Some(robots);
        if failing.is_some() {
            self.log_recovered(now, slot, step);
        }
    }

    fn robots_unreachable(
        &mut self,
        now: Time,
        slot: u32,
        kind: FailKind,
        retry_after: Option<Span>,
        step: &mut Step,
    ) {
        self.frontier.awake.at(slot).robots_at = None;
        let kind = if kind.precedes_request() { kind } else { FailKind::RobotsUnreachable };
        self.host_failed(now, slot, kind, retry_after, step);
    }

    /// Follows a redirect of robots.txt. On another host it becomes a referral of that host, so
    /// that its politeness holds for this request too; that host's own rules are not waited for.
    fn robots_moved(&mut self, now: Time, slot: u32, to: Url, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        let hops = host.robots_at.take().map_or(0, |(_, hops)| hops) + 1;
        if hops > ROBOTS_REDIRECTS_MAX {
            // RFC 9309: beyond five redirects the file may be taken as unavailable, i.e. absent.
            self.books.counters.robots_absent += 1;
            return self.robots_in_force(now, slot, Box::new(Robots::allow_all()), step);
        }
        let (own, there) = (host.key.clone(), to.host_key());
        let is_own = there == own;
        if !(is_own || self.may_ask_for_robots(&to)) {
            return self.robots_unreachable(now, slot, FailKind::RobotsUnreachable, None, step);
        }
        let host = self.frontier.awake.at(slot);
        host.robots_at = Some((to.clone(), hops));
        if !is_own {
            host.awaits_robots = true;
            self.send_referral(now, there, RobotsReferral { for_host: own, url: to }, step);
        }
    }

    /// Whether a robots.txt may redirect to a URL of another host: to that host's robots.txt, or to
    /// what the crawl may fetch anyway. Anything else would let any site send us anywhere.
    fn may_ask_for_robots(&self, to: &Url) -> bool {
        let is_web = matches!(to.scheme(), Scheme::Http | Scheme::Https);
        let is_robots = to.path_and_query() == "/robots.txt";
        let is_admitted = self.config.scope.admits(to) && self.config.rules.admits(to);
        // Only its own partition can keep the peace with that host.
        is_web && (is_robots || is_admitted) && self.config.partition.owns(to)
    }

    /// Others whose robots.txt redirects to ours need no request of their own.
    fn tell_askers(&mut self, now: Time, slot: u32, outcome: &Outcome, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        let own = host.key.robots_url();
        let (askers, others) = std::mem::take(&mut host.referrals)
            .into_iter()
            .partition(|referral: &RobotsReferral| Some(&referral.url) == own.as_ref());
        host.referrals = others;
        for referral in askers {
            // It waits for this answer: it cannot have gone to sleep.
            let asker =
                self.frontier.awake.slot_of(&referral.for_host).expect("the host that asked");
            self.frontier.awake.at(asker).awaits_robots = false;
            self.robots_answered(now, asker, outcome.clone(), step);
            self.advance(now, asker, step);
        }
    }

    /// If our rules are in force, those who ask for them get them without a request, and what they
    /// forbid is fetched for nobody.
    pub(crate) fn answer_referrals(&mut self, now: Time, slot: u32, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        if host.referrals.is_empty() {
            return;
        }
        let own = host.robots_in_force(now).filter(|robots| robots.are_for(Agent::OWNER));
        if own.is_some() && self.is_asked_by_others(slot) {
            // What binds us is known here, and not what binds others.
            self.frontier.awake.at(slot).record.robots_until = None;
            return;
        }
        let host = self.frontier.awake.at(slot);
        let Some(robots) = host.robots_in_force(now) else { return };
        let rules = robots.clone();
        let is_allowed = |referral: &RobotsReferral| {
            rules.allows(&referral.url) || is_robots_file(&referral.url)
        };
        if host.referrals.iter().any(|referral| !is_allowed(referral)) {
            let referrals = std::mem::take(&mut host.referrals);
            let (allowed, forbidden) = referrals.into_iter().partition(is_allowed);
            host.referrals = allowed;
            self.turn_away(now, forbidden, FailKind::RobotsUnreachable, step);
        }
        self.tell_askers(now, slot, &Outcome::Robots(RobotsAnswer::Rules(Box::new(rules))), step);
    }

    /// Whether this host is one of the owner's own.
    fn is_own(&self, slot: u32) -> bool {
        self.frontier.awake.get(slot).is_some_and(|host| self.config.is_own(&host.key))
    }

    /// Whether another's robots.txt led to ours.
    fn is_asked_by_others(&self, slot: u32) -> bool {
        let Some(host) = self.frontier.awake.get(slot) else { return false };
        let own = host.key.robots_url();
        let mut askers =
            host.referrals.iter().filter(|referral| Some(&referral.url) == own.as_ref());
        askers.any(|referral| !self.config.is_own(&referral.for_host))
    }

    fn send_referral(
        &mut self,
        now: Time,
        there: HostKey,
        referral: RobotsReferral,
        step: &mut Step,
    ) {
        match self.frontier.awake.slot_of(&there) {
            Some(slot) => {
                self.frontier.awake.at(slot).referrals.push(referral);
                self.advance(now, slot, step);
            }
            None => {
                let calls = self.frontier.referrals_to_wake.entry(there.clone()).or_default();
                calls.push(referral);
                if calls.len() == 1 {
                    self.frontier.sleepers.call(there);
                }
            }
        }
    }
}

/// What an answer about robots.txt means to the owner of its host: one that cannot be had forbids
/// nothing, unless the host cannot be reached at all.
fn as_owner(answer: RobotsAnswer) -> RobotsAnswer {
    match answer {
        RobotsAnswer::Rules(robots) => RobotsAnswer::Rules(Box::new(robots.for_owner())),
        RobotsAnswer::Moved { to: Some(_) } => answer,
        RobotsAnswer::Unreachable { kind, .. } if kind.precedes_request() => answer,
        RobotsAnswer::Unreachable { .. } | RobotsAnswer::Absent | RobotsAnswer::Moved { .. } => {
            RobotsAnswer::Rules(Box::new(Robots::allow_all().for_owner()))
        }
    }
}

/// By its name: rules do not speak of the file that has them, `/robots-moved.txt` no more than
/// `/robots.txt`.
fn is_robots_file(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.starts_with("robots") && name.ends_with(".txt")
}

/// The request never reached the server: no connection was made.
fn connection_failed(report: &FetchReport) -> bool {
    report.outcome.failed_as() == Some(FailKind::Connect)
}
