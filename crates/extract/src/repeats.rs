//! What a page says twice: pages repeat their whole text for other screens and for machines.
//!
//! A few lines that recur are a manner of writing, and so are lists that share entries. A copy is
//! told by its order (many blocks that follow each other as their originals do), by its size, or
//! by one block that holds the text of the others.

use memchr::memmem;

use super::blocks::{Block, Blocks};

/// Mass of a block that is looked for elsewhere; shorter ones recur by chance.
const BLOCK_MASS_MIN: u32 = 16;
/// Mass of a run of blocks that is a copy of an earlier one.
const RUN_MASS_MIN: u32 = 400;
/// How far the next block of a run may be from where its original leads to expect it.
const RUN_GAP_MAX: usize = 3;
/// Mass of blocks that recur anywhere from which on they are quotations or copies, if they are as
/// long as these are on average, or are this part (a hundredth) of all that is taken.
const ANYWHERE_MASS_MIN: u32 = 700;
const ANYWHERE_MEAN_MASS_MIN: u32 = 45;
const ANYWHERE_PART_MIN: u32 = 40;
/// Mass of a block that may hold the text of the others.
const HOLDER_MASS_MIN: u32 = 400;
/// Blocks that may do so in one page, and blocks that are looked for in one.
const HOLDERS_MAX: usize = 8;
const HELD_MAX: usize = 256;
/// Blocks in a holder at least.
const HELD_MIN: usize = 4;
/// Bytes at the beginning and from the middle of a block that are looked for.
const PROBE_BYTES: usize = 32;

/// Leaves out what repeats other blocks that are taken.
pub(super) fn drop_repeats(page: &Blocks<'_>, is_taken: &mut [bool]) {
    drop_holders(page, is_taken);
    drop_later(&page.blocks, is_taken);
}

/// Drops blocks that hold the text of others, half of them or more.
fn drop_holders(page: &Blocks<'_>, is_taken: &mut [bool]) {
    let blocks = &page.blocks;
    let is_holder = |at: &usize| blocks[*at].count.mass >= HOLDER_MASS_MIN;
    let holders: Vec<usize> = (0..blocks.len()).filter(|at| is_taken[*at]).collect();
    for holder in holders.into_iter().filter(is_holder).take(HOLDERS_MAX) {
        let text = page.text_of(&blocks[holder]).as_bytes();
        let mass = blocks[holder].count.mass;
        let is_part = |block: &&Block| {
            let probed = page.text_of(block).as_bytes();
            let probe = |from: usize| &probed[from..probed.len().min(from + PROBE_BYTES)];
            let is_in = |probe: &[u8]| memmem::find(text, probe).is_some();
            is_in(probe(0)) && is_in(probe(probed.len() / 2))
        };
        let others = blocks.iter().zip(is_taken.iter()).filter(|(_, taken)| **taken);
        let parts = others
            .map(|(block, _)| block)
            .filter(|block| (BLOCK_MASS_MIN..=mass / 2).contains(&block.count.mass))
            .take(HELD_MAX)
            .filter(is_part);
        let (count, held) = parts.fold((0, 0), |(n, sum), part| (n + 1, sum + part.count.mass));
        if count >= HELD_MIN && held >= mass / 2 {
            is_taken[holder] = false;
        }
    }
}

/// Drops blocks that say what an earlier one says, if they are many and long, or in its order.
fn drop_later(blocks: &[Block], is_taken: &mut [bool]) {
    let mut long: Vec<usize> = (0..blocks.len()).filter(|at| is_taken[*at]).collect();
    let all: u32 = long.iter().map(|at| blocks[*at].count.mass).sum();
    long.retain(|at| blocks[*at].count.mass >= BLOCK_MASS_MIN);
    let Some(originals) = originals(blocks, &long) else { return };
    let later = || long.iter().zip(&originals).filter(|(_, first)| first.is_some());
    let (count, mass) =
        later().fold((0, 0), |(n, sum), (at, _)| (n + 1, sum + blocks[*at].count.mass));
    let is_much = mass >= count * ANYWHERE_MEAN_MASS_MIN || mass >= all / 100 * ANYWHERE_PART_MIN;
    if mass >= ANYWHERE_MASS_MIN && is_much {
        return later().for_each(|(at, _)| is_taken[*at] = false);
    }
    drop_runs(blocks, &long, &originals, is_taken);
}

