//! A block's tokens as bits, with a code of its own.

use super::bits::Bits;
use super::huffman::Code;
use super::matcher::{DISTANCES, END, KINDS, LENGTHS, Token};

/// Of literals and lengths: with the extra bits of a length a code has 16 bits at most.
const CODE_LIMIT: usize = 11;
const DISTANCE_LIMIT: usize = 12;
const PRECODE_LIMIT: usize = 7;
const END_OF_BLOCK: usize = 256;
const STORED_MAX: usize = 65_535;
/// Longer blocks are never better off with the fixed code.
const FIXED_MAX: usize = 2_048;
const PRECODE_ORDER: [usize; 19] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// Of the precode's symbols 16 to 18.
const REPEAT_EXTRA: [u32; 3] = [2, 3, 7];
/// How many extra bits the symbols of lengths have, from 257 on.
const LENGTH_EXTRA: [u32; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];

/// Of each length less 3: its symbol less 257, and the value of its extra bits.
const LENGTH_PARTS: [(u8, u8); 256] = {
    let mut parts = [(28, 0); 256];
    let (mut symbol, mut extra) = (0, 0);
    let mut length = 0;
    while length < 255 {
        parts[length] = (symbol as u8, extra);
        extra += 1;
        if extra == 1 << LENGTH_EXTRA[symbol] {
            (symbol, extra) = (symbol + 1, 0);
        }
        length += 1;
    }
    parts
};

fn distance_extra(symbol: usize) -> u32 {
    (symbol as u32 / 2).saturating_sub(1)
}

/// How long a stream can get, and room for a flush.
pub(super) fn bound(input: usize) -> usize {
    input + 5 * (input >> 15) + 32
}

/// Writes a block in the shortest way.
pub(super) fn write(bits: &mut Bits<'_>, input: &[u8], tokens: &[[Token; 4]], last: bool) {
    let frequencies = Frequencies::of(tokens);
    let codes = Codes::of(&frequencies);
    let header = Header::of(&codes);
    let mut least = header.bits() + frequencies.bits(&codes);
    let fixed = (input.len() <= FIXED_MAX)
        .then(Codes::fixed)
        .filter(|fixed| frequencies.bits(fixed) <= least)
        .inspect(|fixed| least = frequencies.bits(fixed));
    let last = u64::from(last);
    if input.len() * 8 + 32 < least {
        let mut pieces = input.chunks(STORED_MAX).peekable();
        while let Some(piece) = pieces.next() {
            bits.put(if pieces.peek().is_none() { last } else { 0 }, 3);
            let length = piece.len() as u16;
            bits.bytes(&length.to_le_bytes());
            bits.bytes(&(!length).to_le_bytes());
            bits.bytes(piece);
        }
    } else if let Some(fixed) = fixed {
        bits.put(last | 1 << 1, 3);
        bits.flush();
        body(bits, tokens, &fixed.table());
    } else {
        bits.put(last | 2 << 1, 3);
        header.write(bits);
        body(bits, tokens, &codes.table());
    }
}

fn body(bits: &mut Bits<'_>, tokens: &[[Token; 4]], table: &[Entry; KINDS]) {
    for four in tokens {
        let [a, b, c, d] = four.map(|token| {
            let Entry { code, length, total } = table[token as usize % KINDS];
            (u64::from(u32::from(code) | (token >> 16) << (length % 32)), u32::from(total))
        });
        let low = (a.0 | b.0 << a.1, a.1 + b.1);
        let high = (c.0 | d.0 << c.1, c.1 + d.1);
        if low.1 + high.1 <= 56 {
            bits.put(low.0 | high.0 << low.1, low.1 + high.1);
        } else {
            bits.put(low.0, low.1);
            bits.flush();
            bits.put(high.0, high.1);
        }
        bits.flush();
    }
}

struct Frequencies {
    symbols: [u32; 288],
    distances: [u32; 32],
}

impl Frequencies {
    fn of(tokens: &[[Token; 4]]) -> Frequencies {
        // In two tables, because to count the same thing twice in a row is slow.
        let mut counts = [[0u16; KINDS]; 2];
        for four in tokens {
            for (i, &token) in four.iter().enumerate() {
                counts[i % 2][token as usize % KINDS] += 1;
            }
        }
        let count = |kind: usize| u32::from(counts[0][kind]) + u32::from(counts[1][kind]);
        let mut symbols = [0; 288];
        for (literal, frequency) in symbols[..END_OF_BLOCK].iter_mut().enumerate() {
            *frequency = count(literal);
        }
        symbols[END_OF_BLOCK] = 1;
        for (length, &(symbol, _)) in LENGTH_PARTS.iter().enumerate() {
            symbols[257 + usize::from(symbol)] += count(LENGTHS + length);
        }
        Frequencies { symbols, distances: std::array::from_fn(|i| count(DISTANCES + i)) }
    }

