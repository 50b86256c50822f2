//! What the owner of partition 0 does for all: it divides the limits, adds up what partitions have
//! come to, and finds out when the crawl is over.

use super::order::Mandate;
use crate::settings::Settings;
use rhumb_cluster::allowance::{Amounts, Grant, GrantRequest, Grantor, Grants};
use rhumb_cluster::collection::{Collection, End, PartitionReport};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::StopReason;
use rhumb_engine::mass::Sums;
use rhumb_engine::time::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// A report may have been on its way for so long: what is older is dropped by who carries it.
const CARRIED_FOR: Span = Span::secs(8);
/// What has not moved for so long is told of.
const STUCK: Span = Span::secs(60);
/// Requests that wait while the ledger is written; each partition asks again.
const REQUESTS_MAX: usize = 1_024;

/// The limits of a crawl, as amounts.
pub fn limits_of(settings: &Settings) -> (Amounts, bool) {
    let amounts = Amounts {
        pages: settings.max_pages.unwrap_or(u64::MAX),
        bytes: settings.max_bytes.unwrap_or(u64::MAX),
        requests: u64::MAX,
    };
    (amounts, settings.max_pages.is_some() || settings.max_bytes.is_some())
}

pub struct Books {
    limits: Amounts,
    is_limited: bool,
    coverage_wanted: Option<f64>,
    ends_at_s: Option<u64>,
    grantor: Grantor,
    collection: Collection<Sums>,
    requests: VecDeque<GrantRequest>,
    /// Messages on their way by pair, and since when there are so many.
    on_their_way: BTreeMap<(u32, u32), (u64, Time)>,
    /// The ledger is being written: grants wait for it.
    writing: Option<Said>,
    /// The ledger, if the last try to write it may have failed: nothing that rests on it may leave.
    unwritten: Option<Vec<u8>>,
    ledger: Vec<u8>,
}

/// What leaves once the ledger is durable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub grants: Vec<Grant>,
    /// Partitions that are to give back what they do not need.
    pub reclaims: Vec<u32>,
}

impl Books {
    /// With what earlier owners kept.
    pub fn open(
        partitions: u32,
        kept: Option<&[u8]>,
        mandate: &Mandate,
        (settings, created_s): (&Settings, u64),
    ) -> Result<Books, Error> {
        let grants = match kept {
            Some(bytes) => postcard::from_bytes(bytes).map_err(|error| {
                let what = format!("the ledger in partition 0 cannot be read: {error}");
                Error::new(ErrorKind::Corrupt, what)
            })?,
            None => Grants::default(),
        };
        let (limits, is_limited) = limits_of(settings);
        Ok(Books {
            limits,
            is_limited,
            coverage_wanted: settings.coverage,
            ends_at_s: settings.max_time.map(|time| created_s + time.as_secs()),
            grantor: Grantor::new(partitions, mandate.set_by, limits, grants),
            collection: Collection::new(partitions),
            requests: VecDeque::new(),
            on_their_way: BTreeMap::new(),
            writing: None,
            unwritten: None,
            ledger: Vec::new(),
        })
    }

    /// Settings have changed.
    pub fn changed(&mut self, mandate: &Mandate, (settings, created_s): (&Settings, u64)) {
        (self.limits, self.is_limited) = limits_of(settings);
        self.grantor.limited(mandate.set_by, self.limits);
        self.coverage_wanted = settings.coverage;
        self.ends_at_s = settings.max_time.map(|time| created_s + time.as_secs());
    }

    pub fn asked(&mut self, request: GrantRequest) {
        if self.requests.len() < REQUESTS_MAX {
            self.requests.push_back(request);
        }
    }

    /// A report that speaks of a moment so long ago, by the clock of who sent it.
    pub fn reported(&mut self, now: Time, age: Span, report: PartitionReport<Sums>) {
        let asked = Time(now.0.saturating_sub(age.0).saturating_sub(CARRIED_FOR.0));
        self.collection.take(asked, report);
    }

    /// Answers what was asked: what may leave at once, or, if the ledger has changed, what is to be
    /// made durable first.
    pub fn divide(&mut self) -> (Said, Option<Vec<u8>>) {
        if self.writing.is_some() || !self.is_limited {
            return (Said::default(), None);
        }
        let mut said = Said::default();
        let mut ledger = None;
        for request in std::mem::take(&mut self.requests) {
            let outcome = self.grantor.asked(request);
            ledger = outcome.ledger.or(ledger);
            said.grants.extend(outcome.grants);
            said.reclaims.extend(outcome.reclaims);
        }
        said.reclaims.sort_unstable();
        said.reclaims.dedup();
        let encode =
            |grants| postcard::to_extend(&grants, Vec::new()).expect("plain data always encodes");
        match ledger.map(encode).or(self.unwritten.take()) {
            None => (said, None),
            Some(bytes) => {
                self.writing = Some(said);
                self.ledger.clone_from(&bytes);
                (Said::default(), Some(bytes))
            }
        }
    }

    /// The ledger is durable: what rests on it may leave. If it could not be written, nothing may.
    pub fn written(&mut self, is_durable: bool) -> Said {
        let said = self.writing.take().unwrap_or_default();
        match is_durable {
            true => said,
            false => {
                self.unwritten = Some(self.ledger.clone());
                Said::default()
            }
        }
    }

    /// All sums together, if they may be added now.
    pub fn sums(&self, now: Time, mandate: &Mandate) -> Option<Sums> {
        let sums = self.collection.sums(now, mandate.order)?;
        sums.into_iter().copied().reduce(|a, b| a.plus(&b))
    }

    /// Why the crawl is over, if it is.
    pub fn why_over(&self, now: Time, now_s: u64, mandate: &Mandate) -> Option<StopReason> {
        // Before the first seed nothing has begun.
        if mandate.ended.is_some() || mandate.is_paused || mandate.seeds.is_empty() {
            return None;
        }
        if self.ends_at_s.is_some_and(|at| now_s >= at) {
            return Some(StopReason::Time);
        }
        if let Some(left) = self.grantor.left_when_spent().filter(|_| self.is_limited) {
            return Some(if left.pages == 0 { StopReason::Pages } else { StopReason::Bytes });
        }
        if let (Some(wanted), Some(sums)) = (self.coverage_wanted, self.sums(now, mandate)) {
            let coverage = sums.of_importance();
            if coverage.bound >= wanted {
                return Some(StopReason::Coverage);
            }
            if coverage.ceiling_for_good < wanted {
                return Some(StopReason::CoverageOutOfReach);
            }
        }
        self.collection.end(mandate.order).map(|end| match end {
            End::Finished => StopReason::Finished,
            End::HostsFailing => StopReason::HostsFailing,
        })
    }

    /// Looks which pairs of partitions exchange nothing though something is on its way.
    pub fn watch(&mut self, now: Time) {
        let before = std::mem::take(&mut self.on_their_way);
        for (from, to, count) in self.collection.on_their_way() {
            let last = before.get(&(from, to)).filter(|(last, _)| *last == count);
            self.on_their_way.insert((from, to), last.copied().unwrap_or((count, now)));
        }
    }

    /// Pairs between which nothing has arrived for a minute, with what is on its way.
    pub fn stuck(&self, now: Time) -> Vec<(u32, u32, u64)> {
        let stuck = self.on_their_way.iter().filter(|(_, (_, since))| now.since(*since) >= STUCK);
        stuck.map(|((from, to), (count, _))| (*from, *to, *count)).collect()
    }
}
