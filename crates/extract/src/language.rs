//! The language of a text, by its letters and how they follow each other.

/// Characters that are looked at: more would not make it surer, only slower.
const CHARS_MAX: usize = 600;
/// Characters of a text at least; shorter ones say too little.
const CHARS_MIN: usize = 40;

/// The language as ISO 639-3 (`eng`, `cmn`), and how sure that is, 0 to 1.
pub(super) fn detect(text: &str) -> Option<(&'static str, f32)> {
    let end = text.char_indices().nth(CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let sample = &text[..end];
    sample.chars().nth(CHARS_MIN)?;
    let found = whatlang::detect(sample)?;
    Some((found.lang().code(), found.confidence() as f32))
}
