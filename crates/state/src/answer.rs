//! The engine's questions, answered from a snapshot: the same for every store.

use crate::leaders::LeaderRows;
use crate::lock;
use crate::plain::PlainMap;
use crate::seen::{SeenFilter, Sighting, UrlFingerprint};
use crate::snapshot::StateSnapshot;
use rhumb_engine::discovery::{Discovery, FoundAs};
use rhumb_engine::error::Error;
use rhumb_engine::event::{
    Answer, Question, Refilled, SiftTarget, Sifted, ToAdmit, Wake, Woken, WokenHost,
};
use rhumb_engine::known::KnownLinks;
use rhumb_engine::mass;
use rhumb_engine::near::{self, Leader, Likeness, Nearest};
use rhumb_engine::outcome::{ContentDigest, PageContent};
use rhumb_engine::queue::{Section, Sleeper};
use rhumb_engine::record::{UrlId, UrlRecord};
use rhumb_neardup::Sketch;
use rhumb_page::url::{HostKey, UrlKey};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Discoveries looked up while the filter's lock is held.
const LOCKED_MAX: usize = 256;
/// Leaders whose sketches are read to find the nearest of them, the most promising first.
const CANDIDATES_MAX: usize = 16;

pub fn answer<S: StateSnapshot>(
    snapshot: &S,
    seen: &Mutex<SeenFilter>,
    leaders: &Mutex<Option<LeaderRows>>,
    question: Question,
) -> Result<Answer, Error> {
    match question {
        Question::Sift { candidates } => sift(snapshot, seen, candidates).map(Answer::Sifted),
        Question::Twin { pages } => {
            let alike = pages.iter().map(|page| likeness(snapshot, leaders, page));
            Ok(Answer::Twinned { pages: alike.collect::<Result<_, _>>()? })
        }
        Question::Wake(wake) => self::wake(snapshot, wake).map(Answer::Woken),
        Question::Refill { hosts } => {
            let mut answers = Vec::with_capacity(hosts.len());
            for ask in hosts {
                let rows =
                    snapshot.queue(&ask.host, ask.section, ask.after.as_ref(), ask.rows_max)?;
                answers.push(Refilled { host: ask.host, section: ask.section, rows });
            }
            Ok(Answer::Refilled { hosts: answers })
        }
        Question::Receive { from, chunks_max } => {
            Ok(Answer::Received { chunks: snapshot.outbox(from, chunks_max)? })
        }
        Question::Addresses { nodes } => {
            let mut urls = Vec::with_capacity(nodes.len());
            for node in nodes {
                urls.extend(snapshot.foreign(node)?.map(|url| (node, url)));
            }
            Ok(Answer::Addressed { urls })
        }
        Question::Review { wanted, after, rows_max } => {
            let is_wanted = |record: &UrlRecord| wanted.includes(record);
            let (urls, next) = snapshot.urls(after.as_ref(), rows_max, is_wanted)?;
            Ok(Answer::Reviewed { found: urls.iter().map(readmission).collect(), next })
        }
    }
}

fn readmission((key, record): &(UrlKey, UrlRecord)) -> Discovery {
    let (depth, hops) = (record.depth, record.hops);
    Discovery { url: key.url(), kind: FoundAs::Readmit, depth, hops, from: None }
}

/// Bytes that are known cost one look-up; the text is compared only if they are not.
fn likeness<S: StateSnapshot>(
    snapshot: &S,
    leaders: &Mutex<Option<LeaderRows>>,
    (digest, sketch): &(ContentDigest, Option<Arc<Sketch>>),
) -> Result<Likeness, Error> {
    if let Some(twin) = snapshot.twin(digest)? {
        return Ok(Likeness::Same(twin));
    }
    let near = match sketch {
        Some(sketch) => near(snapshot, leaders, sketch)?,
        None => None,
    };
    Ok(near.map_or(Likeness::New, Likeness::Near))
}

