//! Why a text scored as it did: the words that made the score.

use crate::fasttext::FastText;
use crate::features::{Feature, TEXT_BYTES_MAX, TextFeatures, each_word, length, of_pair, of_word};
use crate::linear::Linear;
use crate::topic::{Topic, TopicPart};
use rhumb_neardup::words::word_hash;
use std::collections::BTreeMap;

/// A word, or two in a row, and what it added to the score or took from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    pub words: String,
    pub weight: f32,
}

/// What one part of a topic says of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct PartExplained {
    pub part: &'static str,
    pub relevance: f32,
    /// Those that say most first, for and against.
    pub reasons: Vec<Reason>,
}

/// Each part's word on a text, with at most so many reasons.
pub fn explain(topic: &Topic, text: &str, reasons_max: usize) -> Vec<PartExplained> {
    let mut features = TextFeatures::default();
    let of = |part: &TopicPart| {
        let mut explained = match part {
            TopicPart::Words(words) => {
                let counted = words.phrases.iter().zip(words.counted(text));
                let found = counted.filter(|(_, count)| *count > 0);
                let reasons = found
                    .map(|(phrase, n)| Reason { words: phrase.join(" "), weight: n as f32 })
                    .collect();
                PartExplained { part: "words", relevance: words.relevance(text), reasons }
            }
            TopicPart::Pattern(pattern) => {
                let found = pattern.found(text).into_iter();
                let reasons =
                    found.map(|(m, n)| Reason { words: m.to_owned(), weight: n as f32 }).collect();
                PartExplained { part: "regex", relevance: pattern.relevance(text), reasons }
            }
            TopicPart::Learnt(model) => {
                let features = features.of(text);
                let reasons = learnt(model, text, features);
                PartExplained { part: "model", relevance: model.relevance(features), reasons }
            }
            TopicPart::FastText(model) => {
                let reasons = known(model, text);
                PartExplained { part: "fasttext", relevance: model.relevance(text), reasons }
            }
        };
        explained.reasons.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        explained.reasons.truncate(reasons_max);
        explained
    };
    topic.parts.iter().map(of).collect()
}

/// Each word that a model of fastText knows, as often as it occurs.
fn known(model: &FastText, text: &str) -> Vec<Reason> {
    let mut reasons: BTreeMap<&str, f32> = BTreeMap::new();
    for word in text[..text.floor_char_boundary(TEXT_BYTES_MAX)].split_whitespace() {
        *reasons.entry(word).or_default() += model.weight(word);
    }
    let said = reasons.into_iter().filter(|(_, weight)| *weight != 0.0);
    said.map(|(words, weight)| Reason { words: words.to_owned(), weight }).collect()
}

fn learnt(model: &Linear, text: &str, features: &[Feature]) -> Vec<Reason> {
    let often: BTreeMap<usize, u32> = features.iter().map(|f| (f.index(), f.often())).collect();
    let unit = 1.0 / length(features);
    let mut reasons: BTreeMap<u32, Reason> = BTreeMap::new();
    let mut add = |feature: u32, words: String| {
        let often = often.get(&(feature as usize)).copied().unwrap_or(0);
        let weight = model.weight(feature) * often as f32 * unit;
        if weight != 0.0 {
            reasons.entry(feature).or_insert(Reason { words, weight });
        }
    };
    let mut before: Option<(u64, String)> = None;
    each_word(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)], |word, _| {
        let hash = word_hash(word.as_bytes());
        add(of_word(hash), word.to_owned());
        if let Some((first, text)) = &before {
            add(of_pair(*first, hash), format!("{text} {word}"));
        }
        before = Some((hash, word.to_owned()));
    });
    reasons.into_values().collect()
}
