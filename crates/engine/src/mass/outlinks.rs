//! The links of crawled pages in memory, gap-coded, in segments that never move.
//!
//! About 1.5 bytes a link, two with weights. A page whose links change gets a new list; when half
//! of the bytes are of lists that nobody uses, the rest is copied together. Beyond
//! `OUTLINKS_BYTES_MAX` no more lists are held: such pages keep the mass that reaches them, which
//! only makes the bound lower.

use super::gaps;
use super::surfer::{PushedLinks, packed, unpack};

const SEGMENT_BYTES: usize = 1 << 20;
/// A page has some hundred thousand links, none weighs more than sixteen.
const UNNAMED_MAX: u32 = u32::MAX >> 1;
/// For 700 million links.
pub const OUTLINKS_BYTES_MAX: usize = 1 << 30;

#[derive(Debug, Default)]
pub struct Outlinks {
    segments: Vec<Vec<u8>>,
    unused: usize,
    /// In lists that are of use.
    links: u64,
}

/// Where a list stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(u32);

/// Lists begin at multiples of this, so that 32 bits reach far enough.
const ALIGN: usize = 4;

impl At {
    pub const NOWHERE: At = At(u32::MAX);

    fn new(segment: usize, offset: usize) -> At {
        At((segment * (SEGMENT_BYTES / ALIGN) + offset / ALIGN) as u32)
    }

    fn parts(self) -> (usize, usize) {
        let per_segment = SEGMENT_BYTES / ALIGN;
        (self.0 as usize / per_segment, self.0 as usize % per_segment * ALIGN)
    }
}

impl Outlinks {
    /// Holds a list, if there is room for it.
    pub fn add(&mut self, links: &PushedLinks<'_>, scratch: &mut Vec<u8>) -> At {
        scratch.clear();
        let has_weights = u32::from(!links.weights.is_empty());
        gaps::encode(links.ids, links.unnamed.min(UNNAMED_MAX) << 1 | has_weights, scratch);
        scratch.extend(packed(links.weights));
        let at = self.add_bytes(scratch);
        if at != At::NOWHERE {
            self.links += links.ids.len() as u64;
        }
        at
    }

    /// How many there are, but for those without a number.
    pub fn links(&self) -> u64 {
        self.links
    }

    fn add_bytes(&mut self, list: &[u8]) -> At {
        let is_full = |segment: &Vec<u8>| segment.len() + list.len() > SEGMENT_BYTES;
        if list.len() > SEGMENT_BYTES {
            return At::NOWHERE;
        }
        if self.segments.last().is_none_or(is_full) {
            if (self.segments.len() + 1) * SEGMENT_BYTES > OUTLINKS_BYTES_MAX {
                return At::NOWHERE;
            }
            self.segments.push(Vec::with_capacity(SEGMENT_BYTES));
        }
        let index = self.segments.len() - 1;
        let segment = &mut self.segments[index];
        let at = At::new(index, segment.len());
        segment.extend_from_slice(list);
        let padded = segment.len().next_multiple_of(ALIGN);
        segment.resize(padded, 0);
        at
    }

    /// The list at a place that `add` gave: its ids, their weights where they have some, and how
    /// much all links weigh that have no number.
    pub fn get(&self, at: At, ids: &mut Vec<u32>, weights: &mut Vec<u8>) -> u32 {
        self.read(at, ids, weights).0
    }

    fn read(&self, at: At, ids: &mut Vec<u32>, weights: &mut Vec<u8>) -> (u32, usize) {
        let (segment, offset) = at.parts();
        let list = &self.segments[segment][offset..];
        let (unnamed, len) = gaps::decode(list, ids).expect("a list of our own");
        let count = if unnamed & 1 == 1 { ids.len() } else { 0 };
        let bytes = count.div_ceil(2);
        unpack(&list[len..len + bytes], count, weights);
        (unnamed >> 1, len + bytes)
    }

    /// The list is of no more use; whether it is time to copy the others together.
    pub fn drop(&mut self, at: At, ids: &mut Vec<u32>, weights: &mut Vec<u8>) -> bool {
        self.unused += self.read(at, ids, weights).1.next_multiple_of(ALIGN);
        self.links -= ids.len() as u64;
        let held: usize = self.segments.iter().map(Vec::len).sum();
        self.unused > SEGMENT_BYTES && self.unused * 2 > held
    }

    /// Copies the lists at these places together and says where they are now.
    pub fn compact<'a>(&mut self, places: impl Iterator<Item = &'a mut At>) {
        let old = std::mem::take(self);
        self.links = old.links;
        let (mut ids, mut weights) = (Vec::new(), Vec::new());
        for at in places.filter(|at| **at != At::NOWHERE) {
            let (_, len) = old.read(*at, &mut ids, &mut weights);
            let (segment, offset) = at.parts();
            *at = self.add_bytes(&old.segments[segment][offset..offset + len]);
        }
    }

    pub fn heap_bytes(&self) -> usize {
        self.segments.len() * SEGMENT_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_survive_the_copying_that_their_dropped_neighbours_cause() {
        let mut links = Outlinks::default();
        let list = |n: u32| (0..200).map(|k| n * 7 + k * 300).collect::<Vec<u32>>();
        fn of(n: u32, ids: &[u32]) -> PushedLinks<'_> {
            let weights: &[u8] = if n % 7 == 3 { &[9; 200] } else { &[] };
            PushedLinks { weights, ..PushedLinks::alike(ids, n % 3) }
        }
        let (mut bytes, mut ids, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let mut places: Vec<At> =
            (0..20_000).map(|n| links.add(&of(n, &list(n)), &mut bytes)).collect();
        let full = links.heap_bytes();
        let mut is_time = false;
        for at in places.iter_mut().step_by(2).chain([].iter_mut()) {
            is_time |= links.drop(*at, &mut ids, &mut weights);
            *at = At::NOWHERE;
        }
        for at in places.iter_mut().skip(1).step_by(6) {
            is_time |= links.drop(*at, &mut ids, &mut weights);
            *at = At::NOWHERE;
        }
        assert!(is_time);
        links.compact(places.iter_mut());
        assert!(links.heap_bytes() < full * 2 / 3, "{} of {full}", links.heap_bytes());
        let held = places.iter().filter(|at| **at != At::NOWHERE).count();
        assert_eq!(links.links(), held as u64 * 200);
        for (n, at) in places.iter().enumerate().filter(|(_, at)| **at != At::NOWHERE) {
            assert_eq!(links.get(*at, &mut ids, &mut weights), n as u32 % 3);
            assert_eq!(weights, if n % 7 == 3 { vec![9; 200] } else { Vec::new() });
            assert_eq!(ids, list(n as u32));
        }
    }
}
