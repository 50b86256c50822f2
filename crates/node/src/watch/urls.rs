//! `rhumb urls`: every URL of a crawl by its state, with the cause and the page that it was found
//! on. What waits at a host that fails counts as failed: a link to it is broken until it answers.
//!
//! Records name that page by its number, and there is no index from numbers to URLs: stretches of
//! the table are listed one after the other, and before each, one walk over the whole table finds
//! the pages that its URLs were found on. Memory is bounded by the pages of a stretch.

use super::control;
use super::status::{STATE_DIR, check_is_crawl};
use crate::settings::NamedValues;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Role, UrlId, UrlRecord};
use rhumb_page::url::{HostKey, Url};
use rhumb_state::local::{LocalReader, UrlRow};
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// Pages on which the URLs of one stretch were found: some 40 MB of addresses.
const REFERRERS_MAX: usize = 250_000;

/// What a person can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UrlState {
    Fetched,
    Queued,
    Refused,
    Failed,
    Gone,
    Moved,
    Duplicate,
}

impl NamedValues for UrlState {
    const WHAT: &'static str = "state";
    const WORDS: &'static [(&'static str, UrlState)] = &[
        ("fetched", UrlState::Fetched),
        ("queued", UrlState::Queued),
        ("refused", UrlState::Refused),
        ("failed", UrlState::Failed),
        ("gone", UrlState::Gone),
        ("moved", UrlState::Moved),
        ("duplicate", UrlState::Duplicate),
    ];
}

impl UrlState {
    /// None for URLs of another partition, which has their records, and for sitemaps that nobody
    /// named and that are not there.
    fn of(record: &UrlRecord, failing: Option<FailKind>) -> Option<UrlState> {
        Some(match record.status {
            RecordStatus::Gone if record.role == Role::TriedSitemap => return None,
            RecordStatus::Queued if failing.is_some() => UrlState::Failed,
            RecordStatus::Queued => UrlState::Queued,
            RecordStatus::Fetched => UrlState::Fetched,
            RecordStatus::Duplicate => UrlState::Duplicate,
            RecordStatus::Moved => UrlState::Moved,
            RecordStatus::Gone => UrlState::Gone,
            RecordStatus::Refused(_) => UrlState::Refused,
            RecordStatus::Failed(_) => UrlState::Failed,
            RecordStatus::Foreign => return None,
        })
    }

    pub fn word(self) -> &'static str {
        UrlState::WORDS.iter().find(|(_, state)| *state == self).map_or("", |(word, _)| word)
    }
}

/// Which URLs are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlQuery {
    /// All, if none is named.
    pub states: Vec<UrlState>,
    pub host: Option<HostPattern>,
    pub limit: Option<u64>,
}

/// One host: `example.org` on any scheme and port, `example.org:8080` on that port, or
/// `https://example.org`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPattern {
    /// Of the keys of its URLs.
    prefix: String,
    port: Option<u16>,
}

impl std::str::FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<HostPattern, String> {
        let is_origin = text.contains("://");
        let origin = if is_origin { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&origin).map_err(|error| format!("{text:?} is no host: {error}"))?;
        let key = url.host_key();
        if is_origin {
            return Ok(HostPattern { prefix: format!("{key}/"), port: None });
        }
        let (_, after_address) = text.rsplit_once(']').unwrap_or(("", text));
        let port = after_address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let host = key.as_str().rsplitn(3, ':').last().unwrap_or_default();
        Ok(HostPattern { prefix: format!("{host}:"), port })
    }
}

impl HostPattern {
    /// Whether a key that begins with the prefix is of the port that was asked for.
    fn admits(&self, key: &[u8]) -> bool {
        let Some(port) = self.port else { return true };
        let rest = key.get(self.prefix.len()..).unwrap_or_default();
        let scheme_and_port = rest.split(|&byte| byte == b'/').next().unwrap_or_default();
        scheme_and_port.ends_with(format!(":{port}").as_bytes())
    }
}

/// One URL as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlLine {
    pub url: String,
    pub state: UrlState,
    /// A word: why it was refused or failed, `http_404`, `retry`, `rests` of one whose host is held
    /// back or outside its hours, `scripted` of a page that says
    /// next to nothing without its scripts; none where there is no need.
    pub cause: Option<String>,
    /// The page that names it; none for seeds, and for sitemaps that robots.txt names.
    pub found_on: Option<String>,
    /// Links from a seed.
    pub depth: u16,
    /// Of the last answer, if there was one.
    pub status: Option<u16>,
    /// A page is shown with it; it is none itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requisite: bool,
}

