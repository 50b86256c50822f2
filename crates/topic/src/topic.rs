//! A topic: one or several ways to know it, joined by "or", and what they say of a text.

use crate::fasttext::FastText;
use crate::features::Features;
use crate::linear::Linear;
use crate::naming::{Pattern, Words};

/// One way to know a topic.
#[derive(Clone, Debug)]
pub enum Part {
    Words(Words),
    Pattern(Pattern),
    Learnt(Box<Linear>),
    FastText(Box<FastText>),
}

/// A topic, as it is frozen when a crawl begins.
#[derive(Clone, Debug, Default)]
pub struct Topic {
    pub parts: Vec<Part>,
}

/// What a topic says of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scored {
    /// Between 0 and 1.
    pub relevance: f32,
}

impl Scored {
    /// In 255 parts.
    pub fn byte(self) -> u8 {
        (self.relevance.clamp(0.0, 1.0) * 255.0).round() as u8
    }
}

impl Topic {
    pub fn of(part: Part) -> Topic {
        Topic { parts: vec![part] }
    }

    /// The most that any part says.
    pub fn score(&self, text: &str, features: &mut Features) -> Scored {
        let wants_features = self.parts.iter().any(|part| matches!(part, Part::Learnt(_)));
        let features = if wants_features { features.of(text) } else { &[] };
        let relevance = self.parts.iter().map(|part| match part {
            Part::Words(words) => words.relevance(text),
            Part::Pattern(pattern) => pattern.relevance(text),
            Part::Learnt(model) => model.relevance(features),
            Part::FastText(model) => model.relevance(text),
        });
        Scored { relevance: relevance.fold(0.0, f32::max) }
    }
}
