//! The plateau: main text as the longest rise of words over tags.
//!
//! A. Finn, N. Kushmerick, B. Smyth, "Fact or fiction: content classification for digital
//! libraries" (2001): a page is a sequence of tokens, each a tag or a word; find i ≤ j that
//! maximise the tags outside [i, j] plus the words inside, which is where the curve of tags counted
//! so far is flat. That is a maximum-sum subsequence with +1 for a word and -1 for a tag, found in
//! one pass. Here the tokens come grouped as blocks, so the ends fall on blocks. Words are counted
//! in half words, and so are tags.
//!
//! It is the baseline that the learned method is measured against, one of its features, and what
//! is left when that finds nothing.

use std::ops::Range;

use super::blocks::Block;

/// The blocks of the plateau; empty if there are none.
pub(super) fn plateau(blocks: &[Block]) -> Range<usize> {
    let mut best = 0..0;
    let (mut best_sum, mut sum, mut from) = (0_i64, 0_i64, 0);
    for (at, block) in blocks.iter().enumerate() {
        if sum <= 0 {
            (sum, from) = (0, at);
        } else {
            sum -= 2 * i64::from(block.tags_before);
        }
        sum += i64::from(block.count.mass) - 2 * i64::from(block.tags_within);
        if sum > best_sum {
            (best_sum, best) = (sum, from..at + 1);
        }
    }
    best
}
