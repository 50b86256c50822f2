//! Words: lower-case, maximal runs of letters and digits, each as a 64-bit hash.
//!
//! Two ways that give the same words. [`tokens`] says what a word is, a character at a time.
//! [`hash_words`] is what runs: masks of 64 bytes tell where words begin and end, and a word of
//! ASCII, sixteen bytes or less, is lowered and hashed in registers (`| 0x20` makes a letter small
//! and leaves a digit alone). Whatever holds a byte beyond ASCII goes the first way.

mod hash;
mod mask;

use hash::Hasher;
pub(crate) use hash::fold;
pub use hash::word_hash;

/// `| 0x20` for every byte.
const SMALL: u128 = u128::from_le_bytes([0x20; hash::LANE]);
const BEYOND_ASCII: u128 = u128::from_le_bytes([0x80; hash::LANE]);

/// The words of a text, as its definition says: the slow twin of [`hash_words`].
///
/// ```
/// let words = rhumb_neardup::words::tokens("Ten o'clock, Café №5!");
/// assert_eq!(words, ["ten", "o", "clock", "café", "5"]);
/// ```
pub fn tokens(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_token(text, |word| words.push(word.to_owned()));
    words
}

/// Appends the hash of each word of the text, in order.
///
/// ```
/// use rhumb_neardup::words::{hash_words, word_hash};
/// let mut hashes = Vec::new();
/// hash_words("Four, FIVE", &mut hashes);
/// assert_eq!(hashes, [word_hash(b"four"), word_hash(b"five")]);
/// ```
pub fn hash_words(text: &str, hashes: &mut Vec<u64>) {
    let bytes = text.as_bytes();
    // A guess that is rarely short: English has a word every six bytes.
    hashes.reserve(bytes.len() / 5);
    let (blocks, rest) = bytes.as_chunks::<{ mask::BLOCK }>();
    let mut run = Run { start: 0, open: false };
    for (at, block) in blocks.iter().enumerate() {
        run.walk(mask::of(block), at * mask::BLOCK, text, hashes);
    }
    let mut last = [b' '; mask::BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    run.walk(mask::of(&last), blocks.len() * mask::BLOCK, text, hashes);
    if run.open {
        hash_run(text, run.start, bytes.len(), hashes);
    }
}

/// A run of bytes that may be words, which may go on in the next block.
struct Run {
    start: usize,
    open: bool,
}

impl Run {
    #[inline(always)]
    fn walk(&mut self, mask: u64, base: usize, text: &str, hashes: &mut Vec<u64>) {
        // A bit wherever a byte differs in kind from the one before it.
        let mut edges = mask ^ (mask << 1 | u64::from(self.open));
        if self.open && edges != 0 {
            hash_run(text, self.start, base + edges.trailing_zeros() as usize, hashes);
            edges &= edges - 1;
        }
        while edges != 0 {
            let start = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            if edges == 0 {
                self.start = start;
                self.open = true;
                return;
            }
            hash_run(text, start, base + edges.trailing_zeros() as usize, hashes);
            edges &= edges - 1;
        }
        self.open = mask >> 63 != 0;
    }
}

#[inline(always)]
fn hash_run(text: &str, start: usize, end: usize, hashes: &mut Vec<u64>) {
    let bytes = text.as_bytes();
    let length = end - start;
    if length <= hash::LANE
        && let Some(lane) = bytes[start..].first_chunk::<{ hash::LANE }>()
    {
        let word = u128::from_le_bytes(*lane) & FIRST_BYTES[length];
        if word & BEYOND_ASCII == 0 {
            hashes.push(hash::of_short((word | SMALL) & FIRST_BYTES[length]));
            return;
        }
    }
    hash_odd_run(text, start, end, hashes);
}

/// `FIRST_BYTES[n]` keeps n bytes of a lane.
static FIRST_BYTES: [u128; hash::LANE + 1] = {
    let mut masks = [0; hash::LANE + 1];
    let mut n = 1;
    while n <= hash::LANE {
        masks[n] = u128::MAX >> (8 * (hash::LANE - n));
        n += 1;
    }
    masks
};

/// Long words, words at the very end of a text, and all beyond ASCII.
#[cold]
#[inline(never)]
fn hash_odd_run(text: &str, start: usize, end: usize, hashes: &mut Vec<u64>) {
    // A run begins and ends beside ASCII, so it is whole characters.
    let run = &text[start..end];
    let mut word = Hasher::default();
    let mut rest = run;
    while !rest.is_empty() {
        let ascii = rest.bytes().position(|byte| byte >= 0x80).unwrap_or(rest.len());
        word.push_ascii(&rest.as_bytes()[..ascii]);
        rest = &rest[ascii..];
        let Some(character) = rest.chars().next() else { break };
        rest = &rest[character.len_utf8()..];
        if !character.is_alphanumeric() {
            hashes.extend(word.take());
        } else if character.is_lowercase() {
            word.push_bytes(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            for small in character.to_lowercase() {
                word.push_bytes(small.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    hashes.extend(word.take());
}

fn each_token(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        } else if !word.is_empty() {
            take(&word);
            word.clear();
        }
    }
    if !word.is_empty() {
        take(&word);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) {
        let slow: Vec<u64> = tokens(text).iter().map(|word| word_hash(word.as_bytes())).collect();
        let mut fast = Vec::new();
        hash_words(text, &mut fast);
        assert_eq!(fast, slow, "{text:?}");
    }

    #[test]
    fn words_that_end_anywhere_in_a_block_are_found_by_both_ways() {
        for before in 0..70 {
            for length in [0, 1, 2, 15, 16, 17, 33, 64, 65, 130] {
                for after in ["", " ", "-x", " É", "é", &" ".repeat(70)] {
                    let text = format!("{}{}{after}", " ".repeat(before), "aB9".repeat(length));
                    check(&text);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same_words(text in "(?s).{0,300}") {
            check(&text);
        }

        #[test]
        fn both_ways_give_the_same_words_of_what_looks_like_text(
            text in "([a-zA-Z0-9]{0,24}[ ,.'\u{e9}\u{130}\u{3a3}\u{1f600}\u{300}\u{660}_-]){0,60}"
        ) {
            check(&text);
        }
    }
}
