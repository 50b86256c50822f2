//! What if: an exclusion or a delay, tried before it is applied.

use super::sample::each_url_of_many_places;
use super::{URLS_READ_MAX, ceiling, each_url};
use crate::watch::report::CrawlReport;
use rhumb_engine::config::Polite;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::{Span, Time};
use rhumb_page::url::Rules;
use rhumb_state::local::{LocalReader, UrlRow};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// URLs that are named of those that an exclusion would refuse.
const EXAMPLES_MAX: usize = 50;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WhatIfView {
    pub exclude: Option<String>,
    /// What is wrong with the pattern.
    pub mistake: Option<String>,
    /// Queued URLs that were read, those of them that match, and fetched ones that match.
    pub queued: u64,
    pub queued_matched: u64,
    pub fetched_matched: u64,
    pub examples: Vec<String>,
    /// The number of URLs read, if there were more: then the counts are of these alone, which lie
    /// in so many places all over the store.
    pub sampled: Option<u64>,
    pub places: u64,
    /// The most that coverage can become, now and with the exclusion; none if no report tells.
    pub coverage_ceiling: Option<f64>,
    pub coverage_ceiling_then: Option<f64>,
    /// The latter takes URLs that wait to be of equal importance: there are too many to reckon it.
    pub coverage_is_estimated: bool,
    pub delay_s: Option<f64>,
    pub ceiling_per_s: f64,
    pub ceiling_per_s_then: Option<f64>,
    pub needs_s: f64,
    pub needs_s_then: Option<f64>,
}

/// Known URLs up to which the importance of those that match is reckoned: 50 ms.
const BOOKS_URLS_MAX: u64 = 5_000;

pub fn read(
    (dir, reader): (&Path, &LocalReader),
    polite: &Polite,
    now: Time,
    (exclude, delay_ms): (Option<&str>, Option<u64>),
) -> Result<WhatIfView, Error> {
    let speed = ceiling::read(reader, polite, now)?;
    let mut view = WhatIfView {
        exclude: exclude.map(str::to_owned),
        ceiling_per_s: speed.ceiling_per_s,
        needs_s: speed.needs_s,
        ..WhatIfView::default()
    };
    if let Some(delay_ms) = delay_ms {
        let other = Polite { delay: Span::millis(delay_ms), ..*polite };
        let then = ceiling::read(reader, &other, now)?;
        view.delay_s = Some(delay_ms as f64 / 1000.0);
        view.ceiling_per_s_then = Some(then.ceiling_per_s);
        view.needs_s_then = Some(then.needs_s);
    }
    if let Some(pattern) = exclude.filter(|pattern| !pattern.is_empty()) {
        match matcher(pattern) {
            Ok(rules) => {
                count(reader, &rules, &mut view)?;
                tell_coverage((dir, reader), &rules, &mut view)?;
            }
            Err(error) => view.mistake = Some(error.what),
        }
    }
    Ok(view)
}

/// The rules that would hold: the very ones of a crawl with this `--exclude`.
fn matcher(pattern: &str) -> Result<Rules, Error> {
    Rules::new(&[], &[pattern.to_owned()])
        .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
}

fn count(reader: &LocalReader, rules: &Rules, view: &mut WhatIfView) -> Result<(), Error> {
    let mut counts = Counts::default();
    // Where there are many, the time of a second scan is saved.
    let is_large = reader.counters()?.known > URLS_READ_MAX as u64;
    if is_large || each_url(reader, |row| counts.add(row, rules))?.is_some() {
        counts = Counts::default();
        let sample = each_url_of_many_places(reader, |row| counts.add(row, rules))?;
        (view.sampled, view.places) = (Some(sample.urls), sample.places);
    }
    let Counts { queued, queued_matched, fetched_matched, examples } = counts;
    (view.queued, view.queued_matched) = (queued, queued_matched);
    (view.fetched_matched, view.examples) = (fetched_matched, examples);
    Ok(())
}

#[derive(Default)]
struct Counts {
    queued: u64,
    queued_matched: u64,
    fetched_matched: u64,
    examples: Vec<String>,
}

impl Counts {
    fn add(&mut self, row: &UrlRow, rules: &Rules) -> Result<(), Error> {
        self.queued += u64::from(row.record.status == RecordStatus::Queued);
        let url = row.url()?;
        if rules.admits(&url) {
            return Ok(());
        }
        match row.record.status {
            RecordStatus::Queued => {
                self.queued_matched += 1;
                if self.examples.len() < EXAMPLES_MAX {
                    self.examples.push(url.as_str().to_owned());
                }
            }
            RecordStatus::Fetched | RecordStatus::Duplicate => self.fetched_matched += 1,
            _ => {}
        }
        Ok(())
    }
}

/// What would be lost of coverage for good: what lies on URLs that wait and match.
fn tell_coverage(
    (dir, reader): (&Path, &LocalReader),
    rules: &Rules,
    view: &mut WhatIfView,
) -> Result<(), Error> {
    let Some(covered) = CrawlReport::read(dir)?.and_then(|report| report.coverage) else {
        return Ok(());
    };
    let lost = if reader.is_divided() || reader.counters()?.known > BOOKS_URLS_MAX {
        view.coverage_is_estimated = true;
        covered.frontier * view.queued_matched as f64 / view.queued.max(1) as f64
    } else {
        let mut mass = reader.mass()?;
        mass.push_all();
        let mut lost = 0.0;
        for row in reader.urls() {
            let (key, record) = row?;
            if record.status == RecordStatus::Queued && !rules.admits(&key.url()) {
                let (settled, lies_on_it) = mass.of(record.id);
                lost += settled + lies_on_it;
            }
        }
        lost
    };
    view.coverage_ceiling = Some(covered.ceiling);
    view.coverage_ceiling_then = Some((covered.ceiling - lost).max(covered.bound));
    Ok(())
}
