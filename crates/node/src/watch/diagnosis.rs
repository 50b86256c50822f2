//! What is wrong with a crawl that came to nothing, in one line: the fate of its seeds, and what to
//! do about it.

use super::reason::{self, Reasons};
use rhumb_engine::error::Error;
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal, UrlId, UrlRecord};
use rhumb_engine::seeds::FOLLOWED_WEIGHT;
use rhumb_page::url::Url;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Seeds that are looked at: one line is said of all of them.
const SEEDS_MAX: usize = 1_000;
/// URLs among which the targets of redirects are looked for: where no page was fetched, hardly any
/// others are known.
const ROWS_MAX: usize = 100_000;
/// Redirects that are followed from a seed.
const HOPS_MAX: usize = 32;

const NO_LINKS: &str = "only its owner can permit more";
const SCRIPTS: &str = "rhumb runs none: look for a sitemap, a feed or an API of the site, and name \
                       it as a seed";

/// Why the directory holds no page, or why its seeds led nowhere; none if they led somewhere.
pub fn hint(dir: &Path, reader: &LocalReader) -> Result<Option<String>, Error> {
    let counters = reader.counters()?;
    let seeds = reader.seeds()?;
    let kinds = FailKind::ALL.into_iter().map(|kind| (counters.errors[kind as usize], kind));
    let failing = kinds.filter(|(count, _)| *count > 0).max().map(|(_, kind)| kind);
    let case = Case { reasons: Reasons::read(dir, reader), reader, failing };
    let mut targets = None;
    let mut fates: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut looked = 0;
    // Those without weight are where others led.
    let named = seeds.iter().filter(|(_, weight)| *weight != FOLLOWED_WEIGHT);
    for (url, _) in named.take(SEEDS_MAX) {
        looked += 1;
        match case.fate(url, &mut targets)? {
            Some(Fate { cause, line }) => fates.entry(cause).or_insert((0, line)).0 += 1,
            // It led somewhere.
            None if counters.pages > 0 => return Ok(None),
            None => {}
        }
    }
    let of_all = |count| match (looked, count) {
        (1, _) => String::new(),
        (_, count) => format!(" (the same for {count} of {looked} seeds)"),
    };
    let most = fates.into_values().max_by_key(|(count, _)| *count);
    Ok(most.map(|(count, line)| line + &of_all(count)))
}

/// What became of a seed that led nowhere.
struct Fate {
    /// Seeds with the same one have the same fate.
    cause: String,
    line: String,
}

struct Case<'a> {
    reasons: Reasons<'a>,
    reader: &'a LocalReader,
    /// How most requests failed, if any did.
    failing: Option<FailKind>,
}

/// URLs by the page that they were found on: where no page was fetched, those are redirects.
type Targets = HashMap<UrlId, (Url, UrlRecord)>;

