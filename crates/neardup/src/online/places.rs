//! Where the leaders of a band's key are: a table that grows a little at a time and loses nothing.
//!
//! The first bits of a key say which of 1,024 parts it is in. Its next 18 bits, the *tag*, stand in
//! the entry, and say by their size where in the part it should be; it is there or, if others are,
//! some slots further on. A part is therefore in the order of its tags (P. Celis, "Robin Hood
//! Hashing", 1986, with linear probing), and can be laid out anew from its entries alone, without
//! the keys. A part that is full to 15 sixteenths grows by a tenth of its size. The parts are
//! small and do not grow at once, so the table never has much more room than it needs.
//!
//! Of one tag the latest twelve entries are held: a key that thousands of texts have in common does
//! not make them all candidates.

const PART_BITS: u32 = 10;
const PARTS: usize = 1 << PART_BITS;
const TAG_BITS: u32 = 18;
const PLACE_BITS: u32 = 22;
/// Places that an entry can name.
pub const PLACES_MAX: usize = (1 << PLACE_BITS) - 1;
/// No place.
const NOWHERE: u32 = PLACES_MAX as u32;
/// Slots of an empty part.
const SLOTS_MIN: usize = 16;
/// A part grows when no more than one slot in so many is empty,
const EMPTY_SHARE: usize = 16;
/// and by one slot for so many.
const GROWTH_SHARE: usize = 10;
/// Slots that are appended when the last entries of a part find none.
const TAIL: usize = 8;
/// Entries of one tag.
const RUN_MAX: usize = 12;

/// A tag, and a place: 40 bits.
type Slot = [u8; 5];

/// Most slots an entry may need: those of a part that has just grown, divided by its entries.
pub const BYTES_PER_ENTRY: f64 =
    size_of::<Slot>() as f64 * (1.0 + 1.0 / GROWTH_SHARE as f64) / (1.0 - 1.0 / EMPTY_SHARE as f64);
/// An empty table.
pub const EMPTY_BYTES: usize = PARTS * (size_of::<Part>() + (SLOTS_MIN + TAIL) * size_of::<Slot>());

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    tag: u32,
    place: u32,
}

pub struct Places {
    parts: Vec<Part>,
    /// Room to lay out a part.
    entries: Vec<Slot>,
}

#[derive(Clone)]
struct Part {
    slots: Vec<Slot>,
    /// Slots that tags name; the last entries may stand beyond them.
    named: usize,
    len: usize,
}

impl Places {
    pub fn new() -> Places {
        let slots = vec![slot(Entry { tag: 0, place: NOWHERE }); SLOTS_MIN];
        let part = Part { slots, named: SLOTS_MIN, len: 0 };
        Places { parts: vec![part; PARTS], entries: Vec::new() }
    }

    pub fn insert(&mut self, key: u64, place: u32) {
        let (part, tag) = split(key);
        let part = &mut self.parts[part];
        if (part.len + 1) * EMPTY_SHARE > part.named * (EMPTY_SHARE - 1) {
            let more = part.named / GROWTH_SHARE;
            part.lay_out(part.named + more, &mut self.entries, |_| true);
        }
        part.insert(Entry { tag, place });
    }

    /// Hands over the places that were entered with this key, and seldom others.
    pub fn find(&self, key: u64, mut take: impl FnMut(u32)) {
        let (part, tag) = split(key);
        let part = &self.parts[part];
        for slot in &part.slots[part.first_of(tag)..] {
            match entry(slot) {
                Entry { tag: here, place } if here == tag && place != NOWHERE => take(place),
                _ => break,
            }
        }
    }

    /// Takes out what names these places, in one of [`Places::PARTS`] parts.
    pub fn forget(&mut self, part: usize, places: std::ops::Range<u32>) {
        let part = &mut self.parts[part];
        part.lay_out(part.named, &mut self.entries, |place| !places.contains(&place));
    }

    pub const PARTS: usize = PARTS;

    pub fn bytes(&self) -> usize {
        let slots = |part: &Part| part.slots.capacity();
        let all = self.parts.iter().map(slots).sum::<usize>() + self.entries.capacity();
        self.parts.capacity() * size_of::<Part>() + all * size_of::<Slot>()
    }
}

impl Part {
    /// The first slot of this tag, or where it would be.
    fn first_of(&self, tag: u32) -> usize {
        let first = self.named_by(tag);
        let is_before = |slot: &&Slot| {
            let entry = entry(slot);
            entry.place != NOWHERE && entry.tag < tag
        };
        first + self.slots[first..].iter().take_while(is_before).count()
    }

