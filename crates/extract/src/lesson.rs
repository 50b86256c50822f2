//! What the training program sees of a page: the very blocks and features that extraction uses.

use super::blocks::Blocks;
use super::context::{self, CONTEXT};
use super::features::{FEATURES, Matrix};
use super::reading::Reading;
use super::surroundings::Surroundings;
use super::{decode, forest};
use rhumb_page::url::Url;

/// A page to learn from.
pub struct Lesson<'a> {
    reading: Reading<'a>,
    around: Surroundings,
    matrix: Matrix,
}

/// Features of the first look, and of the second (the first's included).
pub const FEATURES_OF_LOOK: [usize; 2] = [FEATURES, FEATURES + CONTEXT];
/// Questions of a tree.
pub const TREE_DEPTH: usize = forest::DEPTH;
/// Leaves are log-odds in this part of one.
pub const LEAF_UNIT: f32 = forest::UNIT;

impl<'a> Lesson<'a> {
    /// Reads a page as extraction would.
    pub fn of(html: &'a str, url: &Url) -> Lesson<'a> {
        let mut reading = Reading::of(html);
        let (around, matrix) = reading.features(url);
        Lesson { reading, around, matrix }
    }

    fn page(&self) -> &Blocks<'a> {
        &self.reading.blocks
    }

    /// The text of each block.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.page().blocks.iter().map(|block| self.page().text_of(block))
    }

    /// The words of each block.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        self.page().blocks.iter().map(|block| block.count.words)
    }

    /// A feature of a block.
    pub fn feature(&self, block: usize, feature: usize) -> u8 {
        self.matrix.get(block, feature)
    }

    /// Takes in what a first look said (log-odds), for the features of the second.
    pub fn look_again(&mut self, scores: &[f32]) {
        context::write(&self.reading.blocks, &self.around, scores, &mut self.matrix);
    }

    /// The blocks that would be taken if these were their log-odds, and the confidence.
    pub fn take(&self, scores: &[f32]) -> (Vec<bool>, f32) {
        let taken = decode::take(self.page(), scores);
        (taken.is_taken, taken.confidence)
    }

    /// The blocks of the plateau.
    pub fn plateau(&self) -> std::ops::Range<usize> {
        self.around.plateau.clone()
    }
}
