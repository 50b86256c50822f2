//! Finds repetitions: greedily, with one candidate a position.

use std::hint::select_unpredictable as select;
use std::ops::Range;

/// Shorter matches hardly save anything over Huffman-coded literals, and each costs time.
const MIN_MATCH: usize = 6;
const MAX_MATCH: usize = 258;
const MAX_DISTANCE: usize = 32_768;
/// Positions are 16 bits, so that what the table says is within the window without a check.
const WINDOW: usize = 1 << 16;
/// What may be read, or written, behind the end.
const PADDING: usize = 320;
/// No match is looked for this near to the end, so that none is cut short of the least there.
const MARGIN: usize = 20;
/// Such a table leaves room for the input in a first-level cache.
const HASH_BITS: u32 = 13;
/// So many positions are handled at once, half of them looked up.
const STEP: usize = 4;
/// After so many bytes without a match the steps get longer by one, and again.
const PATIENCE: usize = 64;
/// Literals are copied in pieces of this size.
const PIECE: usize = 16;

/// The kind in the low half, the value of a distance's extra bits above.
pub(super) type Token = u32;
/// Kinds below this are literals; here lengths begin, less 3.
pub(super) const LENGTHS: usize = 256;
/// Here distance symbols begin.
pub(super) const DISTANCES: usize = 512;
pub(super) const END: usize = 544;
/// Fills the last four up.
const NOTHING: usize = 545;
/// A power of two, so that masking a token is all the check that is needed.
pub(super) const KINDS: usize = 1024;

type Window = [u8; WINDOW + PADDING];
type Table = [u16; 1 << HASH_BITS];

pub(super) struct Matcher {
    window: Box<Window>,
    /// Where the next block begins in the window.
    start: usize,
    /// The last position with that hash; 0 where there is none, which is as good as any.
    table: Box<Table>,
    tokens: Box<[Token; WINDOW + PADDING]>,
    count: usize,
}

impl Default for Matcher {
    fn default() -> Matcher {
        Matcher {
            window: Box::new([0; _]),
            start: 0,
            table: Box::new([0; _]),
            tokens: Box::new([0; _]),
            count: 0,
        }
    }
}

impl Matcher {
    /// Forgets the last input.
    pub(super) fn reset(&mut self) {
        self.table.fill(0);
        self.start = 0;
    }

    /// The last block's tokens.
    pub(super) fn tokens(&self) -> &[[Token; 4]] {
        self.tokens[..self.count].as_chunks().0
    }

    /// Makes a block of the beginning of the input; returns how long it is.
    pub(super) fn block(&mut self, input: &[u8]) -> usize {
        if self.start > WINDOW / 2 {
            self.slide();
        }
        let length = input.len().min(WINDOW - self.start);
        let end = self.start + length;
        self.window[self.start..end].copy_from_slice(&input[..length]);
        // Comparing may go on behind the end, and must not find there what an earlier input left.
        self.window[end..end + PADDING].fill(0);
        let Matcher { window, table, tokens, start, .. } = self;
        let (anchor, mut count) = matches(window, table, tokens, *start..end);
        for &literal in &self.window[anchor..end] {
            self.tokens[count] = Token::from(literal);
            count += 1;
        }
        self.tokens[count..count + 4].fill(NOTHING as Token);
        self.tokens[count] = END as Token;
        self.count = (count + 1).next_multiple_of(4);
        self.start = end;
        length
    }

    /// Keeps what the next block's matches can reach.
    fn slide(&mut self) {
        let by = self.start - MAX_DISTANCE;
        self.window.copy_within(by..self.start, 0);
        self.start = MAX_DISTANCE;
        for position in self.table.iter_mut() {
            *position = position.saturating_sub(by as u16);
        }
    }
}

/// Writes tokens up to the last match; returns where that ends, and how many they are.
#[inline(never)] // A function by itself has more registers for the loop.
fn matches(
    window: &Window,
    table: &mut Table,
    tokens: &mut [Token; WINDOW + PADDING],
    Range { start, end }: Range<usize>,
) -> (usize, usize) {
    let last = end.min(WINDOW).saturating_sub(MARGIN);
    let mut count = 0;
    let mut anchor = start;
    // The very first position has nothing before it.
    let mut at = anchor.max(1);
    while let Some((found, candidate, different)) = search(window, table, at, last) {
        let ahead = forward(window, found, candidate, different);
        let back = backward(window, found, candidate);
        let back = back.min(found - anchor).min(MAX_MATCH - ahead);
        let length = (LENGTHS + ahead + back - 3) as Token;
        let distance = distance((found - candidate - 1) as u32);
        let run = found - back - anchor;
        write(&mut tokens[count..], &window[anchor..], run, [length, distance]);
        count += run + 2;
        anchor = found + ahead;
        at = anchor;
        table[hash(load(window, at - 1))] = (at - 1) as u16;
    }
    // The last match may have gone on into what lies behind the block.
    if anchor > end {
        tokens[count - 2] -= (anchor - end) as Token;
        anchor = end;
    }
    (anchor, count)
}

