//! Headings and the page's title: where the text is likely to begin, and what a block is headed by.

use xxhash_rust::xxh3::xxh3_64;

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
        let wanted = word_set(title);
        let described = word_set(description);
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

fn word_set(text: &str) -> Vec<u64> {
    let mut set: Vec<u64> = words(text).take(TITLE_WORDS_MAX).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// How alike the beginning of a text and the title are, and how much of the description is in it.
fn overlaps(text: &str, title: &[u64], description: &[u64]) -> (u8, u8) {
    const DESCRIPTION_WORDS_MIN: usize = 5;
    let (mut all, mut in_title, mut in_description) = (0_u32, 0_u32, 0_u32);
    for word in words(text).take(TITLE_WORDS_MAX) {
        all += 1;
        in_title += u32::from(title.binary_search(&word).is_ok());
        in_description += u32::from(description.binary_search(&word).is_ok());
    }
    let part = |shared: u32, whole: usize| share(shared.min(whole as u32), whole as u32);
    let alike = u32::from(share(in_title, all)) * u32::from(part(in_title, title.len())) / 255;
    let is_told = description.len() >= DESCRIPTION_WORDS_MIN;
    (alike as u8, if is_told { part(in_description, description.len()) } else { 0 })
}

/// The words of a text as numbers, whatever their case; a CJK character is one.
fn words(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(|run| {
        let is_signs = run.chars().any(is_word_by_itself);
        let whole = (!is_signs && !run.is_empty()).then(|| hash(run));
        let signs = run.chars().filter(move |_| is_signs).map(|c| u64::from(u32::from(c)));
        whole.into_iter().chain(signs)
    })
}

fn hash(word: &str) -> u64 {
    if word.is_ascii() {
        let mut lower = [0; 32];
        let length = word.len().min(lower.len());
        lower[..length].copy_from_slice(&word.as_bytes()[..length]);
        lower.make_ascii_lowercase();
        xxh3_64(&lower[..length])
    } else {
        xxh3_64(word.to_lowercase().as_bytes())
    }
}
