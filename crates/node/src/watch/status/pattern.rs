//! The pattern that is most of what was fetched, if one is, with a filter that would leave it out.
//!
//! Hosts keep what their patterns brought by a hash; the pattern itself is told by a URL that has
//! it, which is looked for among those of the host.

use rhumb_engine::error::Error;
use rhumb_engine::traps::shape::{self, Shape};
use rhumb_page::url::HostKey;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};

/// Below so many pages no pattern is worth a word.
const PAGES_MIN: u64 = 200;
/// URLs of the host among which one of the pattern is looked for.
const ROWS_MAX: usize = 200_000;

/// URLs of one host that differ in numbers, titles, tokens and parameters alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MostFetched {
    pub host: String,
    /// `/calendar/#/#?view`
    pub pattern: String,
    pub fetched: u64,
    /// Those of them that brought something new.
    pub fresh: u64,
    /// Answers of all hosts that say something of a pattern, or might.
    pub of: u64,
    /// For `--exclude`.
    pub exclude: String,
}

/// The pattern of which the greatest number was fetched so far.
#[derive(Default)]
pub(super) struct Candidate {
    host: Option<HostKey>,
    shape: Option<Shape>,
    fetched: u64,
    fresh: u64,
    pages: u64,
}

impl Candidate {
    pub fn offer(&mut self, key: &HostKey, record: &rhumb_engine::host::HostRecord) {
        let mut patterned = 0;
        for (shape, brought) in record.patterns.iter() {
            let fetched = u64::from(brought.fresh) + u64::from(brought.barren);
            patterned += fetched;
            // There is no filter for all words of one depth.
            if fetched > self.fetched && !shape.is_of_words() {
                self.host = Some(key.clone());
                self.shape = Some(shape);
                (self.fetched, self.fresh) = (fetched, u64::from(brought.fresh));
            }
        }
        // What was gone, and redirects, are no pages, but count for their pattern.
        self.pages += record.pages.max(patterned);
    }

    /// None if no pattern is more than half of what was fetched.
    pub fn most_fetched(self, reader: &LocalReader) -> Result<Option<MostFetched>, Error> {
        let (Some(host), Some(shape)) = (self.host, self.shape) else { return Ok(None) };
        if self.pages < PAGES_MIN || self.fetched * 2 <= self.pages {
            return Ok(None);
        }
        for row in reader.url_rows(format!("{host}/").as_bytes(), None).take(ROWS_MAX) {
            let url = row?.url()?;
            if Shape::of(&url) != Some(shape) {
                continue;
            }
            let (Some(pattern), Some(exclude)) = (shape::text(&url), shape::filter(&url)) else {
                continue;
            };
            return Ok(Some(MostFetched {
                host: host.origin(),
                pattern,
                fetched: self.fetched,
                fresh: self.fresh,
                of: self.pages,
                exclude,
            }));
        }
        Ok(None)
    }
}
