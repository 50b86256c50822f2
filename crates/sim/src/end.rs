//! The checks that need the end of a crawl: nothing is forgotten, and the books are right.

use crate::check::Checker;
use crate::web::{ReachScope, UrlTruth, Web, WebPlace};
use rhumb_engine::admit::Reach;
use rhumb_engine::counters::Counters;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::queue::SleepPlace;
use rhumb_engine::record::{RecordStatus, Refusal, Role, UrlRecord};
use rhumb_engine::requisites;
use rhumb_page::url::{HostKey, Url, UrlKey};
use rhumb_state::memory::MemoryRows;
use std::collections::BTreeSet;

/// What must hold when nothing is left to do.
pub fn check_end(web: &Web, parts: &[&MemoryRows], checker: &mut Checker) {
    parts.iter().for_each(|rows| check_rest(web, rows, checker));
    let answered =
        |status: RecordStatus| matches!(status, RecordStatus::Fetched | RecordStatus::Duplicate);
    let urls = parts.iter().flat_map(|rows| rows.urls.iter());
    let found: BTreeSet<WebPlace> = urls
        .filter(|(_, record)| answered(record.status))
        .filter_map(|(key, _)| web.place(&key.url()))
        .collect();
    let scope = match checker.written.oracle.rules().scope.reach() {
        Reach::Host => ReachScope::Hosts,
        Reach::Site => ReachScope::Sites,
        Reach::Any => ReachScope::Any,
        Reach::Below => unreachable!("no scenario crawls below a path"),
    };
    // Copies too: the same bytes under another URL may lead elsewhere.
    // A host whose rules are known is not asked for a sitemap because a later run would try one.
    let tries = checker.written.oracle.runs().all(|rules| rules.scope.reach() != Reach::Any);
    for place in web.reachable_by((&web.seeds(), scope), tries).documents {
        let is_copy = web.original(place) != place;
        let is_held = || parts.iter().any(|rows| is_held_back(rows, &web.url(place)));
        if !(found.contains(&place) || is_copy && is_held()) {
            let url = web.url(place);
            checker.violated(4, format!("{url} can be reached and was not found"));
        }
    }
}

/// A copy of what is known may be held back with its pattern.
fn is_held_back(rows: &MemoryRows, url: &Url) -> bool {
    let record = rows.urls.get(&url.key());
    record.is_some_and(|record| record.status == RecordStatus::Refused(Refusal::Pattern))
}

/// Another run will find more: a host rests that is not down for ever, or a page failed that is
/// there.
pub fn is_worth_another_run(web: &Web, rows: &MemoryRows) -> bool {
    let recovers = |(place, host): (&SleepPlace, &HostKey)| {
        matches!(place, SleepPlace::Resting { .. }) && !web.is_ghost(&host.host())
    };
    let is_there = |(key, record): (&UrlKey, &UrlRecord)| {
        let truth = || web.truth(&key.url());
        matches!(record.status, RecordStatus::Failed(_))
            && !matches!(
                truth(),
                UrlTruth::Missing | UrlTruth::Broken | UrlTruth::Ghost(_) | UrlTruth::Foreign
            )
    };
    rows.sleep.iter().any(recovers) || rows.urls.iter().any(is_there)
}

/// Of one partition: nothing waits but at dead hosts, which rest.
fn check_rest(web: &Web, rows: &MemoryRows, checker: &mut Checker) {
    let waits = |r: &UrlRecord| r.status == RecordStatus::Queued || r.place.is_some();
    let rests = |host: &HostKey| {
        let record = rows.hosts.get(host);
        record.is_some_and(|record| matches!(record.sleep, Some(SleepPlace::Resting { .. })))
    };
    let (at_dead, mut forgotten): (Vec<_>, Vec<_>) = rows
        .urls
        .iter()
        .filter(|(_, record)| waits(record))
        .partition(|(key, _)| web.is_ghost(key.url().host()) && rests(&key.host_key()));
    forgotten.sort_unstable_by_key(|(key, _)| *key);
    for (key, UrlRecord { status, place, .. }) in forgotten {
        let host = rows.hosts.get(&key.host_key());
        let what = format!("forgotten: {} ({status:?}, {place:?}) of {host:?}", key.url());
        checker.violated(4, what);
    }
    let (q, o) = (rows.queue.len() - at_dead.len(), rows.outbox.len());
    let s = rows.sleep.keys().filter(|place| !matches!(place, SleepPlace::Resting { .. })).count();
    if (q, s, o) != (0, 0, 0) {
        checker.violated(4, format!("left over: {q} queued, {s} asleep, {o} in the outbox"));
    }
    if !rows.messages.is_empty() {
        let messages = rows.messages.len();
        checker.violated(4, format!("left over: {messages} messages to other partitions"));
    }
}

/// The counters against a recount.
pub fn check_books(rows: &MemoryRows, checker: &mut Checker) {
    let mut recount = Counters::default();
    let mut requisites = 0;
    for record in rows.urls.values().filter(|record| record.status != RecordStatus::Foreign) {
        recount.known += 1;
        match record.status {
            RecordStatus::Refused(why) => {
                *recount.refused_as(why) += 1;
                recount.admitted += u64::from(why == Refusal::Robots);
            }
            RecordStatus::Failed(kind) => {
                *recount.failed_as(kind) += 1;
                recount.admitted += 1;
            }
            _ => recount.admitted += 1,
        }
        recount.queued += u64::from(record.place.is_some());
        recount.pages += u64::from(answered_as_page(record));
        requisites += u64::from(record.place.as_ref().is_some_and(requisites::is_first));
    }
    let counters = &rows.counters;
    let mut compare = |name: &str, booked: u64, counted: u64| {
        if booked != counted {
            checker.violated(5, format!("{name}: {booked} booked, {counted} counted"));
        }
    };
    compare("known", counters.known, recount.known);
    compare("admitted", counters.admitted, recount.admitted);
    compare("queued", counters.queued, recount.queued);
    compare("requisites that wait", rows.requisites.waiting, requisites);
    compare("queue rows", counters.queued, rows.queue.len() as u64);
    compare("host rows", counters.hosts, rows.hosts.len() as u64);
    compare("queued by hosts", counters.queued, rows.hosts.values().map(|h| h.queued).sum());
    compare("pages by hosts", counters.pages, rows.hosts.values().map(|h| h.pages).sum());
    for why in Refusal::ALL {
        compare(why.word(), counters.refused[why as usize], recount.refused[why as usize]);
    }
    for kind in FailKind::ALL {
        compare(kind.word(), counters.failed[kind as usize], recount.failed[kind as usize]);
    }
    let visited = rows.urls.values().any(|r| r.past.visits > 1);
    if !visited {
        compare("pages", counters.pages, recount.pages);
    }
}

fn answered_as_page(record: &UrlRecord) -> bool {
    record.role == Role::Page
        && matches!(record.status, RecordStatus::Fetched | RecordStatus::Duplicate)
        && record.past.content.is_some()
}