fn near<S: StateSnapshot>(
    snapshot: &S,
    leaders: &Mutex<Option<LeaderRows>>,
    sketch: &Sketch,
) -> Result<Option<Nearest>, Error> {
    // The committing thread needs the index too: the store is read without the lock.
    let (candidates, threshold) = match &*lock(leaders) {
        Some(leaders) => (leaders.candidates(sketch), leaders.threshold()),
        None => return Ok(None),
    };
    let mut found: Vec<Leader> = Vec::new();
    for id in candidates.into_iter().take(CANDIDATES_MAX) {
        found.extend(snapshot.leader(id)?);
    }
    Ok(near::nearest(sketch, &found, threshold))
}

/// Sets those links of a page of this depth apart that are known for certain, with their addresses
/// if these are wanted: what the sieve would say of them, without asking it. Whoever reads pages
/// calls this.
pub fn set_known_apart(
    (seed, seen): (u64, &Mutex<SeenFilter>),
    page: &mut PageContent,
    depth: u16,
    with_addresses: bool,
) {
    let mut ids: Vec<Option<u32>> = Vec::with_capacity(page.found.len());
    let mut prints = Vec::with_capacity(page.found.len().min(LOCKED_MAX));
    for some in page.found.chunks(LOCKED_MAX) {
        prints.clear();
        prints.extend(some.iter().map(|found| UrlFingerprint::of(&found.url, seed)));
        // Nothing but looking while others wait: what is far in memory is then fetched together.
        let seen = lock(seen);
        ids.extend(some.iter().zip(&prints).map(|(found, print)| {
            match (found.kind, seen.look(*print, found.depth(depth))) {
                // What is said to have changed is to be put to admission, known or not.
                (FoundAs::Announced(_), _) => None,
                (_, Sighting::Known(Some(id))) => mass::node(UrlId(u64::from(id))),
                _ => None,
            }
        }));
    }
    let count = ids.iter().flatten().count();
    let mut known = KnownLinks::with_room(depth.saturating_add(1), count);
    let mut ids = ids.into_iter();
    page.found.retain(|found| match ids.next().flatten() {
        Some(id) => {
            known.push(id, with_addresses.then_some(&found.url));
            known.weigh(found.weight);
            false
        }
        None => true,
    });
    page.known = known;
}

/// Repeats in the batch are merged, keeping the shortest way; then each is looked up.
fn sift<S: StateSnapshot>(
    snapshot: &S,
    seen: &Mutex<SeenFilter>,
    candidates: Vec<Discovery>,
) -> Result<Sifted, Error> {
    let mut sifted = Sifted::default();
    let total = candidates.len() as u64;
    let (merged, of) = merge(seen, candidates);
    let mut targets = Vec::with_capacity(merged.len());
    for (candidate, sighting) in look_up(seen, merged) {
        let Candidate { discovery, print, readmitted } = candidate;
        // A link that is not followed needs its number, and never a comparison.
        let is_idle = discovery.kind == FoundAs::Copied;
        let record = match sighting {
            Sighting::New => None,
            Sighting::Known(Some(id)) if !readmitted => {
                targets.push(SiftTarget::Known(id));
                continue;
            }
            Sighting::Ask { rises, id: Some(id) } if !readmitted && (is_idle || !rises) => {
                if snapshot.has_url(&discovery.url.key())? {
                    lock(seen).confirm(print);
                    targets.push(SiftTarget::Known(id));
                    continue;
                }
                None
            }
            _ => snapshot.url(&discovery.url.key())?,
        };
        targets.push(match &record {
            None if is_idle => SiftTarget::Unknown(targets.len() as u32),
            Some(record) if is_idle || (!readmitted && !rises(sighting)) => known(record),
            _ => {
                let target = SiftTarget::ToAdmit(sifted.to_admit.len() as u32);
                sifted.to_admit.push(ToAdmit { discovery, record });
                target
            }
        });
    }
    sifted.known = total - sifted.to_admit.len() as u64;
    sifted.targets = of.into_iter().map(|index| targets[index as usize]).collect();
    let mut asked: HashSet<HostKey> = HashSet::new();
    for candidate in &sifted.to_admit {
        let host = candidate.discovery.url.host_key();
        if !asked.contains(&host) {
            if let Some(record) = snapshot.host(&host)? {
                sifted.hosts.push((host.clone(), record));
            }
            asked.insert(host);
        }
    }
    Ok(sifted)
}

