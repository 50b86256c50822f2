//! From how likely each block is to which are taken: those that make the best F1 to be expected.
//!
//! N. Ye, K. Chai, W. Lee, H. Chieu, "Optimizing F-measure: a tale of two approaches" (2012): the
//! best set holds the likeliest blocks down to some threshold, and that is half of the F1 reached.
//! So a page that is plain to read is cut at one half, and of a page that is doubtful throughout
//! more is taken than left. The F1 to be expected is the confidence.

use super::asides::Asides;
use super::blocks::{Block, Blocks};
use super::code::take_synopsis;
use super::forest::probability;
use super::markdown;
use super::outline::Role;
use super::repeats::drop_repeats;

/// Log-odds that every block loses before it is judged. The paper's blocks err independently; ours
/// err together, a whole sidebar at a time, which makes a doubtful page look better than it is.
/// Chosen by cross-validation: precision and recall of articles come nearer to each other.
const CAUTION: f32 = 0.3;

/// What was taken.
pub(super) struct Taken {
    pub is_taken: Vec<bool>,
    /// The F1 to be expected, 0 to 1.
    pub confidence: f32,
}

/// Chooses among blocks by their log-odds.
pub(super) fn take(page: &Blocks<'_>, scores: &[f32]) -> Taken {
    const STEPS: usize = 64;
    let blocks = &page.blocks;
    let asides = Asides::of(page, scores);
    let likely_of = |(score, block)| probability(score - CAUTION - asides.loss(block));
    let mut likely: Vec<f32> = scores.iter().zip(blocks).map(likely_of).collect();
    join_rows(page, &mut likely);
    let mut masses = [(0.0_f32, 0.0_f32); STEPS];
    let mut expected_all = 0.0;
    for (block, likely) in blocks.iter().zip(&likely) {
        let mass = block.count.words as f32;
        let step = ((likely * STEPS as f32) as usize).min(STEPS - 1);
        masses[step].0 += mass;
        masses[step].1 += mass * likely;
        expected_all += mass * likely;
    }
    let (mut best, mut best_step) = (0.0, STEPS);
    let (mut taken, mut expected) = (0.0, 0.0);
    for step in (0..STEPS).rev() {
        taken += masses[step].0;
        expected += masses[step].1;
        let f1 = if taken > 0.0 { 2.0 * expected / (taken + expected_all) } else { 0.0 };
        if f1 > best {
            (best, best_step) = (f1, step);
        }
    }
    let threshold = best_step as f32 / STEPS as f32;
    let mut is_taken: Vec<bool> = likely.iter().map(|likely| *likely >= threshold).collect();
    take_synopsis(page, &mut is_taken);
    drop_repeats(page, &mut is_taken);
    Taken { is_taken, confidence: best }
}

/// The cells of a row stand or fall together: a number in a table says nothing by itself.
fn join_rows(page: &Blocks<'_>, likely: &mut [f32]) {
    /// Mass of a row of data; the rows of a table that lays out a page hold far more.
    const ROW_MASS_MAX: u32 = 100;
    let row_of = |block: &Block| match page.near(block, Role::Table) {
        0 => None,
        _ => markdown::row_of(page, block),
    };
    let mut from = 0;
    while from < page.blocks.len() {
        let row = row_of(&page.blocks[from]);
        let in_row = |block: &&Block| row.is_some() && row_of(block) == row;
        let to = from + 1 + page.blocks[from + 1..].iter().take_while(in_row).count();
        let cells = &page.blocks[from..to];
        let mass: u32 = cells.iter().map(|cell| cell.count.mass).sum();
        if cells.len() > 1 && mass <= ROW_MASS_MAX {
            let weight = |cell: &Block| cell.count.words as f32 + 1.0;
            let all: f32 = cells.iter().map(weight).sum();
            let sum: f32 = cells.iter().zip(&likely[from..to]).map(|(c, p)| weight(c) * p).sum();
            likely[from..to].fill(sum / all);
        }
        from = to;
    }
}
