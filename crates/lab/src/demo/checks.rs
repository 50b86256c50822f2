//! What the synthetic web and its server say about the crawl: the truth, and the log.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use indicatif::HumanCount;
use rhumb_archive::RecordReader;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_page::url::Url;
use rhumb_sim::web::{Fault, ReachScope, Web, What};
use serde::Serialize;

use super::finds::warc_files;
use crate::serve::{Logged, Served};

/// Something that should be so, and whether it is.
#[derive(Debug, Serialize)]
pub struct Check {
    pub holds: bool,
    /// In words, with the numbers.
    pub what: String,
}

pub fn all(served: &Served, dir: &Path, delay: Duration) -> Result<Vec<Check>, Error> {
    let web = &served.web;
    let requests = served.log().map(|log| log.requests()).unwrap_or_default();
    let by_host = by_host(&requests);
    Ok(vec![
        complete(web, &kept(web, dir)?),
        none_twice(web, &requests),
        robots_obeyed(web, &requests),
        robots_first(&by_host),
        one_at_a_time(&requests),
        unhurried(&by_host, delay),
    ])
}

fn complete(web: &Web, kept: &BTreeSet<(u32, u32)>) -> Check {
    let there = web.reachable(&web.seeds(), ReachScope::Any).pages(web);
    let found = kept.intersection(&there).count();
    let what = format!(
        "{} of {} pages that can be reached are in the WARC files",
        HumanCount(found as u64),
        HumanCount(there.len() as u64)
    );
    Check { holds: found == there.len(), what }
}

/// Pages that fail at first are asked for again, as they should be, and one robots.txt may be that
/// of two hosts: they do not count.
fn none_twice(web: &Web, requests: &[Logged]) -> Check {
    let mut met = HashSet::new();
    let again: Vec<&Logged> = requests
        .iter()
        .filter(|request| request.status == 200 && !request.path.starts_with("/robots"))
        .filter(|request| !met.insert((&request.host, &request.path)))
        .filter(|request| {
            url(request).is_some_and(|url| web.respond(&url, 0, 0).fault == Fault::None)
        })
        .collect();
    let (count, requests) = (again.len(), HumanCount(requests.len() as u64));
    let what = format!("{count} of {requests} requests were a repetition");
    Check { holds: again.is_empty(), what: what + &first_of(again.first()) }
}

fn robots_obeyed(web: &Web, requests: &[Logged]) -> Check {
    let is_forbidden = |request: &&Logged| url(request).is_some_and(|url| !web.permits(&url));
    let against: Vec<&Logged> = requests.iter().filter(is_forbidden).collect();
    let what = format!("{} requests were against a robots.txt", against.len());
    Check { holds: against.is_empty(), what: what + &first_of(against.first()) }
}

fn robots_first(by_host: &BTreeMap<&str, Vec<&Logged>>) -> Check {
    let first = by_host.values().filter(|list| list[0].path == "/robots.txt").count();
    let what = format!("at {first} of {} hosts robots.txt came first", by_host.len());
    Check { holds: first == by_host.len(), what }
}

fn one_at_a_time(requests: &[Logged]) -> Check {
    let most = requests.iter().map(|request| request.open_on_host).max().unwrap_or(0);
    let what = match most {
        0 | 1 => "never two requests open to one host".to_owned(),
        _ => format!("{most} requests were open to one host"),
    };
    Check { holds: most <= 1, what }
}

/// From start to start: we wait from the end of an answer, which the server cannot see.
fn unhurried(by_host: &BTreeMap<&str, Vec<&Logged>>, delay: Duration) -> Check {
    let gap_us = |pair: &&[&Logged]| pair[1].start_us - pair[0].start_us;
    let is_short = |pair: &&[&Logged]| u128::from(gap_us(pair)) < delay.as_micros();
    let pairs = by_host.values().flat_map(|list| list.windows(2));
    let hurried = pairs.filter(is_short).min_by_key(gap_us);
    let what = match hurried {
        None => format!("never less than {delay:?} between two requests to one host"),
        Some(pair) => {
            let (gap_us, example) = (gap_us(&pair), first_of(Some(&pair[1])));
            format!("only {gap_us} µs between two requests to one host{example}")
        }
    };
    Check { holds: hurried.is_none(), what }
}

fn first_of(request: Option<&&Logged>) -> String {
    request.map_or(String::new(), |r| format!(" (http://{}{})", r.host, r.path))
}

/// Each host's requests in the order of their beginnings.
fn by_host(requests: &[Logged]) -> BTreeMap<&str, Vec<&Logged>> {
    let mut by_host: BTreeMap<&str, Vec<&Logged>> = BTreeMap::new();
    for request in requests {
        by_host.entry(&request.host).or_default().push(request);
    }
    by_host.values_mut().for_each(|list| list.sort_by_key(|request| request.start_us));
    by_host
}

fn url(request: &Logged) -> Option<Url> {
    Url::parse(&format!("http://{}{}", request.host, request.path)).ok()
}

/// The pages with a whole record in the WARC files, as (site, number), under whatever URL.
fn kept(web: &Web, dir: &Path) -> Result<BTreeSet<(u32, u32)>, Error> {
    let mut pages = BTreeSet::new();
    for path in warc_files(dir)? {
        for record in RecordReader::open(&path).map_err(unreadable)? {
            let record = record.map_err(unreadable)?;
            let is_page = matches!(record.kind(), "response" | "revisit")
                && record.http_head().starts_with(b"HTTP/1.1 200");
            let target = record.target().filter(|_| is_page);
            let place = target.and_then(|text| Url::parse(text).ok()).and_then(|u| web.place(&u));
            let Some(place) = place.map(|place| web.original(place)) else { continue };
            if let What::Page(n) = place.what {
                pages.insert((place.site, n));
            }
        }
    }
    Ok(pages)
}

fn unreadable(error: rhumb_archive::ArchiveError) -> Error {
    Error::new(ErrorKind::Corrupt, format!("archive: {error}"))
}
