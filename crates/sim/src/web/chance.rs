//! Chance without a dice: every "random" choice of the synthetic web is a hash of what it is about.
//!
//! No state, no libm: the same seed gives the same web on every machine, and any page can be made
//! without making the ones before it.

/// The finaliser of splitmix64: a bijection on `u64` that scatters well.
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A hash of a purpose and two numbers; the purpose keeps unrelated choices independent.
pub(crate) fn draw(seed: u64, purpose: Purpose, a: u64, b: u64) -> u64 {
    mix(mix(mix(seed ^ (purpose as u64) << 56) ^ a) ^ b)
}

/// What a draw decides. One name each, so that two choices never share a hash by accident.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum Purpose {
    Site = 1,
    Name,
    Slug,
    Trait,
    Links,
    Fault,
    Change,
    Text,
    Place,
    Address,
    Token,
    Word,
    Lie,
    Outage,
    Requisites,
}

/// A sequence of draws from one hash.
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn new(start: u64) -> Stream {
        Stream(start)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Uniform in `0..n`; `n` must not be 0.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        scale(self.next(), n)
    }

    pub(crate) fn per_mille(&mut self, share: u32) -> bool {
        self.below(1000) < share
    }
}

/// Maps a hash to `0..n` by its high bits, without the bias or the cost of a division.
pub(crate) fn scale(hash: u64, n: u32) -> u32 {
    (((hash >> 32) * u64::from(n)) >> 32) as u32
}

/// A rank in `0..n` drawn by a power law: rank r has a probability about r^(-5/6), so that the
/// number of in-links has a tail of exponent 2.2, near the web's 2.1.
pub(crate) fn popular(hash: u64, n: u32) -> u32 {
    let u = (hash >> 11) as f64 / (1u64 << 53) as f64;
    let u3 = u * u * u;
    ((u3 * u3 * f64::from(n)) as u32).min(n.saturating_sub(1))
}
