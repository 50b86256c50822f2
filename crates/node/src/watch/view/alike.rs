//! Copies and near-duplicates: clusters by the page that leads them.

use super::each_url;
use rhumb_engine::error::Error;
use rhumb_engine::near::Near;
use rhumb_page::url::{HostKey, Url};
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Clusters that are shown, the largest first.
const CLUSTERS_MAX: usize = 100;
/// Members of a cluster that are named.
const MEMBERS_MAX: usize = 20;
/// Clusters, and pairs of hosts, that are counted while reading.
const COUNTED_MAX: usize = 100_000;
/// Fewer pages in common say nothing of two hosts, and a lesser share is chance.
const MIRROR_PAGES_MIN: u64 = 3;
const MIRROR_SHARE_MIN: f64 = 0.3;
const MIRRORS_MAX: usize = 100;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AlikeView {
    pub clusters: Vec<AlikeCluster>,
    /// Hosts that hold the same pages, the surest first.
    #[serde(default)]
    pub mirrors: Vec<MirrorPair>,
    pub of_first: Option<u64>,
}

/// Two hosts of which one repeats the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MirrorPair {
    pub a: String,
    pub b: String,
    /// Pages of one that repeat pages of the other, either way.
    pub pages: u64,
    /// Of the pages of the host that has fewer.
    pub share: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AlikeCluster {
    /// The page that the others repeat.
    pub leader: String,
    pub exact: u64,
    pub near: u64,
    pub members: Vec<AlikePage>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AlikePage {
    pub url: String,
    /// Estimated, from 0 to 1; 1 of an exact copy.
    pub resemblance: f64,
}

pub fn read(reader: &LocalReader) -> Result<AlikeView, Error> {
    let mut clusters: HashMap<String, AlikeCluster> = HashMap::new();
    let mut mirrors = MirrorCounts::default();
    let of_first = each_url(reader, |row| {
        let past = &row.record.past;
        let (leader_url, resemblance) = match (&past.duplicate_of, &past.near) {
            (Some(url), _) => (url, 1.0),
            (None, Some(near)) => (&near.url, Near::resemblance(near)),
            (None, None) => return Ok(()),
        };
        let leader = leader_url.as_str();
        let url = row.url()?;
        mirrors.add(&url, leader_url);
        if clusters.len() == COUNTED_MAX && !clusters.contains_key(leader) {
            return Ok(());
        }
        let cluster = clusters.entry(leader.to_owned()).or_default();
        match past.duplicate_of {
            Some(_) => cluster.exact += 1,
            None => cluster.near += 1,
        }
        if cluster.members.len() < MEMBERS_MAX {
            cluster.members.push(AlikePage { url: url.as_str().to_owned(), resemblance });
        }
        Ok(())
    })?;
    let mut clusters: Vec<AlikeCluster> =
        clusters.into_iter().map(|(leader, cluster)| AlikeCluster { leader, ..cluster }).collect();
    clusters.sort_by(|a, b| {
        (b.exact + b.near).cmp(&(a.exact + a.near)).then_with(|| a.leader.cmp(&b.leader))
    });
    clusters.truncate(CLUSTERS_MAX);
    let mirrors = mirrors.found(reader)?;
    Ok(AlikeView { clusters, mirrors, of_first })
}

/// Pages that repeat a page of another host, by the pair of hosts.
#[derive(Default)]
struct MirrorCounts {
    pairs: HashMap<(HostKey, HostKey), u64>,
}

impl MirrorCounts {
    fn add(&mut self, page: &Url, leader: &Url) {
        let (a, b) = (page.host_key(), leader.host_key());
        if a == b {
            return;
        }
        let pair = if a.as_str() < b.as_str() { (a, b) } else { (b, a) };
        if self.pairs.len() < COUNTED_MAX || self.pairs.contains_key(&pair) {
            *self.pairs.entry(pair).or_default() += 1;
        }
    }

    /// Pairs where the smaller host has enough in common with the other.
    fn found(self, reader: &LocalReader) -> Result<Vec<MirrorPair>, Error> {
        let mut pairs: Vec<_> =
            self.pairs.into_iter().filter(|(_, pages)| *pages >= MIRROR_PAGES_MIN).collect();
        pairs.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.0.as_str().cmp(b.0.as_str())));
        pairs.truncate(MIRRORS_MAX);
        let pages_of = |host: &HostKey| -> Result<u64, Error> {
            let record = reader.holding_host(host).snapshot().host(host)?;
            Ok(record.map_or(0, |record| record.pages))
        };
        let mut found = Vec::new();
        for ((a, b), pages) in pairs {
            let least = pages_of(&a)?.min(pages_of(&b)?).max(1);
            let share = (pages as f64 / least as f64).min(1.0);
            if share >= MIRROR_SHARE_MIN {
                found.push(MirrorPair { a: a.origin(), b: b.origin(), pages, share });
            }
        }
        found.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| b.pages.cmp(&a.pages)));
        Ok(found)
    }
}
