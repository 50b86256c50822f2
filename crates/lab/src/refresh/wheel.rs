//! A calendar in memory: a timing wheel with a list of pages for each slot.
//!
//! Varghese and Lauck, "Hashed and hierarchical timing wheels", SOSP 1987, with one level: who is
//! due beyond the horizon waits in the last slot and is filed anew when it comes up. Filing and
//! taking are O(1); within a slot the order is that of nobody.
//!
//! A slot is an array and not a list through the pages: nothing of a page is read to find the one
//! after it, so that who comes next is known ahead ([`Wheel::coming`]) and can be fetched from
//! memory together.

const SLOTS: usize = 1 << 15;
const WORD_BITS: usize = 64;

#[derive(Clone, Debug)]
pub struct Wheel {
    slots: Vec<Vec<u32>>,
    /// Which slots hold somebody.
    busy: Vec<u64>,
    slot_days: f64,
    /// No slot before this one holds anybody. Counted from time 0, taken modulo the slots.
    slot: u64,
    len: usize,
}

impl Wheel {
    pub fn new(slot_days: f64) -> Wheel {
        let (slots, busy) = (vec![Vec::new(); SLOTS], vec![0; SLOTS / WORD_BITS]);
        Wheel { slots, busy, slot_days, slot: 0, len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn slot_days(&self) -> f64 {
        self.slot_days
    }

    pub fn file(&mut self, page: u32, due: f64) {
        let wanted = (due.max(0.0) / self.slot_days) as u64;
        let slot = wanted.clamp(self.slot, self.slot + SLOTS as u64 - 1) as usize % SLOTS;
        self.slots[slot].push(page);
        self.busy[slot / WORD_BITS] |= 1 << (slot % WORD_BITS);
        self.len += 1;
    }

    /// Whoever is due first, and the end of the slot it was filed under.
    pub fn take(&mut self) -> Option<(u32, f64)> {
        if self.len == 0 {
            return None;
        }
        self.slot += self.slots_to_next();
        let slot = self.slot as usize % SLOTS;
        let page = self.slots[slot].pop().expect("a busy slot holds somebody");
        if self.slots[slot].is_empty() {
            // It comes up again in a whole turn of the wheel: until then its memory is of no use.
            self.slots[slot] = Vec::new();
            self.busy[slot / WORD_BITS] &= !(1 << (slot % WORD_BITS));
        }
        self.len -= 1;
        Some((page, (self.slot + 1) as f64 * self.slot_days))
    }

    /// Those of the present slot who are taken next, unless others are filed before them.
    pub fn coming(&self, count: usize) -> &[u32] {
        let slot = &self.slots[self.slot as usize % SLOTS];
        &slot[slot.len().saturating_sub(count)..]
    }

    /// How far the next busy slot is from the present one; there must be one.
    fn slots_to_next(&self) -> u64 {
        let slot = self.slot as usize % SLOTS;
        let words = self.busy.len();
        let here = self.busy[slot / WORD_BITS] >> (slot % WORD_BITS);
        if here != 0 {
            return u64::from(here.trailing_zeros());
        }
        let mut distance = (WORD_BITS - slot % WORD_BITS) as u64;
        for step in 1..=words {
            let word = self.busy[(slot / WORD_BITS + step) % words];
            if word != 0 {
                return distance + u64::from(word.trailing_zeros());
            }
            distance += WORD_BITS as u64;
        }
        unreachable!("somebody is filed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::rng::Rng;

    #[test]
    fn pages_come_out_in_the_order_of_their_slots_each_once_also_across_the_end() {
        let mut wheel = Wheel::new(0.5);
        let mut rng = Rng::new(1);
        let mut due = vec![0.0; 500];
        let mut now: f64 = 0.0;
        (0..500u32).for_each(|page| {
            due[page as usize] = (rng.draw() % 10_000) as f64 * 0.9;
            wheel.file(page, due[page as usize]);
        });
        for _ in 0..20_000 {
            let (page, until) = wheel.take().unwrap();
            assert!(until >= now, "time goes on");
            now = until;
            let filed = due[page as usize];
            assert!(filed < until && filed >= until - 0.5 - 1e-9, "{filed} taken at {until}");
            due[page as usize] = now + (rng.draw() % 10_000) as f64;
            wheel.file(page, due[page as usize]);
        }
        assert_eq!(wheel.len(), 500);
        let mut left = std::collections::BTreeSet::new();
        while let Some((page, _)) = wheel.take() {
            assert!(left.insert(page), "taken twice");
        }
        assert_eq!(left.len(), 500);
    }
}
