//! The synthetic web has a topic: how relevant each version of a page is, and what its links say.
//!
//! Relevance changes with the body, so a revisit may find another; the weight of a link is a guess
//! at nothing in particular, since no proof may rest on its being right.

use rhumb_engine::rng::mix;
use rhumb_page::url::Url;

/// A third of all bodies is of the topic, a third is not, and the rest is in between.
pub fn relevance(body: u64) -> u8 {
    let drawn = mix(body ^ 0x70_70_69_63);
    match drawn % 3 {
        0 => 0,
        1 => 255,
        _ => (drawn >> 8) as u8,
    }
}

/// How likely a link seems to lead there, in fifteenths.
pub fn weight(target: &Url, body: u64) -> u8 {
    (mix(target.fingerprint(body) as u64) % 16) as u8
}