/// Drops runs of blocks that follow each other as earlier ones do.
fn drop_runs(blocks: &[Block], long: &[usize], originals: &[Option<usize>], is_taken: &mut [bool]) {
    let mut at = 0;
    while at < long.len() {
        let Some(first) = originals[at] else {
            at += 1;
            continue;
        };
        let (mut expected, mut end, mut mass) = (first + 1, at, blocks[long[at]].count.mass);
        for next in at + 1..long.len() {
            let follows = |original: &usize| {
                (expected..expected + RUN_GAP_MAX).contains(original) && *original < at
            };
            if let Some(original) = originals[next].filter(follows) {
                (expected, end) = (original + 1, next);
                mass += blocks[long[next]].count.mass;
            } else if next - end >= RUN_GAP_MAX {
                break;
            }
        }
        if mass >= RUN_MASS_MIN {
            let run = at..=end;
            run.filter(|at| originals[*at].is_some()).for_each(|at| is_taken[long[at]] = false);
        }
        at = end + 1;
    }
}

/// For each of the blocks at `long` the first that says the same, by its place among them; none if
/// all say something else.
fn originals(blocks: &[Block], long: &[usize]) -> Option<Vec<Option<usize>>> {
    let mut said: Vec<(u64, usize)> =
        long.iter().enumerate().map(|(place, at)| (blocks[*at].hash, place)).collect();
    said.sort_unstable();
    let mut originals = vec![None; long.len()];
    let mut repeats = 0;
    for same in said.chunk_by(|a, b| a.0 == b.0) {
        for (_, place) in &same[1..] {
            originals[*place] = Some(same[0].1);
            repeats += 1;
        }
    }
    (repeats > 0).then_some(originals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;

    /// How many blocks of a page are left if all were taken.
    fn left(html: &str) -> usize {
        let page = Reading::of(html).blocks;
        let mut is_taken = vec![true; page.blocks.len()];
        drop_repeats(&page, &mut is_taken);
        is_taken.iter().filter(|taken| **taken).count()
    }

    fn paragraph(n: usize) -> String {
        let words: String = (0..30).map(|word| format!(" word{word}of{n}")).collect();
        format!("The {n}th paragraph says:{words}.")
    }

    #[test]
    fn a_copy_of_the_whole_text_is_left_out_whether_in_one_block_or_in_many() {
        let texts: Vec<String> = (0..12).map(paragraph).collect();
        let many: String = texts.iter().map(|text| format!("<p>{text}</p>")).collect();
        assert_eq!(left(&many), 12);
        assert_eq!(left(&format!("{many}<div>{}</div>", texts.join(" "))), 12);
        assert_eq!(left(&format!("<div>{}</div>{many}", texts.join(" "))), 12);
        assert_eq!(left(&format!("{many}<p>Other words.</p>{many}")), 13);
    }

    #[test]
    fn long_blocks_that_begin_alike_hold_nothing_of_each_other() {
        let begin = paragraph(1).repeat(3);
        let alike = |n: usize| {
            let rest: String = (0..4).map(|k| paragraph(10 * n + k)).collect();
            format!("<p>{begin}{rest}</p>")
        };
        let page: String = (2..8).map(alike).collect();
        assert_eq!(left(&page), 6);
    }

    #[test]
    fn entries_that_recur_in_another_order_are_a_manner_of_writing() {
        let entry =
            |n: usize| format!("<li>{n} spoons of what stands on shelf {n} and {n} more</li>");
        let many: String = (0..90).map(|n| format!("<p>{}</p>", paragraph(n))).collect();
        let list: String = (0..80).chain((0..80).rev()).map(entry).collect();
        assert_eq!(left(&format!("{many}{list}")), 90 + 160);
    }
}
