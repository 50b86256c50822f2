//! How long to wait before the next request to a host, and how many at once to a name, a site, an
//! address, and to all hosts that are slow or have shown nothing yet.

use crate::config::{Config, Polite};
use crate::gates::{Gates, Permission, Waiter};
use crate::holdups::Holdup;
use crate::host::HostRecord;
use crate::time::{Span, Time};
use std::net::IpAddr;

/// An answer that takes longer is slow.
const SLOW: Span = Span::secs(5);

/// Whether a host may hold a slot for long: it has not yet answered with a page, it failed when it
/// was last asked, or it took its time.
pub fn is_doubtful(host: &HostRecord) -> bool {
    host.pages == 0 || host.failing.is_some() || host.last_took > SLOW
}

/// From the end of a response to the next request to that host: the greatest of the delay, a
/// multiple of the last response time, and Crawl-delay. The last two only up to a limit.
pub fn delay(polite: &Polite, host: &HostRecord) -> Span {
    let slow = host.last_took.times(polite.delay_factor).min(polite.delay_max);
    let asked = host.crawl_delay.unwrap_or(Span::ZERO).min(polite.delay_max);
    polite.delay.max(slow).max(asked)
}

/// What a request takes part in besides its host: the name, whatever scheme and port; the site; the
/// address; and what is in flight to doubtful hosts. Each has a bound of its own, and a request
/// enters all of them or none.
#[derive(Debug, Default)]
pub struct Gateways {
    names: Gates<u64>,
    sites: Gates<u64>,
    addresses: Gates<IpAddr>,
    /// A single gate: a thousand hosts that hang must not hold all slots.
    doubtful: Gates<()>,
}

/// Where a request goes through.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub name: u64,
    pub site: u64,
    pub ip: IpAddr,
    pub is_doubtful: bool,
}

/// Hosts that may try next, because somebody left.
pub type Called = [Option<Waiter>; 4];

impl Gateways {
    /// Takes a place at each, or at none and says why not. Hosts that may try instead come along.
    pub fn enter(
        &mut self,
        way: Way,
        who: Waiter,
        config: &Config,
        now: Time,
    ) -> (Permission, Called) {
        let mut called = [None; 4];
        let gate = self.names.enter(way.name, who, 1, Span::ZERO, now);
        if gate != Permission::Open {
            return (gate, called);
        }
        let gate = self.enter_shared(way, who, config, now, &mut called);
        if gate != Permission::Open {
            called[0] = self.names.leave(way.name, now, now);
        } else if !way.is_doubtful {
            // It may have been called when it still was.
            called[3] = self.doubtful.call((), doubtful_share(config));
        }
        (gate, called)
    }

    /// The gates behind that of the name.
    fn enter_shared(
        &mut self,
        way: Way,
        who: Waiter,
        config: &Config,
        now: Time,
        called: &mut Called,
    ) -> Permission {
        let gate = self.sites.enter(way.site, who, site_share(config), Span::ZERO, now);
        if gate != Permission::Open {
            return gate;
        }
        let mut gate = Permission::Open;
        if way.is_doubtful {
            gate = self.doubtful.enter((), who, doubtful_share(config), Span::ZERO, now);
        }
        if gate == Permission::Open {
            let Polite { per_address, address_delay, .. } = config.polite;
            gate = self.addresses.enter(way.ip, who, per_address, address_delay, now);
            if gate == Permission::Open {
                return gate;
            }
            if way.is_doubtful {
                called[3] = self.doubtful.leave((), now, now);
            }
        }
        called[1] = self.sites.leave(way.site, now, now);
        gate
    }

    /// A request ended, or none was made: nobody of that name is asked before `until`.
    pub fn leave(&mut self, way: Way, until: Time, config: &Config, now: Time) -> Called {
        [
            self.names.leave(way.name, until, now),
            self.sites.leave(way.site, now, now),
            self.addresses.leave(way.ip, now + config.polite.address_delay, now),
            if way.is_doubtful { self.doubtful.leave((), now, now) } else { None },
        ]
    }

    /// A host that was called will not go: others may.
    pub fn call(&mut self, way: Way, config: &Config) -> Called {
        [
            self.names.call(way.name, 1),
            self.sites.call(way.site, site_share(config)),
            self.addresses.call(way.ip, config.polite.per_address),
            self.doubtful.call((), doubtful_share(config)),
        ]
    }

    /// Which of them would refuse a request now.
    pub fn holdup(&self, way: Way, config: &Config, now: Time) -> Option<Holdup> {
        if self.names.is_shut(way.name, 1, now) {
            Some(Holdup::SameName)
        } else if self.sites.is_shut(way.site, site_share(config), now) {
            Some(Holdup::Site)
        } else if way.is_doubtful && self.doubtful.is_shut((), doubtful_share(config), now) {
            Some(Holdup::Doubtful)
        } else {
            let is_shut = self.addresses.is_shut(way.ip, config.polite.per_address, now);
            is_shut.then_some(Holdup::Address)
        }
    }

    /// Hosts in line at an address where a request could not begin now.
    pub fn line_at(&self, ip: IpAddr, per_address: u16, now: Time) -> usize {
        let is_shut = self.addresses.is_shut(ip, per_address, now);
        if is_shut { self.addresses.line(ip) } else { 0 }
    }

    pub fn len(&self) -> usize {
        self.names.len() + self.sites.len() + self.addresses.len() + self.doubtful.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Requests in flight to all hosts of one site: a quarter of all, and no fewer than two addresses
/// may have.
fn site_share(config: &Config) -> u16 {
    let quarter = u16::try_from(config.concurrency / 4).unwrap_or(u16::MAX);
    quarter.max(config.polite.per_address.saturating_mul(2))
}

/// Requests in flight to all doubtful hosts: the others have a quarter of all slots to themselves.
fn doubtful_share(config: &Config) -> u16 {
    let share = config.concurrency - config.concurrency / 4;
    u16::try_from(share).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_is_the_greatest_of_three_and_only_the_owners_is_unbounded() {
        let polite = Polite { delay_max: Span::secs(60), ..Polite::default() };
        let mut host = HostRecord { last_took: Span::millis(100), ..HostRecord::default() };
        assert_eq!(delay(&polite, &host), Span::secs(1));
        host.last_took = Span::secs(2);
        assert_eq!(delay(&polite, &host), Span::secs(10));
        host.crawl_delay = Some(Span::secs(30));
        assert_eq!(delay(&polite, &host), Span::secs(30));
        host.crawl_delay = Some(Span::secs(86_400));
        assert_eq!(delay(&polite, &host), Span::secs(60));
        let patient = Polite { delay: Span::secs(90), ..polite };
        assert_eq!(delay(&patient, &host), Span::secs(90));
    }
}
