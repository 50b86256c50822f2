//! What links say: pages get their links by number, and URLs that have become more important while
//! they wait are filed anew.
//!
//! A URL moves up when a link to it is seen, because then its address is at hand. If its row is in
//! memory it is merely served sooner; else the row is read and moved by the next question to the
//! sieve, and each page that comes pays for a few such moves.

use crate::admit;
use crate::books::{UrlHost, UrlPosition};
use crate::discovery::{Chunk, Discovery, FoundAs, Lead};
use crate::engine::Engine;
use crate::event::{SiftTarget, Step};
use crate::known::KnownLinks;
use crate::mass::{Goal, Surfer};
use crate::order::CLASS_LAST;
use crate::queue::{Entry, Place};
use crate::record::{RecordStatus, UrlId, UrlRecord};
use crate::sifted::Batch;
use rhumb_page::url::Url;
use std::sync::Arc;

/// Moves that a page with links pays for.
const MOVES_PER_PAGE: u32 = 2;

impl Engine {
    /// Seeds get their trust and pages their links. `ids` are the numbers of the admitted;
    /// targets that these chunks do not account for are left over.
    pub(crate) fn take_links<'a>(
        &mut self,
        chunks: &[(u64, Arc<Chunk>)],
        targets: &'a [SiftTarget],
        ids: &[UrlId],
        step: &mut Step,
    ) -> &'a [SiftTarget] {
        let number = |target: SiftTarget| match target {
            SiftTarget::Known(id) => Some(UrlId(u64::from(id))),
            SiftTarget::ToAdmit(index) => Some(ids[index as usize]),
            SiftTarget::Unknown(_) => None,
        };
        let mut left = targets;
        for (chunk_number, chunk) in chunks {
            let sought = || chunk.iter().filter_map(Lead::sought);
            let (targets, others) = left.split_at(sought().count());
            left = others;
            for (discovery, target) in sought().zip(targets) {
                if discovery.kind == FoundAs::Seed
                    && let Some(id) = number(*target)
                    && let Some((node, share)) = self.books.mass.seed_is(&discovery.url, id)
                {
                    self.ranking.policy.trusted(node, share);
                }
            }
            let config = &self.config;
            let goals = sought().zip(targets).map(|(discovery, &target)| {
                match (number(target).and_then(crate::mass::node), target) {
                    (Some(id), _) => Goal::Known(id),
                    (None, _) if !admit::is_inside(config, discovery) => Goal::Outside,
                    (
                        None,
                        SiftTarget::Unknown(n) | SiftTarget::ToAdmit(n) | SiftTarget::Known(n),
                    ) => Goal::Unknown(n),
                }
            });
            let whole = self.books.mass.chunk((*chunk_number, chunk), goals, step);
            for page in &whole {
                self.ranking.policy.linked(page, &self.books.mass);
            }
            self.ranking.pay_moves(MOVES_PER_PAGE * whole.len() as u32);
        }
        left
    }

    /// A page all of whose links are known by number gets them at once: they need no way through
    /// the outbox.
    pub(crate) fn take_known_links(
        &mut self,
        page: u32,
        (links, surfer): (&KnownLinks, Surfer),
        step: &mut Step,
    ) {
        let first = self.books.counters.next_outbox;
        let whole = self.books.mass.linked_to_known(page, first, (links, surfer), step);
        self.ranking.policy.linked(&whole, &self.books.mass);
        self.ranking.pay_moves(MOVES_PER_PAGE);
        self.promote_those_risen(links);
    }

    /// Asks for those that wait and have come into a better class than they are filed under.
    pub(crate) fn find_risen(&mut self, chunks: &[(u64, Arc<Chunk>)], targets: &[SiftTarget]) {
        if !self.ranking.policy.follows_importance() {
            return;
        }
        let mut targets = targets.iter();
        for lead in chunks.iter().flat_map(|(_, chunk)| chunk.iter()) {
            match lead {
                Lead::Known { links, .. } => self.promote_those_risen(links),
                Lead::New(Discovery { url, depth, .. }) => {
                    if let Some(SiftTarget::Known(id)) = targets.next() {
                        self.promote_if_risen(*id, url.as_str(), *depth);
                    }
                }
            }
        }
    }

    /// Those that came with their addresses, which they do if the order follows importance.
    fn promote_those_risen(&mut self, links: &KnownLinks) {
        if self.ranking.policy.follows_importance() {
            links.addressed().for_each(|(id, url)| self.promote_if_risen(id, url, links.depth()));
        }
    }

    /// A row in memory is served sooner, which costs nothing; one that is only in the store is
    /// asked for, to be filed anew.
    pub(crate) fn promote_if_risen(&mut self, id: u32, url: &str, depth: u16) {
        let Some(filed) = self.books.mass.ledger().filed(id) else { return };
        let id = UrlId(u64::from(id));
        let place = self.ranking.place(&self.config, (url, depth, id), &self.books.mass);
        let Place::Now { class, .. } = place else { return };
        // What its pattern put last stays there.
        if class >= filed || filed == CLASS_LAST {
            return;
        }
        let Some(url) = Url::from_canonical(url.into()) else { return };
        let slot = self.frontier.awake.slot_of(&url.host_key());
        let is_here = slot.is_some_and(|slot| self.frontier.awake.at(slot).now.raise(id, place));
        if !is_here && self.ranking.takes_move() {
            let kind = FoundAs::Promoted;
            self.admission.outbox.promote(Discovery { url, kind, depth, hops: 0, from: None });
        }
    }

    /// Files a URL that waits under its present class. What was read of it may be old.
    pub(crate) fn promote(
        &mut self,
        discovery: Discovery,
        record: UrlRecord,
        batch: &mut Batch,
        step: &mut Step,
    ) {
        let (Some(old @ Place::Now { class: filed, .. }), RecordStatus::Queued) =
            (record.place, record.status)
        else {
            return;
        };
        let is_there = crate::mass::node(record.id)
            .is_some_and(|node| self.books.mass.ledger().filed(node) == Some(filed));
        let url = (discovery.url.as_str(), discovery.depth, record.id);
        let place = self.ranking.place(&self.config, url, &self.books.mass);
        let Place::Now { class, .. } = place else { return };
        if !is_there || class >= filed {
            return;
        }
        let host = discovery.url.host_key();
        let slot = self.frontier.awake.slot_of(&host);
        if slot.is_some_and(|slot| !self.frontier.awake.at(slot).now.withdraw(old)) {
            return;
        }
        let was = UrlPosition::at(old, &record);
        let entry = Entry { url: discovery.url, record };
        self.books.counters.promoted += 1;
        match slot {
            Some(slot) => {
                let home = UrlHost::Awake(self.frontier.awake.at(slot));
                self.books.put(home, was, entry, Some(place), &mut step.rows);
                // Its row may still say that nothing waits before where it lay down.
                self.frontier.mark_dirty(slot);
                batch.slots.insert(slot);
            }
            None => {
                let known = batch.touched.remove(&host).or_else(|| batch.known.remove(&host));
                let mut asleep = known.expect("a host with a row that waits has a row itself");
                let home = UrlHost::Asleep(&host, &mut asleep);
                self.books.put(home, was, entry, Some(place), &mut step.rows);
                self.move_bed(&host, &mut asleep, place, step);
                batch.touched.insert(host, asleep);
            }
        }
    }
}
