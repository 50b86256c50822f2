//! How a node obeys orders.

use super::books::limits_of;
use super::node::Node;
use super::order::{CrawlOrder, OrderEffect};
use super::partition::Closing;
use crate::settings::WrittenSettings;
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::discovery::{Discovery, FoundAs};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::Event;
use rhumb_engine::hands::Hand;
use rhumb_engine::time::{Span, Time};

/// How long others wait for the partitions of a node that begins anew by itself.
const RESTARTS_WITHIN: Span = Span::secs(60);

impl Node {
    pub(super) fn polled(
        &mut self,
        began: Time,
        orders: Result<Vec<(u64, CrawlOrder)>, Error>,
    ) -> Result<(), Error> {
        self.polling = false;
        let orders = match orders {
            Ok(orders) => orders,
            Err(error) if error.kind == ErrorKind::Invalid => return Err(error),
            Err(error) => {
                self.trouble = Some(error.what);
                return Ok(());
            }
        };
        for (number, order) in orders {
            if number <= self.parts.mandate.order {
                continue;
            }
            let before = self.parts.mandate.written.clone();
            let effect = self.parts.mandate.obey(number, order)?;
            tracing::info!(number, ?effect, "order");
            self.obey(number, effect, &before)?;
        }
        let order = self.parts.mandate.order;
        for held in self.held.values_mut().filter(|held| !held.is_polled) {
            if began >= held.opened_at {
                held.is_polled = true;
                held.obey(Vec::new(), order);
            }
        }
        Ok(())
    }

    fn obey(
        &mut self,
        number: u64,
        effect: OrderEffect,
        before: &WrittenSettings,
    ) -> Result<(), Error> {
        match &effect {
            OrderEffect::Settings => {
                let dir = self.parts.settings.dir.clone();
                let written = &self.parts.mandate.written;
                self.parts.settings = self.parts.opener.crawl.settings(written, dir)?;
                let settings = (&self.parts.settings, self.parts.opener.crawl.created);
                if let Some(books) = &mut self.books {
                    books.changed(&self.parts.mandate, settings);
                }
                if without_limits(before) != without_limits(&self.parts.mandate.written) {
                    self.restart()?;
                }
            }
            // What it ends now is opened again.
            OrderEffect::Revived => self.restart()?,
            _ => {}
        }
        let partitions: Vec<u32> = self.held.keys().copied().collect();
        for partition in partitions {
            self.apply(partition, &effect);
            let held = self.held.get_mut(&partition).expect("just listed");
            if held.is_polled {
                held.obey(Vec::new(), number);
            }
        }
        self.effects.push((number, effect));
        Ok(())
    }

    /// Engines are opened with settings: all partitions are let go, and taken again.
    fn restart(&mut self) -> Result<(), Error> {
        tracing::info!("settings have changed: partitions are opened anew");
        self.restarting = true;
        self.tell_member(MemberEvent::Leave { returns_within: Some(RESTARTS_WITHIN) })
    }

    pub(super) fn apply(&mut self, partition: u32, effect: &OrderEffect) {
        let held = self.held.get_mut(&partition).expect("it is open");
        match effect {
            OrderEffect::None | OrderEffect::Revived => {}
            OrderEffect::Seeds(seeds) => {
                let strip = self.parts.settings.strip.strip_params();
                let seeds = seeds.iter().map(|seed| {
                    let url = strip.apply(seed.url.clone());
                    let found =
                        Discovery { url, kind: FoundAs::Seed, depth: 0, hops: 0, from: None };
                    (found, seed.weight)
                });
                held.send(Event::Seeded { seeds: seeds.collect() });
            }
            OrderEffect::Paused(true) => held.send(Event::Told(Hand::Pause)),
            OrderEffect::Paused(false) => held.send(Event::Told(Hand::Resume)),
            OrderEffect::Settings => {
                let (_, is_limited) = limits_of(&self.parts.settings);
                held.limited(is_limited);
            }
            OrderEffect::Ended(reason) => held.stop(*reason, Closing::Finish),
        }
    }
}

/// All that engines are opened with.
fn without_limits(written: &WrittenSettings) -> WrittenSettings {
    WrittenSettings {
        max_pages: None,
        max_bytes: None,
        max_time: None,
        coverage: None,
        ..written.clone()
    }
}
