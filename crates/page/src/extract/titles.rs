//! Headings and the page's title: where the text is likely to begin, and what a block is headed by.

use super::blocks::Blocks;
use super::features::{heading_level, scale, share};
use super::words::is_word_by_itself;
use crate::html::Tag;

/// Words of a title that are looked for in blocks.
const TITLE_WORDS_MAX: usize = 40;
/// Mass of a block beyond which it is no heading, whatever words it shares with the title.
const HEADING_MASS_MAX: u32 = 80;
/// Mass of a block that reads like a paragraph.
const LONG_MASS_MIN: u32 = 50;
/// How alike a block and the title must be (255 the same) for it to be the title on the page.
const TITLE_OVERLAP_MIN: u8 = 128;

pub(super) struct Titles {
    /// For each block how much of it is in the title, and how much of the title in it: the product.
    pub overlap: Vec<u8>,
    /// For each block the level of the heading before it, and how many blocks ago that was.
    pub heading: Vec<(u8, u16)>,
    /// For each block how much of the page's description is in it.
    pub described: Vec<u8>,
    /// For each block how many headings of the first level, and how many articles, began before.
    pub tops: Vec<u8>,
    pub articles: Vec<u8>,
    /// Blocks since one that reads like a paragraph.
    pub since_long: Vec<u16>,
    /// The block that shows the page's title.
    pub title_at: Option<usize>,
}

impl Titles {
    pub(super) fn of(page: &Blocks<'_>, title: &str, description: &str) -> Titles {
        let wanted = WordSet::of(title);
        let described = WordSet::of(description);
        let mut titles = Titles {
            overlap: Vec::with_capacity(page.blocks.len()),
            heading: Vec::with_capacity(page.blocks.len()),
            described: Vec::with_capacity(page.blocks.len()),
            tops: Vec::with_capacity(page.blocks.len()),
            articles: Vec::with_capacity(page.blocks.len()),
            since_long: Vec::with_capacity(page.blocks.len()),
            title_at: None,
        };
        let articles = articles_begun(page);
        let (mut tops, mut since_long) = (0_u8, 0_u16);
        let (mut level, mut since) = (0, 0_u16);
        let mut best = 0;
        for (at, block) in page.blocks.iter().enumerate() {
            let is_short = block.count.mass <= HEADING_MASS_MAX;
            let (overlap, described) = overlaps(page.text_of(block), &wanted, &described);
            let overlap = if is_short { overlap } else { 0 };
            titles.overlap.push(overlap);
            titles.described.push(described);
            titles.heading.push((level, since));
            titles.since_long.push(since_long);
            let is_long =
                block.count.mass >= LONG_MASS_MIN && block.link_mass * 2 < block.count.mass;
            since_long = if is_long { 0 } else { since_long.saturating_add(1) };
            titles.articles.push(articles[block.element as usize]);
            since = since.saturating_add(1);
            let own = heading_level(page.outline.elements[block.element as usize].tag);
            if own > 0 {
                (level, since) = (own, 0);
            }
            tops = tops.saturating_add(u8::from(own == 1));
            titles.tops.push(tops);
            let worth = u32::from(overlap) + if own == 1 { 100 } else { 12 * u32::from(own > 0) };
            if (overlap >= TITLE_OVERLAP_MIN || own == 1) && worth > best {
                (best, titles.title_at) = (worth, Some(at));
            }
        }
        titles
    }

    /// 0 before the title, 1 the title itself or none, then how far behind.
    pub(super) fn after_title(&self, at: usize) -> u8 {
        match self.title_at {
            None => 1,
            Some(title) if at < title => 0,
            Some(title) => scale((at - title) as u32).saturating_add(1),
        }
    }
}

/// For each element how many articles began up to it.
fn articles_begun(page: &Blocks<'_>) -> Vec<u8> {
    let begun = page.outline.elements.iter().scan(0_u8, |begun, element| {
        *begun = begun.saturating_add(u8::from(element.tag == Tag::Article));
        Some(*begun)
    });
    begun.collect()
}

/// The words of a short text.
struct WordSet {
    sorted: Vec<u64>,
    /// A bit for each word's shape: most words are not in the set, which one look tells.
    shapes: [u64; 4],
}

impl WordSet {
    fn of(text: &str) -> WordSet {
        let mut sorted = Vec::new();
        let mut shapes = [0; 4];
        each_word(text, TITLE_WORDS_MAX, |word| {
            sorted.push(word.number());
            let shape = usize::from(word.shape());
            shapes[shape / 64] |= 1 << (shape % 64);
        });
        sorted.sort_unstable();
        sorted.dedup();
        WordSet { sorted, shapes }
    }

    #[inline]
    fn may_have(&self, shape: u8) -> bool {
        self.shapes[usize::from(shape / 64)] >> (shape % 64) & 1 != 0
    }

    #[inline]
    fn has(&self, word: u64) -> bool {
        self.sorted.binary_search(&word).is_ok()
    }
}

