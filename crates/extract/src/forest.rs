//! Boosted trees, all of one depth, in which every node of a level asks the same question.
//!
//! A. V. Dorogush, V. Ershov, A. Gulin, "CatBoost: gradient boosting with categorical features
//! support" (2018) calls them oblivious: a tree is DEPTH questions and 2^DEPTH leaves; the answers
//! are the bits of the leaf's number. Asked of [`LANES`] blocks at once they need no branch at all.
//!
//! The trees come from a text file that `examples/train_extract` writes, read once.

use super::features::{LANES, Matrix};

/// Questions of a tree.
pub(super) const DEPTH: usize = 6;
const LEAVES: usize = 1 << DEPTH;
/// Trees whose leaves are added up before they are added to a block's sum: it is read and written
/// once for all of them.
const TOGETHER: usize = 4;
/// Leaves are log-odds in this part of one.
pub(super) const UNIT: f32 = 1.0 / 1024.0;

#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Which feature, and above which value the answer is yes.
    questions: [(u16, u8); DEPTH],
    leaves: [i16; LEAVES],
}

#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    trees: Vec<Tree>,
    bias: i32,
}

impl Forest {
    /// Reads the lines of a forest: a bias, then a tree a line, its questions as
    /// `feature>value` and then its leaves.
    pub(super) fn parse<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Forest> {
        let mut forest = Forest::default();
        for line in lines {
            if let Some(bias) = line.strip_prefix("bias ") {
                forest.bias = bias.parse().ok()?;
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let mut tree = Tree { questions: [(0, 0); DEPTH], leaves: [0; LEAVES] };
            for question in &mut tree.questions {
                let (feature, value) = words.next()?.split_once('>')?;
                *question = (feature.parse().ok()?, value.parse().ok()?);
            }
            for leaf in &mut tree.leaves {
                *leaf = words.next()?.parse().ok()?;
            }
            forest.trees.push(tree);
        }
        Some(forest)
    }

    /// The largest feature asked for.
    pub(super) fn feature_max(&self) -> usize {
        let questions = self.trees.iter().flat_map(|tree| tree.questions);
        questions.map(|(feature, _)| usize::from(feature)).max().unwrap_or(0)
    }

    /// The log-odds of every row.
    pub(super) fn score(&self, matrix: &Matrix) -> Vec<f32> {
        let mut scores = Vec::with_capacity(matrix.rows + LANES);
        let (fours, rest) = self.trees.as_chunks::<TOGETHER>();
        for group in 0..matrix.groups() {
            let mut sums = [self.bias; LANES];
            for trees in fours {
                let [a, b, c, d] = trees;
                let of_tree = |tree: &Tree| tree.leaves_of(matrix, group);
                let leaves = [of_tree(a), of_tree(b), of_tree(c), of_tree(d)];
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let [of_a, of_b, of_c, of_d] = leaves;
                    *sum += a.leaf(of_a[lane])
                        + b.leaf(of_b[lane])
                        + c.leaf(of_c[lane])
                        + d.leaf(of_d[lane]);
                }
            }
            for tree in rest {
                let leaves = tree.leaves_of(matrix, group);
                for (sum, leaf) in sums.iter_mut().zip(leaves) {
                    *sum += tree.leaf(leaf);
                }
            }
            scores.extend(sums.iter().map(|sum| *sum as f32 * UNIT));
        }
        scores.truncate(matrix.rows);
        scores
    }
}

impl Tree {
    /// Which leaf each block of a group comes to.
    #[inline(always)]
    fn leaves_of(&self, matrix: &Matrix, group: usize) -> [u8; LANES] {
        let mut leaves = [0; LANES];
        for (bit, (feature, value)) in self.questions.iter().enumerate() {
            let column = matrix.column(group, usize::from(*feature));
            for (leaf, have) in leaves.iter_mut().zip(column) {
                *leaf |= u8::from(have > value) << bit;
            }
        }
        leaves
    }

    #[inline(always)]
    fn leaf(&self, leaf: u8) -> i32 {
        i32::from(self.leaves[usize::from(leaf) % LEAVES])
    }
}

pub(super) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}
