//! How much of all importance a crawl covers for certain: for reports, and as the tight certificate
//! of `rhumb coverage`, which is made of the stored links alone and holds whatever the order was.

use rhumb_engine::error::Error;
use rhumb_engine::mass::{Coverage, Mass, Sums, TopicCoverage};
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
    /// Seeds that were seen without links, and how much of the trust lies on them.
    pub dead_end_seeds: u32,
    pub dead_end_trust: f64,
    /// Has reached URLs that are never fetched, by cause.
    pub lost: BTreeMap<String, f64>,
    /// Of a crawl with a topic, whose shares are those of the topic: crawled pages that are more
    /// likely relevant than not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevant_pages: Option<u64>,
}

impl Covered {
    pub fn of(coverage: &Coverage, order: &str) -> Covered {
        Covered {
            bound: coverage.bound,
            ceiling: coverage.ceiling,
            order: order.to_owned(),
            frontier: coverage.frontier,
            dangling: coverage.dangling,
            dead_end_seeds: coverage.dead_ends,
            dead_end_trust: coverage.dead_end_trust,
            lost: coverage
                .lost
                .iter()
                .map(|(cause, share)| ((*cause).to_owned(), *share))
                .collect(),
            relevant_pages: None,
        }
    }

    /// Of a crawl with a topic: shares of the topic.
    pub fn of_topic(coverage: &TopicCoverage) -> Covered {
        let lost = coverage.lost.iter().map(|(cause, share)| ((*cause).to_owned(), *share));
        Covered {
            bound: coverage.bound,
            ceiling: coverage.ceiling,
            frontier: coverage.frontier,
            lost: lost.collect(),
            relevant_pages: Some(coverage.relevant_pages),
            ..Covered::default()
        }
    }

    /// Whether all trust lies on seeds without links: then these are all there is, and whatever is
    /// said of them says nothing of the site.
    pub fn is_empty(&self) -> bool {
        self.dead_end_seeds > 0 && self.dead_end_trust > 1.0 - SHOWN_MIN
    }

    /// A warning where seeds lead nowhere: all that can be reached hangs on the others.
    pub fn dead_ends(&self) -> Option<String> {
        let seeds = match self.dead_end_seeds {
            0 => return None,
            1 => "one seed has".to_owned(),
            many => format!("{many} seeds have"),
        };
        if self.is_empty() {
            return Some(
                "no seed has links to follow: nothing is known of what is beyond".to_owned(),
            );
        }
        let (dead, alive) = (percent(self.dead_end_trust), percent(1.0 - self.dead_end_trust));
        Some(format!(
            "{seeds} no links to follow and {dead} of the trust: \
             what can be reached hangs on the other {alive}"
        ))
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

/// How much of its topic a crawl covers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topical {
    /// The crawled pages have at least this share of the topic, as its model sees it.
    pub bound: f64,
    /// What they have if URLs that wait are what the link model expects; null if none was learnt.
    pub estimate: Option<f64>,
    /// Crawled pages that are relevant more likely than not.
    pub relevant_pages: u64,
    /// The bound cannot exceed this, for what is lost.
    pub ceiling: f64,
    /// What URLs that wait could bring at most.
    pub frontier: f64,
    /// What URLs that are never fetched could have brought at most, by cause.
    pub lost: BTreeMap<String, f64>,
}

impl Topical {
    pub fn of(coverage: &TopicCoverage, estimate: Option<f64>) -> Topical {
        let Covered { bound, ceiling, frontier, lost, .. } = Covered::of_topic(coverage);
        let relevant_pages = coverage.relevant_pages;
        Topical { bound, estimate, relevant_pages, ceiling, frontier, lost }
    }

    /// A warning where so many pages came and none is of the topic: the seeds are far from it, or
    /// it is named badly.
    pub fn off_topic(&self, pages: u64) -> Option<String> {
        (self.relevant_pages == 0 && pages > 0).then(|| {
            format!(
                "none of {pages} pages is of the topic: name seeds that are, or the topic by other \
                 words or examples (in another --dir); rhumb topic test says how it sees a page"
            )
        })
    }

    /// What is said beside the bound.
    pub fn note(&self) -> String {
        let covered = Covered { lost: self.lost.clone(), ..Covered::default() };
        let mut note = format!("of the topic; {} relevant pages", self.relevant_pages);
        if let Some(estimate) = self.estimate {
            note += &format!("; {} estimated", percent(estimate));
        }
        match covered.losses() {
            lost if lost.is_empty() => note,
            lost => format!("{note}; lost to {lost}"),
        }
    }
}

/// Shares below this are not worth a word.
const SHOWN_MIN: f64 = 5e-5;

pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The best that the links of the crawled pages prove: all mass settled but a ten-millionth.
pub fn certificate(reader: &LocalReader) -> Result<Covered, Error> {
    let (mut sums, mut is_biased) = (None, false);
    for part in reader.parts() {
        let mut mass = part.mass()?;
        mass.push_all();
        is_biased |= mass.is_biased();
        // What lies on URLs of other partitions is settled by nobody here, and only lowers it.
        let own = Mass::sums_of_all(std::iter::once(&mass)).unwrap_or_default();
        sums = Some(sums.map_or(own, |sums: Sums| sums.plus(&own)));
    }
    let sums = sums.unwrap_or_default();
    Ok(match is_biased {
        true => Covered::of_topic(&sums.of_topic()),
        false => Covered::of(&sums.of_importance(), ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_lead_nowhere_are_named_with_what_is_left_for_the_others() {
        let covered = |dead_end_seeds, dead_end_trust| {
            Covered { dead_end_seeds, dead_end_trust, ..Covered::default() }.dead_ends()
        };
        assert_eq!(covered(0, 0.0), None);
        assert!(covered(2, 1.0).unwrap().starts_with("no seed has links to follow"));
        let two = covered(2, 0.25).unwrap();
        assert!(
            two.starts_with("2 seeds have no links to follow and 25.00 % of the trust"),
            "{two}"
        );
        assert!(two.ends_with("the other 75.00 %"), "{two}");
    }
}
