//! How far this engine may go and whether it is about to end: the allowance of one of several, its
//! ceilings, the rate of bytes, and why it stops.

use crate::allowance::Allowance;
use crate::ceilings::Ceilings;
use crate::config::Config;
use crate::counters::Counters;
use crate::event::StopReason;
use crate::flow::Flow;
use crate::time::{Span, Time};

#[derive(Debug)]
pub(crate) struct EngineLimits {
    /// One of several uses no more of the crawl's limits.
    pub allowance: Option<Allowance>,
    pub ceilings: Ceilings,
    pub flow: Option<Flow>,
    /// The crawl is over but for requisites.
    finishing: Option<StopReason>,
    stopping: Option<StopReason>,
    /// Since when it is stopping, and whether it has waited long enough for what is under way.
    stopping_since: Option<Time>,
    has_given_up: bool,
}

impl EngineLimits {
    pub fn new(config: &Config) -> EngineLimits {
        EngineLimits {
            allowance: None,
            ceilings: Ceilings::default(),
            flow: config.bytes_per_s.map(Flow::new),
            finishing: None,
            stopping: None,
            stopping_since: None,
            has_given_up: false,
        }
    }

    /// Nothing is begun any more. The first reason is the one that is told.
    pub fn stop(&mut self, reason: StopReason) {
        self.stopping = self.stopping.or(Some(reason));
    }

    /// The crawl has all the pages that it was to have; with requisites it fetches theirs first.
    pub fn stop_with_requisites(&mut self, reason: StopReason, has_requisites: bool) {
        match has_requisites {
            false => self.stop(reason),
            true => self.finishing = self.finishing.or(Some(reason)),
        }
    }

    pub fn stopping(&self) -> Option<StopReason> {
        self.stopping
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// Why nothing but requisites is asked for any more, if so.
    pub fn finishing(&self) -> Option<StopReason> {
        self.finishing
    }

    pub fn is_finishing(&self) -> bool {
        self.finishing.is_some()
    }

    /// A stop waits so long for what is under way. What is not here then, the next run fetches.
    pub fn check_grace(&mut self, now: Time, grace: Span) {
        if self.is_stopping() {
            let since = *self.stopping_since.get_or_insert(now);
            self.has_given_up |= now.since(since) >= grace;
        }
    }

    pub fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    pub fn stopping_since(&self) -> Option<Time> {
        self.stopping_since
    }

    /// Heard late, an older allowance is in force no more.
    pub fn allow(&mut self, allowance: Allowance) {
        if self.allowance.is_none_or(|last| last.number < allowance.number) {
            self.allowance = Some(allowance);
        }
    }

    /// Requests that may be in flight here.
    pub fn slots(&self, config: &Config) -> usize {
        let all = config.concurrency;
        self.allowance.map_or(all, |allowance| allowance.slots.min(all))
    }

    /// What the counter of pages may reach.
    pub fn pages_max(&self, config: &Config) -> Option<u64> {
        match self.allowance {
            Some(allowance) => allowance.pages,
            None => config.pages_max,
        }
    }

    /// Whether the bytes that were allowed have come.
    pub fn is_out_of_bytes(&self, counters: &Counters) -> bool {
        let bytes = self.allowance.and_then(|allowance| allowance.bytes);
        bytes.is_some_and(|max| counters.bytes >= max)
    }

    /// Requests that may be begun under the ceilings, when so many pages are held.
    pub fn allowed_slots(&self, counters: &Counters, held: usize) -> usize {
        let Ceilings { pages, bytes, requests, .. } = self.ceilings;
        if counters.bytes >= bytes {
            return 0;
        }
        let pages = pages.saturating_sub(counters.pages.saturating_add(held as u64));
        let requests = requests.saturating_sub(counters.asked);
        usize::try_from(pages.min(requests)).unwrap_or(usize::MAX)
    }
}
