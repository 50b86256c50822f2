//! The synopsis of a reference page: code between its title and its text.
//!
//! The table knows few words of code and little punctuation as text, and leaves a synopsis out with
//! the page's head. Menus hold no code, so what stands right before the text, or before its first
//! paragraph, is part of it, and so is the heading over it. Code further down is weighed as all
//! else is: pages are about half of it.

use super::blocks::{Block, Blocks, SpanKind};
use super::features::heading_level;
use super::outline::Role;

/// Blocks between a synopsis and what is taken, and blocks that are looked at before the text.
const REACH: usize = 2;
const HEAD_BLOCKS_MAX: usize = 12;
/// Mass of a block that is the first paragraph, and of one that also ends a sentence.
const PARAGRAPH_MASS_MIN: u32 = 40;
const SENTENCE_MASS_MIN: u32 = 12;
/// Of the bytes of a paragraph, the hundredths that are marked as code if it is nothing else.
const CODE_SHARE_MIN: u64 = 40;
/// Bytes of such a paragraph; a longer one is weighed as text.
const PARAGRAPH_BYTES_MAX: u32 = 600;

/// Takes the code that stands between a page's title and its first paragraph.
pub(super) fn take_synopsis(page: &Blocks<'_>, is_taken: &mut [bool]) {
    let Some(first) = is_taken.iter().position(|taken| *taken) else { return };
    let blocks = &page.blocks;
    let is_text = |at: &usize| {
        let (count, is_prose) = (&blocks[*at].count, page.near(&blocks[*at], Role::Code) == 0);
        let mass_min = if count.ends_sentence { SENTENCE_MASS_MIN } else { PARAGRAPH_MASS_MIN };
        is_taken[*at] && is_prose && count.mass >= mass_min
    };
    let end = (first..blocks.len()).take(HEAD_BLOCKS_MAX).find(is_text);
    let end = end.unwrap_or(first + 1).min(blocks.len());
    let start = first.saturating_sub(HEAD_BLOCKS_MAX);
    let code: Vec<bool> = (start..end).map(|at| is_code(page, at)).collect();
    // Backwards, so that several in a row are reached from the text.
    for at in (start..end).rev() {
        let near = at.saturating_sub(REACH)..(at + 1 + REACH).min(blocks.len());
        if is_taken[at] || !code[at - start] || !is_taken[near].contains(&true) {
            continue;
        }
        is_taken[at] = true;
        let over =
            at.checked_sub(1).map(|over| page.outline.elements[blocks[over].element as usize].tag);
        if over.is_some_and(|tag| heading_level(tag) > 0) {
            is_taken[at - 1] = true;
        }
    }
}

/// Whether a block is code and nothing else.
fn is_code(page: &Blocks<'_>, at: usize) -> bool {
    let block = &page.blocks[at];
    let apart = [Role::Nav, Role::Footer, Role::Aside, Role::Hidden, Role::Form, Role::Button];
    if block.link_mass * 4 > block.count.mass
        || apart.iter().any(|role| page.near(block, *role) > 0)
    {
        return false;
    }
    let bytes = block.end - block.start;
    page.near(block, Role::Code) > 0
        || bytes <= PARAGRAPH_BYTES_MAX
            && page.near(block, Role::Paragraph) == 255
            && u64::from(bytes_of_code(page, block)) * 100 >= u64::from(bytes) * CODE_SHARE_MIN
}

/// The bytes of a block that are marked as code.
fn bytes_of_code(page: &Blocks<'_>, block: &Block) -> u32 {
    let codes = page.spans.iter().filter(|span| matches!(span.kind, SpanKind::Code));
    codes
        .take_while(|span| span.start < block.end)
        .map(|span| span.end.min(block.end).saturating_sub(span.start.max(block.start)))
        .sum()
}
