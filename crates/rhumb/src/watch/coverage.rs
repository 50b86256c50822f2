//! How much of all importance a crawl covers for certain: for reports, and as the tight certificate
//! of `rhumb coverage`, which is made of the stored links alone and holds whatever the order was.

use rhumb_engine::error::Error;
use rhumb_engine::mass::Coverage;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Shares of the whole, between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Covered {
    /// The crawled pages have at least this much.
    pub bound: f64,
    /// The bound cannot exceed this, for what is lost.
    pub ceiling: f64,
    /// How pages were chosen, where a crawl says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub order: String,
    /// Has reached URLs that wait.
    pub frontier: f64,
    /// Settled on pages without links.
    pub dangling: f64,
    /// Has reached URLs that are never fetched, by cause.
    pub lost: BTreeMap<String, f64>,
}

impl Covered {
    pub fn of(coverage: &Coverage, order: &str) -> Covered {
        Covered {
            bound: coverage.bound,
            ceiling: coverage.ceiling,
            order: order.to_owned(),
            frontier: coverage.frontier,
            dangling: coverage.dangling,
            lost: coverage
                .lost
                .iter()
                .map(|(cause, share)| ((*cause).to_owned(), *share))
                .collect(),
        }
    }

    /// `robots 1.20 %, failed 0.31 %`: the causes that matter, the greatest first.
    pub fn losses(&self) -> String {
        let mut some: Vec<(&str, f64)> = self.lost.iter().map(|(c, s)| (c.as_str(), *s)).collect();
        some.retain(|(_, share)| *share >= SHOWN_MIN);
        some.sort_by(|a, b| b.1.total_cmp(&a.1));
        let words: Vec<String> =
            some.iter().map(|(cause, share)| format!("{cause} {}", percent(*share))).collect();
        words.join(", ")
    }
}

/// Shares below this are not worth a word.
const SHOWN_MIN: f64 = 5e-5;

pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The best that the links of the crawled pages prove: all mass settled but a ten-millionth.
pub fn certificate(reader: &LocalReader) -> Result<Covered, Error> {
    let mut mass = reader.mass()?;
    mass.settle_all(u64::MAX);
    Ok(mass.coverage().map(|coverage| Covered::of(&coverage, "")).unwrap_or_default())
}