impl Case<'_> {
    /// None if the seed led somewhere, or was not asked for yet.
    fn fate(&self, seed: &Url, targets: &mut Option<Targets>) -> Result<Option<Fate>, Error> {
        let holding = self.reader.holding(seed);
        let Some(mut record) = holding.snapshot().url(&seed.key())? else { return Ok(None) };
        let (mut url, mut hops) = (seed.clone(), 0);
        while record.status == RecordStatus::Moved && hops < HOPS_MAX {
            let known = match targets {
                Some(known) => known,
                None => targets.insert(self.targets()?),
            };
            let Some(next) = known.get(&record.id).cloned() else { break };
            ((url, record), hops) = (next, hops + 1);
        }
        let Some((cause, what, remedy)) = self.what_became_of(&url, &record)? else {
            return Ok(None);
        };
        let way = match hops {
            0 => seed.to_string(),
            _ => format!("{seed} redirects to {url}"),
        };
        Ok(Some(Fate { cause, line: format!("{way}: {what}; {remedy}") }))
    }

    /// The cause by its word, in words, and what to do about it.
    fn what_became_of(
        &self,
        url: &Url,
        record: &UrlRecord,
    ) -> Result<Option<(String, String, &'static str)>, Error> {
        let failed = |kind: FailKind| {
            (kind.word().to_owned(), reason::failure(kind).to_owned(), reason::remedy(kind))
        };
        Ok(Some(match record.status {
            RecordStatus::Refused(why) => {
                let what = self.reasons.refusal(why, url, record)?;
                (why.word().to_owned(), what, way_round(why))
            }
            RecordStatus::Failed(kind) => failed(self.said_by_requests(kind)),
            RecordStatus::Gone => {
                let status = record.http_status;
                (format!("http_{status}"), reason::answer(status), answered(status))
            }
            RecordStatus::Moved => (
                "moved".to_owned(),
                format!("it redirects ({}) to nowhere that can be fetched", record.http_status),
                "name the URL that it leads to as a seed",
            ),
            RecordStatus::Queued => match self.failing_host(url)? {
                Some(kind) => failed(self.said_by_requests(kind)),
                None => return Ok(None),
            },
            RecordStatus::Fetched | RecordStatus::Duplicate
                if record.past.marks.has(Marks::NOFOLLOW) =>
            {
                (
                    "nofollow".to_owned(),
                    "the page asks not to have its links followed (nofollow)".to_owned(),
                    NO_LINKS,
                )
            }
            RecordStatus::Fetched | RecordStatus::Duplicate
                if record.past.marks.has(Marks::SCRIPTED) =>
            {
                (
                    "scripted".to_owned(),
                    "the page has next to no text without its scripts".to_owned(),
                    SCRIPTS,
                )
            }
            RecordStatus::Fetched | RecordStatus::Duplicate | RecordStatus::Foreign => {
                return Ok(None);
            }
        }))
    }

    /// How the last request to a URL's host failed, if it did.
    fn failing_host(&self, url: &Url) -> Result<Option<FailKind>, Error> {
        let holding = self.reader.holding(url);
        Ok(holding.snapshot().host(&url.host_key())?.and_then(|record| record.failing))
    }

    /// That robots.txt cannot be had says less than how the requests failed.
    fn said_by_requests(&self, kind: FailKind) -> FailKind {
        match kind {
            FailKind::RobotsUnreachable => self.failing.unwrap_or(kind),
            kind => kind,
        }
    }

    fn targets(&self) -> Result<Targets, Error> {
        let mut targets = Targets::new();
        for row in self.reader.url_rows(&[], None).take(ROWS_MAX) {
            let row = row?;
            if let Some(page) = row.record.found_on.page() {
                targets.insert(page, (row.url()?, row.record));
            }
        }
        Ok(targets)
    }
}

/// What to do about a rule.
fn way_round(why: Refusal) -> &'static str {
    match why {
        Refusal::Scope => "name it as a seed, or widen --scope",
        Refusal::Filter => "change --include or --exclude",
        Refusal::Depth => "raise --max-depth",
        Refusal::HostBudget => "raise --max-pages-per-host",
        Refusal::Trap => "raise the limit in [traps] if it is none",
        Refusal::Hops => "raise --max-redirects, or name the last URL as a seed",
        Refusal::Pattern
        | Refusal::WikiView
        | Refusal::Feed
        | Refusal::Api
        | Refusal::ListOrder
        | Refusal::Snapshot
        | Refusal::Login
        | Refusal::Reply
        | Refusal::Names
        | Refusal::SiteBudget
        | Refusal::Archive => "name this rule in --lift-traps",
        Refusal::Sitemaps => "raise --max-sitemaps-per-host",
        Refusal::MediaType => "add its type to --types",
        Refusal::Size => "raise [limits] body_bytes_max",
        Refusal::Forgotten => "nothing: its owner asked for that",
        Refusal::Robots => "only its owner can permit it (--own-site, if that is you)",
    }
}

/// What to do about a 4xx status.
fn answered(status: u16) -> &'static str {
    match status {
        401 => "give a login with --auth HOST=USER:PASSWORD_FILE, or a session with --cookies FILE",
        403 => "it may turn crawlers away: name yourself with --user-agent, or ask its owner",
        404 | 410 => "check the URL",
        _ => "check the URL, or ask its owner",
    }
}
