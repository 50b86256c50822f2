//! How likely a link leads to the topic: from its text, the words of its address and the page that
//! it stands on, before anybody has seen the target.
//!
//! The topic's own model reads the text of the link, the words of the address and what stands
//! beside the link as it reads a page. What that says and the relevance of the page make a
//! probability by a logistic curve with fixed coefficients; they were fitted once on pages with
//! known subjects (docs/topic.md), and may not change during a crawl, since the books of the biased
//! surfer rest on them.

use crate::features;
use crate::linear::Linear;
use crate::topic::{Topic, TopicPart};

/// Weights of links are in fifteenths.
pub const WEIGHT_MAX: u8 = 15;

/// How much the words of a link say, the page that it stands on, both together, and neither. On
/// relevant pages the words say less. Fitted to 2.1 million links with targets of known subjects,
/// but for the last, which is a little higher: fifteenths tell small probabilities badly apart.
const OF_WORDS: f32 = 1.7;
const OF_PAGE: f32 = 2.35;
const OF_BOTH: f32 = -1.0;
const OF_NEITHER: f32 = -4.0;
/// How much the words beside a link say, and how much less on relevant pages.
const OF_AROUND: f32 = 1.0;
const OF_AROUND_BOTH: f32 = -0.95;
/// Between these the words of a link say what they say.
const SAID_MIN: f32 = -2.0;
const SAID_MAX: f32 = 6.0;
/// What one of the topic's own words in a link says.
const NAMED: f32 = 3.0;

/// What is to be read of a link: its texts and the words of its address, of which the most telling
/// counts; and what stands beside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkWords<'a> {
    pub own: &'a [&'a str],
    pub around: &'a [&'a str],
}

/// Reads links, one after the other, in the same memory.
#[derive(Default)]
pub struct LinkScorer {
    hashes: Vec<u64>,
}

impl LinkScorer {
    /// How likely a link with these words leads to the topic, of a page with this relevance.
    pub fn score(&mut self, topic: &Topic, relevance: f32, words: LinkWords<'_>) -> f32 {
        let own = self.said(topic, words.own);
        let around = self.said(topic, words.around);
        probability(own, around, relevance)
    }

    /// The most that any part of the topic finds in these words.
    fn said(&mut self, topic: &Topic, words: &[&str]) -> f32 {
        let said = topic.parts.iter().map(|part| match part {
            TopicPart::Words(wanted) => named(words, |text| wanted.is_in(text)),
            TopicPart::Pattern(pattern) => named(words, |text| pattern.is_in(text)),
            TopicPart::Learnt(model) => self.learnt(model, words),
            // Trained on texts of pages: the few words of a link say nothing to it.
            TopicPart::FastText(_) => 0.0,
        });
        said.fold(f32::MIN, f32::max)
    }

    /// The same in fifteenths.
    pub fn weight(&mut self, topic: &Topic, relevance: f32, words: LinkWords<'_>) -> u8 {
        (self.score(topic, relevance, words) * f32::from(WEIGHT_MAX)).round() as u8
    }

    /// The most that the text or the address says.
    fn learnt(&mut self, model: &Linear, words: &[&str]) -> f32 {
        let mut most = 0.0f32;
        for text in words {
            features::words_taken(text, &mut self.hashes);
            let said = model.of_words(&self.hashes);
            if said.abs() > most.abs() {
                most = said;
            }
        }
        most
    }
}

fn named(words: &[&str], is_in: impl Fn(&str) -> bool) -> f32 {
    if words.iter().any(|text| is_in(text)) { NAMED } else { 0.0 }
}

fn probability(said: f32, around: f32, relevance: f32) -> f32 {
    let [said, around] = [said, around].map(|said| said.clamp(SAID_MIN, SAID_MAX));
    let odds = OF_WORDS * said
        + OF_AROUND * around
        + OF_PAGE * relevance
        + OF_BOTH * said * relevance
        + OF_AROUND_BOTH * around * relevance
        + OF_NEITHER;
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Feature, TextFeatures};
    use crate::training::learn;

    /// What a model of these examples says of a link of their subject, and of another.
    fn told(of_topic: &str, other: &str, links: [&str; 2]) -> [u8; 2] {
        let mut features = TextFeatures::default();
        let mut texts = |text: &str| -> Vec<Vec<Feature>> {
            (1..9).map(|n| features.of(&format!("{} {n}", text.repeat(n))).to_vec()).collect()
        };
        let (examples, others) = (texts(of_topic), texts(other));
        let examples: Vec<&[Feature]> = examples.iter().map(Vec::as_slice).collect();
        let others: Vec<&[Feature]> = others.iter().map(Vec::as_slice).collect();
        let learnt = learn(&examples, &others).unwrap();
        let topic = Topic::of(TopicPart::Learnt(Box::new(learnt.model)));
        links.map(|link| {
            LinkScorer::default().weight(&topic, 0.0, LinkWords { own: &[link], around: &[] })
        })
    }

    #[test]
    fn links_say_as_much_in_a_script_without_spaces_as_in_one_with_them() {
        let tides = "tides rise and fall by the moon and the sun ";
        let english = told(tides, "cook greens with salt and oil ", ["moon tides", "cook greens"]);
        let tides = "潮の満ち引きは月と太陽の引力で起こる。";
        let japanese = told(tides, "料理には塩と油と野菜を使う。", ["月の満ち引き", "野菜の料理"]);
        for [of_topic, dull] in [english, japanese] {
            assert!(of_topic > dull + 3, "{english:?} {japanese:?}");
        }
    }
}
