//! Features of a text: its distinct words, and pairs of words that follow each other, as numbers.
//!
//! Words are those of `rhumb_neardup::words`: small letters, maximal runs of letters and digits.
//! Scripts without spaces give overlapping pairs of characters instead. A feature is a hash of
//! [`BITS`] bits; its occurrences count by their logarithm.

use rhumb_neardup::words::{hash_words, word_hash};

pub const BITS: u32 = 18;
pub const BUCKETS: usize = 1 << BITS;
/// Of a longer text only the beginning counts: 128 KiB are some twenty thousand words.
pub const TEXT_BYTES_MAX: usize = 128 << 10;

const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
const SPREAD_OF_PAIRS: u64 = 0xd6e8_feb8_6659_fd93;

/// The feature of one word.
#[inline]
pub fn of_word(hash: u64) -> u32 {
    (hash.wrapping_mul(SPREAD) >> (64 - BITS)) as u32
}

/// The feature of a word after another.
#[inline]
pub fn of_pair(before: u64, hash: u64) -> u32 {
    ((before.rotate_left(23) ^ hash).wrapping_mul(SPREAD_OF_PAIRS) >> (64 - BITS)) as u32
}

/// A feature of a text, with how much its occurrences count: 1 + ln of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature(u32);

/// What counts once, in the unit of [`Feature::often`].
pub const ONCE: u32 = 64;

impl Feature {
    fn new(index: u32, times: u8) -> Feature {
        let often = f32::from(times.max(1)).ln().mul_add(ONCE as f32, ONCE as f32);
        Feature(index | (often as u32) << BITS)
    }

    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize % BUCKETS
    }

    #[inline]
    pub fn often(self) -> u32 {
        self.0 >> BITS
    }
}

/// Takes texts apart, one after the other, in the same memory: 256 kB and some.
pub struct TextFeatures {
    times: Box<[u8]>,
    met: Vec<u32>,
    hashes: Vec<u64>,
    list: Vec<Feature>,
    /// By times.
    often: [Feature; 256],
}

impl Default for TextFeatures {
    fn default() -> TextFeatures {
        TextFeatures {
            times: vec![0; BUCKETS].into_boxed_slice(),
            met: Vec::new(),
            hashes: Vec::new(),
            list: Vec::new(),
            often: std::array::from_fn(|times| Feature::new(0, times as u8)),
        }
    }
}

impl TextFeatures {
    /// The distinct features of a text, in the order of their first places.
    pub fn of(&mut self, text: &str) -> &[Feature] {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        words_taken(text, &mut self.hashes);
        let (times, met) = (&mut self.times, &mut self.met);
        let mut take = |feature: u32| {
            let times = &mut times[feature as usize];
            if *times == 0 {
                met.push(feature);
            }
            *times = times.saturating_add(1);
        };
        let mut before = None;
        for &hash in &self.hashes {
            take(of_word(hash));
            if let Some(before) = before {
                take(of_pair(before, hash));
            }
            before = Some(hash);
        }
        self.list.clear();
        for index in self.met.drain(..) {
            let times = std::mem::take(&mut self.times[index as usize]);
            self.list.push(Feature(index | self.often[times as usize].0));
        }
        &self.list
    }
}

/// The hashes of a text's words, one after the other: pages and links are taken apart alike.
pub(crate) fn words_taken(text: &str, hashes: &mut Vec<u64>) {
    hashes.clear();
    if has_spaceless(text.as_bytes()) {
        each_word(text, |word, _| hashes.push(word_hash(word.as_bytes())));
    } else {
        hash_words(text, hashes);
    }
}

/// How long a text is as a vector, in the unit of [`Feature::often`].
pub fn length(features: &[Feature]) -> f32 {
    let squares: u64 = features.iter().map(|f| u64::from(f.often() * f.often())).sum();
    (squares as f32).sqrt().max(1.0)
}

/// Whether some character may be of a script without spaces, by the bytes that begin such: wrong
/// only in that it may say yes.
fn has_spaceless(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, 0xe0 | 0xe1 | 0xe3..=0xf4))
}

/// Han, Kana, Hangul, Thai, Lao, Khmer, Burmese.
fn is_spaceless(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{edf}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17d3}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}'
        | '\u{30a1}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Marks that belong to the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}'
        | '\u{981}'..='\u{983}' | '\u{9bc}'..='\u{9cd}' | '\u{a3c}'..='\u{a4d}'
        | '\u{abc}'..='\u{acd}' | '\u{b3c}'..='\u{b4d}' | '\u{bbe}'..='\u{bcd}'
        | '\u{c3e}'..='\u{c4d}' | '\u{cbc}'..='\u{ccd}' | '\u{d3e}'..='\u{d4d}')
}

/// Calls `take` with each word in small letters, and whether it is a pair of characters.
pub fn each_word(text: &str, mut take: impl FnMut(&str, bool)) {
    let mut word = String::new();
    let mut last: Option<char> = None;
    for c in text.chars() {
        if is_spaceless(c) {
            end_word(&mut word, &mut take);
            if let Some(last) = last {
                word.extend([last, c]);
                take(&word, true);
                word.clear();
            }
            last = Some(c);
            continue;
        }
        last = None;
        if c.is_alphanumeric() || (is_mark(c) && !word.is_empty()) {
            word.extend(c.to_lowercase());
        } else {
            end_word(&mut word, &mut take);
        }
    }
    end_word(&mut word, &mut take);
}

fn end_word(word: &mut String, take: &mut impl FnMut(&str, bool)) {
    if !word.is_empty() {
        take(word, false);
        word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word, _| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_of_scripts_without_spaces_are_pairs_of_characters() {
        assert_eq!(words("Deep-sea Fish"), ["deep", "sea", "fish"]);
        assert_eq!(words("東京都 is"), ["東京", "京都", "is"]);
        assert_eq!(words("Ёлка, हिन्दी!"), ["ёлка", "हिन्दी"]);
    }

    #[test]
    fn features_are_distinct_and_count_by_the_logarithm_and_the_next_text_begins_anew() {
        let mut features = TextFeatures::default();
        let twice = features.of("the sea the sea").to_vec();
        assert_eq!(twice.len(), 4, "two words and two pairs");
        assert_eq!(twice.iter().filter(|f| f.often() == ONCE).count(), 1, "`sea the`");
        let often = features.of(&"the sea ".repeat(900)).to_vec();
        assert!(often.iter().all(|f| f.often() > 6 * ONCE && f.often() < 7 * ONCE));
        assert_eq!(features.of("").len(), 0);
        assert_eq!(features.of("THE Sea, the sea"), twice);
        assert_eq!(features.of("東京都").len(), 3, "two pairs of characters, these in a row");
    }
}