#[inline(always)]
fn load(window: &Window, at: usize) -> u64 {
    window[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Leaves of eight bytes those that a match must have.
#[inline(always)]
fn least(bytes: u64) -> u64 {
    bytes << (64 - 8 * MIN_MATCH)
}

#[inline(always)]
fn hash(bytes: u64) -> usize {
    (least(bytes).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - HASH_BITS)) as usize
}

/// The next match: its position, the one that it repeats, and how the eight bytes there differ.
///
/// All positions go into the table, but only every other one is looked up: a match that is a bit
/// longer than the least is found from its second byte as well. Of the two in a step the first is
/// taken without a branch, as there is no foreseeing which it will be.
#[inline(always)]
fn search(
    window: &Window,
    table: &mut Table,
    mut at: usize,
    last: usize,
) -> Option<(usize, usize, u64)> {
    let mut missed = 0;
    while at < last {
        let mut looked_up = [(0, 0); STEP / 2];
        for i in 0..STEP {
            let bytes = load(window, at + i);
            let position = &mut table[hash(bytes)];
            if i % 2 == 0 {
                let candidate = usize::from(*position);
                looked_up[i / 2] = (candidate, load(window, candidate) ^ bytes);
            }
            *position = (at + i) as u16;
        }
        let [one, two] = looked_up;
        let first = least(one.1) == 0;
        if first | (least(two.1) == 0) {
            let found = select(first, at, at + 2);
            let candidate = select(first, one.0, two.0);
            if found - candidate <= MAX_DISTANCE {
                return Some((found, candidate, select(first, one.1, two.1)));
            }
        }
        at += STEP + missed / PATIENCE;
        missed += STEP;
    }
    None
}

fn same_bytes(different: u64) -> usize {
    different.trailing_zeros() as usize / 8
}

/// How many bytes before the two positions are the same, of eight.
#[inline(always)]
fn backward(window: &Window, at: usize, candidate: usize) -> usize {
    let Some(before) = candidate.checked_sub(8) else { return 0 };
    same_bytes((load(window, at - 8) ^ load(window, before)).swap_bytes())
}

/// How many bytes from the two positions on are the same; the first eight are compared already.
#[inline(always)]
fn forward(window: &Window, at: usize, candidate: usize, first: u64) -> usize {
    let different = |offset| load(window, at + offset) ^ load(window, candidate + offset);
    // Most matches end within 24 bytes: how long those are takes no branch.
    let (second, third) = (different(8), different(16));
    if first | second | third != 0 {
        let later = select(second != 0, 8 + same_bytes(second), 16 + same_bytes(third));
        return select(first != 0, same_bytes(first), later);
    }
    for offset in (24..MAX_MATCH).step_by(8) {
        let different = different(offset);
        if different != 0 {
            return (offset + same_bytes(different)).min(MAX_MATCH);
        }
    }
    MAX_MATCH
}

/// Writes a run of literals and then a match.
#[inline(always)]
fn write(tokens: &mut [Token], literals: &[u8], run: usize, parts: [Token; 2]) {
    let mut at = 0;
    loop {
        // Copies of fixed size need no loop; what is too much gets overwritten.
        let from: &[u8; PIECE] = literals[at..].first_chunk().expect("padded");
        let to: &mut [Token; PIECE + 2] = tokens[at..].first_chunk_mut().expect("padded");
        for i in 0..PIECE {
            to[i] = Token::from(from[i]);
        }
        if run - at <= PIECE {
            [to[run - at], to[run - at + 1]] = parts;
            return;
        }
        at += PIECE;
    }
}

/// Of a distance less one.
#[inline(always)]
fn distance(reach: u32) -> Token {
    let wide = reach.max(2);
    let extra_bits = wide.ilog2() - 1;
    let symbol = select(reach < 2, reach, 2 * extra_bits + (wide >> extra_bits));
    let extra = reach & ((1 << extra_bits) - 1);
    (DISTANCES as Token + symbol) | extra << 16
}
