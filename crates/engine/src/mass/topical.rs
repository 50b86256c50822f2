//! The bound of a crawl with a topic: how much of the topic the crawled pages have for certain.
//!
//! A walk of the biased surfer ([`super::surfer`]) begins at a trusted page and ends once. Let H be
//! the probability that it ends on a crawled page, times that page's relevance, and R that it ends
//! anywhere else. No page is more than relevant, so all that is not known ends at best on pages of
//! relevance one, and the crawled pages have at least H / (H + R) of the topic, whatever the web
//! is.
//!
//! R is what is missing from the whole, not the sum of the residues: rounding, messages on their
//! way and links without numbers count against us as well. Residues below zero, which links that
//! changed leave, are taken from H and added to R. Sums are exact; only the quotient is rounded.

use super::coverage::DOUBT;
use super::fixed::{JUMPED, ONE, PARTS};
use super::ledger::Sums;
use super::standing::MassStanding;
use super::surfer::{FIFTEENTHS, SURFERS, Surfer};

/// Shares of the topic, as the classifier sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicCoverage {
    /// The crawled pages have at least this share.
    pub bound: f64,
    /// The bound cannot exceed this any more, unless what is lost is found again; and what it would
    /// be if all that was refused for its depth came by a shorter way.
    pub ceiling: f64,
    pub ceiling_for_good: f64,
    /// What walks that wait could at most bring.
    pub frontier: f64,
    /// Crawled pages that are relevant more likely than not.
    pub relevant_pages: u64,
    /// By cause, at most.
    pub lost: Vec<(&'static str, f64)>,
    /// Walks that ended on crawled pages, by relevance, as a share of all walks.
    pub had: f64,
}

pub fn topic_coverage(sums: &Sums) -> TopicCoverage {
    // In parts of parts, times fifteenths of relevance.
    let whole = i128::from(ONE) * i128::from(JUMPED);
    let ended = sums.settled.ended(|_| 1);
    let had = sums.settled.ended(|surfer| i64::from(surfer.relevance()));
    let below: i128 = sums.below.iter().map(|&b| i128::from(b)).sum();
    let below = (below + i128::from(sums.owed)) * i128::from(PARTS);
    let units = i128::from(FIFTEENTHS);
    let known = had - below * units;
    let unknown = (whole - ended + below).max(0) * units;
    let all = (known.max(0) + unknown) as f64;
    let share = |of: f64| if all > 0.0 { (of / all).clamp(0.0, 1.0) } else { 0.0 };
    let residue = |s: MassStanding| {
        let r = i128::from(sums.residue[s as usize] + sums.below[s as usize]);
        (r * i128::from(PARTS) * units) as f64
    };
    let lies = |s: MassStanding| share(residue(s));
    let mut lost: Vec<(&'static str, f64)> =
        MassStanding::LOST.iter().map(|&s| (s.word(), lies(s))).collect();
    let unnamed = i128::from(sums.unnamed) * i128::from(PARTS) * units;
    lost.push(("unfollowed", share(unnamed as f64)));
    let gone: f64 = lost.iter().map(|(_, share)| share).sum();
    let pages = Surfer::all().zip(sums.pages).filter(|(surfer, _)| surfer.is_relevant());
    TopicCoverage {
        bound: (share(known.max(0) as f64) - DOUBT).max(0.0),
        ceiling: (1.0 - gone).clamp(0.0, 1.0),
        ceiling_for_good: (1.0 - gone + lies(MassStanding::Depth)).clamp(0.0, 1.0),
        frontier: lies(MassStanding::Waiting)
            + lies(MassStanding::Nobody)
            + lies(MassStanding::Foreign),
        relevant_pages: pages.map(|(_, count)| count).sum(),
        lost,
        had: (had as f64 / (whole * units) as f64).clamp(0.0, 1.0),
    }
}

const _: () = assert!(SURFERS <= u8::MAX as usize, "a surfer is a byte");
