//! Looking up names: how many at once, of all and of one site, and who waits for it.
//!
//! A name server that never answers keeps a look-up busy for long. So no site has more than its
//! share of them, and some are kept for hosts that have answered before: a page of names that lead
//! nowhere starves nobody.

use crate::engine::Engine;
use crate::event::{Action, Step};
use crate::frontier::awake::Doing;
use crate::gates::{Gates, Permission, Waiter};
use crate::time::{Span, Time};
use rhumb_page::url::{HostKey, Url};
use std::collections::VecDeque;

/// Names being looked up at once.
pub const RESOLVING_MAX: usize = 512;
/// Of these, names of hosts that never answered.
const RESOLVING_NEW_MAX: usize = 384;
/// Names of one site.
const SITE_LOOKUPS_MAX: u16 = 32;

#[derive(Debug, Default)]
pub(crate) struct Lookups {
    of_sites: Gates<u64>,
    /// Under way: all, and those of hosts that never answered.
    pub all: usize,
    new: usize,
    /// Hosts that wait, those that have answered before apart.
    known_line: VecDeque<Waiter>,
    new_line: VecDeque<Waiter>,
}

impl Lookups {
    /// Hosts that were never asked wait for look-ups of others: more of them awake would wait, too.
    pub fn are_waited_for(&self) -> bool {
        self.all >= RESOLVING_MAX || self.new >= RESOLVING_NEW_MAX
    }

    fn has_room(&self, is_new: bool) -> bool {
        self.all < RESOLVING_MAX && !(is_new && self.new >= RESOLVING_NEW_MAX)
    }

    fn next(&mut self) -> Option<Waiter> {
        let known = self.has_room(false).then(|| self.known_line.pop_front()).flatten();
        known.or_else(|| self.has_room(true).then(|| self.new_line.pop_front()).flatten())
    }
}

impl Engine {
    /// Has a host's name looked up, as soon as there is room.
    pub(crate) fn resolve(&mut self, now: Time, slot: u32, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        let (who, site, is_new) = ((slot, host.ticket), host.site, host.record.answers == 0);
        if !self.traffic.lookups.has_room(is_new) {
            host.queued_up = true;
            let line = match is_new {
                true => &mut self.traffic.lookups.new_line,
                false => &mut self.traffic.lookups.known_line,
            };
            return line.push_back(who);
        }
        let gate =
            self.traffic.lookups.of_sites.enter(site, who, SITE_LOOKUPS_MAX, Span::ZERO, now);
        if gate != Permission::Open {
            host.queued_up = true;
            return;
        }
        self.traffic.lookups.all += 1;
        self.traffic.lookups.new += usize::from(is_new);
        host.doing = Doing::Resolving { is_new };
        step.actions.push(Action::Resolve { host: host.key.clone() });
        self.probe(slot, step);
    }

    /// A host's look-up is over: those that wait come next.
    pub(crate) fn looked_up(&mut self, now: Time, site: u64, is_new: bool, step: &mut Step) {
        self.traffic.lookups.all -= 1;
        self.traffic.lookups.new -= usize::from(is_new);
        let mut next = self.traffic.lookups.of_sites.leave(site, now, now);
        // Whoever is called may have something else to do by now.
        while let Some(waiter) = next {
            self.look_again(now, waiter, step);
            next = self.traffic.lookups.of_sites.call(site, SITE_LOOKUPS_MAX);
        }
        while let Some(waiter) = self.traffic.lookups.next() {
            self.look_again(now, waiter, step);
        }
    }

    fn look_again(&mut self, now: Time, (slot, ticket): Waiter, step: &mut Step) {
        if self.frontier.is_in_line(slot, ticket) {
            self.frontier.awake.at(slot).queued_up = false;
            self.advance(now, slot, step);
        }
    }

    /// Looks up a name of a host's site that nobody can have made, once: if it has an address, any
    /// name has.
    fn probe(&mut self, slot: u32, step: &mut Step) {
        let host = self.frontier.awake.at(slot);
        let (site, key) = (host.site, host.key.clone());
        if key.ip().is_some() || !self.traffic.shares.wants_probe(site) {
            return;
        }
        let name = format!("http://rhumb-{:016x}.{}/", self.rng.draw(), key.site());
        if let Ok(url) = Url::parse(&name) {
            let host: HostKey = url.host_key();
            self.traffic.lookups.all += 1;
            self.traffic.probes.insert(host.clone(), site);
            step.actions.push(Action::Resolve { host });
        }
    }

    /// The answer to a probe; false if it is none.
    pub(crate) fn probed(&mut self, host: &HostKey, has_address: bool) -> bool {
        let Some(site) = self.traffic.probes.remove(host) else { return false };
        self.traffic.lookups.all -= 1;
        if has_address {
            self.traffic.shares.is_wild(site);
        }
        true
    }
}
