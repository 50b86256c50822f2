//! What if: an exclusion or a delay, tried before it is applied.

use super::{ceiling, each_url};
use rhumb_engine::config::Polite;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::record::Status;
use rhumb_engine::time::{Span, Time};
use rhumb_page::url::Rules;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};

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
    /// The number of URLs read, if there were more: then the counts are of these alone.
    pub of_first: Option<u64>,
    pub delay_s: Option<f64>,
    pub ceiling_per_s: f64,
    pub ceiling_per_s_then: Option<f64>,
    pub needs_s: f64,
    pub needs_s_then: Option<f64>,
}

pub fn read(
    reader: &LocalReader,
    polite: &Polite,
    now: Time,
    exclude: Option<&str>,
    delay_ms: Option<u64>,
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
            Ok(rules) => count(reader, &rules, &mut view)?,
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
    view.of_first = each_url(reader, |row| {
        let is_queued = row.record.status == Status::Queued;
        view.queued += u64::from(is_queued);
        let url = row.url()?;
        if rules.admits(&url) {
            return Ok(());
        }
        match row.record.status {
            Status::Queued => {
                view.queued_matched += 1;
                if view.examples.len() < EXAMPLES_MAX {
                    view.examples.push(url.as_str().to_owned());
                }
            }
            Status::Fetched | Status::Duplicate => view.fetched_matched += 1,
            _ => {}
        }
        Ok(())
    })?;
    Ok(())
}