    /// How many bits the tokens take.
    fn bits(&self, codes: &Codes) -> usize {
        let coded = |(frequency, &length): (&u32, &u8)| frequency * u32::from(length);
        let symbols: u32 = self.symbols.iter().zip(&codes.symbols.lengths).map(coded).sum();
        let distances: u32 = self.distances.iter().zip(&codes.distances.lengths).map(coded).sum();
        let extra = self.symbols[257..].iter().zip(LENGTH_EXTRA).map(|(n, extra)| n * extra);
        let extra = extra.chain((0..32).map(|i| self.distances[i] * distance_extra(i)));
        (symbols + distances + extra.sum::<u32>()) as usize
    }
}

/// How a kind of token is written: the code, its length, and that with the extra bits. Those of
/// match lengths are in the code.
#[derive(Clone, Copy, Default)]
struct Entry {
    code: u16,
    length: u8,
    total: u8,
}

struct Codes {
    symbols: Code<288>,
    distances: Code<32>,
}

impl Codes {
    fn of(frequencies: &Frequencies) -> Codes {
        Codes {
            symbols: Code::of(&frequencies.symbols, CODE_LIMIT),
            distances: Code::of(&frequencies.distances, DISTANCE_LIMIT),
        }
    }

    fn fixed() -> Codes {
        let mut lengths = [8; 288];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        Codes { symbols: Code::with(lengths), distances: Code::with([5; 32]) }
    }

    fn table(&self) -> [Entry; KINDS] {
        let mut table = [Entry::default(); KINDS];
        let symbol = |i: usize, extra: u8, extra_bits: u32| {
            let length = self.symbols.lengths[i];
            let code = self.symbols.codes[i] | u16::from(extra) << length;
            Entry { code, length, total: length + extra_bits as u8 }
        };
        for (literal, entry) in table[..LENGTHS].iter_mut().enumerate() {
            *entry = symbol(literal, 0, 0);
        }
        for (entry, &(i, extra)) in table[LENGTHS..].iter_mut().zip(&LENGTH_PARTS) {
            *entry = symbol(257 + usize::from(i), extra, LENGTH_EXTRA[usize::from(i)]);
        }
        for (i, entry) in table[DISTANCES..DISTANCES + 32].iter_mut().enumerate() {
            let length = self.distances.lengths[i];
            let total = length + distance_extra(i) as u8;
            *entry = Entry { code: self.distances.codes[i], length, total };
        }
        table[END] = symbol(END_OF_BLOCK, 0, 0);
        table
    }
}

/// The lengths of the codes, with their repetitions, in a code of their own.
struct Header {
    symbols: usize,
    distances: usize,
    /// Symbols of the precode, and the values of their extra bits.
    items: [(u8, u8); 320],
    count: usize,
    frequencies: [u32; 19],
    precode: Code<19>,
    precode_count: usize,
}

impl Header {
    fn of(codes: &Codes) -> Header {
        let (symbols, distances) = (codes.symbols.used(), codes.distances.used());
        let mut lengths = [0; 320];
        lengths[..symbols].copy_from_slice(&codes.symbols.lengths[..symbols]);
        lengths[symbols..][..distances].copy_from_slice(&codes.distances.lengths[..distances]);
        let mut items = [(0, 0); 320];
        let mut frequencies = [0; 19];
        let mut count = 0;
        for same in lengths[..symbols + distances].chunk_by(|a, b| a == b) {
            let (length, mut left) = (same[0], same.len());
            let mut first = true;
            while left > 0 {
                let (symbol, least, taken) = match left {
                    11.. if length == 0 => (18, 11, left.min(138)),
                    3.. if length == 0 => (17, 3, left),
                    3.. if !first => (16, 3, left.min(6)),
                    _ => (length, 1, 1),
                };
                items[count] = (symbol, (taken - least) as u8);
                frequencies[usize::from(symbol)] += 1;
                count += 1;
                left -= taken;
                first = false;
            }
        }
        let precode = Code::of(&frequencies, PRECODE_LIMIT);
        let last = PRECODE_ORDER.iter().rposition(|&i| precode.lengths[i] > 0);
        let precode_count = last.map_or(4, |last| 4.max(last + 1));
        Header { symbols, distances, items, count, frequencies, precode, precode_count }
    }

    fn bits(&self) -> usize {
        let coded = |(n, &length): (&u32, &u8)| n * u32::from(length);
        let coded: u32 = self.frequencies.iter().zip(&self.precode.lengths).map(coded).sum();
        let extra: u32 = (0..3).map(|i| self.frequencies[16 + i] * REPEAT_EXTRA[i]).sum();
        14 + 3 * self.precode_count + (coded + extra) as usize
    }

    fn write(&self, bits: &mut Bits<'_>) {
        let counts = (self.symbols - 257) | (self.distances - 1) << 5;
        bits.put((counts | (self.precode_count - 4) << 10) as u64, 14);
        for &i in &PRECODE_ORDER[..self.precode_count] {
            bits.flush();
            bits.put(u64::from(self.precode.lengths[i]), 3);
        }
        for &(symbol, extra) in &self.items[..self.count] {
            let symbol = usize::from(symbol);
            bits.flush();
            bits.put(self.precode.codes[symbol].into(), self.precode.lengths[symbol].into());
            bits.put(extra.into(), symbol.checked_sub(16).map_or(0, |i| REPEAT_EXTRA[i]));
        }
        bits.flush();
    }
}
