//! What a topic is held against where its owner names no other pages: short texts on everyday
//! subjects, made up for this, in the languages of most pages.
//!
//! They stand for the rest of the web badly: a few hundred pages like those that are crawled tell
//! more (docs/topic.md has figures). They are enough to begin with.

const TEXTS: &str = include_str!("background.txt");

/// The texts, each of a few sentences.
pub fn texts() -> impl Iterator<Item = &'static str> {
    TEXTS.split("\n\n").map(str::trim).filter(|text| !text.is_empty())
}