/// A word of a text.
#[derive(Clone, Copy, Debug)]
enum Word<'t> {
    /// As it stands.
    Ascii(&'t [u8]),
    /// As a number already.
    Number(u64),
}

impl Word<'_> {
    /// The same for words that are the same in any case.
    fn number(self) -> u64 {
        match self {
            // The bit that makes letters small, and that digits have.
            Word::Ascii(word) => word.iter().fold(WORD_SEED, |n, byte| mixed(n, byte | 0x20)),
            Word::Number(number) => number,
        }
    }

    /// What can be told of it at a glance: equal for equal words, and mostly not for others.
    #[inline]
    fn shape(self) -> u8 {
        match self {
            Word::Ascii(word) => (word[0] | 0x20).wrapping_mul(29).wrapping_add(word.len() as u8),
            Word::Number(number) => (number >> 56) as u8,
        }
    }
}

/// How alike the beginning of a text and the title are, and how much of the description is in it.
fn overlaps(text: &str, title: &WordSet, description: &WordSet) -> (u8, u8) {
    const DESCRIPTION_WORDS_MIN: usize = 5;
    let (title_words, description_words) = (title.sorted.len(), description.sorted.len());
    if title_words + description_words == 0 {
        return (0, 0);
    }
    let (mut all, mut in_title, mut in_description) = (0_u32, 0_u32, 0_u32);
    each_word(text, TITLE_WORDS_MAX, |word| {
        all += 1;
        let shape = word.shape();
        if title.may_have(shape) || description.may_have(shape) {
            let number = word.number();
            in_title += u32::from(title.has(number));
            in_description += u32::from(description.has(number));
        }
    });
    let part = |shared: u32, whole: usize| share(shared.min(whole as u32), whole as u32);
    let alike = u32::from(share(in_title, all)) * u32::from(part(in_title, title_words)) / 255;
    let is_told = description_words >= DESCRIPTION_WORDS_MIN;
    (alike as u8, if is_told { part(in_description, description_words) } else { 0 })
}

/// Hands over the first words of a text; a CJK character is one.
#[inline]
fn each_word<'t>(text: &'t str, words_max: usize, mut take: impl FnMut(Word<'t>)) {
    let bytes = text.as_bytes();
    let (mut at, mut words) = (0, 0);
    while at < bytes.len() && words < words_max {
        let start = at;
        while at < bytes.len() && IS_OF_WORD[usize::from(bytes[at])] {
            at += 1;
        }
        if at < bytes.len() && !bytes[at].is_ascii() {
            let rest = &text[start..];
            let run = rest.find(|c: char| !c.is_alphanumeric()).map_or(rest, |end| &rest[..end]);
            words += other_words(run, words_max - words, &mut take);
            let gap = rest[run.len()..].chars().next().map_or(0, char::len_utf8);
            at = start + run.len() + gap;
            continue;
        }
        if at > start {
            take(Word::Ascii(&bytes[start..at]));
            words += 1;
        }
        at += 1;
    }
}

/// A run that ends at or holds what is not ASCII: one word, or as many as it has characters. How
/// many words that were.
fn other_words<'t>(run: &'t str, words_max: usize, take: &mut impl FnMut(Word<'t>)) -> usize {
    if run.is_empty() {
        return 0;
    }
    // A sign may follow it that is not ASCII.
    if run.is_ascii() {
        take(Word::Ascii(run.as_bytes()));
        return 1;
    }
    if !run.chars().any(is_word_by_itself) {
        take(Word::Number(run.to_lowercase().bytes().fold(WORD_SEED, mixed)));
        return 1;
    }
    let sign = |c: char| u64::from(u32::from(c)).wrapping_mul(WORD_FACTOR);
    run.chars().take(words_max).map(|c| take(Word::Number(sign(c)))).count()
}

/// Letters and digits of ASCII.
const IS_OF_WORD: [bool; 256] = {
    let mut is_of_word = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        is_of_word[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    is_of_word
};

const WORD_SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;
const WORD_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn mixed(number: u64, byte: u8) -> u64 {
    (number ^ u64::from(byte)).wrapping_mul(WORD_FACTOR).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_in_any_case_and_next_to_any_sign() {
        let words = |text: &str| {
            let mut words = Vec::new();
            each_word(text, 8, |word| words.push((word.shape(), word.number())));
            words
        };
        assert_eq!(words("The Übung, 42 times"), words("«the» übung…42/TIMES!"));
        assert_eq!(words("two words"), words("two… words’"));
        assert_eq!(words("naïve idea").len(), 2);
        assert_eq!(words("旧桥 old").len(), 3);
        assert_eq!(words("旧桥")[1], words("桥")[0]);
        assert_eq!(words("").len() + words("… – !").len(), 0);
        assert_eq!(words(&"a é 桥 ".repeat(9)).len(), 8);
    }
}
