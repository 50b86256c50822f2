//! What the biased surfer really does: how often walks end where, by power iteration.

use super::Setting;

const FOLLOWED: f64 = 0.85;
const TUNNEL: f64 = 0.15;
/// Walks that are still under way when iteration ends.
const LEFT_MIN: f64 = 1e-11;

/// The share of the topic that each page has.
pub struct TopicTruth(Vec<f64>);

impl TopicTruth {
    pub fn of(setting: &Setting<'_>) -> TopicTruth {
        let pages = &setting.collection.pages;
        let mut walking = vec![0.0; pages.len()];
        for &seed in setting.seeds {
            walking[seed as usize] += 1.0 / setting.seeds.len() as f64;
        }
        let mut ended = vec![0.0; pages.len()];
        while walking.iter().sum::<f64>() > LEFT_MIN {
            let mut next = vec![0.0; pages.len()];
            for (page, here) in walking.iter().enumerate().filter(|(_, here)| **here > 0.0) {
                let (links, weights) = (&pages[page].links, &setting.weights[page]);
                let relevance = setting.relevance(page as u32);
                let followed = match links.len() {
                    0 => 0.0,
                    _ => FOLLOWED * (TUNNEL + (1.0 - TUNNEL) * relevance),
                };
                ended[page] += here * (1.0 - followed);
                let all: f64 = weights.iter().map(|w| f64::from(*w) + 1.0).sum();
                for (to, weight) in links.iter().zip(weights) {
                    next[*to as usize] += here * followed * (f64::from(*weight) + 1.0) / all;
                }
            }
            walking = next;
        }
        let shares: Vec<f64> =
            ended.iter().enumerate().map(|(page, e)| e * setting.relevance(page as u32)).collect();
        let all: f64 = shares.iter().sum();
        TopicTruth(shares.into_iter().map(|share| share / all.max(f64::MIN_POSITIVE)).collect())
    }

    /// What these pages have together.
    pub fn share(&self, pages: &[u32]) -> f64 {
        pages.iter().map(|page| self.0[*page as usize]).sum()
    }
}