fn rises(sighting: Sighting) -> bool {
    matches!(sighting, Sighting::Ask { rises: true, .. })
}

/// Beyond all numbers that the books have, a URL is as good as none.
fn known(record: &UrlRecord) -> SiftTarget {
    match u32::try_from(record.id.0) {
        Ok(id) => SiftTarget::Known(id),
        Err(_) => SiftTarget::Unknown(u32::MAX),
    }
}

struct Candidate {
    discovery: Discovery,
    print: UrlFingerprint,
    /// One of those merged here asks for a new comparison, known or not.
    readmitted: bool,
}

/// The candidates without repeats, and for each of all which one it is.
fn merge(seen: &Mutex<SeenFilter>, candidates: Vec<Discovery>) -> (Vec<Candidate>, Vec<u32>) {
    let mut of = Vec::with_capacity(candidates.len());
    let mut merged: Vec<Candidate> = Vec::with_capacity(candidates.len());
    let mut at: PlainMap<UrlFingerprint, usize> = PlainMap::default();
    at.reserve(candidates.len());
    let prints: Vec<UrlFingerprint> = {
        let seen = lock(seen);
        candidates.iter().map(|discovery| seen.fingerprint(&discovery.url)).collect()
    };
    for (discovery, print) in candidates.into_iter().zip(prints) {
        match at.get(&print) {
            Some(&index) => {
                of.push(index as u32);
                let Candidate { discovery: first, readmitted, .. } = &mut merged[index];
                let (depth, hops) = (discovery.depth, discovery.hops);
                if (depth, hops) < (first.depth, first.hops) {
                    (first.depth, first.hops, first.from) = (depth, hops, discovery.from);
                }
                if weight(discovery.kind) > weight(first.kind) {
                    first.kind = discovery.kind;
                }
                *readmitted |= is_readmitted(discovery.kind);
            }
            None => {
                of.push(merged.len() as u32);
                at.insert(print, merged.len());
                let readmitted = is_readmitted(discovery.kind);
                merged.push(Candidate { discovery, print, readmitted });
            }
        }
    }
    (merged, of)
}

/// Known or not: what the owner named is put to admission as a seed each time.
fn is_readmitted(kind: FoundAs) -> bool {
    use FoundAs::{Announced, Asked, Promoted, Readmit, Seed};
    // What a link may not lead to was perhaps refused as a page.
    kind.is_requisite() || matches!(kind, Seed | Asked | Readmit | Promoted | Announced(_))
}

/// Of a URL that was found in several ways, the way with most weight counts.
fn weight(kind: FoundAs) -> u8 {
    match kind {
        FoundAs::Copied => 0,
        FoundAs::Link | FoundAs::Listed => 1,
        FoundAs::Redirect
        | FoundAs::Sitemap
        | FoundAs::TriedSitemap
        | FoundAs::OutsideSitemap
        | FoundAs::Requisite
        | FoundAs::Stylesheet
        | FoundAs::OutsideRequisite
        | FoundAs::OutsideStylesheet
        | FoundAs::Promoted => 2,
        FoundAs::Announced(_) => 3,
        FoundAs::Readmit => 4,
        FoundAs::Seed => 5,
        FoundAs::Asked => 6,
    }
}

fn look_up(seen: &Mutex<SeenFilter>, merged: Vec<Candidate>) -> Vec<(Candidate, Sighting)> {
    let mut looked = Vec::with_capacity(merged.len());
    let mut merged = merged.into_iter().peekable();
    while merged.peek().is_some() {
        // The committing thread needs the filter too: never hold it for long.
        let seen = lock(seen);
        for candidate in merged.by_ref().take(LOCKED_MAX) {
            let sighting = seen.look(candidate.print, candidate.discovery.depth);
            looked.push((candidate, sighting));
        }
    }
    looked
}