    fn named_by(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.named as u64) >> TAG_BITS) as usize
    }

    fn insert(&mut self, new: Entry) {
        let at = self.first_of(new.tag);
        let run = self.slots[at..].iter().map(entry);
        let run = run.take_while(|entry| entry.place != NOWHERE && entry.tag == new.tag).count();
        let end = if run >= RUN_MAX {
            // The oldest is overwritten.
            at + run - 1
        } else {
            let is_taken = |slot: &&Slot| entry(slot).place != NOWHERE;
            let end = at + self.slots[at..].iter().take_while(is_taken).count();
            if end == self.slots.len() {
                self.append_slot();
            }
            self.len += 1;
            end
        };
        self.slots.copy_within(at..end, at + 1);
        self.slots[at] = slot(new);
    }

    fn append_slot(&mut self) {
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact(TAIL);
        }
        self.slots.push(slot(Entry { tag: 0, place: NOWHERE }));
    }

    /// Spreads those entries that are to stay over so many slots.
    fn lay_out(&mut self, named: usize, entries: &mut Vec<Slot>, stays: impl Fn(u32) -> bool) {
        entries.clear();
        let is_held = |slot: &&Slot| match entry(slot).place {
            NOWHERE => false,
            place => stays(place),
        };
        entries.extend(self.slots.iter().filter(is_held));
        self.named = named;
        self.len = entries.len();
        self.slots.clear();
        self.slots.reserve_exact(named);
        self.slots.resize(named, slot(Entry { tag: 0, place: NOWHERE }));
        let mut free = 0;
        for held in entries {
            let at = self.named_by(entry(held).tag).max(free);
            if at == self.slots.len() {
                self.append_slot();
            }
            self.slots[at] = *held;
            free = at + 1;
        }
    }
}

fn split(key: u64) -> (usize, u32) {
    let tag = (key << PART_BITS) >> (u64::BITS - TAG_BITS);
    ((key >> (u64::BITS - PART_BITS)) as usize, tag as u32)
}

fn entry(slot: &Slot) -> Entry {
    let [a, b, c, d, e] = *slot;
    let low = u32::from_le_bytes([a, b, c, d]);
    let tag = u32::from(e) << (u32::BITS - PLACE_BITS) | low >> PLACE_BITS;
    Entry { tag, place: low & NOWHERE }
}

fn slot(entry: Entry) -> Slot {
    let [a, b, c, d] = (entry.tag << PLACE_BITS | entry.place).to_le_bytes();
    [a, b, c, d, (entry.tag >> (u32::BITS - PLACE_BITS)) as u8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold;

    fn key(n: u64) -> u64 {
        fold(fold(n, 0x9e37_79b9_7f4a_7c15) ^ n, 0xd6e8_feb8_6659_fd93)
    }

    fn found(places: &Places, key: u64) -> Vec<u32> {
        let mut found = Vec::new();
        places.find(key, |place| found.push(place));
        found
    }

    #[test]
    fn every_entry_is_found_at_every_size_until_it_is_forgotten() {
        let mut places = Places::new();
        for n in 0..200_000u32 {
            places.insert(key(u64::from(n)), n);
            if n % 19_997 == 0 {
                assert!((0..=n).all(|n| found(&places, key(u64::from(n))).contains(&n)), "{n}");
            }
        }
        (0..PARTS).for_each(|part| places.forget(part, 50_000..90_000));
        for n in 0..200_000u32 {
            let is_there = found(&places, key(u64::from(n))).contains(&n);
            assert_eq!(is_there, !(50_000..90_000).contains(&n), "{n}");
        }
        let entries: usize = places.parts.iter().map(|part| part.len).sum();
        assert_eq!(entries, 160_000);
        let others = (300_000..400_000u64).filter(|n| !found(&places, key(*n)).is_empty()).count();
        assert!(others < 100, "{others} of 100,000 keys that nobody entered");
    }

    #[test]
    fn of_a_key_that_many_have_the_latest_are_held() {
        let mut places = Places::new();
        // The last key of a part, too: its entries stand beyond the slots that tags name.
        for key in [0, key(7), u64::MAX] {
            (0..1000).for_each(|place| places.insert(key, place));
            let latest: Vec<u32> = (1000 - RUN_MAX as u32..1000).rev().collect();
            assert_eq!(found(&places, key), latest);
        }
    }
}