impl UrlLine {
    /// State, cause, URL and the page it was found on, with tabs between them; `-` for none.
    pub fn text(&self) -> String {
        let or_none = |text: &Option<String>| text.as_deref().unwrap_or("-").to_owned();
        let (cause, found_on) = (or_none(&self.cause), or_none(&self.found_on));
        format!("{}\t{cause}\t{}\t{found_on}", self.state.word(), self.url)
    }
}

/// Lists the URLs of the crawl in `dir`, running or not, in the order of their keys: hosts of a
/// site, then paths.
pub fn list_dir(dir: &Path, query: &UrlQuery, take: &mut Take<'_>) -> Result<(), Error> {
    check_is_crawl(dir)?;
    let answered = control::list(dir, query, take).map_err(|error| {
        let what = format!("the crawl that runs on {} does not answer: {error}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })?;
    match answered {
        Some(listed) => listed,
        None => list(&LocalReader::open(&dir.join(STATE_DIR))?, query, take),
    }
}

/// Takes one line; false if no more are wanted.
pub type Take<'a> = dyn FnMut(UrlLine) -> bool + 'a;

/// Lists the URLs of a crawl, of one store after the other.
pub fn list(reader: &LocalReader, query: &UrlQuery, take: &mut Take<'_>) -> Result<(), Error> {
    let mut left = query.limit.unwrap_or(u64::MAX);
    for part in reader.parts() {
        if !list_part(&part, query, &mut left, take)? {
            break;
        }
    }
    Ok(())
}

/// At most so many of one store; false if no more are wanted.
fn list_part(
    reader: &LocalReader,
    query: &UrlQuery,
    left_of_all: &mut u64,
    take: &mut Take<'_>,
) -> Result<bool, Error> {
    let mut left = *left_of_all;
    let mut after: Option<Vec<u8>> = None;
    while left > 0 {
        let Some(stretch) = Stretch::find(reader, query, after.as_deref(), left)? else { break };
        let pages = reader.urls_numbered(&stretch.referrers)?;
        for row in rows(reader, query, after.as_deref()) {
            let Listed { row, state, host } = row?;
            if left == 0 || row.key_bytes() > &stretch.last[..] {
                break;
            }
            let found_on = row.record.found_on.page().and_then(|id| pages.get(&id));
            left -= 1;
            if !take(line(&row, (state, host), found_on)?) {
                return Ok(false);
            }
        }
        after = Some(stretch.last);
    }
    *left_of_all = left;
    Ok(left > 0)
}

/// URLs that are listed together.
struct Stretch {
    /// The key of its last URL.
    last: Vec<u8>,
    referrers: HashSet<UrlId>,
}

impl Stretch {
    /// The next one; none if no URL is left.
    fn find(
        reader: &LocalReader,
        query: &UrlQuery,
        after: Option<&[u8]>,
        rows_max: u64,
    ) -> Result<Option<Stretch>, Error> {
        let mut stretch: Option<Stretch> = None;
        for (count, row) in (1..).zip(rows(reader, query, after)) {
            let Listed { row, .. } = row?;
            let stretch = stretch
                .get_or_insert_with(|| Stretch { last: Vec::new(), referrers: HashSet::new() });
            stretch.last.clear();
            stretch.last.extend_from_slice(row.key_bytes());
            stretch.referrers.extend(row.record.found_on.page());
            if count == rows_max || stretch.referrers.len() == REFERRERS_MAX {
                break;
            }
        }
        Ok(stretch)
    }
}

/// A row that is asked for.
struct Listed {
    row: UrlRow,
    state: UrlState,
    /// How its host fails, if it waits there; or that it rests.
    host: HostState,
}

/// What is to be said of a host where URLs wait.
#[derive(Clone, Copy, Default)]
struct HostState {
    failing: Option<FailKind>,
    /// Its site has had its share, or it is outside its hours.
    is_held: bool,
}

/// The cause of a URL that waits at such a host.
const RESTS: &str = "rests";

/// The rows that are asked for, behind a key.
fn rows(
    reader: &LocalReader,
    query: &UrlQuery,
    after: Option<&[u8]>,
) -> impl Iterator<Item = Result<Listed, Error>> {
    let prefix = query.host.as_ref().map_or("", |host| &host.prefix);
    let mut hosts = WaitingHosts { reader, last: None };
    reader.url_rows(prefix.as_bytes(), after).filter_map(move |row| {
        let listed = row.and_then(|row| {
            let waits = row.record.status == RecordStatus::Queued;
            let host = if waits { hosts.of(row.key_bytes())? } else { HostState::default() };
            Ok(UrlState::of(&row.record, host.failing).map(|state| Listed { row, state, host }))
        });
        let is_wanted = |listed: &Listed| {
            (query.states.is_empty() || query.states.contains(&listed.state))
                && query.host.as_ref().is_none_or(|host| host.admits(listed.row.key_bytes()))
        };
        listed.map(|listed| listed.filter(is_wanted)).transpose()
    })
}

/// How hosts stand. A host's URLs follow each other, so the last host is remembered.
struct WaitingHosts<'a> {
    reader: &'a LocalReader,
    last: Option<(Vec<u8>, HostState)>,
}

impl WaitingHosts<'_> {
    /// Of the host that the key of a URL begins with.
    fn of(&mut self, key: &[u8]) -> Result<HostState, Error> {
        let host = key.split(|&byte| byte == b'/').next().unwrap_or_default();
        if let Some((last, state)) = &self.last
            && last == host
        {
            return Ok(*state);
        }
        let host_key = std::str::from_utf8(host).ok().and_then(HostKey::from_text);
        let record = match host_key {
            Some(host_key) => self.reader.holding_host(&host_key).snapshot().host(&host_key)?,
            None => None,
        };
        let state = record.map_or(HostState::default(), |record| HostState {
            failing: record.rests_for(),
            is_held: record.is_held(),
        });
        self.last = Some((host.to_vec(), state));
        Ok(state)
    }
}

fn line(
    row: &UrlRow,
    (state, host): (UrlState, HostState),
    found_on: Option<&Url>,
) -> Result<UrlLine, Error> {
    let record = &row.record;
    let word = host.failing.map(FailKind::word).or_else(|| host.is_held.then_some(RESTS));
    Ok(UrlLine {
        url: row.url()?.as_str().to_owned(),
        state,
        cause: word.map(str::to_owned).or_else(|| cause(record)),
        found_on: found_on.map(|url| url.as_str().to_owned()),
        depth: record.depth,
        status: (record.http_status != 0).then_some(record.http_status),
        requisite: record.role.is_requisite(),
    })
}

fn cause(record: &UrlRecord) -> Option<String> {
    match record.status {
        RecordStatus::Queued if record.tries > 0 => Some("retry".to_owned()),
        RecordStatus::Fetched if record.past.marks.has(Marks::SCRIPTED) => {
            Some("scripted".to_owned())
        }
        RecordStatus::Queued | RecordStatus::Fetched | RecordStatus::Foreign => None,
        RecordStatus::Duplicate => Some("same_bytes".to_owned()),
        RecordStatus::Moved | RecordStatus::Gone => Some(format!("http_{}", record.http_status)),
        RecordStatus::Refused(why) => Some(why.word().to_owned()),
        RecordStatus::Failed(kind) => Some(kind.word().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_meant_on_any_port_on_one_or_as_an_origin() {
        let admits = |pattern: &str, url: &str| {
            let pattern: HostPattern = pattern.parse().unwrap();
            let key = Url::parse(url).unwrap().key();
            key.as_bytes().starts_with(pattern.prefix.as_bytes()) && pattern.admits(key.as_bytes())
        };
        for (pattern, url, expected) in [
            ("example.org", "http://example.org/a", true),
            ("example.org", "https://example.org:8443/a", true),
            ("example.org", "http://www.example.org/", false),
            ("example.org", "http://example.org.uk/", false),
            ("example.org:8443", "https://example.org:8443/a", true),
            ("example.org:443", "https://example.org/a", true),
            ("example.org:8443", "https://example.org/8443/", false),
            ("https://example.org", "https://example.org/a", true),
            ("https://example.org", "http://example.org/a", false),
            ("127.0.0.1", "http://127.0.0.1:9/", true),
            ("[::1]", "http://[::1]:81/", true),
            ("[::1]:81", "http://[::1]/", false),
        ] {
            assert_eq!(admits(pattern, url), expected, "{pattern} {url}");
        }
        assert!("no host".parse::<HostPattern>().is_err());
    }
}
