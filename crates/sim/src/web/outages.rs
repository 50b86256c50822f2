//! Sites that are down for a while, again and again, and come back: servers that restart, that are
//! overloaded or cut off, and names that resolve later.

use super::Web;
use super::chance::{Purpose, Stream, draw};
use super::faults::Fault;
use super::place::{Face, What};
use super::reply::WebReply;

const SECOND_US: u64 = 1_000_000;
/// A site that has outages has one in each such period.
const PERIOD_US: u64 = 6 * 3_600 * SECOND_US;
/// How long they last: a restart, a deployment, a bad hour, a bad afternoon.
const LENGTHS_US: [u64; 4] =
    [40 * SECOND_US, 8 * 60 * SECOND_US, 3_600 * SECOND_US, 2 * 3_600 * SECOND_US];

/// What a site that is down is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// Nobody listens.
    Refused,
    /// Requests are taken and never answered.
    Silent,
    /// This status for everything.
    Busy(u16),
    /// This status for everything but robots.txt.
    PagesBusy(u16),
    /// Its name does not exist.
    NoName,
    /// Its name server fails.
    NoNameServer,
}

impl Web {
    /// What is wrong with a site at this moment, if it is down.
    pub fn outage(&self, site: u32, now_us: u64) -> Option<Outage> {
        let share = self.config.oddities.outages;
        if share == 0 {
            return None;
        }
        let mut chance = Stream::new(draw(self.config.seed, Purpose::Outage, u64::from(site), 0));
        let is_frail = chance.per_mille(share);
        let length_us = LENGTHS_US[chance.below(LENGTHS_US.len() as u32) as usize];
        let phase_us = chance.next() % PERIOD_US;
        if !is_frail || now_us.wrapping_add(phase_us) % PERIOD_US >= length_us {
            return None;
        }
        Some(match chance.below(8) {
            0 | 1 => Outage::Refused,
            2 => Outage::Silent,
            3 => Outage::Busy(503),
            4 => Outage::Busy(429),
            5 => Outage::PagesBusy(if chance.below(2) == 0 { 502 } else { 503 }),
            6 => Outage::NoName,
            _ => Outage::NoNameServer,
        })
    }

    /// What a host answers instead while its site is down.
    pub(crate) fn answer_of_outage(
        &self,
        (site, face): (u32, Face),
        what: What,
        now_us: u64,
    ) -> Option<WebReply> {
        if matches!(face, Face::Ghost(_)) {
            return None;
        }
        match self.outage(site, now_us)? {
            Outage::Refused | Outage::NoName | Outage::NoNameServer => {
                // One who still has the address finds nobody there.
                Some(WebReply::failing(Fault::Refused))
            }
            Outage::Silent => Some(WebReply::failing(Fault::Silent)),
            Outage::PagesBusy(_) if matches!(what, What::Robots | What::RobotsMoved) => None,
            Outage::Busy(status) | Outage::PagesBusy(status) => {
                Some(WebReply::note(status, "Down for a while."))
            }
        }
    }
}
