//! Topics that are named, not learnt: words to be found, or a pattern.
//!
//! What counts is how often they occur, in parts of [`OFTEN`] for each word: a single mention in a
//! long text is a hint, several are proof. All words together need not occur.

use crate::features::{TEXT_BYTES_MAX, each_word};
use regex::{Regex, RegexBuilder};

/// Of one word: so many occurrences say all that it can say.
const OFTEN: f32 = 6.0;
/// Letters that may follow a word of at least [`STEM_LETTERS_MIN`]: plurals and cases.
const ENDING_LETTERS_MAX: usize = 2;
const STEM_LETTERS_MIN: usize = 4;
/// Matches that are counted.
const MATCHES_MAX: usize = 64;
/// A pattern may grow to so much memory.
const PATTERN_BYTES_MAX: usize = 4 << 20;

/// Words or phrases, each in small letters as the words it consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicWords {
    pub phrases: Vec<Vec<String>>,
}

impl TopicWords {
    /// Phrases are separated by commas; the words of a phrase follow each other.
    pub fn parse(text: &str) -> TopicWords {
        let mut phrases: Vec<Vec<String>> =
            text.split([',', ';', '、', '،']).map(words_of).collect();
        phrases.retain(|phrase| !phrase.is_empty());
        TopicWords { phrases }
    }

    /// How often each phrase occurs.
    pub fn counted(&self, text: &str) -> Vec<usize> {
        let mut counts = vec![0; self.phrases.len()];
        // How many words of each phrase stand right before this place.
        let mut met = vec![0usize; self.phrases.len()];
        each_word(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)], |word, is_pair| {
            for (at, phrase) in self.phrases.iter().enumerate() {
                if !is_word(word, &phrase[met[at]], is_pair) {
                    met[at] = 0;
                    if !is_word(word, &phrase[0], is_pair) {
                        continue;
                    }
                }
                met[at] += 1;
                if met[at] == phrase.len() {
                    (counts[at], met[at]) = (counts[at] + 1, 0);
                }
            }
        });
        counts
    }

    pub fn relevance(&self, text: &str) -> f32 {
        let said: f32 = self.counted(text).into_iter().map(told).sum();
        said.min(1.0)
    }

    /// Of the few words of a link: one is enough.
    pub fn is_in(&self, text: &str) -> bool {
        self.counted(text).iter().any(|count| *count > 0)
    }
}

/// What so many occurrences say.
fn told(count: usize) -> f32 {
    ((1.0 + count as f32).ln() / (1.0 + OFTEN).ln()).min(1.0)
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word, _| words.push(word.to_owned()));
    words
}

fn is_word(found: &str, wanted: &str, is_pair: bool) -> bool {
    let Some(ending) = found.strip_prefix(wanted) else { return false };
    ending.is_empty()
        || (!is_pair
            && wanted.chars().count() >= STEM_LETTERS_MIN
            && ending.chars().count() <= ENDING_LETTERS_MAX)
}

/// A pattern, without regard to case.
#[derive(Clone, Debug)]
pub struct TopicPattern(Regex);

impl TopicPattern {
    pub fn parse(text: &str) -> Result<TopicPattern, String> {
        let mut builder = RegexBuilder::new(text);
        builder.case_insensitive(true).size_limit(PATTERN_BYTES_MAX);
        let pattern = builder.build().map_err(|error| error.to_string())?;
        match pattern.is_match("") {
            true => Err("it matches the empty text, so every page would be of the topic".into()),
            false => Ok(TopicPattern(pattern)),
        }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn relevance(&self, text: &str) -> f32 {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        told(self.0.find_iter(text).take(MATCHES_MAX).count())
    }

    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// What it finds in a text, each once, with how often.
    pub fn found<'a>(&self, text: &'a str) -> Vec<(&'a str, usize)> {
        let mut found: Vec<(&str, usize)> = Vec::new();
        for m in self.0.find_iter(text).take(MATCHES_MAX) {
            match found.iter_mut().find(|(text, _)| *text == m.as_str()) {
                Some((_, count)) => *count += 1,
                None => found.push((m.as_str(), 1)),
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_with_their_endings_and_phrases_in_a_row() {
        let words = TopicWords::parse("dinosaur, solar energy, art");
        assert_eq!(words.counted("Dinosaurs! solar energy, solar artist"), [1, 1, 0]);
        assert_eq!(words.counted("solar solar energy"), [0, 1, 0]);
        assert!(words.relevance("a dinosaur") < 0.5);
        assert!(words.relevance(&"the dinosaurs ".repeat(6)) > 0.9);
        assert!(words.relevance("dinosaur dinosaur solar energy solar energy art") > 0.9);
        assert_eq!(TopicWords::parse(" ,, ").phrases.len(), 0);
    }

    #[test]
    fn other_scripts_are_found_too() {
        assert!(TopicWords::parse("динозавр").is_in("Динозавры жили"));
        assert!(TopicWords::parse("東京都").is_in("私は東京都に住む"));
        assert!(!TopicWords::parse("東京都").is_in("東京と京都"));
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_refused() {
        assert!(TopicPattern::parse("a*").is_err());
        assert!(TopicPattern::parse("(").is_err());
        assert!(TopicPattern::parse(r"\bCVE-\d+").unwrap().is_in("see cve-2024"));
    }
}
