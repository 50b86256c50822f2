//! Copies and near-duplicates: clusters by the page that leads them.

use super::each_url;
use rhumb_engine::error::Error;
use rhumb_engine::near::Near;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Clusters that are shown, the largest first.
const CLUSTERS_MAX: usize = 100;
/// Members of a cluster that are named.
const MEMBERS_MAX: usize = 20;
/// Clusters that are counted while reading.
const COUNTED_MAX: usize = 100_000;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AlikeView {
    pub clusters: Vec<AlikeCluster>,
    pub of_first: Option<u64>,
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
    let of_first = each_url(reader, |row| {
        let past = &row.record.past;
        let (leader, resemblance) = match (&past.duplicate_of, &past.near) {
            (Some(url), _) => (url.as_str(), 1.0),
            (None, Some(near)) => (near.url.as_str(), Near::resemblance(near)),
            (None, None) => return Ok(()),
        };
        if clusters.len() == COUNTED_MAX && !clusters.contains_key(leader) {
            return Ok(());
        }
        let cluster = clusters.entry(leader.to_owned()).or_default();
        match past.duplicate_of {
            Some(_) => cluster.exact += 1,
            None => cluster.near += 1,
        }
        if cluster.members.len() < MEMBERS_MAX {
            cluster.members.push(AlikePage { url: row.url()?.as_str().to_owned(), resemblance });
        }
        Ok(())
    })?;
    let mut clusters: Vec<AlikeCluster> =
        clusters.into_iter().map(|(leader, cluster)| AlikeCluster { leader, ..cluster }).collect();
    clusters.sort_by(|a, b| {
        (b.exact + b.near).cmp(&(a.exact + a.near)).then_with(|| a.leader.cmp(&b.leader))
    });
    clusters.truncate(CLUSTERS_MAX);
    Ok(AlikeView { clusters, of_first })
}
