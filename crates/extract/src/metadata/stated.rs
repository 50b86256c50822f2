//! Statements: a value, where it was found, and how far the place can be trusted.

use serde::Serialize;

/// Where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatedWhere {
    /// A `script` of type `application/ld+json`.
    JsonLd,
    /// `og:`, `article:` and the like.
    OpenGraph,
    /// `twitter:`.
    Twitter,
    /// Another `meta` element.
    Meta,
    /// Attributes `itemprop`.
    Microdata,
    /// An element that the standard made for it: `title`, `time`, `html lang`.
    Element,
    /// The page's text: a heading, a byline.
    Text,
    /// The page's address.
    Address,
    /// Computed from the text.
    Detected,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stated<T> {
    /// What was said.
    pub value: T,
    /// Where.
    pub source: StatedWhere,
    /// How far it can be trusted, 0 to 1.
    pub confidence: f32,
}

impl<T> Stated<T> {
    pub(crate) fn new(value: T, source: StatedWhere, confidence: f32) -> Stated<T> {
        Stated { value, source, confidence }
    }
}

/// Keeps the more trusted of what is known and what is said now.
pub(crate) fn prefer<T>(known: &mut Option<Stated<T>>, said: Stated<T>) {
    if known.as_ref().is_none_or(|known| said.confidence > known.confidence) {
        *known = Some(said);
    }
}
