//! What a node writes into its object: its heart-beat, which others live by, and what it does,
//! which is for people.

use rhumb_cluster::beat::Heartbeat;
use rhumb_engine::counters::Counters;
use rhumb_engine::mass::Sums;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeObject {
    pub beat: Heartbeat,
    #[serde(default)]
    pub told: NodeTold,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeTold {
    pub pages_per_s: f64,
    pub region: String,
    /// Where it has its own files.
    pub dir: String,
    pub peak_rss_bytes: u64,
    pub parts: BTreeMap<u32, PartTold>,
    /// What does not go on, and why.
    pub stuck: Vec<String>,
    /// By the owner of partition 0.
    pub all: Option<AllTold>,
}

/// Of a partition, as far as it is shipped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartTold {
    pub epoch: u64,
    pub counters: Counters,
    pub commit: u64,
    pub in_flight: u64,
    pub hosts_awake: u64,
    pub hosts_failing: u64,
    pub unshipped_bytes: u64,
    /// Messages to each partition, and from each.
    pub sent: Vec<u64>,
    pub taken: Vec<u64>,
    pub is_idle: bool,
    pub is_paused: bool,
    /// It may ask hosts now.
    pub is_allowed: bool,
    /// Why it is idle, or was stopped.
    pub why: String,
}

/// Of all partitions together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AllTold {
    /// After which order.
    pub order: u64,
    pub sums: Option<Sums>,
    pub coverage: Option<f64>,
}

impl NodeObject {
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data always encodes")
    }

    /// None if it cannot be read: of another version, which is not ours to judge.
    pub fn decode(bytes: &[u8]) -> Option<NodeObject> {
        serde_json::from_slice(bytes).ok()
    }
}
