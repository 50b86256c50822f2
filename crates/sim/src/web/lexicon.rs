//! Made-up words and sentences: text that compresses, shingles and reads like text.
//!
//! Words are strings of syllables, used by a power law, as in any language. Sentences are made
//! once, into one pool; a page is a choice of sentences, so that rendering is copying.

use super::chance::{Purpose, Stream, draw, popular, scale};

const WORDS: u32 = 600;
const SENTENCES: u32 = 8_192;
/// Every so often a word with a letter beyond ASCII, so that charsets matter.
const FOREIGN_PER_MILLE: u32 = 4;

const ONSETS: [&str; 20] = [
    "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st", "tr", "pl",
    "gr", "sk",
];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "eu", "ou"];
const CODAS: [&str; 6] = ["", "", "n", "r", "s", "l"];
const FOREIGN: [&str; 4] = ["café", "über", "señor", "fjörd"];

pub(crate) struct Lexicon {
    words: Vec<Box<str>>,
    pool: String,
    /// Where each sentence begins in the pool, and one last entry for the end.
    starts: Vec<u32>,
}

impl Lexicon {
    pub(crate) fn new(seed: u64) -> Lexicon {
        let words: Vec<Box<str>> =
            (0..WORDS).map(|i| word(draw(seed, Purpose::Word, u64::from(i), 0), i)).collect();
        let mut pool = String::new();
        let mut starts = Vec::with_capacity(SENTENCES as usize + 1);
        for i in 0..SENTENCES {
            starts.push(pool.len() as u32);
            sentence(&words, draw(seed, Purpose::Text, u64::from(i), 1), &mut pool);
        }
        starts.push(pool.len() as u32);
        Lexicon { words, pool, starts }
    }

    /// Any word, all alike: for names and slugs.
    pub(crate) fn word(&self, hash: u64) -> &str {
        &self.words[scale(hash, WORDS) as usize]
    }

    /// A sentence with its full stop and a space.
    pub(crate) fn sentence(&self, hash: u64) -> &str {
        let i = scale(hash, SENTENCES) as usize;
        &self.pool[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Frequent words are short: the first ones have one syllable, the last three.
fn word(hash: u64, rank: u32) -> Box<str> {
    let mut chance = Stream::new(hash);
    let syllables = 1 + u32::from(rank > 40) + u32::from(rank > 200);
    let mut word = String::new();
    for _ in 0..syllables {
        word.push_str(ONSETS[chance.below(ONSETS.len() as u32) as usize]);
        word.push_str(NUCLEI[chance.below(NUCLEI.len() as u32) as usize]);
        word.push_str(CODAS[chance.below(CODAS.len() as u32) as usize]);
    }
    word.into()
}

fn sentence(words: &[Box<str>], hash: u64, out: &mut String) {
    let mut chance = Stream::new(hash);
    let count = 6 + chance.below(12);
    for i in 0..count {
        let word: &str = if chance.per_mille(FOREIGN_PER_MILLE) {
            FOREIGN[chance.below(FOREIGN.len() as u32) as usize]
        } else {
            &words[popular(chance.next(), WORDS) as usize]
        };
        if i == 0 {
            let mut letters = word.chars();
            out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
            out.push_str(letters.as_str());
        } else {
            out.push(' ');
            out.push_str(word);
        }
    }
    out.push_str(". ");
}
