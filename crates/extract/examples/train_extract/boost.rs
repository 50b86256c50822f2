//! Gradient boosting of trees in which a level asks one question: see the extractor's `forest`.
//!
//! J. Friedman, "Stochastic gradient boosting" (2002), with the second-order leaves of T. Chen,
//! C. Guestrin, "XGBoost" (2016): each tree is grown on a part of the rows and of the features,
//! level by level, by the question that gains most over all leaves of the level together.

use rhumb_extract::lesson::{LEAF_UNIT, TREE_DEPTH};

pub struct Settings {
    pub trees: usize,
    pub rate: f32,
    /// Pulls leaves towards zero, in units of a row's mean weight.
    pub damping: f32,
    pub rows_part: f32,
    pub features_part: f32,
}

/// Rows to learn from: features column by column.
pub struct Rows {
    pub columns: Vec<Vec<u8>>,
    pub labels: Vec<f32>,
    pub weights: Vec<f32>,
}

#[derive(Clone)]
pub struct Tree {
    pub questions: [(u16, u8); TREE_DEPTH],
    pub leaves: [i16; 1 << TREE_DEPTH],
}

#[derive(Clone)]
pub struct Model {
    pub bias: i32,
    pub trees: Vec<Tree>,
}

impl Model {
    pub fn score(&self, feature: impl Fn(usize) -> u8) -> f32 {
        let sum: i32 = self
            .trees
            .iter()
            .map(|tree| {
                let leaf = tree.questions.iter().enumerate().fold(0, |leaf, (bit, (f, t))| {
                    leaf | usize::from(feature(usize::from(*f)) > *t) << bit
                });
                i32::from(tree.leaves[leaf])
            })
            .sum();
        (self.bias + sum) as f32 * LEAF_UNIT
    }
}

/// A small generator: training is the same every time.
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn chance(&mut self, part: f32) -> bool {
        ((self.next() >> 40) as f32) < part * (1 << 24) as f32
    }
}

pub fn train(rows: &Rows, settings: &Settings, dice: &mut Dice) -> Model {
    let n = rows.labels.len();
    let all: f32 = rows.weights.iter().sum();
    let mean_weight = all / n.max(1) as f32;
    let content: f32 = rows.labels.iter().zip(&rows.weights).map(|(y, w)| y * w).sum();
    let prior = (content / all).clamp(0.01, 0.99);
    let bias = ((prior / (1.0 - prior)).ln() / LEAF_UNIT) as i32;
    let mut model = Model { bias, trees: Vec::new() };
    let mut scores = vec![bias as f32 * LEAF_UNIT; n];
    let mut slopes = vec![(0.0_f32, 0.0_f32); n];
    for _ in 0..settings.trees {
        for (i, slope) in slopes.iter_mut().enumerate() {
            let p = 1.0 / (1.0 + (-scores[i]).exp());
            let weight = rows.weights[i] / mean_weight;
            *slope = (weight * (p - rows.labels[i]), weight * (p * (1.0 - p)).max(1e-4));
        }
        let sample: Vec<u32> = (0..n as u32).filter(|_| dice.chance(settings.rows_part)).collect();
        let features: Vec<u16> = (0..rows.columns.len() as u16)
            .filter(|_| dice.chance(settings.features_part))
            .collect();
        let tree = grow(rows, &sample, &slopes, &features, settings);
        for (i, score) in scores.iter_mut().enumerate() {
            *score += f32::from(tree.leaves[leaf_of(rows, &tree, i)]) * LEAF_UNIT;
        }
        model.trees.push(tree);
    }
    model
}

fn leaf_of(rows: &Rows, tree: &Tree, row: usize) -> usize {
    tree.questions.iter().enumerate().fold(0, |leaf, (bit, (feature, value))| {
        leaf | usize::from(rows.columns[usize::from(*feature)][row] > *value) << bit
    })
}

fn grow(
    rows: &Rows,
    sample: &[u32],
    slopes: &[(f32, f32)],
    features: &[u16],
    settings: &Settings,
) -> Tree {
    let mut tree = Tree { questions: [(0, 255); TREE_DEPTH], leaves: [0; 1 << TREE_DEPTH] };
    let mut leaf_of = vec![0_u8; sample.len()];
    let own: Vec<(f32, f32)> = sample.iter().map(|row| slopes[*row as usize]).collect();
    for level in 0..TREE_DEPTH {
        let leaves = 1 << level;
        let mut best = (0.0_f32, 0_u16, 255_u8);
        let mut sums = vec![(0.0_f32, 0.0_f32); leaves * 256];
        for &feature in features {
            sums.fill((0.0, 0.0));
            let column = &rows.columns[usize::from(feature)];
            for ((row, slope), leaf) in sample.iter().zip(&own).zip(&leaf_of) {
                let at = usize::from(*leaf) << 8 | usize::from(column[*row as usize]);
                sums[at].0 += slope.0;
                sums[at].1 += slope.1;
            }
            let (gain, value) = best_split(&sums, leaves, settings.damping);
            if gain > best.0 {
                best = (gain, feature, value);
            }
        }
        let (_, feature, value) = best;
        tree.questions[level] = (feature, value);
        let column = &rows.columns[usize::from(feature)];
        for (row, leaf) in sample.iter().zip(&mut leaf_of) {
            *leaf |= u8::from(column[*row as usize] > value) << level;
        }
    }
    let mut sums = [(0.0_f32, 0.0_f32); 1 << TREE_DEPTH];
    for (slope, leaf) in own.iter().zip(&leaf_of) {
        sums[usize::from(*leaf)].0 += slope.0;
        sums[usize::from(*leaf)].1 += slope.1;
    }
    for (leaf, (g, h)) in tree.leaves.iter_mut().zip(sums) {
        let step = -settings.rate * g / (h + settings.damping);
        *leaf = (step / LEAF_UNIT).round().clamp(-32_000.0, 32_000.0) as i16;
    }
    tree
}

/// The value that parts all leaves best, and what that gains.
fn best_split(sums: &[(f32, f32)], leaves: usize, damping: f32) -> (f32, u8) {
    let mut gains = [0.0_f32; 256];
    for leaf in 0..leaves {
        let own = &sums[leaf << 8..(leaf + 1) << 8];
        let (g, h) = own.iter().fold((0.0, 0.0), |(g, h), (a, b)| (g + a, h + b));
        if h == 0.0 {
            continue;
        }
        let whole = g * g / (h + damping);
        let (mut left_g, mut left_h) = (0.0, 0.0);
        for (value, (a, b)) in own.iter().enumerate() {
            left_g += a;
            left_h += b;
            let (right_g, right_h) = (g - left_g, (h - left_h).max(0.0));
            gains[value] += left_g * left_g / (left_h + damping)
                + right_g * right_g / (right_h + damping)
                - whole;
        }
    }
    let best = gains[..255].iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or((0.0, 255), |(value, gain)| (*gain, value as u8))
}
