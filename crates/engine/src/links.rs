//! What links say: pages get their links by number, and URLs that have become more important while
//! they wait are filed anew.
//!
//! A URL moves up when a link to it is seen, because then its address is at hand. If its row is in
//! memory it is merely served sooner; else the row is read and moved by the next question to the
//! sieve, and each page that comes pays for a few such moves.

use crate::admit;
use crate::discovery::{Chunk, Discovery, FoundAs};
use crate::engine::Engine;
use crate::event::{Step, Target};
use crate::mass::Goal;
use crate::queue::{Entry, Place};
use crate::record::{Status, UrlId, UrlRecord};
use crate::sifted::Batch;
use std::sync::Arc;

/// Moves that a page with links pays for.
const MOVES_PER_PAGE: u32 = 2;
/// Moves saved up for later.
const MOVES_SAVED_MAX: u32 = 4_096;

impl Engine {
    /// Seeds get their trust and pages their links. `ids` are the numbers of what was judged.
    pub(crate) fn take_links(
        &mut self,
        chunks: &[(u64, Arc<Chunk>)],
        targets: &[Target],
        ids: &[UrlId],
        step: &mut Step,
    ) {
        let number = |target: Target| match target {
            Target::Known(id) => Some(UrlId(u64::from(id))),
            Target::Judged(index) => Some(ids[index as usize]),
            Target::Unknown(_) => None,
        };
        let mut begins = 0;
        for (chunk_number, chunk) in chunks {
            let targets = &targets[begins..begins + chunk.len()];
            begins += chunk.len();
            for (discovery, target) in chunk.iter().zip(targets) {
                if discovery.kind == FoundAs::Seed
                    && let Some(id) = number(*target)
                    && let Some((node, share)) = self.mass.seed_is(&discovery.url, id)
                {
                    self.policy.trusted(node, share);
                }
            }
            let config = &self.config;
            let goal = |n: usize| match (number(targets[n]).and_then(crate::mass::node), targets[n])
            {
                (Some(id), _) => Goal::Known(id),
                (None, _) if !admit::is_inside(config, &chunk[n]) => Goal::Outside,
                (None, Target::Unknown(which) | Target::Judged(which) | Target::Known(which)) => {
                    Goal::Unknown(which)
                }
            };
            let whole = self.mass.chunk((*chunk_number, chunk), goal, step);
            for page in &whole {
                self.policy.linked(page, &self.mass);
            }
            self.pay_moves(MOVES_PER_PAGE * whole.len() as u32);
        }
    }

    /// A page all of whose links are known by number gets them at once: they need no way through
    /// the outbox.
    pub(crate) fn take_known_links(
        &mut self,
        page: u32,
        known: Vec<u32>,
        links: impl Iterator<Item = Discovery>,
        step: &mut Step,
    ) {
        let whole = self.mass.linked_to_known(page, self.counters.next_outbox, &known, step);
        self.policy.linked(&whole, &self.mass);
        self.pay_moves(MOVES_PER_PAGE);
        if self.policy.follows_importance() {
            links.zip(known).for_each(|(link, id)| self.promote_if_risen(&link, id));
        }
    }

    /// Asks for those that wait and have come into a better class than they are filed under.
    pub(crate) fn find_risen(&mut self, chunks: &[(u64, Arc<Chunk>)], targets: &[Target]) {
        if !self.policy.follows_importance() {
            return;
        }
        let discoveries = chunks.iter().flat_map(|(_, chunk)| chunk.iter());
        for (discovery, target) in discoveries.zip(targets) {
            if let Target::Known(id) = *target {
                self.promote_if_risen(discovery, id);
            }
        }
    }

    pub(crate) fn pay_moves(&mut self, moves: u32) {
        self.promotions = (self.promotions + moves).min(MOVES_SAVED_MAX);
    }

    /// A row in memory is served sooner, which costs nothing; one that is only in the store is
    /// asked for, to be filed anew.
    pub(crate) fn promote_if_risen(&mut self, discovery: &Discovery, id: u32) {
        let Some(filed) = self.mass.ledger().filed(id) else { return };
        let id = UrlId(u64::from(id));
        let place = self.place(discovery, id);
        let Place::Now { class, .. } = place else { return };
        if class >= filed {
            return;
        }
        let slot = self.awake.slot_of(&discovery.url.host_key());
        let is_here = slot.is_some_and(|slot| self.awake.at(slot).now.raise(id, place));
        if !is_here && self.promotions > 0 {
            self.promotions -= 1;
            let kind = FoundAs::Promoted;
            self.outbox.promote(Discovery { kind, from: None, ..discovery.clone() });
        }
    }

    /// Files a URL that waits under its present class. What was read of it may be old.
    pub(crate) fn promote(
        &mut self,
        discovery: Discovery,
        mut record: UrlRecord,
        batch: &mut Batch,
        step: &mut Step,
    ) {
        let (Some(old @ Place::Now { class: filed, .. }), Status::Queued) =
            (record.place, record.status)
        else {
            return;
        };
        let is_there = crate::mass::node(record.id)
            .is_some_and(|node| self.mass.ledger().filed(node) == Some(filed));
        let place = self.place(&discovery, record.id);
        let Place::Now { class, .. } = place else { return };
        if !is_there || class >= filed {
            return;
        }
        let host = discovery.url.host_key();
        let slot = self.awake.slot_of(&host);
        if slot.is_some_and(|slot| !self.awake.at(slot).now.withdraw(old)) {
            return;
        }
        (record.class, record.place) = (class, Some(place));
        self.mass.file(record.id, Some(class));
        let entry = Entry { url: discovery.url, record };
        step.refile(&host, (old, place), &entry);
        self.counters.promoted += 1;
        match slot {
            Some(slot) => {
                self.awake.at(slot).now.insert(place, entry);
                // Its row may still say that nothing waits before where it lay down.
                self.mark_dirty(slot);
                batch.slots.insert(slot);
            }
            None => {
                let known = batch.touched.remove(&host).or_else(|| batch.known.remove(&host));
                let mut asleep = known.expect("a host with a row that waits has a row itself");
                self.move_bed(&host, &mut asleep, place, step);
                batch.touched.insert(host, asleep);
            }
        }
    }
}
