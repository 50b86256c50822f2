//! Headings and the page's title: where the text is likely to begin, and what a block is headed by.

use super::blocks::Blocks;
use super::features::{heading_level, scale, share};
use super::words::is_word_by_itself;
use rhumb_page::html::Tag;

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
        let told = Told::of(title, description);
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
            let (overlap, described) = told.overlaps(page.text_of(block), is_short);
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

/// The words of the title and of the description.
struct Told {
    /// For each shape of a word which of the two may have it: most words are in neither, which one
    /// look tells.
    shapes: [u8; SHAPES],
    /// Each word at the place of its number or behind it, and which of the two have it; 0 is free.
    words: [(u64, u8); PLACES],
    /// How many different words they have.
    title: u32,
    description: u32,
}

const IN_TITLE: u8 = 1;
const IN_DESCRIPTION: u8 = 2;
/// Shapes of words, and places for all words at once, with most of them free: powers of two.
const SHAPES: usize = 1024;
const PLACES: usize = 256;
const _: () = assert!(2 * TITLE_WORDS_MAX < PLACES, "a search for a word ends at a free place");

impl Told {
    fn of(title: &str, description: &str) -> Told {
        let mut told =
            Told { shapes: [0; SHAPES], words: [(0, 0); PLACES], title: 0, description: 0 };
        each_word(title, TITLE_WORDS_MAX, |word| told.title += told.add(word, IN_TITLE));
        each_word(description, TITLE_WORDS_MAX, |word| {
            told.description += told.add(word, IN_DESCRIPTION);
        });
        told
    }

    /// Adds a word; 1 if it is new there.
    fn add(&mut self, word: Word<'_>, of: u8) -> u32 {
        self.shapes[word.shape()] |= of;
        let place = self.place(word.number());
        let (number, known) = &mut self.words[place];
        let is_new = *known & of == 0;
        (*number, *known) = (word.number(), *known | of);
        u32::from(is_new)
    }

    /// Where a word is, or would be.
    #[inline]
    fn place(&self, number: u64) -> usize {
        let mut place = number as usize % PLACES;
        while self.words[place].1 != 0 && self.words[place].0 != number {
            place = (place + 1) % PLACES;
        }
        place
    }

    /// How alike the beginning of a text and the title are, if it may be one, and how much of the
    /// description is in it.
    fn overlaps(&self, text: &str, may_be_title: bool) -> (u8, u8) {
        const DESCRIPTION_WORDS_MIN: u32 = 5;
        let is_described = self.description >= DESCRIPTION_WORDS_MIN;
        let may_be_title = may_be_title && self.title > 0;
        if !may_be_title && !is_described {
            return (0, 0);
        }
        let (mut all, mut in_title, mut in_description) = (0_u32, 0_u32, 0_u32);
        each_word(text, TITLE_WORDS_MAX, |word| {
            all += 1;
            if self.shapes[word.shape()] != 0 {
                let found = self.words[self.place(word.number())].1;
                in_title += u32::from(found & IN_TITLE);
                in_description += u32::from(found / IN_DESCRIPTION);
            }
        });
        let part = |shared: u32, whole: u32| share(shared.min(whole), whole);
        let alike = u32::from(share(in_title, all)) * u32::from(part(in_title, self.title)) / 255;
        (
            if may_be_title { alike as u8 } else { 0 },
            if is_described { part(in_description, self.description) } else { 0 },
        )
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
    #[inline]
    fn number(self) -> u64 {
        match self {
            // The bit that makes letters small, and that digits have.
            Word::Ascii(word) => number_of(word, 0x20),
            Word::Number(number) => number,
        }
    }

    /// What can be told of it at a glance: equal for equal words, and mostly not for others.
    #[inline]
    fn shape(self) -> usize {
        const LETTER: usize = 31;
        let shape = match self {
            Word::Ascii(word) => {
                let letter = |at: usize| usize::from(word[at]) & LETTER;
                (letter(0) << 5 | letter(word.len() - 1)) ^ word.len() << 2
            }
            Word::Number(number) => number as usize,
        };
        shape % SHAPES
    }
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
        take(Word::Number(number_of(run.to_lowercase().as_bytes(), 0)));
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

const WORD_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A word's number, after the bits of `case` are set in each of its bytes: eight of them at a
/// time, the last of them twice where they do not come out even.
#[inline]
fn number_of(word: &[u8], case: u8) -> u64 {
    let case = u64::from_le_bytes([case; 8]);
    let mixed = |number: u64, bytes: u64| {
        (number ^ (bytes | case)).wrapping_mul(WORD_FACTOR).rotate_left(29)
    };
    let number = word.len() as u64;
    if let Some(last) = word.last_chunk::<8>() {
        let (eights, _) = word.as_chunks::<8>();
        let number = eights.iter().fold(number, |n, e| mixed(n, u64::from_le_bytes(*e)));
        return mixed(number, u64::from_le_bytes(*last));
    }
    let four = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
    if let (Some(first), Some(last)) = (word.first_chunk(), word.last_chunk()) {
        return mixed(number, four(first) << 32 | four(last));
    }
    mixed(number, word.iter().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)))
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
