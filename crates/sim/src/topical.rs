//! The oracle of a crawl with a topic: what share of it the crawled pages have, at the least.
//!
//! As the oracle of importance it shares no code with the engine's books: walks of the biased
//! surfer in floating point, until hardly any is under way. Whatever leaves the crawled pages ends,
//! at worst, on pages that are all of the topic.

use crate::importance::Oracle;

const FOLLOWED: f64 = 0.85;
const TUNNEL: f64 = 0.15;
const FIFTEENTHS: f64 = 15.0;
/// Walks under way when nobody looks any further.
const WALKING_MIN: f64 = 1e-11;
const STEPS_MAX: usize = 400;

/// A page that was crawled.
struct Place {
    relevance: f64,
    followed: f64,
    /// Each with its part of what is followed.
    to: Vec<(u32, f64)>,
}

impl Oracle {
    /// The share of the topic that the crawled pages have, if all that leaves them ends on pages of
    /// the topic.
    pub fn covered_of_topic(&self) -> f64 {
        let places: Vec<Option<Place>> =
            (0..self.nodes_len()).map(|node| self.place(node)).collect();
        let mut walking = vec![0.0; places.len()];
        for &seed in self.trusted() {
            walking[seed] += 1.0 / self.trusted().len() as f64;
        }
        let (mut had, mut lost) = (0.0, 0.0);
        for _ in 0..STEPS_MAX {
            let mut next = vec![0.0; places.len()];
            for (place, &here) in places.iter().zip(&walking).filter(|(_, here)| **here > 0.0) {
                let Some(place) = place else {
                    lost += here;
                    continue;
                };
                had += here * (1.0 - place.followed) * place.relevance;
                for (to, part) in &place.to {
                    next[*to as usize] += here * place.followed * part;
                }
            }
            walking = next;
            if walking.iter().sum::<f64>() < WALKING_MIN {
                break;
            }
        }
        if had + lost > 0.0 { had / (had + lost) } else { 0.0 }
    }

    fn place(&self, node: usize) -> Option<Place> {
        let linked = self.last_links(node)?;
        let fifteenths = |byte: u8| (f64::from(byte) * FIFTEENTHS / 255.0).round() / FIFTEENTHS;
        let relevance = linked.relevance.map(fifteenths);
        let followed = match (relevance, linked.to.len()) {
            (_, 0) => 0.0,
            (None, _) => FOLLOWED,
            (Some(relevance), _) => FOLLOWED * (TUNNEL + (1.0 - TUNNEL) * relevance),
        };
        let weight = |weight: u8| f64::from(weight) + 1.0;
        let all: f64 = linked.to.iter().map(|(_, w)| weight(*w)).sum();
        let to = linked.to.iter().map(|(to, w)| (*to, weight(*w) / all)).collect();
        Some(Place { relevance: relevance.unwrap_or(0.0), followed, to })
    }
}
