//! Which pages first, and when may we stop? Orderings over a graph that is known, side by side.
//!
//! A crawl over a static graph is an order of its pages. An [`Algorithm`] makes one (a file per
//! paper), a [`OrderRecord`] writes down when it had how much of the true importance mass and what
//! it could prove of it by its own bound. [`tight`] says what could have been proved for any order;
//! [`cho`] and [`deciles`] repeat two older experiments. Importance is personalised PageRank for a
//! trust vector ([`TrustWeights`]); [`mass`] is its bookkeeping, page by page, and [`octaves`] the
//! same in whole numbers for graphs of any size.
//!
//! [`shipped`] drives the engine's own orders over the same graphs: what ships, beside what the
//! papers say.
//!
//! Time is an argument here as in the engine: whoever wants seconds passes a clock.

mod backlink;
pub mod cho;
pub mod deciles;
mod heap;
mod lneighbor;
mod mass;
pub mod octaves;
mod opic;
mod optimal;
mod partialpr;
mod random;
mod rankmass;
mod record;
mod settled;
mod shipped;
mod tight;
pub mod trust;
mod walk;
mod windowed;

use rhumb_engine::config::Order;
use rhumb_graph::rank::{Jump, pagerank};
use rhumb_graph::{Graph, PageNumber};

pub use record::{Milestone, OrderRecord};
pub use tight::tight;
pub use trust::{TrustError, TrustWeights};

/// The surfer follows a link with this probability, else jumps to a trusted page.
pub const DAMPING: f64 = 0.85;
/// The truth is known this well (L1).
pub const TRUTH_ERROR: f64 = 1e-12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    LNeighbor,
    RankMass,
    /// Percent of the frontier that is downloaded at once.
    Windowed(u8),
    Settled,
    Octaves,
    Opic,
    Backlink,
    PartialPr,
    Random,
    /// A random walk: the surfer of PageRank downloads what she comes to.
    Walk,
    Optimal,
    /// As the engine does it in a crawl.
    Shipped(Order),
}

impl Algorithm {
    /// Of the papers, and their baselines.
    pub const ALL: [Algorithm; 13] = [
        Algorithm::LNeighbor,
        Algorithm::RankMass,
        Algorithm::Windowed(5),
        Algorithm::Windowed(10),
        Algorithm::Windowed(20),
        Algorithm::Settled,
        Algorithm::Octaves,
        Algorithm::Opic,
        Algorithm::Backlink,
        Algorithm::PartialPr,
        Algorithm::Random,
        Algorithm::Walk,
        Algorithm::Optimal,
    ];

    /// As they ship: `crawl-settled` is what `rhumb crawl --order settled` does.
    pub const SHIPPED: [Algorithm; 10] = [
        Algorithm::Shipped(Order::Settled),
        Algorithm::Shipped(Order::RankMass),
        Algorithm::Shipped(Order::Windowed),
        Algorithm::Shipped(Order::LNeighbor),
        Algorithm::Shipped(Order::Opic),
        Algorithm::Shipped(Order::Backlink),
        Algorithm::Shipped(Order::PartialPr),
        Algorithm::Shipped(Order::Bfs),
        Algorithm::Shipped(Order::Dfs),
        Algorithm::Shipped(Order::Random),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Algorithm::LNeighbor => "lneighbor",
            Algorithm::RankMass => "rankmass",
            Algorithm::Windowed(5) => "windowed5",
            Algorithm::Windowed(10) => "windowed10",
            Algorithm::Windowed(_) => "windowed20",
            Algorithm::Settled => "settled",
            Algorithm::Octaves => "octaves",
            Algorithm::Opic => "opic",
            Algorithm::Backlink => "backlink",
            Algorithm::PartialPr => "partialpr",
            Algorithm::Random => "random",
            Algorithm::Walk => "walk",
            Algorithm::Optimal => "optimal",
            Algorithm::Shipped(order) => shipped::name(order),
        }
    }

    pub fn named(name: &str) -> Option<Algorithm> {
        let all = Algorithm::ALL.into_iter().chain(Algorithm::SHIPPED);
        all.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Whether it proves anything while it runs.
    pub fn has_bound(self) -> bool {
        use Algorithm::{LNeighbor, Octaves, RankMass, Settled, Shipped, Windowed};
        matches!(self, LNeighbor | RankMass | Windowed(_) | Settled | Octaves | Shipped(_))
    }
}

/// A graph, whom we trust, and what is true of it.
pub struct Experiment<'a> {
    pub graph: &'a Graph,
    pub trust: TrustWeights,
    /// The importance of every page; empty if nobody asked for it.
    pub truth: Vec<f64>,
    /// Pages that can be reached from the trusted ones.
    pub reachable: u32,
    pub seed: u64,
}

/// When an algorithm may stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    /// All targets are reached: proven by who can prove, in truth by the others.
    Targets,
    /// Every reachable page is in the order; who proves stops at this bound, which may be before.
    Exhausted(f64),
}

impl<'a> Experiment<'a> {
    pub fn new(graph: &'a Graph, trust: TrustWeights, seed: u64) -> Experiment<'a> {
        let ranks = pagerank(graph, DAMPING, Jump::To(trust.weights()), TRUTH_ERROR);
        Experiment { truth: ranks.values, ..Experiment::without_truth(graph, trust, seed) }
    }

    /// For graphs so large that the truth costs more than what is asked.
    pub fn without_truth(graph: &'a Graph, trust: TrustWeights, seed: u64) -> Experiment<'a> {
        let reachable = lneighbor::levels(graph, &trust).iter().map(|l| l.len() as u32).sum();
        Experiment { graph, trust, truth: Vec::new(), reachable, seed }
    }

    /// Runs one algorithm; `clock` tells seconds of CPU time, from any beginning.
    pub fn run(
        &self,
        algorithm: Algorithm,
        targets: &[f64],
        until: Until,
        clock: &mut dyn FnMut() -> f64,
    ) -> OrderRecord {
        let mut record = OrderRecord::new(self, algorithm, targets, until, clock());
        let mut watch = record::Watch { record: &mut record, truth: &self.truth, clock };
        match algorithm {
            Algorithm::LNeighbor => lneighbor::run(self, &mut watch),
            Algorithm::RankMass => rankmass::run(self, &mut watch),
            Algorithm::Windowed(percent) => windowed::run(self, percent, &mut watch),
            Algorithm::Settled => settled::run(self, &mut watch),
            Algorithm::Octaves => octaves::run(self, &mut watch),
            Algorithm::Opic => opic::run(self, &mut watch),
            Algorithm::Backlink => backlink::run(self, &mut watch),
            Algorithm::PartialPr => partialpr::run(self, &mut watch),
            Algorithm::Random => random::run(self, &mut watch),
            Algorithm::Walk => walk::run(self, &mut watch),
            Algorithm::Optimal => optimal::run(self, &mut watch),
            Algorithm::Shipped(order) => shipped::run(self, order, &mut watch),
        }
        watch.end();
        record
    }

    fn pages(&self) -> usize {
        self.graph.pages() as usize
    }

    fn trusted(&self) -> impl Iterator<Item = PageNumber> + '_ {
        self.trust.weights().iter().map(|(page, _)| *page)
    }
}

#[cfg(test)]
mod tests;
