//! The crawl in numbers: committed with every batch, so that they survive a crash exactly.

use crate::outcome::FailKind;
use crate::record::Refusal;
use crate::refresh::budget::Spent;
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// The rules of admission whose counts stand in the row of the counters; those of later rules are
/// in a row of their own, by name, so that a rule more is no other format.
const REFUSALS_FIRST: usize = 16;
/// The name of the count of pages that their scripts make, in that row.
const SCRIPTED: &str = "scripted";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// 2xx page bodies received, duplicates included, robots.txt not.
    pub pages: u64,
    /// Bytes received, robots.txt included.
    pub bytes: u64,
    /// Requests answered in any way.
    pub answers: u64,
    /// URLs admitted or refused: all that have a row.
    pub known: u64,
    pub admitted: u64,
    pub queued: u64,
    pub hosts: u64,
    /// Pages with the bytes of another.
    pub duplicates: u64,
    /// Pages with nearly the text of another, and not its bytes.
    pub near_duplicates: u64,
    pub unchanged: u64,
    pub moved: u64,
    pub gone: u64,
    /// Of these, 401 and 403.
    pub unauthorized: u64,
    pub forbidden: u64,
    /// Pages that ask not to be indexed, and those that ask not to have their links followed.
    pub noindex: u64,
    pub nofollow: u64,
    /// Pages that said next to nothing without their scripts when they were last visited. Not in
    /// the row of the counters, but beside.
    #[serde(skip)]
    pub scripted: u64,
    pub retries: u64,
    pub robots_fetched: u64,
    pub robots_absent: u64,
    pub revisits: u64,
    pub discoveries: u64,
    /// Links of pages that had more of them than are followed of one page.
    pub links_beyond: u64,
    /// URLs filed anew while they waited, having become more important.
    pub promoted: u64,
    /// Sitemaps read, and the pages that they list.
    pub sitemaps: u64,
    pub listed: u64,
    #[serde(with = "first_refusals")]
    pub refused: [u64; Refusal::ALL.len()],
    pub failed: [u64; FailKind::ALL.len()],
    /// Requests, and look-ups of names, that failed: tried again or not.
    pub errors: [u64; FailKind::ALL.len()],
    /// Requests begun, robots.txt included.
    pub asked: u64,
    /// How far the budget of a crawl that goes on is spent.
    pub spent: Spent,
    /// Revisits that found a change.
    pub changes_seen: u64,
    /// Changes that sitemaps and feeds announced.
    pub announced: u64,
    /// Time of the last write. After a restart the clock never goes below it, so no delay is
    /// counted twice.
    pub clock: Time,
    /// The next numbers to give.
    pub next_url: u64,
    pub next_outbox: u64,
    pub next_sleep: u64,
    /// The oldest outbox row that is not yet sifted.
    pub outbox_head: u64,
    /// How often the crawl was opened: the number of this run.
    pub run: u32,
}

impl Counters {
    /// Of two partitions together: what can be added. Clocks and numbers to give stay the first's.
    pub fn plus(mut self, other: &Counters) -> Counters {
        let pairs = [
            (&mut self.pages, other.pages),
            (&mut self.bytes, other.bytes),
            (&mut self.answers, other.answers),
            (&mut self.known, other.known),
            (&mut self.admitted, other.admitted),
            (&mut self.queued, other.queued),
            (&mut self.hosts, other.hosts),
            (&mut self.duplicates, other.duplicates),
            (&mut self.near_duplicates, other.near_duplicates),
            (&mut self.unchanged, other.unchanged),
            (&mut self.moved, other.moved),
            (&mut self.gone, other.gone),
            (&mut self.unauthorized, other.unauthorized),
            (&mut self.forbidden, other.forbidden),
            (&mut self.noindex, other.noindex),
            (&mut self.nofollow, other.nofollow),
            (&mut self.scripted, other.scripted),
            (&mut self.retries, other.retries),
            (&mut self.robots_fetched, other.robots_fetched),
            (&mut self.robots_absent, other.robots_absent),
            (&mut self.revisits, other.revisits),
            (&mut self.discoveries, other.discoveries),
            (&mut self.promoted, other.promoted),
            (&mut self.sitemaps, other.sitemaps),
            (&mut self.listed, other.listed),
            (&mut self.links_beyond, other.links_beyond),
            (&mut self.asked, other.asked),
            (&mut self.changes_seen, other.changes_seen),
            (&mut self.announced, other.announced),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
        self.refused.iter_mut().zip(other.refused).for_each(|(sum, more)| *sum += more);
        self.failed.iter_mut().zip(other.failed).for_each(|(sum, more)| *sum += more);
        self.errors.iter_mut().zip(other.errors).for_each(|(sum, more)| *sum += more);
        self
    }

    /// The counts that the row of the counters has no place for, by name.
    pub fn beside(&self) -> Vec<(String, u64)> {
        let later = Refusal::ALL[REFUSALS_FIRST..].iter();
        let refused = later.map(|why| (why.word().to_owned(), self.refused[*why as usize]));
        refused.chain([(SCRIPTED.to_owned(), self.scripted)]).collect()
    }

    /// With these counts, as [`Counters::beside`] gave them.
    pub fn with_beside(mut self, beside: &[(String, u64)]) -> Counters {
        let named = |name: &str| {
            let found = beside.iter().find(|(word, _)| word == name);
            found.map_or(0, |(_, count)| *count)
        };
        for why in &Refusal::ALL[REFUSALS_FIRST..] {
            self.refused[*why as usize] = named(why.word());
        }
        self.scripted = named(SCRIPTED);
        self
    }

    pub fn refused_as(&mut self, why: Refusal) -> &mut u64 {
        &mut self.refused[why as usize]
    }

    pub fn failed_as(&mut self, kind: FailKind) -> &mut u64 {
        &mut self.failed[kind as usize]
    }

    /// A request or a look-up failed.
    pub fn count_error(&mut self, kind: FailKind) {
        self.errors[kind as usize] += 1;
    }
}

/// The row has as many counts as it always had.
mod first_refusals {
    use super::{REFUSALS_FIRST, Refusal};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type All = [u64; Refusal::ALL.len()];

    pub fn serialize<S: Serializer>(all: &All, serializer: S) -> Result<S::Ok, S::Error> {
        let first: [u64; REFUSALS_FIRST] = std::array::from_fn(|at| all[at]);
        first.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<All, D::Error> {
        let first = <[u64; REFUSALS_FIRST]>::deserialize(deserializer)?;
        Ok(std::array::from_fn(|at| first.get(at).copied().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_row_has_no_place_for_comes_back_by_its_name() {
        let mut counters = Counters { pages: 3, scripted: 2, ..Counters::default() };
        *counters.refused_as(Refusal::Forgotten) = 7;
        let mut beside = counters.beside();
        beside.push(("of a later version".to_owned(), 9));
        let bare = Counters { pages: 3, ..Counters::default() };
        assert_eq!(bare.clone().with_beside(&beside), counters);
        assert_eq!(counters.with_beside(&[]), bare, "of an earlier version");
    }
}
