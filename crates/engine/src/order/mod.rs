//! In what order URLs are fetched: one policy a file. A policy places an admitted URL in a class
//! (which front queue) and gives it a rank within its class and host.
//!
//! Policies that follow importance file a URL by the octave of a score that grows while it waits; a
//! URL that has come into a better class is filed anew when a link to it is seen again, since only
//! then is its address at hand (docs/decisions/0009-moving-up.md).

mod backlink;
mod bfs;
mod dfs;
mod focused;
mod link_model;
mod lneighbor;
mod opic;
mod partialpr;
mod random;
mod ranking;
mod rankmass;
mod score;
mod settled;
mod windowed;

use crate::config::{CLASSES, Config, Order, Priority};
use crate::mass::{Mass, NumberedPage, Pushing};
use crate::queue::Place;
use crate::record::UrlId;

pub use backlink::Backlink;
pub use bfs::Bfs;
pub use dfs::Dfs;
pub use focused::{Focused, FocusedProven};
pub use link_model::LinkModel;
pub use lneighbor::LNeighbor;
pub use opic::Opic;
pub use partialpr::PartialPr;
pub use random::Random;
pub(crate) use ranking::Ranking;
pub use rankmass::RankMass;
pub use score::class_of_level;
pub use settled::SettledOrder;
pub use windowed::Windowed;

/// Classes above this one are reached by `[[priority]]` rules alone.
pub const CLASS_USUAL: u8 = 8;
/// Behind all that an order gives: pages of patterns that bring little.
pub const CLASS_LAST: u8 = CLASSES as u8 - 1;
/// Sitemaps come before all pages: what they list is to be known when pages are chosen.
const CLASS_SITEMAPS: u8 = 0;

/// Crawled pages are pushed from a tenth of the frontier's best on, or about so many octaves.
const PUSHING_USUAL: Pushing = Pushing::Eager { octaves: 3 };

pub trait OrderPolicy: Send {
    /// Of a URL that so many links lead to from a seed.
    fn place(&self, depth: u16, id: UrlId, mass: &Mass) -> Rank;

    /// The links of a page became known.
    fn linked(&mut self, _page: &NumberedPage, _mass: &Mass) {}

    /// More trust in a URL, as a share of the whole.
    fn trusted(&mut self, _node: u32, _share: f32) {}

    /// The books were opened, or made anew: all that was learnt from links is to be learnt again.
    fn restored(&mut self, _mass: &Mass) {}

    /// Whether scores grow while URLs wait, so that they may move up; and whether the best class
    /// that has something is always served first.
    fn follows_importance(&self) -> bool {
        false
    }

    /// When crawled pages are pushed again. The bound is wanted whatever the order.
    fn pushing(&self) -> Pushing {
        PUSHING_USUAL
    }

    /// The row of the learnt link model, before [`OrderPolicy::restored`].
    fn opened(&mut self, _model: LinkModel) {}

    /// The learnt link model, if it was fitted anew since this was asked last.
    fn refitted(&mut self) -> Option<LinkModel> {
        None
    }

    /// How likely a URL that waits is of the topic, if this order has an idea.
    fn promise(&self, _node: u32, _mass: &Mass) -> Option<f64> {
        None
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}

/// What a policy says of a URL: smaller is sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub class: u8,
    pub rank: u64,
}

pub fn policy(config: &Config) -> Box<dyn OrderPolicy> {
    match config.order {
        Order::Settled => Box::new(SettledOrder),
        Order::RankMass => Box::new(RankMass),
        Order::Windowed => Box::new(Windowed),
        Order::LNeighbor => Box::new(LNeighbor),
        Order::Opic => Box::new(Opic::default()),
        Order::Backlink => Box::new(Backlink::default()),
        Order::PartialPr => Box::new(PartialPr),
        Order::Bfs => Box::new(Bfs),
        Order::Dfs => Box::new(Dfs),
        Order::Focused => Box::new(Focused::default()),
        Order::FocusedProven => Box::new(FocusedProven),
        Order::Random => Box::new(Random { seed: config.seed }),
    }
}

/// The policy's place, moved by the first `[[priority]]` rule that matches.
pub fn place(
    policy: &dyn OrderPolicy,
    priorities: &[Priority],
    (url, depth, id): (&str, u16, UrlId),
    mass: &Mass,
) -> Place {
    let Rank { mut class, rank } = policy.place(depth, id, mass);
    if let Some(rule) = priorities.iter().find(|p| p.pattern.is_match(url)) {
        class = rule.class.unwrap_or(class);
        if let Some(weight) = rule.weight {
            class = lifted(class, weight);
        }
    }
    Place::Now { class: class.min(CLASSES as u8 - 1), rank, id: id.0 }
}

/// The place of a sitemap: in the order of discovery.
pub fn place_of_sitemap(id: UrlId) -> Place {
    Place::Now { class: CLASS_SITEMAPS, rank: id.0, id: id.0 }
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
