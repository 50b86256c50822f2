//! Prefix codes.

const SYMBOLS_MAX: usize = 288;
const SYMBOL_BITS: u32 = 9;
/// More than any tree over one block's tokens is deep.
const DEPTHS: usize = 32;

/// How long each symbol's code is, and the code, its first bit lowest.
pub(super) struct Code<const N: usize> {
    pub(super) lengths: [u8; N],
    pub(super) codes: [u16; N],
}

impl<const N: usize> Code<N> {
    /// The best code, but for the limit. It always has two symbols at least, as some readers
    /// refuse less.
    pub(super) fn of(frequencies: &[u32; N], limit: usize) -> Code<N> {
        let mut lengths = [0; N];
        code_lengths(frequencies, limit, &mut lengths);
        Code::with(lengths)
    }

    pub(super) fn with(lengths: [u8; N]) -> Code<N> {
        let mut codes = [0; N];
        canonical(&lengths, &mut codes);
        Code { lengths, codes }
    }

    /// Up to which symbol there are codes.
    pub(super) fn used(&self) -> usize {
        self.lengths.iter().rposition(|&length| length > 0).map_or(0, |last| last + 1)
    }
}

fn code_lengths(frequencies: &[u32], limit: usize, lengths: &mut [u8]) {
    let mut keys = [0; SYMBOLS_MAX];
    let mut used = 0;
    for (symbol, &frequency) in frequencies.iter().enumerate() {
        keys[used] = frequency << SYMBOL_BITS | symbol as u32;
        used += usize::from(frequency > 0);
    }
    let symbol = |key: u32| (key % (1 << SYMBOL_BITS)) as usize;
    if used < 2 {
        let only = symbol(keys[..used].first().copied().unwrap_or(0));
        lengths[only] = 1;
        lengths[usize::from(only == 0)] = 1;
        return;
    }
    let keys = &mut keys[..used];
    sort(keys);
    let mut counts = leaves(keys);
    shorten(&mut counts, limit);
    let mut rarest_first = keys.iter();
    for length in (1..=limit).rev() {
        for &key in rarest_first.by_ref().take(counts[length] as usize) {
            lengths[symbol(key)] = length as u8;
        }
    }
}

/// By frequency, a byte of it at a time: quicker than comparing.
fn sort(keys: &mut [u32]) {
    let mut other = [0; SYMBOLS_MAX];
    let other = &mut other[..keys.len()];
    let all = keys.iter().fold(0, |all, key| all | key);
    sort_by_byte(keys, other, SYMBOL_BITS);
    if all >> (SYMBOL_BITS + 8) == 0 {
        keys.copy_from_slice(other);
    } else {
        sort_by_byte(other, keys, SYMBOL_BITS + 8);
    }
}

fn sort_by_byte(from: &[u32], to: &mut [u32], shift: u32) {
    let byte = |key: u32| (key >> shift) as usize % 256;
    let mut starts = [0u16; 257];
    for &key in from {
        starts[byte(key) + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    for &key in from {
        let start = &mut starts[byte(key)];
        to[usize::from(*start)] = key;
        *start += 1;
    }
}

/// How many leaves the Huffman tree over sorted keys has at each depth.
fn leaves(keys: &[u32]) -> [u32; DEPTHS] {
    // Inner nodes are made in ascending order too, so that two queues are all it takes.
    let inner = keys.len() - 1;
    let mut weights = [u32::MAX; SYMBOLS_MAX];
    let mut parents = [0; SYMBOLS_MAX];
    let (mut leaf, mut node) = (0, 0);
    for made in 0..inner {
        let mut weight = 0;
        for _ in 0..2 {
            let lone = keys.get(leaf).map_or(u32::MAX - 1, |key| key >> SYMBOL_BITS);
            if lone <= weights[node] {
                weight += lone;
                leaf += 1;
            } else {
                weight += weights[node];
                parents[node] = made;
                node += 1;
            }
        }
        weights[made] = weight;
    }
    let mut depths = [0; SYMBOLS_MAX];
    let mut inner_at = [0; DEPTHS];
    inner_at[0] = 1;
    for node in (0..inner - 1).rev() {
        depths[node] = depths[parents[node]] + 1;
        inner_at[depths[node]] += 1;
    }
    // Each inner node has two below it; which of them are no inner nodes are leaves.
    let mut counts = [0; DEPTHS];
    for depth in 1..DEPTHS {
        counts[depth] = 2 * inner_at[depth - 1] - inner_at[depth];
    }
    counts
}

/// Takes codes that are too long up, and others down in exchange, until all fit.
fn shorten(counts: &mut [u32; DEPTHS], limit: usize) {
    counts[limit] += counts[limit + 1..].iter().sum::<u32>();
    let space: u32 = (1..=limit).map(|length| counts[length] << (limit - length)).sum();
    for _ in 1 << limit..space {
        let length = (1..limit).rev().find(|&length| counts[length] > 0).unwrap_or(1);
        counts[length] -= 1;
        counts[length + 1] += 2;
        counts[limit] -= 1;
    }
}

/// The codes that follow from the lengths (RFC 1951, 3.2.2).
fn canonical(lengths: &[u8], codes: &mut [u16]) {
    let mut next = [0u32; 17];
    for &length in lengths {
        next[usize::from(length % 16) + 1] += 1;
    }
    next[1] = 0;
    let mut code = 0;
    for start in &mut next {
        code = (code + *start) << 1;
        *start = code;
    }
    for (code, &length) in codes.iter_mut().zip(lengths) {
        let next = &mut next[usize::from(length % 16)];
        *code = (*next as u16).reverse_bits().unbounded_shr(16 - u32::from(length));
        *next += 1;
    }
}
