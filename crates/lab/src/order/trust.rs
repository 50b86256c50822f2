//! Whom we trust: the pages that the surfer jumps to, and with what weight.

use std::fmt;

use rhumb_graph::{Graph, PageNumber};

use super::lneighbor;

/// Pages by in-degree among which the best root is looked for.
const ROOT_CANDIDATES: usize = 200;

/// Weights of distinct pages, by page, that sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct TrustWeights {
    weights: Vec<(PageNumber, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrustError {
    Nobody,
    NoSuchPage { page: PageNumber, pages: u32 },
    NoWeight { page: PageNumber, weight: f64 },
}

impl TrustWeights {
    /// Weights need not sum to 1; those of a page named twice are added.
    pub fn new(graph: &Graph, weights: &[(PageNumber, f64)]) -> Result<TrustWeights, TrustError> {
        let pages = graph.pages();
        for &(page, weight) in weights {
            if page >= pages {
                return Err(TrustError::NoSuchPage { page, pages });
            }
            if !(weight.is_finite() && weight > 0.0) {
                return Err(TrustError::NoWeight { page, weight });
            }
        }
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        if weights.is_empty() || !sum.is_finite() {
            return Err(TrustError::Nobody);
        }
        let mut sorted = weights.to_vec();
        sorted.sort_by_key(|(page, _)| *page);
        sorted.dedup_by(|again, first| {
            let same = again.0 == first.0;
            first.1 += if same { again.1 } else { 0.0 };
            same
        });
        sorted.iter_mut().for_each(|(_, weight)| *weight /= sum);
        Ok(TrustWeights { weights: sorted })
    }

    pub fn evenly(graph: &Graph, pages: &[PageNumber]) -> Result<TrustWeights, TrustError> {
        let mut distinct = pages.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        TrustWeights::new(graph, &distinct.iter().map(|page| (*page, 1.0)).collect::<Vec<_>>())
    }

    pub fn weights(&self) -> &[(PageNumber, f64)] {
        &self.weights
    }
}

/// The pages with the most links to them; of equal ones the first.
pub fn most_linked(graph: &Graph, count: usize) -> Vec<PageNumber> {
    let degrees = graph.in_degrees();
    let mut pages: Vec<PageNumber> = (0..graph.pages()).collect();
    pages.sort_by_key(|page| (std::cmp::Reverse(degrees[*page as usize]), *page));
    pages.truncate(count);
    pages
}

/// The page from which most is near: Σ 1 / (1 + distance) over what it reaches is greatest, among
/// page 0 and the most linked ones.
pub fn root(graph: &Graph) -> Option<PageNumber> {
    let mut candidates = most_linked(graph, ROOT_CANDIDATES);
    candidates.extend((graph.pages() > 0).then_some(0));
    candidates.sort_unstable();
    candidates.dedup();
    let nearness = |page: &PageNumber| {
        let trust = TrustWeights { weights: vec![(*page, 1.0)] };
        let levels = lneighbor::levels(graph, &trust);
        (1..).zip(levels).map(|(far, level)| level.len() as f64 / f64::from(far)).sum::<f64>()
    };
    let mut best: Option<(f64, PageNumber)> = None;
    for page in candidates {
        let near = nearness(&page);
        if best.is_none_or(|(most, _)| near > most) {
            best = Some((near, page));
        }
    }
    best.map(|(_, page)| page)
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustError::Nobody => write!(f, "nobody is trusted"),
            TrustError::NoSuchPage { page, pages: 0 } => {
                write!(f, "trusted page {page} does not exist: the graph is empty")
            }
            TrustError::NoSuchPage { page, pages } => {
                write!(f, "trusted page {page} does not exist: the last page is {}", pages - 1)
            }
            TrustError::NoWeight { page, weight } => {
                write!(f, "trusted page {page}: {weight} is no weight above 0")
            }
        }
    }
}

impl std::error::Error for TrustError {}
