//! SHA-1 of two texts at once.
//!
//! A response carries the digest of its block and that of its payload, which are nearly the same
//! bytes. The processor's instructions for SHA-1 wait for each other most of the time, so two texts
//! in turns, instruction by instruction, take little longer than one. (In turns block by block they
//! take as long as one after the other: the first one's instructions fill the queue.)
//!
//! The one place of this crate with `unsafe`: to call a function made for certain processors, after
//! this one was asked whether it is one. Within that function everything is safe.
#![allow(unsafe_code)]

use sha1::block_api::compress;

const START: State = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
/// What follows the text: a one, zeros, and its length in so many bytes.
const LENGTH_BYTES: usize = 8;

type State = [u32; 5];
type Block = [u8; 64];

pub(crate) fn sha1_pair(texts: [&[u8]; 2]) -> [[u8; 20]; 2] {
    let [a, b] = texts.map(|text| text.as_chunks::<64>());
    let both = a.0.len().min(b.0.len());
    let mut states = [START; 2];
    compress_two(&mut states, [&a.0[..both], &b.0[..both]]);
    let finish = |state, (blocks, rest): (&[Block], &[u8]), text: &[u8]| {
        finished(state, &blocks[both..], rest, text.len())
    };
    [finish(states[0], a, texts[0]), finish(states[1], b, texts[1])]
}

fn finished(mut state: State, blocks: &[Block], rest: &[u8], text_len: usize) -> [u8; 20] {
    compress(&mut state, blocks);
    let mut last = [[0; 64]; 2];
    let bytes = last.as_flattened_mut();
    bytes[..rest.len()].copy_from_slice(rest);
    bytes[rest.len()] = 0x80;
    let end = (rest.len() + 1 + LENGTH_BYTES).next_multiple_of(64);
    bytes[end - LENGTH_BYTES..end].copy_from_slice(&(text_len as u64 * 8).to_be_bytes());
    compress(&mut state, &last[..end / 64]);
    let mut digest = [0; 20];
    let words = digest.as_chunks_mut::<4>().0;
    words.iter_mut().zip(state).for_each(|(bytes, word)| *bytes = word.to_be_bytes());
    digest
}

/// Takes as many blocks of the one as of the other.
fn compress_two(states: &mut [State; 2], blocks: [&[Block]; 2]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1") {
        // SAFETY: the processor has what the function is made for.
        return unsafe { x86::compress_two(states, blocks) };
    }
    states.iter_mut().zip(blocks).for_each(|(state, blocks)| compress(state, blocks));
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, State};
    use std::arch::x86_64::*;

    #[target_feature(enable = "sha,sse4.1")]
    pub fn compress_two(states: &mut [State; 2], [a, b]: [&[Block]; 2]) {
        let (mut first, mut second) = (Hash::new(states[0]), Hash::new(states[1]));
        for (a, b) in a.iter().zip(b) {
            let (mut one, mut other) = (Rounds::new(first, a), Rounds::new(second, b));
            macro_rules! rounds {
                ($function:literal: $($fours:literal)*) => {$(
                    one.four::<$function, $fours>();
                    other.four::<$function, $fours>();
                )*};
            }
            rounds!(0: 0 1 2 3 4);
            rounds!(1: 5 6 7 8 9);
            rounds!(2: 10 11 12 13 14);
            rounds!(3: 15 16 17 18 19);
            (first, second) = (one.added_to(first), other.added_to(second));
        }
        *states = [first.state(), second.state()];
    }

    /// A state as the instructions want it: the first four words, the first of them on top, and
    /// the fifth on top of nothing.
    #[derive(Clone, Copy)]
    struct Hash {
        abcd: __m128i,
        e: __m128i,
    }

    impl Hash {
        #[target_feature(enable = "sse4.1")]
        #[inline]
        fn new([a, b, c, d, e]: State) -> Hash {
            let [a, b, c, d, e] = [a, b, c, d, e].map(u32::cast_signed);
            Hash { abcd: _mm_set_epi32(a, b, c, d), e: _mm_set_epi32(e, 0, 0, 0) }
        }

        #[target_feature(enable = "sse4.1")]
        #[inline]
        fn state(self) -> State {
            [
                _mm_extract_epi32::<3>(self.abcd),
                _mm_extract_epi32::<2>(self.abcd),
                _mm_extract_epi32::<1>(self.abcd),
                _mm_extract_epi32::<0>(self.abcd),
                _mm_extract_epi32::<3>(self.e),
            ]
            .map(i32::cast_unsigned)
        }
    }

    /// The eighty rounds of a block, four at a time.
    struct Rounds {
        abcd: __m128i,
        /// As it was four rounds ago, from which the fifth word comes.
        before: __m128i,
        e: __m128i,
        /// The last sixteen words of the schedule.
        words: [__m128i; 4],
    }

    impl Rounds {
        #[target_feature(enable = "sha,sse4.1")]
        #[inline]
        fn new(hash: Hash, block: &Block) -> Rounds {
            let words = [words(block, 0), words(block, 16), words(block, 32), words(block, 48)];
            Rounds { abcd: hash.abcd, before: hash.abcd, e: hash.e, words }
        }

        #[target_feature(enable = "sha,sse4.1")]
        #[inline]
        fn four<const FUNCTION: i32, const FOURS: usize>(&mut self) {
            let [w0, w1, w2, w3] = [0, 1, 2, 3].map(|n| self.words[(FOURS + n) % 4]);
            let words = match FOURS {
                0..4 => w0,
                _ => _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(w0, w1), w2), w3),
            };
            self.words[FOURS % 4] = words;
            let e = match FOURS {
                0 => _mm_add_epi32(self.e, words),
                _ => _mm_sha1nexte_epu32(self.before, words),
            };
            self.before = self.abcd;
            self.abcd = _mm_sha1rnds4_epu32::<FUNCTION>(self.abcd, e);
        }

        #[target_feature(enable = "sha,sse4.1")]
        #[inline]
        fn added_to(self, hash: Hash) -> Hash {
            Hash {
                abcd: _mm_add_epi32(self.abcd, hash.abcd),
                e: _mm_sha1nexte_epu32(self.before, hash.e),
            }
        }
    }

    /// Four words of a block, the first of them on top.
    #[target_feature(enable = "sse4.1")]
    #[inline]
    fn words(block: &Block, at: usize) -> __m128i {
        let (halves, _) = block[at..at + 16].as_chunks::<8>();
        let [low, high] = [halves[0], halves[1]].map(i64::from_le_bytes);
        let reversed = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
        _mm_shuffle_epi8(_mm_set_epi64x(high, low), reversed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha1::{Digest, Sha1};

    #[test]
    fn digests_of_two_texts_of_any_lengths_are_those_of_each() {
        let text: Vec<u8> = (0..1_000_u32).map(|n| ((n * n) >> 3) as u8).collect();
        let lengths = [0, 1, 55, 56, 63, 64, 65, 119, 120, 127, 128, 200, 640, 999, 1_000];
        for a in lengths.map(|len| &text[..len]) {
            for b in lengths.map(|len| &text[1_000 - len..]) {
                let single = [a, b].map(|text| <[u8; 20]>::from(Sha1::digest(text)));
                assert_eq!(sha1_pair([a, b]), single, "{} and {}", a.len(), b.len());
            }
        }
    }
}
