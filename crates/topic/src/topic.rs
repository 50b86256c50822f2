//! A topic: one or several ways to know it, joined by "or", and what they say of a text.

use crate::fasttext::FastText;
use crate::features::TextFeatures;
use crate::linear::Linear;
use crate::naming::{TopicPattern, TopicWords};

/// One way to know a topic.
#[derive(Clone, Debug)]
pub enum TopicPart {
    Words(TopicWords),
    Pattern(TopicPattern),
    Learnt(Box<Linear>),
    FastText(Box<FastText>),
}

/// A topic, as it is frozen when a crawl begins.
#[derive(Clone, Debug, Default)]
pub struct Topic {
    pub parts: Vec<TopicPart>,
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
    pub fn of(part: TopicPart) -> Topic {
        Topic { parts: vec![part] }
    }

    /// The most that any part says.
    pub fn score(&self, text: &str, features: &mut TextFeatures) -> Scored {
        let wants_features = self.parts.iter().any(|part| matches!(part, TopicPart::Learnt(_)));
        let features = if wants_features { features.of(text) } else { &[] };
        let relevance = self.parts.iter().map(|part| match part {
            TopicPart::Words(words) => words.relevance(text),
            TopicPart::Pattern(pattern) => pattern.relevance(text),
            TopicPart::Learnt(model) => model.relevance(features),
            TopicPart::FastText(model) => model.relevance(text),
        });
        Scored { relevance: relevance.fold(0.0, f32::max) }
    }
}
