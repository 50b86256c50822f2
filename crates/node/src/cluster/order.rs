//! Orders: what the owner asks of a crawl on many machines, numbered in the object store. All nodes
//! obey all of them in order; what holds after the last is [`Mandate`].

use crate::settings::{SeedLine, Settings, WrittenSettings};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::StopReason;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Seeds of one order: it is one object.
pub const SEEDS_OF_ORDER_MAX: usize = 100_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrawlOrder {
    /// URLs, each perhaps with a weight behind it. A crawl that has ended goes on.
    Seed(Vec<String>),
    Pause,
    /// Of a crawl that was paused, or has ended.
    Resume,
    Stop,
    /// Settings in TOML, over those before. A crawl that has ended goes on.
    Set(String),
    /// The crawl has come to its end, for this reason: put by the node that found out.
    End(String),
}

/// What holds after all orders up to the last.
#[derive(Clone, Debug)]
pub struct Mandate {
    /// The number of the last; 0 if there is none.
    pub order: u64,
    pub is_paused: bool,
    pub ended: Option<StopReason>,
    pub written: WrittenSettings,
    pub seeds: Vec<SeedLine>,
    /// The last order that changed settings.
    pub set_by: u64,
}

/// What an order asks of a node besides what holds from then on.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderEffect {
    None,
    Seeds(Vec<SeedLine>),
    Paused(bool),
    Settings,
    Ended(StopReason),
    /// It goes on though it had ended.
    Revived,
}

fn unreadable(number: u64, why: &str) -> Error {
    let what = format!(
        "order {number} of the crawl cannot be read: {why}; run the version of rhumb that gave it"
    );
    Error::new(ErrorKind::Invalid, what)
}

impl CrawlOrder {
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data always encodes")
    }

    pub fn decode(number: u64, bytes: &[u8]) -> Result<CrawlOrder, Error> {
        serde_json::from_slice(bytes).map_err(|error| unreadable(number, &error.to_string()))
    }
}

impl Mandate {
    /// Before any order: the settings that the crawl was made with, seeds among them.
    pub fn new(written: &WrittenSettings) -> Mandate {
        let mut written = written.clone();
        let seeds = written.seeds.take().unwrap_or_default();
        Mandate { order: 0, is_paused: false, ended: None, written, seeds, set_by: 0 }
    }

    /// Obeys the next order.
    pub fn obey(&mut self, number: u64, order: CrawlOrder) -> Result<OrderEffect, Error> {
        assert_eq!(number, self.order + 1, "orders are obeyed one after the other");
        let change = match order {
            CrawlOrder::Seed(lines) => {
                let seeds: Result<Vec<SeedLine>, _> =
                    lines.iter().map(|line| line.parse()).collect();
                let mut seeds = seeds.map_err(|error| unreadable(number, &error))?;
                let known: HashSet<_> = self.seeds.iter().map(|seed| seed.url.clone()).collect();
                seeds.retain(|seed| !known.contains(&seed.url));
                self.seeds.extend(seeds.iter().cloned());
                self.revived(OrderEffect::Seeds(seeds))
            }
            CrawlOrder::Pause => {
                self.is_paused = true;
                OrderEffect::Paused(true)
            }
            CrawlOrder::Resume => {
                self.is_paused = false;
                self.revived(OrderEffect::Paused(false))
            }
            CrawlOrder::Stop => self.end(StopReason::Interrupted),
            CrawlOrder::Set(text) => {
                let set = WrittenSettings::parse(&text, &format!("order {number}"));
                let set = set.map_err(|error| unreadable(number, &error.to_string()))?;
                self.written = set.over(self.written.clone());
                self.set_by = number;
                self.revived(OrderEffect::Settings)
            }
            CrawlOrder::End(word) => self.end(reason_of(&word)),
        };
        self.order = number;
        Ok(change)
    }

    fn end(&mut self, reason: StopReason) -> OrderEffect {
        self.ended = Some(reason);
        OrderEffect::Ended(reason)
    }

    fn revived(&mut self, change: OrderEffect) -> OrderEffect {
        if self.ended.take().is_some() { OrderEffect::Revived } else { change }
    }

    /// These settings, with the seeds that are known by now.
    pub fn with_seeds(&self, settings: Settings) -> Settings {
        Settings { seeds: self.seeds.clone(), ..settings }
    }
}

/// The reason that a word of a report means.
pub fn reason_of(word: &str) -> StopReason {
    const ALL: [StopReason; 8] = [
        StopReason::Finished,
        StopReason::HostsFailing,
        StopReason::Pages,
        StopReason::Bytes,
        StopReason::Time,
        StopReason::Coverage,
        StopReason::CoverageOutOfReach,
        StopReason::Interrupted,
    ];
    ALL.into_iter().find(|reason| reason.word() == word).unwrap_or(StopReason::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_obeyed_one_after_the_other_and_a_seed_revives_what_has_ended() {
        let mut mandate = Mandate::new(&WrittenSettings::default());
        let mut number = 0;
        let mut obey = |mandate: &mut Mandate, order: CrawlOrder| {
            number += 1;
            let read = CrawlOrder::decode(number, &order.encode()).unwrap();
            mandate.obey(number, read).unwrap()
        };
        let seed = || CrawlOrder::Seed(vec!["http://a.test/ 2".to_owned()]);
        assert!(matches!(obey(&mut mandate, seed()), OrderEffect::Seeds(new) if new.len() == 1));
        assert!(matches!(obey(&mut mandate, seed()), OrderEffect::Seeds(new) if new.is_empty()));
        assert_eq!(obey(&mut mandate, CrawlOrder::Pause), OrderEffect::Paused(true));
        obey(&mut mandate, CrawlOrder::Set("max_pages = 7".to_owned()));
        assert_eq!((mandate.set_by, mandate.is_paused), (4, true));
        let end = CrawlOrder::End(StopReason::Pages.word().to_owned());
        assert_eq!(obey(&mut mandate, end), OrderEffect::Ended(StopReason::Pages));
        assert_eq!(obey(&mut mandate, CrawlOrder::Resume), OrderEffect::Revived);
        assert_eq!((mandate.ended, mandate.is_paused, mandate.order), (None, false, 6));
        assert!(CrawlOrder::decode(7, b"\"dance\"").unwrap_err().what.contains("order 7"));
    }
}
