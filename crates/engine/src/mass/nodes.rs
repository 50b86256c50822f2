//! What the books hold of every known URL: 9 bytes, in segments that never move.
//!
//! A word and a byte. The word is the residue that lies on the URL, or, once it is crawled, its
//! number among the crawled pages, which have their residues there. The byte is its standing, and
//! for those that wait or can be pushed also under which class or in which bucket. Segments neither
//! double when they are full nor are they copied, so the bytes are those of the URLs.

use super::fixed::LEVEL_NONE;
use super::standing::MassStanding;

const SEGMENT: usize = 1 << 12;
const SEGMENT_BYTES: usize = size_of::<Segment>();

#[derive(Debug, Default)]
pub struct Nodes {
    segments: Vec<Box<Segment>>,
    len: usize,
}

#[derive(Debug)]
struct Segment {
    words: [i64; SEGMENT],
    states: [NodeState; SEGMENT],
}

/// A standing, and a mark where it has one. Marks are below 64; `LEVEL_NONE` is no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeState(u8);

const MARKS: u8 = 64;
/// Standings with a mark come first, each with its 64 values.
const MARKED: [MassStanding; 3] =
    [MassStanding::Waiting, MassStanding::Linked, MassStanding::Dangling];
const UNMARKED: u8 = MARKS * MARKED.len() as u8;

/// By state: one look, where every edge update takes one.
const STANDINGS: [MassStanding; 256] = {
    let mut standings = [MassStanding::Nobody; 256];
    let mut state = 0;
    while state < standings.len() {
        let unmarked = state.saturating_sub(UNMARKED as usize);
        if state < UNMARKED as usize {
            standings[state] = MARKED[state / MARKS as usize];
        } else if unmarked < MassStanding::ALL.len() {
            standings[state] = MassStanding::ALL[unmarked];
        }
        state += 1;
    }
    standings
};

impl NodeState {
    pub const NOBODY: NodeState = NodeState(UNMARKED + MassStanding::Nobody as u8);

    #[inline]
    pub fn new(standing: MassStanding, mark: u8) -> NodeState {
        match standing {
            MassStanding::Waiting => NodeState(mark),
            MassStanding::Linked => NodeState(MARKS + mark),
            MassStanding::Dangling => NodeState(2 * MARKS + mark),
            _ => NodeState(UNMARKED + standing as u8),
        }
    }

    #[inline]
    pub fn standing(self) -> MassStanding {
        STANDINGS[self.0 as usize]
    }

    #[inline]
    pub fn mark(self) -> u8 {
        if self.0 < UNMARKED { self.0 % MARKS } else { LEVEL_NONE }
    }
}

impl Nodes {
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are at least so many URLs.
    pub fn grow(&mut self, len: usize) {
        while self.segments.len() * SEGMENT < len {
            let segment = Segment { words: [0; SEGMENT], states: [NodeState::NOBODY; SEGMENT] };
            self.segments.push(Box::new(segment));
        }
        self.len = self.len.max(len);
    }

    #[inline]
    pub fn state(&self, node: u32) -> NodeState {
        let segment = self.segments.get(node as usize / SEGMENT);
        segment.map_or(NodeState::NOBODY, |segment| segment.states[node as usize % SEGMENT])
    }

    #[inline]
    pub fn set_state(&mut self, node: u32, state: NodeState) {
        self.segments[node as usize / SEGMENT].states[node as usize % SEGMENT] = state;
    }

    #[inline]
    pub fn word(&self, node: u32) -> i64 {
        let segment = self.segments.get(node as usize / SEGMENT);
        segment.map_or(0, |segment| segment.words[node as usize % SEGMENT])
    }

    #[inline]
    pub fn word_mut(&mut self, node: u32) -> &mut i64 {
        &mut self.segments[node as usize / SEGMENT].words[node as usize % SEGMENT]
    }

    /// Word and state of a URL that there is room for.
    #[inline]
    pub fn both_mut(&mut self, node: u32) -> (&mut i64, &mut NodeState) {
        let segment = &mut *self.segments[node as usize / SEGMENT];
        (&mut segment.words[node as usize % SEGMENT], &mut segment.states[node as usize % SEGMENT])
    }

    pub fn heap_bytes(&self) -> usize {
        self.segments.len() * SEGMENT_BYTES + self.segments.capacity() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_holds_every_standing_and_every_mark() {
        for standing in MassStanding::ALL {
            for mark in 0..MARKS {
                let state = NodeState::new(standing, mark);
                assert_eq!(state.standing(), standing);
                let kept = if MARKED.contains(&standing) { mark } else { LEVEL_NONE };
                assert_eq!(state.mark(), kept, "{standing:?}");
            }
        }
    }

    #[test]
    fn nobody_is_known_before_there_is_room_for_him() {
        let mut nodes = Nodes::default();
        assert_eq!((nodes.state(7), nodes.word(7)), (NodeState::NOBODY, 0));
        nodes.grow(SEGMENT + 1);
        nodes.set_state(SEGMENT as u32, NodeState::new(MassStanding::Waiting, 5));
        *nodes.word_mut(SEGMENT as u32) = -3;
        assert_eq!(nodes.state(SEGMENT as u32).mark(), 5);
        assert_eq!((nodes.word(SEGMENT as u32), nodes.word(0)), (-3, 0));
    }
}
