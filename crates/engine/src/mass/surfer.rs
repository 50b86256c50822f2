//! How the surfer leaves a page: by which links, and how soon it gives up.
//!
//! Without a topic all links of a page are alike, and it is left by one of them with probability d.
//! With one (design: Chakrabarti, van den Berg, Dom, *Focused crawling*, WWW8, 1999, made a walk) a
//! link is taken by its weight, and a page of relevance ρ is left by a link with probability
//! d·(α + (1−α)·ρ): off the topic one gives up sooner, and α lets one through a dull page or two. A
//! page without links ends the walk. Relevance is counted in fifteenths, so that sums by surfer are
//! exact; d, α and ρ make 6,000 parts.

use super::fixed::{FOLLOWED, PARTS};
use serde::{Deserialize, Serialize};

/// How a page is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surfer(u8);

/// How many kinds there are.
pub const SURFERS: usize = 18;
/// Relevance is in such parts, and so are weights of links.
pub const FIFTEENTHS: u8 = 15;
/// d·α and d·(1−α)/15, in parts of [`PARTS`]: α = 3/20.
const FOLLOWED_AT_LEAST: i64 = 765;
const FOLLOWED_BY_RELEVANCE: i64 = 289;

impl Surfer {
    /// A redirect: nobody gives up there, and it is of no topic itself.
    pub const PASSAGE: Surfer = Surfer(16);
    /// Of a crawl without a topic.
    pub const USUAL: Surfer = Surfer(17);

    /// On a page of this relevance, in 255 parts.
    pub fn on(relevance: u8) -> Surfer {
        Surfer(((u32::from(relevance) * u32::from(FIFTEENTHS) + 127) / 255) as u8)
    }

    pub fn all() -> impl Iterator<Item = Surfer> {
        (0..SURFERS as u8).map(Surfer)
    }

    pub fn index(self) -> usize {
        usize::from(self.0).min(SURFERS - 1)
    }

    /// Whether links have weights.
    pub fn is_biased(self) -> bool {
        self != Surfer::USUAL
    }

    /// In fifteenths.
    pub fn relevance(self) -> u8 {
        if self.0 <= FIFTEENTHS { self.0 } else { 0 }
    }

    /// Relevant more likely than not.
    pub fn is_relevant(self) -> bool {
        self.relevance() > FIFTEENTHS / 2
    }

    /// The probability that the page is left by a link, in parts of [`PARTS`].
    pub fn followed(self) -> i64 {
        match self.0 {
            0..=FIFTEENTHS => FOLLOWED_AT_LEAST + FOLLOWED_BY_RELEVANCE * i64::from(self.0),
            _ => FOLLOWED,
        }
    }

    /// The probability that the walk ends there, in parts of [`PARTS`].
    pub fn stopped(self) -> i64 {
        PARTS - self.followed()
    }
}

impl Default for Surfer {
    fn default() -> Surfer {
        Surfer::USUAL
    }
}

/// The links of a page: what pushing it needs to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct PushedLinks<'a> {
    /// Sorted and distinct.
    pub ids: &'a [u32],
    /// One less than the weight of each, for a biased surfer; none for the usual one.
    pub weights: &'a [u8],
    /// The weight of all links that have no number.
    pub unnamed: u32,
    pub surfer: Surfer,
}

impl<'a> PushedLinks<'a> {
    /// Links that are all alike.
    pub fn alike(ids: &'a [u32], unnamed: u32) -> PushedLinks<'a> {
        PushedLinks { ids, weights: &[], unnamed, surfer: Surfer::USUAL }
    }

    #[inline]
    pub fn weight(&self, at: usize) -> i64 {
        self.weights.get(at).map_or(1, |w| i64::from(*w) + 1)
    }
}

/// Two weights a byte.
pub fn packed(weights: &[u8]) -> Vec<u8> {
    let pair = |pair: &[u8]| (pair[0] & 15) | (pair.get(1).unwrap_or(&0) & 15) << 4;
    weights.chunks(2).map(pair).collect()
}

/// The first `count` of such weights; those that are not there are nought.
pub fn unpack(bytes: &[u8], count: usize, weights: &mut Vec<u8>) {
    weights.clear();
    let both = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    weights.extend(both.chain(std::iter::repeat(0)).take(count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevance_decides_how_soon_one_gives_up() {
        assert_eq!(Surfer::on(0).followed(), FOLLOWED_AT_LEAST);
        assert_eq!(Surfer::on(255).followed(), FOLLOWED);
        assert_eq!(Surfer::USUAL.followed(), FOLLOWED);
        assert_eq!((Surfer::on(255).relevance(), Surfer::PASSAGE.relevance()), (15, 0));
        let rises = (1..=255).all(|r| Surfer::on(r).followed() >= Surfer::on(r - 1).followed());
        assert!(rises);
        assert_eq!(
            Surfer::all().map(Surfer::index).collect::<Vec<_>>(),
            (0..18).collect::<Vec<_>>()
        );
    }

    #[test]
    fn weights_take_half_a_byte_each() {
        let mut back = Vec::new();
        for weights in [&[][..], &[7], &[1, 15], &[0, 3, 9, 15, 2]] {
            let bytes = packed(weights);
            assert_eq!(bytes.len(), weights.len().div_ceil(2));
            unpack(&bytes, weights.len(), &mut back);
            assert_eq!(back, weights);
        }
    }
}
