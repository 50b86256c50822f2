//! In what order URLs are fetched: one policy a file. A policy places an admitted URL in a class
//! (which front queue) and gives it a rank within its class and host.

mod bfs;
mod dfs;
mod random;

use crate::config::{CLASSES, Config, Order, Priority};
use crate::discovery::Discovery;
use crate::queue::Place;
use crate::record::UrlId;

pub use bfs::Bfs;
pub use dfs::Dfs;
pub use random::Random;

/// Classes above this one are reached by `[[priority]]` rules alone.
pub const CLASS_USUAL: u8 = 8;

pub trait OrderPolicy: Send {
    fn place(&self, discovery: &Discovery, id: UrlId) -> Rank;
}

/// What a policy says of a URL: smaller is sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub class: u8,
    pub rank: u64,
}

pub fn policy(config: &Config) -> Box<dyn OrderPolicy> {
    match config.order {
        Order::Bfs => Box::new(Bfs),
        Order::Dfs => Box::new(Dfs),
        Order::Random => Box::new(Random { seed: config.seed }),
    }
}

/// The policy's place, moved by the first `[[priority]]` rule that matches.
pub fn place(
    policy: &dyn OrderPolicy,
    priorities: &[Priority],
    discovery: &Discovery,
    id: UrlId,
) -> Place {
    let Rank { mut class, rank } = policy.place(discovery, id);
    if let Some(rule) = priorities.iter().find(|p| p.pattern.is_match(discovery.url.as_str())) {
        class = rule.class.unwrap_or(class);
        if let Some(weight) = rule.weight {
            class = lifted(class, weight);
        }
    }
    Place::Now { class: class.min(CLASSES as u8 - 1), rank, id: id.0 }
}

/// One class up for each doubling of the weight.
fn lifted(class: u8, weight: f64) -> u8 {
    let octaves = if weight > 0.0 { weight.log2().round() } else { -(CLASSES as f64) };
    (f64::from(class) - octaves).clamp(0.0, (CLASSES - 1) as f64) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_moves_a_url_by_its_octaves_and_stays_within_the_classes() {
        assert_eq!(lifted(8, 1.0), 8);
        assert_eq!(lifted(8, 4.0), 6);
        assert_eq!(lifted(8, 0.5), 9);
        assert_eq!(lifted(8, 1e9), 0);
        assert_eq!(lifted(8, 0.0), CLASSES as u8 - 1);
        assert_eq!(lifted(8, f64::NAN), CLASSES as u8 - 1);
    }
}
