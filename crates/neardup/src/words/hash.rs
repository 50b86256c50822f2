//! One number for a word: a folded multiplication for every 16 bytes of its lower-case form.

pub const LANE: usize = 16;

const K: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];

/// All bits of the product, in half of them.
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of a word in lower case. Words hold no zero byte, so filling up with them is no loss.
pub fn word_hash(lower: &[u8]) -> u64 {
    let mut word = Hasher::default();
    word.push_bytes(lower);
    word.take().unwrap_or_else(|| of_short(0))
}

/// A word that comes in pieces.
#[derive(Default)]
pub struct Hasher {
    lane: [u8; LANE],
    filled: usize,
    /// Of the lanes before this one.
    before: Option<u64>,
}

impl Hasher {
    pub fn push_bytes(&mut self, mut lower: &[u8]) {
        while !lower.is_empty() {
            if self.filled == LANE {
                self.before = Some(self.hash());
                (self.lane, self.filled) = ([0; LANE], 0);
            }
            let (now, later) = lower.split_at(lower.len().min(LANE - self.filled));
            self.lane[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            lower = later;
        }
    }

    /// Letters of either case, and digits.
    pub fn push_ascii(&mut self, bytes: &[u8]) {
        let mut small = [0; LANE];
        for piece in bytes.chunks(LANE) {
            let small = &mut small[..piece.len()];
            small.copy_from_slice(piece);
            small.iter_mut().for_each(|byte| *byte |= 0x20);
            self.push_bytes(small);
        }
    }

    /// The hash of what was pushed since the last time, if anything was.
    pub fn take(&mut self) -> Option<u64> {
        let hash = (self.filled > 0).then(|| self.hash());
        *self = Hasher::default();
        hash
    }

    fn hash(&self) -> u64 {
        let lane = u128::from_le_bytes(self.lane);
        match self.before {
            None => of_short(lane),
            Some(hash) => fold(hash ^ lane as u64 ^ K[2], (lane >> 64) as u64 ^ K[3]),
        }
    }
}

/// The hash of a word of at most 16 bytes, little-endian, zero beyond its end.
#[inline(always)]
pub fn of_short(word: u128) -> u64 {
    fold(word as u64 ^ K[0], (word >> 64) as u64 ^ K[1])
}
