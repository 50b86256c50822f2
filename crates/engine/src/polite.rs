//! How long to wait before the next request to a host, and how many at once to an address.

use crate::config::Polite;
use crate::host::HostRecord;
use crate::time::{Span, Time};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// From the end of a response to the next request to that host: the greatest of the delay, a
/// multiple of the last response time, and Crawl-delay. The last two only up to a limit.
pub fn delay(polite: &Polite, host: &HostRecord) -> Span {
    let slow = host.last_took.times(polite.delay_factor).min(polite.delay_max);
    let asked = host.crawl_delay.unwrap_or(Span::ZERO).min(polite.delay_max);
    polite.delay.max(slow).max(asked)
}

/// Requests in flight by address. Hosts whose address is full wait in line behind it.
#[derive(Debug, Default)]
pub struct Addresses {
    /// Looked up, never iterated.
    by_ip: HashMap<IpAddr, AddressState>,
    /// Those that nobody uses are forgotten when there are this many.
    sweep_at: usize,
}

/// Fewer addresses than this are not worth sweeping.
const SWEEP_MIN: usize = 1_024;

#[derive(Debug, Default)]
struct AddressState {
    flying: u16,
    not_before: Time,
    /// Slot and ticket of hosts that were ready when the address was not.
    waiting: VecDeque<(u32, u32)>,
}

/// May a request go to an address?
#[derive(Debug, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// In line; it will be handed back when a request there ends.
    Full,
    /// The address itself wants rest until then.
    Resting(Time),
}

impl Addresses {
    /// Takes a place at the address, or says why not. A full address remembers who asked.
    pub fn enter(&mut self, ip: IpAddr, who: (u32, u32), polite: &Polite, now: Time) -> Gate {
        if self.by_ip.len() >= self.sweep_at.max(SWEEP_MIN) {
            self.sweep(now);
            self.sweep_at = 2 * self.by_ip.len();
        }
        let state = self.by_ip.entry(ip).or_default();
        if state.flying >= polite.per_address {
            state.waiting.push_back(who);
            return Gate::Full;
        }
        if state.not_before > now {
            return Gate::Resting(state.not_before);
        }
        state.flying += 1;
        // With a rest between requests, those that start together are spaced as well.
        state.not_before = now + polite.address_delay;
        Gate::Open
    }

    /// A request to the address ended; the host that may try next, if one waits.
    pub fn leave(&mut self, ip: IpAddr, polite: &Polite, now: Time) -> Option<(u32, u32)> {
        let state = self.by_ip.get_mut(&ip).expect("left an address that was never entered");
        assert!(state.flying > 0, "left an address more often than entered");
        state.flying -= 1;
        state.not_before = now + polite.address_delay;
        let next = state.waiting.pop_front();
        if state.flying == 0 && state.waiting.is_empty() && polite.address_delay == Span::ZERO {
            self.by_ip.remove(&ip);
        }
        next
    }

    /// The host that waits longest at an address with room, if the one that was called before it
    /// went elsewhere.
    pub fn call(&mut self, ip: IpAddr, polite: &Polite) -> Option<(u32, u32)> {
        let state = self.by_ip.get_mut(&ip).filter(|state| state.flying < polite.per_address)?;
        state.waiting.pop_front()
    }

    /// Forgets addresses that nobody uses and whose rest is over.
    fn sweep(&mut self, now: Time) {
        self.by_ip.retain(|_, s| s.flying > 0 || !s.waiting.is_empty() || s.not_before > now);
    }

    pub fn len(&self) -> usize {
        self.by_ip.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_ip.is_empty()
    }
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

    #[test]
    fn a_full_address_hands_its_place_to_the_host_that_waited_longest() {
        let (polite, ip) =
            (Polite { per_address: 1, ..Polite::default() }, IpAddr::from([10, 0, 0, 1]));
        let mut addresses = Addresses::default();
        assert_eq!(addresses.enter(ip, (1, 0), &polite, Time(0)), Gate::Open);
        assert_eq!(addresses.enter(ip, (2, 0), &polite, Time(0)), Gate::Full);
        assert_eq!(addresses.enter(ip, (3, 0), &polite, Time(0)), Gate::Full);
        assert_eq!(addresses.leave(ip, &polite, Time(5)), Some((2, 0)));
        assert_eq!(addresses.enter(ip, (2, 0), &polite, Time(5)), Gate::Open);
        assert_eq!(addresses.leave(ip, &polite, Time(9)), Some((3, 0)));
    }
}
