//! A table of fixed-size slots by tag, for many millions of them: no deletions, little slack.
//!
//! Tags are spread over segments by their first bits, and within a segment by the next ones, with
//! linear probing. A segment that is five sixths full grows by a quarter. So memory is 14.4 to 18
//! bytes for each slot of 12, and no moment needs much more: tables that double, as all of the
//! usual ones do, take half as much again on average, and for a moment three times.

/// A power of two.
const SEGMENTS: usize = 256;
/// A segment is at most this full.
const FULL: (usize, usize) = (5, 6);
const SEGMENT_SLOTS_MIN: usize = 16;

/// 56 bits of tag and 8 bits beside it, in halves, so that a slot needs no padding; and a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    value: [u32; 2],
    pub number: u32,
}

/// The bits beside the tag.
pub const ASIDE_MASK: u64 = 0xff;

impl Slot {
    /// The tag is not 0.
    pub fn new(tag: u64, aside: u8, number: u32) -> Slot {
        debug_assert!(tag & ASIDE_MASK == 0 && tag != 0, "no tag: {tag:x}");
        let value = tag | u64::from(aside);
        Slot { value: [value as u32, (value >> 32) as u32], number }
    }

    fn value(self) -> u64 {
        u64::from(self.value[0]) | u64::from(self.value[1]) << 32
    }

    pub fn tag(self) -> u64 {
        self.value() & !ASIDE_MASK
    }

    pub fn aside(self) -> u8 {
        (self.value() & ASIDE_MASK) as u8
    }
}

pub struct FilterSlots {
    segments: Vec<Segment>,
    len: usize,
}

#[derive(Clone, Default)]
struct Segment {
    /// A slot without a tag is free. There is always one.
    slots: Vec<Slot>,
    used: usize,
}

impl FilterSlots {
    pub fn new() -> FilterSlots {
        FilterSlots { segments: vec![Segment::default(); SEGMENTS], len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, tag: u64) -> Option<Slot> {
        let segment = &self.segments[segment_of(tag)];
        segment.find(tag).ok().map(|at| segment.slots[at])
    }

    /// Puts a slot in the place of the one with its tag, or in a new one.
    pub fn put(&mut self, slot: Slot) {
        let segment = &mut self.segments[segment_of(slot.tag())];
        match segment.find(slot.tag()) {
            Ok(at) => segment.slots[at] = slot,
            Err(free) => {
                self.len += 1;
                segment.add(slot, free);
            }
        }
    }

    /// Makes room for so many more at once.
    pub fn reserve(&mut self, more: usize) {
        for segment in &mut self.segments {
            let slots = with_room(segment.used + more.div_ceil(SEGMENTS));
            if slots > segment.slots.len() {
                segment.resize(slots);
            }
        }
    }
}

impl Segment {
    /// Where the tag is, or else where it would be; no place if there are none yet.
    fn find(&self, tag: u64) -> Result<usize, Option<usize>> {
        if self.slots.is_empty() {
            return Err(None);
        }
        let mut at = place_of(tag, self.slots.len());
        loop {
            match self.slots[at].tag() {
                0 => return Err(Some(at)),
                there if there == tag => return Ok(at),
                _ => at = if at + 1 == self.slots.len() { 0 } else { at + 1 },
            }
        }
    }

    fn add(&mut self, slot: Slot, free: Option<usize>) {
        self.used += 1;
        match free {
            Some(at) if self.used * FULL.1 <= self.slots.len() * FULL.0 => self.slots[at] = slot,
            _ => {
                let grown = self.slots.len() + self.slots.len() / 4;
                self.resize(grown.max(SEGMENT_SLOTS_MIN));
                self.place(slot);
            }
        }
    }

    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); slots]);
        old.into_iter().filter(|slot| slot.tag() != 0).for_each(|slot| self.place(slot));
    }

    fn place(&mut self, slot: Slot) {
        if let Err(Some(free)) = self.find(slot.tag()) {
            self.slots[free] = slot;
        }
    }
}

fn segment_of(tag: u64) -> usize {
    (tag >> (u64::BITS - SEGMENTS.trailing_zeros())) as usize
}

/// The bits after those of the segment, as a fraction of the slots.
fn place_of(tag: u64, slots: usize) -> usize {
    let fraction = tag << SEGMENTS.trailing_zeros();
    ((u128::from(fraction) * slots as u128) >> u64::BITS) as usize
}

/// Slots for so many entries, a little below the limit.
fn with_room(entries: usize) -> usize {
    (entries * 4 / 3).max(SEGMENT_SLOTS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn heap_bytes(slots: &FilterSlots) -> usize {
        let slots: usize = slots.segments.iter().map(|segment| segment.slots.capacity()).sum();
        slots * size_of::<Slot>() + SEGMENTS * size_of::<Segment>()
    }

    fn tag(n: u64) -> u64 {
        let hash = xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes()) & !ASIDE_MASK;
        hash.max(ASIDE_MASK + 1)
    }

    #[test]
    fn it_holds_what_a_map_holds_and_never_much_more_memory() {
        let mut slots = FilterSlots::new();
        let mut model = HashMap::new();
        slots.reserve(1_000);
        for n in 0..200_000u64 {
            // Every third comes again, with another number.
            let n = if n.is_multiple_of(3) { n / 2 } else { n };
            let slot = Slot::new(tag(n), n as u8, model.len() as u32);
            slots.put(slot);
            model.insert(tag(n), slot);
            if model.len() > 20_000 {
                assert!(heap_bytes(&slots) <= model.len() * 19, "{} slots", model.len());
            }
        }
        assert_eq!(slots.len(), model.len());
        for n in 0..300_000 {
            assert_eq!(slots.get(tag(n)), model.get(&tag(n)).copied(), "{n}");
        }
    }

    #[test]
    fn tags_that_all_begin_alike_are_still_told_apart() {
        let mut slots = FilterSlots::new();
        let tags: Vec<u64> = (1..5_000u64).map(|n| n << 8).collect();
        tags.iter().for_each(|&tag| slots.put(Slot::new(tag, 1, (tag >> 8) as u32)));
        let found =
            tags.iter().filter(|&&t| slots.get(t).map(|s| s.number) == Some((t >> 8) as u32));
        assert_eq!(found.count(), tags.len());
        assert_eq!(slots.get(5_000 << 8), None);
    }
}
