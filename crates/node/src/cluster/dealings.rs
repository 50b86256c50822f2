//! What a node has to do with others: notes that are for no engine, what the owner of partition 0
//! does for all, and slots at addresses.

use super::books::Said;
use super::node::Node;
use super::order::CrawlOrder;
use super::wire::Note;
use rhumb_cluster::address::{GRANT_FOR, SLOTS_ALONE, partition_of};
use rhumb_engine::time::{Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

impl Node {
    pub(super) fn noted(&mut self, note: Note) {
        let now = self.now();
        match note {
            Note::Request(request) => {
                if let Some(books) = &mut self.books {
                    books.asked(request);
                }
            }
            Note::Report { age_us, report } => {
                if let Some(books) = &mut self.books {
                    books.reported(now, Span(age_us), *report);
                }
            }
            Note::Grant(grant) => {
                if let Some(held) = self.held.get_mut(&grant.partition) {
                    held.granted(grant);
                }
            }
            Note::Reclaim { partition } => {
                if let Some(held) = self.held.get_mut(&partition) {
                    held.reclaimed();
                }
            }
            Note::AskSlots { address, wanted, asked_us, node, answer_to } => {
                let slots = self.grant_slots(&node, address, wanted);
                let slots = Note::Slots { address, slots, asked_us };
                self.parts.post.send_to(&answer_to, slots);
            }
            Note::Slots { address, slots, asked_us } => {
                let until = Time(asked_us) + GRANT_FOR;
                if let Some(turns) = self.parts.opener.network.turns() {
                    turns.granted(address, slots, until);
                }
            }
            Note::Message { .. } | Note::Acknowledgement { .. } => {}
        }
    }

    /// The way to the owners of all other partitions, as far as they are known.
    pub(super) fn routes(&self) -> BTreeMap<u32, String> {
        let mut owners: BTreeMap<u32, (u64, String)> = BTreeMap::new();
        for seen in self.member.view().others.values() {
            for (&partition, &epoch) in &seen.beat.owned {
                if owners.get(&partition).is_none_or(|(last, _)| *last < epoch) {
                    owners.insert(partition, (epoch, seen.beat.node.address.clone()));
                }
            }
        }
        owners.retain(|partition, _| !self.held.contains_key(partition));
        owners.into_iter().map(|(partition, (_, address))| (partition, address)).collect()
    }

    /// The owner of the partition that an address hashes to grants it.
    fn grant_slots(&mut self, node: &str, address: IpAddr, wanted: u16) -> u16 {
        let partition = partition_of(address, self.parts.opener.crawl.partitions);
        let now = self.now();
        let held = self.held.get_mut(&partition);
        held.map_or(SLOTS_ALONE, |held| held.slots.ask(now, node, address, wanted))
    }

    /// Asks for slots at addresses that could use more than one.
    pub(super) fn ask_slots(&mut self) {
        let turns = self.parts.opener.network.turns().map(Arc::clone);
        let wanting = turns.as_ref().map(|turns| turns.wanting()).unwrap_or_default();
        let (asked, node) = (self.now(), self.parts.identity.id.clone());
        for (address, wanted) in wanting {
            let partition = partition_of(address, self.parts.opener.crawl.partitions);
            if self.held.contains_key(&partition) {
                let slots = self.grant_slots(&node, address, wanted);
                self.noted(Note::Slots { address, slots, asked_us: asked.0 });
                continue;
            }
            let (node, answer_to) = (node.clone(), self.parts.identity.address.clone());
            let ask = Note::AskSlots { address, wanted, asked_us: asked.0, node, answer_to };
            self.parts.post.send_to_owner(partition, ask);
        }
    }

    /// To the owner of partition 0, whoever that is.
    pub(super) fn tell_books(&mut self, note: Note) {
        match self.held.contains_key(&0) {
            true => self.noted(note),
            false => self.parts.post.send(note),
        }
    }

    pub(super) fn report(&mut self, partition: u32, age: Duration) {
        let now = self.now();
        let held = self.held.get_mut(&partition).expect("it reports");
        if let Some(report) = held.report(partition, now) {
            self.tell_books(Note::Report { age_us: age.as_micros() as u64, report });
        }
    }

    pub(super) fn say(&mut self, said: Said) {
        let notes = said.grants.into_iter().map(Note::Grant);
        let reclaims = said.reclaims.into_iter().map(|partition| Note::Reclaim { partition });
        for note in notes.chain(reclaims) {
            let partition = note.addressee().expect("it names one");
            match self.held.contains_key(&partition) {
                true => self.noted(note),
                false => self.parts.post.send(note),
            }
        }
    }

    pub(super) fn divide_limits(&mut self) {
        let now = self.now();
        let Some(books) = &mut self.books else { return };
        books.watch(now);
        let (said, ledger) = books.divide();
        if let (Some(ledger), Some(held)) = (ledger, self.held.get(&0)) {
            self.performer.keep(ledger, &held.open.shipping);
        }
        self.say(said);
    }

    pub(super) fn end_if_over(&mut self) {
        let (now, mandate) = (self.now(), &self.parts.mandate);
        let now_s = self.parts.clock.date().0 / 1_000_000;
        let Some(books) = self.books.as_ref().filter(|_| !self.putting_end) else { return };
        // What is known of the orders must be as new as what was reported.
        let is_obeyed = self.held.get(&0).is_some_and(|held| held.obeyed == Some(mandate.order));
        if let Some(reason) = books.why_over(now, now_s, mandate).filter(|_| is_obeyed) {
            self.putting_end = true;
            let end = CrawlOrder::End(reason.word().to_owned());
            self.performer.put_end(mandate.order + 1, &end);
        }
    }
}
