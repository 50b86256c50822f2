//! How likely a link leads to the topic: from its text, the words of its address and the page that
//! it stands on, before anybody has seen the target.
//!
//! The topic's own model reads the text of the link and the words of the address as it reads a
//! page. What that says and the relevance of the page make a probability by a logistic curve with
//! fixed coefficients; they were fitted once on pages with known subjects (docs/topic.md), and may
//! not change during a crawl, since the books of the biased surfer rest on them.

use crate::linear::Linear;
use crate::topic::{Part, Topic};
use rhumb_neardup::words::hash_words;

/// Weights of links are in fifteenths.
pub const WEIGHT_MAX: u8 = 15;

/// How much the words of a link say, the page that it stands on, both together, and neither. On
/// relevant pages the words say less. Fitted to 2.1 million links with targets of known subjects,
/// but for the last, which is a little higher: fifteenths tell small probabilities badly apart.
const OF_WORDS: f32 = 2.1;
const OF_PAGE: f32 = 1.8;
const OF_BOTH: f32 = -1.0;
const OF_NEITHER: f32 = -4.0;
/// Between these the words of a link say what they say.
const SAID_MIN: f32 = -2.0;
const SAID_MAX: f32 = 6.0;
/// What one of the topic's own words in a link says.
const NAMED: f32 = 3.0;

/// Reads links, one after the other, in the same memory.
#[derive(Default)]
pub struct Links {
    hashes: Vec<u64>,
}

impl Links {
    /// How likely a link with these words leads to the topic, of a page with this relevance.
    pub fn score(&mut self, topic: &Topic, relevance: f32, words: &[&str]) -> f32 {
        let said = topic.parts.iter().map(|part| match part {
            Part::Words(named) => said(words, |text| named.is_in(text)),
            Part::Pattern(pattern) => said(words, |text| pattern.is_in(text)),
            Part::Learnt(model) => self.learnt(model, words),
            // Trained on texts of pages: the few words of a link say nothing to it.
            Part::FastText(_) => 0.0,
        });
        let said = said.fold(f32::MIN, f32::max);
        probability(said, relevance)
    }

    /// The same in fifteenths.
    pub fn weight(&mut self, topic: &Topic, relevance: f32, words: &[&str]) -> u8 {
        (self.score(topic, relevance, words) * f32::from(WEIGHT_MAX)).round() as u8
    }

    /// The most that the text or the address says.
    fn learnt(&mut self, model: &Linear, words: &[&str]) -> f32 {
        let mut most = 0.0f32;
        for text in words {
            self.hashes.clear();
            hash_words(text, &mut self.hashes);
            let said = model.of_words(&self.hashes);
            if said.abs() > most.abs() {
                most = said;
            }
        }
        most
    }
}

fn said(words: &[&str], is_in: impl Fn(&str) -> bool) -> f32 {
    if words.iter().any(|text| is_in(text)) { NAMED } else { 0.0 }
}

fn probability(said: f32, relevance: f32) -> f32 {
    let said = said.clamp(SAID_MIN, SAID_MAX);
    let odds = OF_WORDS * said + OF_PAGE * relevance + OF_BOTH * said * relevance + OF_NEITHER;
    1.0 / (1.0 + (-odds).exp())
}