fn wake<S: StateSnapshot>(snapshot: &S, wake: Wake) -> Result<Woken, Error> {
    let (later_max, after) = &wake.later;
    let (mut sleepers, later_next) = snapshot.sleepers_due(wake.now, after.as_ref(), *later_max)?;
    let (resting_max, after) = &wake.resting;
    let max = resting_max.saturating_sub(sleepers.len());
    let (resting, resting_next) =
        snapshot.sleepers_resting(wake.run, wake.now, after.as_ref(), max)?;
    sleepers.extend(resting);
    for (class, max, after) in &wake.classes {
        sleepers.extend(snapshot.sleepers(*class, after.as_ref(), *max)?);
    }
    let mut hosts = Vec::with_capacity(sleepers.len() + wake.named.len());
    for host in wake.named {
        hosts.push(wake_one(snapshot, host, None, wake.rows_max)?);
    }
    for sleeper in sleepers {
        hosts.push(wake_one(snapshot, sleeper.host.clone(), Some(sleeper), wake.rows_max)?);
    }
    Ok(Woken { hosts, later_next, resting_next })
}

fn wake_one<S: StateSnapshot>(
    snapshot: &S,
    host: HostKey,
    sleeper: Option<Sleeper>,
    rows_max: usize,
) -> Result<WokenHost, Error> {
    let record = snapshot.host(&host)?;
    let robots = match &record {
        Some(record) if record.robots_until.is_some() => snapshot.robots(&host)?,
        _ => None,
    };
    let (now_after, later_after) =
        record.as_ref().map_or((None, None), |r| (r.now_after, r.later_after));
    let now = snapshot.queue(&host, Section::Now, now_after.as_ref(), rows_max)?;
    let later = snapshot.queue(&host, Section::Later, later_after.as_ref(), rows_max)?;
    Ok(WokenHost { host, sleeper, record, robots, now, later })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryState;
    use rhumb_engine::event::Row;
    use rhumb_engine::record::{RecordStatus, Refusal};
    use rhumb_engine::time::Time;
    use rhumb_page::url::Url;

    /// What the sieve makes of one known, refused URL that comes in these ways at once.
    fn sifted(kinds: &[FoundAs]) -> Sifted {
        let url = Url::parse("http://a.test/").unwrap();
        let mut state = MemoryState::new(1);
        let status = RecordStatus::Refused(Refusal::HostBudget);
        let record = UrlRecord::new(UrlId(0), status, 0, 0, Time::ZERO);
        state.commit(&mut vec![Row::Url { key: url.key(), record }]);
        let found = |kind: &FoundAs| {
            let (url, kind) = (url.clone(), *kind);
            Discovery { url, kind, depth: 0, hops: 0, from: None }
        };
        let candidates = kinds.iter().map(found).collect();
        match state.answer(Question::Sift { candidates }).unwrap() {
            Answer::Sifted(sifted) => sifted,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_refused_seed_is_judged_again_and_as_a_seed() {
        use FoundAs::{Link, Readmit, Seed};
        for kinds in [[Link, Seed, Readmit], [Readmit, Seed, Link], [Seed, Readmit, Link]] {
            let sifted = sifted(&kinds);
            assert_eq!(sifted.known, 2, "{kinds:?}");
            assert_eq!(sifted.to_admit[0].discovery.kind, Seed, "{kinds:?}");
            assert!(sifted.to_admit[0].record.is_some(), "{kinds:?}");
        }
        assert_eq!(sifted(&[Link, Seed]).to_admit[0].discovery.kind, Seed);
        assert_eq!(sifted(&[Link, Readmit]).to_admit[0].discovery.kind, Readmit);
        assert!(sifted(&[Link, Link]).to_admit.is_empty(), "known, and nobody asked again");
    }
}
