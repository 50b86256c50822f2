//! How a crawl on many machines is doing, from what its nodes have written into the store.

use super::crawl_file::CrawlFile;
use super::order::Mandate;
use super::told::{AllTold, NodeObject, PartTold};
use rhumb_engine::counters::Counters;
use rhumb_engine::error::Error;
use rhumb_shipped::Objects;
use serde::Serialize;
use std::collections::BTreeMap;

/// Whose heart-beat is older than this, by the store's clock as against ours, counts as silent.
pub const SILENT_AFTER_S: u64 = 30;
/// Of many that are alike the first are told.
const STUCK_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterStatus {
    pub nodes: Vec<NodeStatus>,
    pub partitions: u32,
    pub owned: u32,
    pub pages: u64,
    pub bytes: u64,
    pub queued: u64,
    pub known_urls: u64,
    pub pages_per_s: f64,
    /// How much of all importance the pages have for certain; null while it is not known.
    pub coverage: Option<f64>,
    pub finished: bool,
    /// Why it is over.
    pub stopped_because: Option<String>,
    pub paused: bool,
    /// The last order, and the last one that all partitions obey.
    pub order: u64,
    pub obeyed: u64,
    pub stuck: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeStatus {
    pub id: String,
    pub partitions: Vec<u32>,
    pub pages_per_s: f64,
    pub address: String,
    pub version: String,
    /// Seconds since its last heart-beat.
    pub heard_s: u64,
    pub leaving: bool,
}

/// What is known of a crawl.
pub struct GatheredStatus {
    pub crawl: CrawlFile,
    pub mandate: Mandate,
    /// With the age of each, in seconds.
    pub nodes: Vec<(u64, NodeObject)>,
}

impl GatheredStatus {
    pub async fn read(
        objects: &Objects,
        crawl: CrawlFile,
        mandate: Mandate,
    ) -> Result<Self, Error> {
        let ages: BTreeMap<String, u64> = objects.node_ages_s().await?.into_iter().collect();
        let nodes = objects.nodes().await?;
        let nodes = nodes.iter().filter_map(|(id, bytes)| {
            Some((ages.get(id).copied().unwrap_or_default(), NodeObject::decode(bytes)?))
        });
        Ok(GatheredStatus { nodes: nodes.collect(), crawl, mandate })
    }

    /// What was told last of each partition: by its last owner.
    pub fn parts(&self) -> BTreeMap<u32, &PartTold> {
        let mut parts: BTreeMap<u32, &PartTold> = BTreeMap::new();
        for (number, part) in self.nodes.iter().flat_map(|(_, object)| &object.told.parts) {
            let last = parts.entry(*number).or_insert(part);
            if (last.epoch, last.commit) < (part.epoch, part.commit) {
                *last = part;
            }
        }
        parts
    }

    /// What the last owner of partition 0 has told of all.
    pub fn all(&self) -> Option<&AllTold> {
        let told = self.nodes.iter().filter_map(|(_, object)| {
            let epoch = object.told.parts.get(&0)?.epoch;
            Some((epoch, object.told.all.as_ref()?))
        });
        told.max_by_key(|(epoch, _)| *epoch).map(|(_, all)| all)
    }

    pub fn counters(&self) -> Counters {
        let parts = self.parts();
        let all = parts.values().map(|part| part.counters.clone());
        all.reduce(|a, b| a.plus(&b)).unwrap_or_default()
    }

    fn owners(&self) -> BTreeMap<u32, (u64, &str)> {
        let mut owners: BTreeMap<u32, (u64, &str)> = BTreeMap::new();
        let living = self.nodes.iter().filter(|(age, _)| *age <= SILENT_AFTER_S);
        for (_, NodeObject { beat, .. }) in living {
            for (&partition, &epoch) in &beat.owned {
                let owner = owners.entry(partition).or_default();
                *owner = (*owner).max((epoch, &beat.node.id));
            }
        }
        owners
    }

    fn stuck(&self, owners: &BTreeMap<u32, (u64, &str)>) -> Vec<String> {
        let mut stuck = Vec::new();
        if self.mandate.ended.is_some() {
            return stuck;
        }
        for (age, NodeObject { beat, told }) in &self.nodes {
            let id = &beat.node.id;
            if *age > SILENT_AFTER_S && !beat.is_leaving {
                stuck.push(format!("node {id}: no heart-beat for {age} s"));
            } else {
                stuck.extend(told.stuck.iter().cloned());
            }
        }
        let unowned: Vec<String> = (0..self.crawl.partitions)
            .filter(|partition| !owners.contains_key(partition))
            .map(|partition| partition.to_string())
            .collect();
        if !unowned.is_empty() {
            stuck.push(format!("no living node owns partitions {}", unowned.join(", ")));
        }
        stuck.truncate(STUCK_MAX);
        stuck
    }
}

/// How the crawl is doing.
pub fn status(gathered: &GatheredStatus) -> ClusterStatus {
    let GatheredStatus { crawl, mandate, .. } = gathered;
    let (owners, counters) = (gathered.owners(), gathered.counters());
    let nodes: Vec<NodeStatus> = gathered
        .nodes
        .iter()
        .map(|(age, NodeObject { beat, told })| NodeStatus {
            id: beat.node.id.clone(),
            partitions: owners
                .iter()
                .filter(|(_, (_, id))| *id == beat.node.id)
                .map(|(partition, _)| *partition)
                .collect(),
            pages_per_s: if *age <= SILENT_AFTER_S { told.pages_per_s } else { 0.0 },
            address: beat.node.address.clone(),
            version: beat.node.version.clone(),
            heard_s: *age,
            leaving: beat.is_leaving,
        })
        .collect();
    let obeying = gathered
        .nodes
        .iter()
        .filter(|(age, object)| *age <= SILENT_AFTER_S && !object.beat.owned.is_empty());
    ClusterStatus {
        pages_per_s: nodes.iter().map(|node| node.pages_per_s).sum(),
        nodes,
        partitions: crawl.partitions,
        owned: owners.len() as u32,
        pages: counters.pages,
        bytes: counters.bytes,
        queued: counters.queued,
        known_urls: counters.known,
        coverage: gathered.all().and_then(|all| all.coverage),
        finished: mandate.ended.is_some(),
        stopped_because: mandate.ended.map(|reason| reason.word().to_owned()),
        paused: mandate.is_paused,
        order: mandate.order,
        obeyed: obeying.map(|(_, object)| object.beat.obeyed).min().unwrap_or(mandate.order),
        stuck: gathered.stuck(&owners),
    }
}
