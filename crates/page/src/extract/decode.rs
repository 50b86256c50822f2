//! From how likely each block is to which are taken: those that make the best F1 to be expected.
//!
//! N. Ye, K. Chai, W. Lee, H. Chieu, "Optimizing F-measure: a tale of two approaches" (2012): the
//! best set holds the likeliest blocks down to some threshold, and that is half of the F1 reached.
//! So a page that is plain to read is cut at one half, and of a page that is doubtful throughout
//! more is taken than left. The F1 to be expected is the confidence.

use super::blocks::Block;
use super::forest::probability;

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
pub(super) fn take(blocks: &[Block], scores: &[f32]) -> Taken {
    const STEPS: usize = 64;
    let likely: Vec<f32> = scores.iter().map(|score| probability(score - CAUTION)).collect();
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
    drop_repeats(blocks, &mut is_taken);
    Taken { is_taken, confidence: best }
}

/// Of blocks that say the same, only the first is taken, if there is much of it: pages repeat their
/// whole text for other screens and for machines. A few lines that recur are a manner of writing.
fn drop_repeats(blocks: &[Block], is_taken: &mut [bool]) {
    const BLOCK_MASS_MIN: u32 = 16;
    const REPEATS_MASS_MIN: u32 = 700;
    let mut said: Vec<(u64, u32)> = (0..)
        .zip(blocks.iter().zip(is_taken.iter()))
        .filter(|(_, (block, taken))| **taken && block.count.mass >= BLOCK_MASS_MIN)
        .map(|(at, (block, _))| (block.hash, at))
        .collect();
    said.sort_unstable();
    let repeats: Vec<usize> = said
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|same| same[1..].iter().map(|(_, at)| *at as usize))
        .collect();
    let mass: u32 = repeats.iter().map(|at| blocks[*at].count.mass).sum();
    if mass >= REPEATS_MASS_MIN {
        repeats.into_iter().for_each(|at| is_taken[at] = false);
    }
}
