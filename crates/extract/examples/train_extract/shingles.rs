//! How alike two texts are: shingles of four words, counted as multisets.
//!
//! The measure of the published benchmarks: precision and recall of shingles; a text shorter than a
//! shingle is one shingle. Words are runs of letters and digits; a Han or kana character is one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The words of a text, in their case or in lower case.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let is_sign = matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
        if (is_sign || !(c.is_alphanumeric() || c == '_')) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_sign {
            words.push(c.to_string());
        } else if c.is_alphanumeric() || c == '_' {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

pub const SHINGLE: usize = 4;

pub fn hash(words: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

pub fn shingles(words: &[String]) -> HashMap<u64, u32> {
    let mut counts = HashMap::new();
    if !words.is_empty() && words.len() < SHINGLE {
        counts.insert(hash(words), 1);
    }
    for shingle in words.windows(SHINGLE) {
        *counts.entry(hash(shingle)).or_default() += 1;
    }
    counts
}

/// Of one page: precision and recall where there is something to divide by, and F1.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: f64,
}

pub fn score(truth: &HashMap<u64, u32>, found: &HashMap<u64, u32>) -> Score {
    let sum = |counts: &HashMap<u64, u32>| counts.values().map(|n| f64::from(*n)).sum::<f64>();
    let (all_truth, all_found) = (sum(truth), sum(found));
    if all_truth + all_found == 0.0 {
        return Score { precision: None, recall: None, f1: 1.0 };
    }
    let shared: f64 =
        found.iter().map(|(shingle, n)| f64::from(*n.min(truth.get(shingle).unwrap_or(&0)))).sum();
    Score {
        precision: (all_found > 0.0).then(|| shared / all_found),
        recall: (all_truth > 0.0).then(|| shared / all_truth),
        f1: 2.0 * shared / (all_truth + all_found),
    }
}

/// Of many pages: F1 of mean precision and mean recall, and the mean of the pages' F1.
pub fn mean(scores: &[Score]) -> (f64, f64) {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let precision = mean(scores.iter().filter_map(|score| score.precision).collect());
    let recall = mean(scores.iter().filter_map(|score| score.recall).collect());
    let f1 = 2.0 * precision * recall / (precision + recall).max(1e-9);
    (f1, mean(scores.iter().map(|score| score.f1).collect()))
}
