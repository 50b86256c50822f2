//! PageRank and personalised PageRank, exact to a stated error.
//!
//! Page, Brin, Motwani and Winograd, *The PageRank citation ranking* (1999); personalised as in
//! Jeh and Widom, *Scaling personalized web search* (WWW 2003). r = d P r + (1 − d) t, where a
//! page without links jumps to t.
//!
//! Solved by pushing rather than by power iteration: every page has a rank so far and a residual;
//! a push moves a page's residual into its rank and d of it, in equal shares, into the residuals
//! of its targets (Gauss–Seidel without the transposed graph). What is still missing is at most
//! Σ residual / (1 − d), so the error is known, not guessed from the last change. Pages whose
//! residual is small against the mean wait for a later sweep. Dangling pages lose their mass on the
//! way and the result is scaled to sum 1, which is the same as jumping to t (Del Corso, Gullì and
//! Romani, *Fast PageRank computation via a sparse linear system*, 2005).

use crate::{Graph, PageNumber};

/// Where the surfer jumps to: with what weight, summing to 1.
#[derive(Clone, Copy, Debug)]
pub enum Jump<'a> {
    /// To any page, each as likely.
    Anywhere,
    /// To these pages, by weights that sum to 1.
    To(&'a [(PageNumber, f64)]),
}

/// PageRank of every page, and what it took.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// Sums to 1, unless the graph is empty.
    pub values: Vec<f64>,
    /// The L1 distance from the truth is at most this, but for rounding.
    pub error: f64,
    /// Pages that were pushed, each time counted.
    pub pushes: u64,
    /// Links along which something was handed on.
    pub edge_updates: u64,
}

/// Far more than any graph needs; d = 0.85 takes about 70.
const SWEEPS_MAX: usize = 10_000;
/// Residuals below this share of the mean wait.
const WORTH_A_PUSH: f64 = 0.3;

/// Ranks whose L1 distance from the truth is at most `error`; `damping` lies within [0, 1).
pub fn pagerank(graph: &Graph, damping: f64, jump: Jump<'_>, error: f64) -> Ranks {
    assert!((0.0..1.0).contains(&damping), "damping below 1");
    let pages = graph.pages() as usize;
    let mut residual = vec![0.0; pages];
    match jump {
        Jump::Anywhere => residual.fill((1.0 - damping) / pages.max(1) as f64),
        Jump::To(weights) => {
            for &(page, weight) in weights {
                residual[page as usize] += (1.0 - damping) * weight;
            }
        }
    }
    let mut ranks = Ranks { values: vec![0.0; pages], error: 0.0, pushes: 0, edge_updates: 0 };
    for _ in 0..SWEEPS_MAX {
        // Summed anew for each sweep: running sums would drift.
        let left: f64 = residual.iter().sum();
        let waiting = residual.iter().filter(|x| **x > 0.0).count();
        let settled: f64 = ranks.values.iter().sum();
        // Scaling to sum 1 divides what is missing by the sum, and may double it.
        let missing = left / (1.0 - damping);
        ranks.error = if missing > 0.0 { 2.0 * missing / (settled + missing) } else { 0.0 };
        if ranks.error <= error || waiting == 0 {
            break;
        }
        let least = WORTH_A_PUSH * left / waiting as f64;
        sweep(graph, damping, least, &mut residual, &mut ranks);
    }
    let sum: f64 = ranks.values.iter().sum();
    if sum > 0.0 {
        ranks.values.iter_mut().for_each(|value| *value /= sum);
    }
    ranks
}

fn sweep(graph: &Graph, damping: f64, least: f64, residual: &mut [f64], ranks: &mut Ranks) {
    for page in 0..graph.pages() {
        let at = page as usize;
        let mass = residual[at];
        if mass < least || mass == 0.0 {
            continue;
        }
        residual[at] = 0.0;
        ranks.values[at] += mass;
        ranks.pushes += 1;
        let links = graph.links_of(page);
        if links.len() == 0 {
            continue;
        }
        ranks.edge_updates += links.len() as u64;
        let share = damping * mass / links.len() as f64;
        for target in links {
            residual[target as usize] += share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: f64 = 0.85;

    /// By the definition: dangling pages jump, and every page is recomputed from all others.
    fn by_power_iteration(graph: &Graph, jump: &[f64]) -> Vec<f64> {
        let mut ranks = jump.to_vec();
        for _ in 0..400 {
            let mut next = vec![0.0; jump.len()];
            let mut jumping = 1.0 - D;
            for page in 0..graph.pages() {
                let rank = ranks[page as usize];
                let targets: Vec<PageNumber> = graph.links_of(page).collect();
                if targets.is_empty() {
                    jumping += D * rank;
                }
                for target in &targets {
                    next[*target as usize] += D * rank / targets.len() as f64;
                }
            }
            ranks = next.iter().zip(jump).map(|(x, t)| x + jumping * t).collect();
        }
        ranks
    }

    #[test]
    fn ranks_are_those_of_the_definition_to_the_stated_error() {
        let graph = Graph::of(&[&[1, 2], &[2], &[0, 3], &[], &[3, 5], &[4], &[]]);
        let even = vec![1.0 / 7.0; 7];
        let mut seeds = vec![0.0; 7];
        (seeds[0], seeds[6]) = (0.75, 0.25);
        let trusted = [(0, 0.75), (6, 0.25)];
        for (jump, weights) in [(Jump::Anywhere, even), (Jump::To(&trusted), seeds)] {
            let truth = by_power_iteration(&graph, &weights);
            for error in [1e-3, 1e-12] {
                let ranks = pagerank(&graph, D, jump, error);
                let apart: f64 = ranks.values.iter().zip(&truth).map(|(x, y)| (x - y).abs()).sum();
                assert!(apart <= ranks.error + 1e-15 && ranks.error <= error, "{apart} {ranks:?}");
                assert!((ranks.values.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_trusted_dead_end_has_all_rank_and_an_empty_graph_has_none() {
        let graph = Graph::of(&[&[1], &[]]);
        let ranks = pagerank(&graph, D, Jump::To(&[(1, 1.0)]), 1e-12);
        assert_eq!(ranks.values, [0.0, 1.0]);
        assert!(pagerank(&Graph::of(&[]), D, Jump::Anywhere, 1e-12).values.is_empty());
    }
}
