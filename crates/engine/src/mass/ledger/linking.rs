//! What a page's links are, and what follows when they change: shares are taken back by the old
//! ones and handed out by the new ones.

use super::super::fixed::{unit, unit_at_most};
use super::super::surfer::PushedLinks;
use super::{At, Ledger, MassStanding};

impl Ledger {
    /// The links of a crawled page as last fetched. What was settled by other links, or left by
    /// another surfer, is put right.
    pub fn link(&mut self, node: u32, links: &PushedLinks<'_>) {
        let page = self.page_of(node).expect("only crawled pages have links");
        let (old, s) = (self.pages.links[page], self.pages.settled[page]);
        let surfer = self.pages.surfer[page];
        let (mut ids, mut weights) = self.take_scratch();
        if old != At::NOWHERE {
            let unnamed = self.outlinks.get(old, &mut ids, &mut weights);
            let last = PushedLinks { ids: &ids, weights: &weights, unnamed, surfer };
            let is_same = (last.ids, last.weights, unnamed, surfer)
                == (links.ids, links.weights, links.unnamed, links.surfer);
            if is_same {
                self.give_back(ids, weights);
                return;
            }
            self.take_back(&last, s);
        }
        let bytes = &mut self.bytes;
        let at = self.outlinks.add(links, bytes);
        self.pages.links[page] = at;
        if old != At::NOWHERE && self.outlinks.drop(old, &mut ids, &mut weights) {
            self.outlinks.compact(self.pages.links.iter_mut());
        }
        self.give_back(ids, weights);
        self.leave_by(page, links);
        self.stand_linked(node, at, links, s);
        if at != At::NOWHERE && s != 0 {
            self.hand_out(links, s);
        }
        self.enqueue(node);
    }

    /// The page is left by this surfer from now on.
    fn leave_by(&mut self, page: usize, links: &PushedLinks<'_>) {
        let surfer = std::mem::replace(&mut self.pages.surfer[page], links.surfer);
        let (standing, s) = (self.standing(self.pages.node[page]), self.pages.settled[page]);
        self.settled.add(surfer, standing, -s);
        self.settled.add(links.surfer, standing, s);
        self.left_by[surfer.index()] -= 1;
        self.left_by[links.surfer.index()] += 1;
    }

    pub(super) fn stand_linked(&mut self, node: u32, at: At, links: &PushedLinks<'_>, s: i64) {
        let before = self.standing(node);
        let now = match self.total(links) {
            _ if at == At::NOWHERE => MassStanding::Fetched,
            0 => MassStanding::Dangling,
            _ => MassStanding::Linked,
        };
        if before != now {
            if now == MassStanding::Fetched {
                self.leave_bucket(node);
            }
            self.move_sums(node, before, now);
            self.count_dead_end(node, before, -1);
            self.count_dead_end(node, now, 1);
            self.settled.add(links.surfer, before, -s);
            self.settled.add(links.surfer, now, s);
        }
    }

    pub(super) fn count_dead_end(&mut self, node: u32, standing: MassStanding, sign: i64) {
        if standing == MassStanding::Dangling
            && let Ok(at) = self.trust.binary_search_by_key(&node, |(node, _)| *node)
        {
            self.dead_ends.pages = self.dead_ends.pages.wrapping_add_signed(sign as i32);
            self.dead_ends.trust += sign * self.trust[at].1;
        }
    }

    /// The weight of all links that count.
    pub(super) fn total(&self, links: &PushedLinks<'_>) -> i64 {
        let unnamed = i64::from(links.unnamed);
        if self.outside == 0 && links.weights.is_empty() {
            return links.ids.len() as i64 + unnamed;
        }
        let counts = |id: u32| self.outside == 0 || self.standing(id) != MassStanding::Outside;
        let named = links.ids.iter().enumerate().filter(|(_, id)| counts(**id));
        unnamed + named.map(|(at, _)| links.weight(at)).sum::<i64>()
    }

    /// Takes back what a page with these links handed out while it settled s, and rather more.
    fn take_back(&mut self, links: &PushedLinks<'_>, s: i64) {
        let total = self.total(links);
        if total == 0 || s == 0 {
            return;
        }
        let taken = unit_at_most(s, total, links.surfer);
        for (at, &id) in links.ids.iter().enumerate() {
            if self.standing(id) != MassStanding::Outside {
                self.add(id, -taken * links.weight(at));
            }
        }
        self.unnamed -= taken * i64::from(links.unnamed);
    }

    pub(super) fn hand_out(&mut self, links: &PushedLinks<'_>, s: i64) {
        let total = self.total(links);
        if total == 0 {
            return;
        }
        let given = unit(s, total, links.surfer);
        let all = self.outside == 0;
        for (at, &id) in links.ids.iter().enumerate() {
            if all || self.standing(id) != MassStanding::Outside {
                self.add(id, given * links.weight(at));
            }
        }
        self.unnamed += given * i64::from(links.unnamed);
        self.edges += links.ids.len() as u64 + u64::from(links.unnamed > 0);
    }

    pub(super) fn take_scratch(&mut self) -> (Vec<u32>, Vec<u8>) {
        (std::mem::take(&mut self.ids), std::mem::take(&mut self.weights))
    }

    pub(super) fn give_back(&mut self, ids: Vec<u32>, weights: Vec<u8>) {
        (self.ids, self.weights) = (ids, weights);
    }
}
